//! Coding agents.

use super::{BoxFuture, Workspace};
use std::time::Duration;

/// A coding agent. What it says proves nothing: what it did is read from its workspace.
pub trait Coder: Send + Sync {
    /// The name that users write in `run.coder`.
    fn name(&self) -> &str;

    /// How its sessions are confined, in words for the report, such as `bubblewrap` or
    /// `not confined: bubblewrap is not installed`.
    fn confinement(&self) -> &str;

    /// Starts or resumes a session and waits for its end. Afterwards, and when the future is
    /// dropped, nothing that the session started runs any more.
    fn work<'a>(&'a self, order: CoderOrder<'a>) -> BoxFuture<'a, CoderSession>;
}

/// What a coder is asked to do.
#[derive(Clone, Copy)]
pub struct CoderOrder<'o> {
    /// Where it works.
    pub workspace: &'o Workspace,
    /// The id of the issue whose prefix its commits need: that of the epic or the summary issue for a fixer.
    /// Letters, digits, `.`, `_` and `-` only.
    pub issue: &'o str,
    /// What the subjects of its commits start with.
    pub prefix: &'o str,
    /// What it is told.
    pub prompt: &'o str,
    /// The session to resume; `None` starts one.
    pub resume: Option<&'o str>,
    /// How long it may take.
    pub max_time: Duration,
    /// How long it may print nothing and change nothing.
    pub max_idle: Duration,
    /// What it may spend, where it can be told.
    pub max_cost_usd: Option<f64>,
    /// Called with each line of its output that is worth showing.
    pub said: &'o (dyn Fn(&str) + Send + Sync),
}

/// What came of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct CoderSession {
    /// The id to resume it with, as far as it is known.
    pub session: Option<String>,
    /// How it ended.
    pub end: CoderEnd,
    /// Its final message.
    pub message: String,
    /// What this part of the session cost, where the coder says so.
    pub cost_usd: Option<f64>,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoderEnd {
    /// By itself, without an error.
    Finished,
    /// By itself, with this error.
    Failed(String),
    /// It printed nothing for too long and was terminated.
    Idle,
    /// It took too long and was terminated.
    TimedOut,
    /// It could not be started.
    Unavailable(String),
}
