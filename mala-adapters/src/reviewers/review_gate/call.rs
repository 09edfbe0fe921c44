//! One review by an external gate. Dropping it before the gate has answered cancels the session.

use super::{ExternalGateSettings, NAME};
use crate::process::{
    self, FinishedProcess, ProcessEnvironment, ProcessError, ProcessLimits, ProcessSpec,
    run_blocking,
};
use mala_domain::gate::client::CommandEnd;
use mala_domain::gate::{CALL, TIME};
use mala_domain::ports::ReviewerFailure;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// The time limits of starting the reviewers, in total and without output.
const SPAWN_TIME: Duration = Duration::from_secs(180);
const SPAWN_SILENCE: Duration = Duration::from_secs(120);
/// The time limit of cancelling a session.
const CANCEL_TIME: Duration = Duration::from_secs(10);
/// The minimum time that is reserved for the steps after the reviewers.
const MARGIN: Duration = Duration::from_secs(5);
/// The output limits of a gate, in bytes.
const MAX_SPAWNED: usize = 1 << 20;
const MAX_WAITED: usize = 32 << 20;

const STATE_ROOT: &str = "CERBERUS_STATE_ROOT";
const PROJECT: &str = "CERBERUS_PROJECT_KEY";
const RUN: &str = "CERBERUS_RUN_KEY";

/// A command of the gate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GateStep {
    /// Starts the reviewers, which keep running.
    Spawn,
    /// Waits for the reviewers, without output until the end.
    Wait,
}

/// The output of a command of the gate.
pub(super) struct GateCommandOutput {
    pub(super) code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl GateCommandOutput {
    pub(super) fn ended(&self) -> CommandEnd<'_> {
        CommandEnd { code: self.code, stdout: &self.stdout, stderr: &self.stderr }
    }
}

pub(super) struct GateCall<'s> {
    settings: &'s ExternalGateSettings,
    environment: ProcessEnvironment,
    /// The key of this call.
    own_key: String,
    /// The session to cancel.
    open: Option<String>,
}

impl<'s> GateCall<'s> {
    pub(super) fn new(
        settings: &'s ExternalGateSettings,
        key: &str,
        scratch: &Path,
        time: Duration,
    ) -> Self {
        let mut environment = settings
            .environment
            .clone()
            // Other gates find their session by these.
            .with("CERBERUS_HOST", "generic")
            .with(STATE_ROOT, scratch.join("state"))
            .with(PROJECT, "mala");
        for (name, value) in &settings.env {
            environment = environment.with(name, value);
        }
        // The session is always that of this call, never one of another call.
        let environment = environment.with(RUN, key).with("CLAUDE_SESSION_ID", key);
        // Reviewers get less time than the review, so that the others count if one hangs.
        let reviewers = time.saturating_sub((time / 4).max(MARGIN)).max(time / 2);
        let seconds = reviewers.as_secs().max(1).to_string();
        let environment = environment.with(CALL, key).with(TIME, seconds);
        Self { settings, environment, own_key: key.to_owned(), open: None }
    }

    /// The key of the run, for a gate that stores files.
    pub(super) fn run_key(&self) -> &str {
        &self.own_key
    }

    /// The folder of these files.
    pub(super) fn run_folder(&self) -> PathBuf {
        let part = |name: &str| self.environment.get(name).unwrap_or_default();
        Path::new(part(STATE_ROOT)).join(part(PROJECT)).join(part(RUN))
    }

    /// The gate started a session.
    pub(super) fn is_open(&mut self, key: Option<String>) {
        self.open = Some(key.unwrap_or_else(|| self.own_key.clone()));
    }

    /// The gate answered. After a timeout its reviewers are still running.
    pub(super) fn is_over(&mut self, code: Option<i32>) {
        if code.is_some_and(|code| code != 3) {
            self.open = None;
        }
    }

    pub(super) async fn run(
        &mut self,
        arguments: Vec<String>,
        command: GateStep,
        deadline: Instant,
    ) -> Result<GateCommandOutput, ReviewerFailure> {
        let left = deadline.saturating_duration_since(Instant::now());
        let limits = match command {
            GateStep::Spawn => {
                let time = left.min(SPAWN_TIME);
                ProcessLimits::within(time).idle(SPAWN_SILENCE).stdout(MAX_SPAWNED).keep_group()
            }
            GateStep::Wait => ProcessLimits::within(left).stdout(MAX_WAITED),
        };
        if command == GateStep::Spawn {
            // Until the gate names the session, it is known by the key of this call.
            self.open = Some(self.own_key.clone());
        }
        let ended = process::run(self.spec(arguments), limits).await;
        if command == GateStep::Spawn && ended.is_ok() {
            self.open = None;
        }
        answered(ended)
    }

    fn spec(&self, arguments: Vec<String>) -> ProcessSpec {
        let (program, first) = match self.settings.command.split_first() {
            Some((program, first)) => (program.as_str(), first),
            None => ("", &[][..]),
        };
        ProcessSpec::new(program, &self.settings.folder, self.environment.clone())
            .args(first.iter().cloned())
            .args(arguments)
    }
}

fn answered(
    ended: Result<FinishedProcess, ProcessError>,
) -> Result<GateCommandOutput, ReviewerFailure> {
    match ended {
        Ok(finished) if finished.output.stdout_cut => {
            let n_bytes = finished.output.stdout.len();
            let why = format!("the gate printed more than {n_bytes} bytes");
            Err(ReviewerFailure::Unreadable(why))
        }
        Ok(finished) => Ok(GateCommandOutput {
            code: finished.code(),
            stdout: String::from_utf8_lossy(&finished.output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&finished.output.stderr).into_owned(),
        }),
        Err(ProcessError::TimedOut { .. } | ProcessError::Idle { .. }) => {
            Err(ReviewerFailure::timeout())
        }
        Err(error @ (ProcessError::NotFound { .. } | ProcessError::NotStarted { .. })) => {
            Err(ReviewerFailure::Unavailable(error.to_string()))
        }
        Err(error) => Err(ReviewerFailure::Crashed(error.to_string())),
    }
}

impl Drop for GateCall<'_> {
    /// Cancels the session, and kills its remaining processes.
    fn drop(&mut self) {
        if let Some(key) = self.open.take() {
            let arguments = ["cancel", "--session-key", &key].map(str::to_owned).to_vec();
            if let Err(error) = run_blocking(&self.spec(arguments), CANCEL_TIME) {
                tracing::debug!(reviewer = NAME, %error, "the session is not cancelled");
            }
        }
        process::kill_marked(CALL, &self.own_key);
    }
}
