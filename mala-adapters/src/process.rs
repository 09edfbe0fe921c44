//! The only place that starts a child. A child gets its own process group, an environment that is
//! spelled out, and limits; whatever happens, the whole group is gone when its owner is.

mod alive;
mod briefly;
mod child;
mod detached;
mod environment;
mod group;
mod leftovers;
mod session;
mod worker;

pub use alive::{is_stopped, kill, started};
pub use briefly::run_briefly;
pub use child::{Finished, GroupAfter, Limits, Output, Watch, run, run_watched};
pub use detached::start_detached;
pub use environment::{Environment, MARKER};
pub use leftovers::{
    adopt_orphans, descendants, end_inside, end_marked, end_marked_inside, end_orphans,
    end_started, is_anybody_inside,
};
pub use session::{Session, start};
pub use worker::{Parting, Worker, go_silent, start_worker, wait_for_parting};

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// What to start.
#[derive(Debug, Clone)]
pub struct Spec {
    /// A program name to look up on the path, or an absolute path.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub dir: PathBuf,
    /// All of its environment.
    pub environment: Environment,
    /// What it reads; nothing when empty.
    pub stdin: Vec<u8>,
}

impl Spec {
    /// A program without arguments and with nothing to read.
    pub fn new(
        program: impl Into<OsString>,
        dir: impl Into<PathBuf>,
        environment: Environment,
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

    /// What it reads from stdin.
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

/// Why a child gave no result.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// There is no such program on the path.
    #[error("{program}: not found on the path")]
    NotFound {
        /// The name that was looked up.
        program: String,
    },
    /// The program is there and cannot be started.
    #[error("{program}: cannot be started")]
    NotStarted {
        /// Its name.
        program: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// It ran longer than it may.
    #[error("{program}: stopped after {} s", after.as_secs_f32())]
    TimedOut {
        /// Its name.
        program: String,
        /// The limit.
        after: Duration,
        /// What it had written.
        output: Box<Output>,
    },
    /// It wrote nothing for longer than it may.
    #[error("{program}: stopped after {} s without output", after.as_secs_f32())]
    Idle {
        /// Its name.
        program: String,
        /// The limit.
        after: Duration,
        /// What it had written.
        output: Box<Output>,
    },
    /// Talking with it broke off.
    #[error("{program}: lost")]
    Lost {
        /// Its name.
        program: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}
