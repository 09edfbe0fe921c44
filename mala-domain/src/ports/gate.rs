//! The ports of a panel: running a lane, and storing the files of a session.

use super::{BoxFuture, StoreError};
use crate::gate::lane::{Lane, LaneFailureKind};
use crate::review::Usage;
use serde_json::Value;
use std::time::Duration;

/// One question to a lane.
pub struct LaneOrder<'o> {
    /// The lane.
    pub lane: &'o Lane,
    /// A name for the files of this question, such as `review`.
    pub question: &'o str,
    /// The prompt.
    pub prompt: &'o str,
    /// The form of the answer.
    pub schema: &'o Value,
    /// The reasoning effort, for lanes that support it.
    pub reasoning: &'o str,
    /// The time limit.
    pub wall: Duration,
    /// Whether a text is a complete answer to this question.
    pub is_answer: &'o (dyn Fn(&str) -> bool + Send + Sync),
    /// Whether a text that is not an answer contains an objection, and must be considered beside
    /// the answer.
    pub weighs: &'o (dyn Fn(&str) -> bool + Send + Sync),
    /// Called once, when its process runs.
    pub started: &'o (dyn Fn() + Send + Sync),
}

/// The result of one question to a lane.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LaneRun {
    /// The answer, or a text that may be one.
    pub answer: Option<String>,
    /// Why it has no answer.
    pub failure: Option<LaneFailure>,
    /// The exit code, if its process ended by itself.
    pub exit_code: Option<i32>,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The usage.
    pub usage: Usage,
    /// Files of the tree that it wrote.
    pub wrote: Vec<String>,
    /// Changes in the user's work tree while it ran.
    pub user_changes: Vec<String>,
    /// The folders in which its tree was.
    pub roots: Vec<String>,
}

/// Why a lane has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneFailure {
    /// Its kind.
    pub kind: LaneFailureKind,
    /// The reason.
    pub why: String,
}

/// Runs lanes.
pub trait LaneRunner: Send + Sync {
    /// Asks a lane and waits for its end. Nothing of it runs any more afterwards.
    fn run<'a>(&'a self, order: LaneOrder<'a>) -> BoxFuture<'a, LaneRun>;
}

/// Keeps the files of a session; each is whole or not there.
pub trait SessionFiles: Send + Sync {
    /// Writes a file, in place of the one that was there.
    fn write(&self, name: &str, text: &str) -> Result<(), StoreError>;
}
