//! The ports of a panel: running a lane, and storing the files of a session.

use super::{BoxFuture, StoreError};
use crate::gate::lane::{Lane, LaneFailureKind};
use crate::review::Usage;
use serde_json::Value;
use std::time::Duration;

/// One question to a lane.
pub struct LaneOrder<'o> {
    /// Who is asked.
    pub lane: &'o Lane,
    /// A name for the files of this question, such as `review`.
    pub question: &'o str,
    /// What it is told.
    pub prompt: &'o str,
    /// The form of the answer.
    pub schema: &'o Value,
    /// How hard it thinks, where that can be said.
    pub reasoning: &'o str,
    /// How long it may take.
    pub wall: Duration,
    /// Whether a text is a complete answer to this question.
    pub is_answer: &'o (dyn Fn(&str) -> bool + Send + Sync),
    /// Whether a text that is no answer weighs against one, and is to be read beside it.
    pub weighs: &'o (dyn Fn(&str) -> bool + Send + Sync),
    /// Called once, when its process runs.
    pub started: &'o (dyn Fn() + Send + Sync),
}

/// What came of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LaneRun {
    /// What it answered, if that is an answer or may be one.
    pub answer: Option<String>,
    /// Why it has no answer.
    pub failure: Option<LaneFailure>,
    /// How its process ended by itself.
    pub exit_code: Option<i32>,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What it used.
    pub usage: Usage,
    /// Files of the tree that it wrote.
    pub wrote: Vec<String>,
    /// What changed in the work tree of the user while it ran.
    pub user_changes: Vec<String>,
    /// Where its tree was.
    pub roots: Vec<String>,
}

/// Why a lane has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneFailure {
    /// Its kind.
    pub kind: LaneFailureKind,
    /// In words.
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
