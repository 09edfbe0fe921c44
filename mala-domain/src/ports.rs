//! The ports: traits through which the domain and the pipeline reach the outside.

mod coder;
mod forge;
mod gate;
mod history;
mod language_model;
mod ledger;
mod repository;
mod reviewer;
mod search;
mod task_store;
mod tracker;
mod workspaces;

pub use coder::{Coder, CoderEnd, CoderOrder, CoderSession};
pub use forge::{Forge, ForgeError};
pub use gate::{LaneFailure, LaneOrder, LaneRun, LaneRunner, SessionFiles};
pub use history::{
    BlamedLine, Commit, CommitPrefix, CommitWithDiff, CommitWithMessage, History, LogQuery,
};
pub use language_model::{
    BillingStatus, CallTerms, LanguageModel, ModelFailure, ModelFailureKind, RequestMeter,
};
pub use ledger::{
    ChangeHistory, FindingFilter, FindingHistory, HistoryMoves, Ledger, LedgerError,
    ReviewedCommits, StateUpdate, StoredReview,
};
pub use repository::{Blob, Repository, RepositoryError, Side, WordHit, WordQuery};
pub use reviewer::{Reviewer, ReviewerFailure, Verifier, VerifierResult};
pub use search::{CaseSensitivity, FoundLines, Search, TextQuery, TreeEntry};
pub use task_store::{ImportCount, TaskEvent, TaskStore};
pub use tracker::{Tracker, TrackerError};
pub use workspaces::{
    AdvanceResult, CommandRun, CommandRunEnd, CommitReach, MainLine, OutsideItem, RangeSummary,
    RebaseResult, WorkCommit, Workspace, WorkspaceError, WorkspaceState, Workspaces,
    outside_changes,
};

use crate::change::{Change, FilePath};
use crate::config::LinterName;
use crate::review::ReviewContext;
use crate::scope::{ReviewTarget, ScopeSummary};
use std::sync::Arc;
use thiserror::Error;

/// A future behind a port.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A change, its scope, and the tree that it is in.
#[derive(Clone)]
pub struct ReviewScope {
    /// Exactly what is reviewed.
    pub scope: ScopeSummary,
    /// The change.
    pub change: Arc<Change>,
    /// The tree at base and at head.
    pub tree: Arc<dyn Repository>,
    /// The source of configuration, rules and waivers, if it is not the base of `tree`.
    pub trusted: Option<TrustedTree>,
}

/// The files that decide about a review.
#[derive(Clone)]
pub struct TrustedTree {
    /// The commit.
    pub commit: String,
    /// A tree with this commit as its base.
    pub tree: Arc<dyn Repository>,
}

impl ReviewScope {
    /// The tree whose base has the configuration, the rules and the waivers.
    pub fn trusted_tree(&self) -> &Arc<dyn Repository> {
        self.trusted.as_ref().map_or(&self.tree, |trusted| &trusted.tree)
    }

    /// The commit with the configuration, the rules and the waivers.
    pub fn trusted_commit(&self) -> Option<&str> {
        let trusted = self.trusted.as_ref().map(|trusted| trusted.commit.as_str());
        trusted.or(self.scope.base.as_deref())
    }
}

/// Resolves a target to a change.
pub trait ChangeSource: Send + Sync {
    /// The change that `target` names, kept to these paths when there are any.
    fn scope<'a>(
        &'a self,
        target: &'a ReviewTarget,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<ReviewScope, ScopeError>>;
}

/// Why there is no change to review.
#[derive(Debug, Error)]
pub enum ScopeError {
    /// The request is invalid: an unknown revision, a path outside, an invalid patch.
    #[error("{what}")]
    Asked {
        /// What is wrong with it.
        what: String,
        /// How to fix it.
        hint: Option<String>,
    },
    /// The repository or git itself fails.
    #[error("{what}")]
    Broken {
        /// What failed.
        what: String,
        /// How to fix it.
        hint: Option<String>,
    },
}

/// A message of a linter about a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintMessage {
    /// The linter's name for it.
    pub rule: String,
    /// The 1-based line.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// The severity in the linter's output: `error`, `warning` or `note`.
    pub severity: &'static str,
}

/// Why a linter failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LintFailure(pub String);

/// Runs the project's linters over files of the reviewed tree.
pub trait Linters: Send + Sync {
    /// Runs a linter on one file at head. Returns its messages in the order of lines.
    fn lint<'a>(
        &'a self,
        request: &'a ReviewContext,
        linter: LinterName,
        file: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<LintMessage>, LintFailure>>;
}

/// Keeps each review's files in a folder of their own.
pub trait RunStore: Send + Sync {
    /// Checks that a folder of this name can be written, and returns its path.
    fn prepare(&self, name: &str) -> Result<String, StoreError>;

    /// Writes all files or none.
    fn save(&self, name: &str, files: &[(&str, String)]) -> Result<(), StoreError>;
}

/// Why files could not be kept.
#[derive(Debug, Error)]
#[error("{what}: {source}")]
pub struct StoreError {
    /// What could not be written.
    pub what: String,
    /// The cause.
    pub source: std::io::Error,
}

/// A notification for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserNotification {
    /// One line.
    pub title: String,
    /// The text below it.
    pub message: String,
    /// The name of a sound.
    pub sound: Option<String>,
}

/// Sends notifications to a person. A failure never changes a result.
pub trait Notifier: Send + Sync {
    /// The name of the channel, such as `webhook`.
    fn name(&self) -> &str;

    /// Sends a notification. The error says why it was not sent.
    fn notify<'a>(
        &'a self,
        notification: &'a UserNotification,
    ) -> BoxFuture<'a, Result<(), String>>;
}

/// The log of a run: append-only events, and its metadata. The value exists only while the run
/// holds the lock of its repository.
pub trait RunLog: Send + Sync {
    /// Adds a line to the log. It is on disk when this returns.
    fn append(&self, line: &str) -> Result<(), RunLogError>;

    /// The lines of the log, the oldest first. A last line that was not completely written is
    /// left out.
    fn lines(&self) -> Result<Vec<String>, RunLogError>;

    /// Starts an empty log; the old one is kept under the name of its run.
    fn start(&self, run_id: &str) -> Result<(), RunLogError>;

    /// The metadata, if there is any.
    fn metadata(&self) -> Result<Option<String>, RunLogError>;

    /// Replaces the metadata atomically.
    fn save_metadata(&self, text: &str) -> Result<(), RunLogError>;

    /// Writes a file of the final report and returns where it is.
    fn save_report(&self, name: &str, text: &str) -> Result<String, RunLogError>;
}

/// Why a run cannot remember.
#[derive(Debug, Error)]
pub enum RunLogError {
    /// Another run holds the lock of the repository.
    #[error("another run holds the lock: {holder}")]
    Locked {
        /// The process that holds it, its host and start time.
        holder: String,
    },
    /// A file cannot be read or written.
    #[error("{what}: {source}")]
    Io {
        /// The file.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
}
