//! What the rules need of the world, in their own words.

mod change_source;
mod language_model;
mod repository;
mod reviewer;
mod store;

pub use change_source::{ChangeSource, ScopeError, Scoped};
pub use language_model::{LanguageModel, ModelFailure, ModelFailureKind};
pub use repository::{Blob, Repository, RepositoryError, Side, WordHit, WordQuery};
pub use reviewer::{Reviewer, ReviewerFailure};
pub use store::{RunStore, StoreError};

/// A future behind a port.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
