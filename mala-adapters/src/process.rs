//! Starts all child processes. A child gets its own process group, an explicit environment and
//! limits. Its whole group is killed when its owner is dropped.

mod child;
mod detached;
mod environment;
mod group;
mod locks;
mod table;

pub use child::{
    FinishedProcess, GroupPolicy, OutputWatcher, ProcessLimits, ProcessOutput, run, run_watched,
};
pub use detached::{
    StopRequest, Worker, discard_output, run_blocking, start_detached, start_worker,
    wait_for_stop_request,
};
pub use environment::{MARKER, ProcessEnvironment};
pub use group::{InteractiveProcess, start};
pub use locks::{HeldProcessLock, ProcessLocks};
pub use table::{
    adopt_orphans, descendants, has_process_inside, is_stopped, kill, kill_marked,
    kill_marked_inside, kill_orphans, kill_processes_inside, kill_started, start_time,
};

use mala_domain::ports::{CommandRun, CommandRunEnd};
use mala_domain::secrets;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// A program to start.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// A program name to look up on the path, or an absolute path.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder in which it runs.
    pub dir: PathBuf,
    /// Its whole environment.
    pub environment: ProcessEnvironment,
    /// Its stdin.
    pub stdin: Vec<u8>,
}

impl ProcessSpec {
    /// A program without arguments and with empty stdin.
    pub fn new(
        program: impl Into<OsString>,
        dir: impl Into<PathBuf>,
        environment: ProcessEnvironment,
    ) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            dir: dir.into(),
            environment,
            stdin: Vec::new(),
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets its stdin.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    fn name(&self) -> String {
        let program = std::path::Path::new(&self.program);
        program.file_name().unwrap_or(&self.program).to_string_lossy().into_owned()
    }
}

/// Why a child has no result.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// The program is not on PATH.
    #[error("`{program}` is not on PATH")]
    NotFound {
        /// The name that was looked up.
        program: String,
    },
    /// The program cannot be started.
    #[error("cannot start {program}")]
    NotStarted {
        /// Its name.
        program: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// It ran longer than its limit.
    #[error("{program}: stopped after {} s", after.as_secs_f32())]
    TimedOut {
        /// Its name.
        program: String,
        /// The limit.
        after: Duration,
        /// Its output until then.
        output: Box<ProcessOutput>,
    },
    /// It wrote nothing for longer than its limit.
    #[error("{program}: stopped after {} s without output", after.as_secs_f32())]
    Idle {
        /// Its name.
        program: String,
        /// The limit.
        after: Duration,
        /// Its output until then.
        output: Box<ProcessOutput>,
    },
    /// The connection to it broke.
    #[error("lost the connection to {program}")]
    Lost {
        /// Its name.
        program: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

/// Runs a shell command of the project in a folder, with stdout and stderr together. Its output has no secrets.
pub async fn run_shell(
    command: &str,
    folder: &Path,
    environment: ProcessEnvironment,
    limit: Duration,
) -> Result<CommandRun, ProcessError> {
    let script = format!("exec 2>&1\n{command}");
    let spec = ProcessSpec::new("sh", folder, environment).args(["-c", &script]);
    let (end, output) = match run(spec, ProcessLimits::within(limit)).await {
        Ok(finished) => {
            let signal = CommandRunEnd::Signal(finished.signal().unwrap_or_default());
            (finished.code().map_or(signal, CommandRunEnd::Exit), finished.output)
        }
        Err(ProcessError::TimedOut { output, .. }) => (CommandRunEnd::TimedOut, *output),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(CommandRun { end, output: secrets::redact(&text).into_owned() })
}
