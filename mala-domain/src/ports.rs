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
pub use history::{BlamedLine, Commit, CommitPrefix, History, LogQuery, ShownCommit, ToldCommit};
pub use language_model::{Billed, LanguageModel, Meter, ModelFailure, ModelFailureKind, Terms};
pub use ledger::{
    ChangeHistory, FindingFilter, FindingHistory, HistoryMoves, Ledger, LedgerError,
    ReviewedCommits, StateUpdate, StoredReview,
};
pub use linters::{LintMessage, LintTrouble, Linters};
pub use repository::{Blob, Repository, RepositoryError, Side, WordHit, WordQuery};
pub use reviewer::{Checked, Reviewer, ReviewerFailure, Verifier};
pub use search::{Case, FoundLines, Search, TextQuery, TreeEntry};
pub use store::{RunStore, StoreError};

/// A future behind a port.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
