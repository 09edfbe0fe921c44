//! Evals over real adapters: cases are checked out as repositories and reviewed like any other change.

mod captured;
mod case_reviewer;
mod git;
mod judge;
mod sets;

pub use captured::{keep_captured, reviewed_code};
pub use case_reviewer::{CaseReviewer, ConfiguredReviewer, EvalReviewer};
pub use git::{CaseRepositories, EvalGit, OpenedRepository, SampleRepository};
pub use judge::JudgeSetup;
pub use mala_adapters::models::call_tracker::CallTracker;
pub use mala_adapters::models::recording::LostCalls;
pub use sets::{PLANTED_SET, STARTER, begin_set, find_set, prepare_state, starter};

use crate::environment::Environment;
use crate::wiring::changes::failure;
use crate::wiring::gate::variables;
use anyhow::Context;
use mala_adapters::models::recording;
use mala_adapters::process::{self, ProcessSpec, StopRequest, Worker};
use mala_eval::plant::PlantError;
use std::io;
use std::path::Path;
use tokio::sync::oneshot;

/// A target that cannot be resolved is a usage error.
pub fn plant_failure(error: PlantError) -> anyhow::Error {
    match error {
        PlantError::Scope(error) => failure(error).into(),
        other => other.into(),
    }
}

/// The calls in the recordings below a folder whose answers are lost.
pub fn lost_calls_below(folder: &Path) -> io::Result<LostCalls> {
    recording::lost_calls_below(folder)
}

/// Starts this program again as the worker of a run, so that no answer is lost when the command is killed.
pub fn start_worker(here: &Environment, flag: &str) -> anyhow::Result<Worker> {
    let program = std::env::current_exe().context("finding this program")?;
    let same = std::env::args_os().skip(1).chain([flag.into()]);
    let spec = ProcessSpec::new(program, &here.folder, variables(here)).args(same);
    process::start_worker(&spec).context("starting the worker process")
}

/// Signals that a run must stop early.
pub struct StopSignal(Option<oneshot::Receiver<StopRequest>>);

impl StopSignal {
    /// Never signals.
    pub fn never() -> Self {
        Self(None)
    }

    /// The signals of a worker: its parent process requests a stop or is gone.
    pub fn of_worker() -> Self {
        let (sender, when) = oneshot::channel();
        std::thread::spawn(move || sender.send(process::wait_for_stop_request()));
        Self(Some(when))
    }

    /// Waits until the run must stop and the calls in progress have ended. When the parent process
    /// is gone, prints nothing more.
    pub async fn after_calls(self, calls: &CallTracker) {
        let Some(when) = self.0 else { return std::future::pending().await };
        let parting = when.await.unwrap_or(StopRequest::Disconnected);
        calls.close();
        if parting == StopRequest::Disconnected
            && let Err(error) = process::discard_output()
        {
            tracing::debug!(%error, "stdout and stderr stay");
        }
        calls.drained().await;
    }
}
