//! One call of a `bd` program.

use crate::process::{
    FinishedProcess, ProcessEnvironment, ProcessError, ProcessLimits, ProcessSpec, run,
};
use mala_domain::ports::TrackerError;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// The time limit of one call, unless another one is set.
const TIME: Duration = Duration::from_secs(30);

/// How many characters of an unexpected answer are shown.
const MAX_SHOWN: usize = 200;

/// The program and where it runs.
pub(super) struct BeadsProgram {
    dir: PathBuf,
    environment: ProcessEnvironment,
    pub(super) limit: Duration,
}

impl BeadsProgram {
    /// `bd` in this folder, with the variables of the user that it supports. It must not update
    /// itself.
    pub(super) fn new(dir: PathBuf, variables: &ProcessEnvironment) -> Self {
        let all = || variables.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut environment = ProcessEnvironment::filtered(all()).without("GIT_INDEX_FILE");
        let is_own = |name: &str| name.starts_with("BD_") || name.starts_with("BEADS_");
        for (name, value) in all().filter(|(name, _)| name.to_str().is_some_and(is_own)) {
            environment = environment.with(name, value);
        }
        let environment = environment.with("BD_NO_AUTO_UPGRADE", "1").with("NO_COLOR", "1");
        Self { dir, environment, limit: TIME }
    }

    /// The output of a call.
    pub(super) async fn text(&self, arguments: &[&str]) -> Result<String, TrackerError> {
        let finished = self.finish(arguments).await?;
        Ok(String::from_utf8_lossy(&finished.output.stdout).into_owned())
    }

    /// The JSON that a call prints.
    pub(super) async fn json(&self, arguments: &[String]) -> Result<Value, TrackerError> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let command = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
        let finished = self.finish(&words).await?;
        let stdout = String::from_utf8_lossy(&finished.output.stdout);
        if finished.code() != Some(0) {
            let stderr = finished.output.stderr_text();
            let line = stderr.lines().chain(stdout.lines()).find(|line| !line.trim().is_empty());
            let why = shown(line.unwrap_or("no message"));
            let exit = finished.code().map_or("killed".to_owned(), |code| format!("exit {code}"));
            let message = format!("bd {command}: {exit}: {why}");
            return Err(match why.contains("no_remote") {
                true => TrackerError::Unavailable(message),
                false => TrackerError::Failed(message),
            });
        }
        parsed(&stdout).ok_or_else(|| {
            let answer = shown(&stdout);
            TrackerError::Failed(format!("bd {command}: its answer is not JSON: {answer}"))
        })
    }

    async fn finish(&self, arguments: &[&str]) -> Result<FinishedProcess, TrackerError> {
        let spec = ProcessSpec::new("bd", &self.dir, self.environment.clone())
            .args(arguments.iter().copied());
        // A call may start a daemon that later calls use.
        run(spec, ProcessLimits::within(self.limit).keep_group()).await.map_err(|error| match error
        {
            ProcessError::NotFound { .. } => {
                TrackerError::Unavailable("`bd` is not on PATH".to_owned())
            }
            ProcessError::TimedOut { .. } => {
                let command = arguments.iter().find(|word| !word.starts_with('-'));
                let command = command.copied().unwrap_or_default();
                let limit = self.limit.as_secs_f32();
                TrackerError::TimedOut(format!("bd {command}: no answer in {limit} s"))
            }
            other => TrackerError::Failed(other.to_string()),
        })
    }
}

/// An answer, though a line of text may be before it.
fn parsed(stdout: &str) -> Option<Value> {
    let text = stdout.trim();
    serde_json::from_str(text).ok().or_else(|| {
        let start = text.find("\n{").into_iter().chain(text.find("\n[")).min()?;
        serde_json::from_str(text.get(start..)?).ok()
    })
}

fn shown(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect()
}
