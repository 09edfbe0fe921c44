//! What the rules need of the world, in their own words.

mod change_source;
mod coder;
mod gate;
mod history;
mod language_model;
mod ledger;
mod linters;
mod repository;
mod reviewer;
mod run_log;
mod search;
mod store;
mod task_store;
mod tracker;
mod workspaces;

pub use change_source::{ChangeSource, ReviewScope, ScopeError};
pub use coder::{Coder, CoderEnd, CoderOrder, CoderSession};
pub use gate::{LaneFailure, LaneOrder, LaneRun, LaneRunner, SessionFiles};
pub use history::{BlamedLine, Commit, CommitPrefix, History, LogQuery, ShownCommit, ToldCommit};
pub use language_model::{Billed, LanguageModel, Meter, ModelFailure, ModelFailureKind, Terms};
pub use ledger::{FindingFilter, FindingHistory, Ledger, LedgerError, StoredReview};
pub use linters::{LintMessage, LintTrouble, Linters};
pub use repository::{Blob, Repository, RepositoryError, Side, WordHit, WordQuery};
pub use reviewer::{Checked, Reviewer, ReviewerFailure, Verifier};
pub use run_log::{RunLog, RunLogError};
pub use search::{Case, FoundLines, Search, TextQuery, TreeEntry};
pub use store::{RunStore, StoreError};
pub use task_store::{ImportCount, TaskEvent, TaskStore};
pub use tracker::{Tracker, TrackerError};
pub use workspaces::{
    AdvanceResult, CommandRun, CommandRunEnd, CommitReach, MainLine, RangeSummary, RebaseResult,
    WorkCommit, Workspace, WorkspaceError, WorkspaceState, Workspaces,
};

/// A future behind a port.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
