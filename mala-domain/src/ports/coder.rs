//! Coding agents.

use super::{BoxFuture, Workspace};
use std::time::Duration;

/// A coding agent. Its output proves nothing: its work is read from the workspace.
pub trait Coder: Send + Sync {
    /// The name that users write in `run.coder`.
    fn name(&self) -> &str;

    /// How its sessions are sandboxed, as text for the report, such as `bubblewrap` or `not
    /// confined: bubblewrap is not installed`.
    fn confinement(&self) -> &str;

    /// Starts or resumes a session and waits for its end. Afterwards, or when the future is
    /// dropped, no process of the session is left.
    fn work<'a>(&'a self, order: CoderOrder<'a>) -> BoxFuture<'a, CoderSession>;
}

/// A task for a coder.
#[derive(Clone, Copy)]
pub struct CoderOrder<'o> {
    /// The workspace.
    pub workspace: &'o Workspace,
    /// The id of the issue whose prefix its commits need: that of the epic or the summary issue for a fixer.
    /// Letters, digits, `.`, `_` and `-` only.
    pub issue: &'o str,
    /// The prefix of its commit subjects.
    pub prefix: &'o str,
    /// The prompt.
    pub prompt: &'o str,
    /// The session to resume; `None` starts one.
    pub resume: Option<&'o str>,
    /// The time limit.
    pub max_time: Duration,
    /// The time limit without output and without changes.
    pub max_idle: Duration,
    /// The cost limit, if the coder supports one.
    pub max_cost_usd: Option<f64>,
    /// Called with each line of its output that is worth showing.
    pub said: &'o (dyn Fn(&str) + Send + Sync),
}

/// The result of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct CoderSession {
    /// The id to resume it with, as far as it is known.
    pub session: Option<String>,
    /// How it ended.
    pub end: CoderEnd,
    /// Its final message.
    pub message: String,
    /// The cost of this part of the session, if the coder reports it.
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
    /// It was terminated because it printed nothing for too long.
    Idle,
    /// It took too long and was terminated.
    TimedOut,
    /// It could not be started.
    Unavailable(String),
}
