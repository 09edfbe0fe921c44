//! A running child with its session and process group. Dropping it kills the group.

use super::table::{fresh_marker, kill_marked_with};
use super::{GroupPolicy, MARKER, ProcessError, ProcessSpec};
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession};
use rustix::process::Signal;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

pub(super) struct ProcessGroup {
    child: Box<dyn ChildWrapper>,
    marker: String,
    name: String,
    ended: bool,
    /// Whether to send a request to exit before killing it.
    is_asked: bool,
}

/// How long a child may clean up when it is asked to exit, and how often to check.
const CLEANING: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(10);

/// The stdin of the child.
#[derive(Clone, Copy)]
pub(super) enum StdinSource {
    Nothing,
    Us,
}

impl ProcessGroup {
    /// Starts a child. If its group may outlive it, the child gets a request to exit before it is
    /// killed, so that it can clean up.
    pub(super) fn start(
        spec: &ProcessSpec,
        reads: StdinSource,
        after: GroupPolicy,
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
                StdinSource::Nothing => Stdio::null(),
                StdinSource::Us => Stdio::piped(),
            });
        });
        match command.wrap(ProcessSession).wrap(KillOnDrop).spawn() {
            Ok(child) => {
                let is_asked = after == GroupPolicy::Keep;
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

    /// Waits for the child, then kills what is left of its group, according to the policy.
    pub(super) async fn wait(&mut self, after: GroupPolicy) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        if after == GroupPolicy::Kill {
            self.kill_group();
        }
        self.ended = true;
        Ok(status)
    }

    /// Kills the group and processes that left it, and waits for the child.
    pub(super) async fn stop(&mut self) -> std::io::Result<ExitStatus> {
        self.ask_to_exit();
        self.kill_group();
        kill_marked_with(&self.marker);
        let status = self.child.wait().await?;
        self.ended = true;
        Ok(status)
    }

    /// Gives the child time to exit.
    fn ask_to_exit(&mut self) {
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
            tracing::trace!(program = self.name, %error, "the group has already exited");
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.ended {
            self.ask_to_exit();
            self.kill_group();
            kill_marked_with(&self.marker);
        }
    }
}

/// How long to wait for the stderr of a child that stopped answering.
const STDERR_TIMEOUT: Duration = Duration::from_millis(200);

/// A running child with open pipes, such as `git cat-file --batch`. Dropping it kills its group.
pub struct InteractiveProcess {
    /// Its stdin.
    pub stdin: ChildStdin,
    /// Its stdout.
    pub stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
    _group: ProcessGroup,
}

/// Starts an interactive child.
pub fn start(spec: &ProcessSpec) -> Result<InteractiveProcess, ProcessError> {
    let mut group = ProcessGroup::start(spec, StdinSource::Us, GroupPolicy::Kill)?;
    match group.take_pipes() {
        (Some(stdin), Some(stdout), Some(stderr)) => {
            Ok(InteractiveProcess { stdin, stdout: BufReader::new(stdout), stderr, _group: group })
        }
        _ => Err(ProcessError::Lost {
            program: group.name().to_owned(),
            source: std::io::ErrorKind::BrokenPipe.into(),
        }),
    }
}

impl InteractiveProcess {
    /// Its stderr, after it has stopped answering.
    pub async fn read_stderr(&mut self) -> String {
        let mut words = Vec::new();
        let mut stderr = (&mut self.stderr).take(4096);
        if let Ok(Err(error)) = timeout(STDERR_TIMEOUT, stderr.read_to_end(&mut words)).await {
            tracing::debug!(%error, "cannot read the stderr of a child");
        }
        String::from_utf8_lossy(&words).trim().to_owned()
    }
}
