//! What the rules need of the world, in their own words.

mod change_source;
mod gate;
mod history;
mod language_model;
mod ledger;
mod linters;
mod repository;
mod reviewer;
mod search;
mod store;

pub use change_source::{ChangeSource, ReviewScope, ScopeError};
pub use gate::{LaneFailure, LaneOrder, LaneRun, LaneRunner, SessionFiles};
pub use history::{
    BlamedLine, Commit, CommitPrefix, CommitWithDiff, CommitWithMessage, History, LogQuery,
};
pub use language_model::{
    BillingStatus, CallTerms, LanguageModel, ModelFailure, ModelFailureKind, RequestMeter,
};
pub use ledger::{FindingFilter, FindingHistory, Ledger, LedgerError, StoredReview};
pub use linters::{LintFailure, LintMessage, Linters};
pub use repository::{Blob, Repository, RepositoryError, Side, WordHit, WordQuery};
pub use reviewer::{Reviewer, ReviewerFailure, Verifier, VerifierResult};
pub use search::{CaseSensitivity, FoundLines, Search, TextQuery, TreeEntry};
pub use store::{RunStore, StoreError};

/// A future behind a port.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
