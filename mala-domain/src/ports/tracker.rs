//! The source of issues, and the place to file findings.

use super::BoxFuture;
use crate::run::issue::{IssueDraft, IssueId, TrackerIssue};
use thiserror::Error;

/// A tracker of issues. Every call has a time limit of its own.
pub trait Tracker: Send + Sync {
    /// The name that users write in `run.tracker`.
    fn name(&self) -> &str;

    /// All issues, closed ones and epics included, with labels, notes and edges.
    fn issues(&self) -> BoxFuture<'_, Result<Vec<TrackerIssue>, TrackerError>>;

    /// One issue.
    fn issue<'a>(&'a self, id: &'a IssueId) -> BoxFuture<'a, Result<TrackerIssue, TrackerError>>;

    /// Claims an issue for this owner and reads it again. The caller decides from status and
    /// assignee of the returned issue whether the claim succeeded.
    fn claim<'a>(
        &'a self,
        id: &'a IssueId,
        owner: &'a str,
    ) -> BoxFuture<'a, Result<TrackerIssue, TrackerError>>;

    /// Opens a claimed issue again, with the reason as a note where the tracker has notes.
    fn release<'a>(
        &'a self,
        id: &'a IssueId,
        reason: &'a str,
    ) -> BoxFuture<'a, Result<(), TrackerError>>;

    /// Closes an issue. Closing a closed one is no error.
    fn close<'a>(
        &'a self,
        id: &'a IssueId,
        reason: &'a str,
    ) -> BoxFuture<'a, Result<(), TrackerError>>;

    /// Creates an issue and returns its id.
    fn create<'a>(&'a self, draft: &'a IssueDraft) -> BoxFuture<'a, Result<IssueId, TrackerError>>;
}

/// Why a tracker does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TrackerError {
    /// It is not installed or not set up in this repository.
    #[error("{0}")]
    Unavailable(String),
    /// No issue has this id.
    #[error("no issue `{0}`")]
    Unknown(IssueId),
    /// Several issues have ids that start like this.
    #[error("`{id}` is ambiguous: it could be {found}")]
    Ambiguous {
        /// The start of an id.
        id: String,
        /// The ids.
        found: String,
    },
    /// It did not answer in time.
    #[error("{0}")]
    TimedOut(String),
    /// It failed, or its answer cannot be read.
    #[error("{0}")]
    Failed(String),
}
