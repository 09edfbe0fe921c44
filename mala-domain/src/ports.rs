//! The ports: traits through which the domain and the pipeline reach the outside.

mod forge;
mod gate;
mod history;
mod language_model;
mod ledger;
mod repository;
mod reviewer;
mod search;

pub use forge::{Forge, ForgeError};
pub use gate::{LaneFailure, LaneOrder, LaneRun, LaneRunner, SessionFiles};
pub use history::{
    BlamedLine, Commit, CommitPrefix, CommitWithDiff, CommitWithMessage, History, LogQuery,
};
pub use language_model::{
    BillingStatus, CallTerms, LanguageModel, ModelFailure, ModelFailureKind, RequestMeter,
};
pub use ledger::{FindingFilter, FindingHistory, Ledger, LedgerError, StoredReview};
pub use repository::{Blob, Repository, RepositoryError, Side, WordHit, WordQuery};
pub use reviewer::{Reviewer, ReviewerFailure, Verifier, VerifierResult};
pub use search::{CaseSensitivity, FoundLines, Search, TextQuery, TreeEntry};

use crate::change::{Change, FilePath};
use crate::config::LinterName;
use crate::review::ReviewContext;
use crate::scope::{ReviewTarget, ScopeSummary};
use std::sync::Arc;
use thiserror::Error;

/// A future behind a port.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A change, exactly what it is, and the tree it is in.
#[derive(Clone)]
pub struct ReviewScope {
    /// Exactly what is reviewed.
    pub scope: ScopeSummary,
    /// What changed.
    pub change: Arc<Change>,
    /// The tree at base and at head.
    pub tree: Arc<dyn Repository>,
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
        /// What to do.
        hint: Option<String>,
    },
    /// The repository or git itself fails.
    #[error("{what}")]
    Broken {
        /// What fails.
        what: String,
        /// What to do.
        hint: Option<String>,
    },
}

/// What a linter says of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintMessage {
    /// The linter's name for it.
    pub rule: String,
    /// The 1-based line.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// How serious the linter finds it: `error`, `warning` or `note`.
    pub severity: &'static str,
}

/// Why a linter failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LintFailure(pub String);

/// Runs the project's linters over files of the reviewed tree.
pub trait Linters: Send + Sync {
    /// What one linter says of one file at head, in the order of its lines.
    fn lint<'a>(
        &'a self,
        request: &'a ReviewContext,
        linter: LinterName,
        file: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<LintMessage>, LintFailure>>;
}

/// Keeps each review's files in a folder of their own.
pub trait RunStore: Send + Sync {
    /// Where the folder of this name will be, once it is known that it can be written.
    fn prepare(&self, name: &str) -> Result<String, StoreError>;

    /// Writes all of these files, or none.
    fn save(&self, name: &str, files: &[(&str, String)]) -> Result<(), StoreError>;
}

/// Why files could not be kept.
#[derive(Debug, Error)]
#[error("{what}: {source}")]
pub struct StoreError {
    /// What was being written.
    pub what: String,
    /// The cause.
    pub source: std::io::Error,
}
