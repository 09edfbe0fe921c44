//! A started child with its session and process group. Dropping it kills the group.

use super::leftovers::{fresh_marker, sweep};
use super::{GroupAfter, MARKER, ProcessError, Spec};
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession};
use std::process::{ExitStatus, Stdio};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
    marker: String,
    name: String,
    ended: bool,
}

/// Whether the child reads from us.
#[derive(Clone, Copy)]
pub(super) enum Reads {
    Nothing,
    Us,
}

impl Group {
    pub(super) fn start(spec: &Spec, reads: Reads) -> Result<Self, ProcessError> {
        let name = spec.name();
        let Some(program) = spec.environment.find(&spec.program) else {
            return Err(ProcessError::NotFound { program: name });
        };
        let marker = fresh_marker();
        let mut command = CommandWrap::with_new(program, |command| {
            command.args(&spec.args).current_dir(&spec.dir);
            command.env_clear().envs(spec.environment.vars()).env(MARKER, &marker);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(match reads {
                Reads::Nothing => Stdio::null(),
                Reads::Us => Stdio::piped(),
            });
        });
        match command.wrap(ProcessSession).wrap(KillOnDrop).spawn() {
            Ok(child) => Ok(Self { child, marker, name, ended: false }),
            Err(source) => Err(ProcessError::NotStarted { program: name, source }),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn take_pipes(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin().take(), self.child.stdout().take(), self.child.stderr().take())
    }

    /// Waits for the child itself, then kills what is left of its group, if that is to end.
    pub(super) async fn wait(&mut self, after: GroupAfter) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        if after == GroupAfter::Ends {
            self.kill_group();
        }
        self.ended = true;
        Ok(status)
    }

    /// Kills the group and whatever left it, and waits for the child.
    pub(super) async fn stop(&mut self) -> std::io::Result<ExitStatus> {
        self.kill_group();
        sweep(&self.marker);
        let status = self.child.wait().await?;
        self.ended = true;
        Ok(status)
    }

    fn kill_group(&mut self) {
        if let Err(error) = self.child.start_kill() {
            tracing::trace!(program = self.name, %error, "the group is gone already");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            self.kill_group();
            sweep(&self.marker);
        }
    }
}
