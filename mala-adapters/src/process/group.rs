//! A started child with its session and process group. Dropping it kills the group.

use super::leftovers::{fresh_marker, sweep};
use super::{GroupAfter, MARKER, ProcessError, Spec};
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession};
use rustix::process::Signal;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
    marker: String,
    name: String,
    ended: bool,
    /// Whether it is asked to end before it is killed.
    is_asked: bool,
}

/// How long a child that is asked to end may take to clean up, and how often to look.
const CLEANING: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(10);

/// Whether the child reads from us.
#[derive(Clone, Copy)]
pub(super) enum Reads {
    Nothing,
    Us,
}

impl Group {
    /// Starts a child. One whose group goes on after it has more to clean up than we know, so that it is
    /// asked to end first.
    pub(super) fn start(
        spec: &Spec,
        reads: Reads,
        after: GroupAfter,
    ) -> Result<Self, ProcessError> {
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
            Ok(child) => {
                let is_asked = after == GroupAfter::GoesOn;
                Ok(Self { child, marker, name, ended: false, is_asked })
            }
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
        self.ask_to_end();
        self.kill_group();
        sweep(&self.marker);
        let status = self.child.wait().await?;
        self.ended = true;
        Ok(status)
    }

    /// Gives the child a moment to end by itself.
    fn ask_to_end(&mut self) {
        if !self.is_asked || self.child.signal(Signal::TERM.as_raw()).is_err() {
            return;
        }
        let deadline = Instant::now() + CLEANING;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK);
        }
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
            self.ask_to_end();
            self.kill_group();
            sweep(&self.marker);
        }
    }
}
