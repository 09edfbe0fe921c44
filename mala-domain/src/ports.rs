//! What the rules need of the world, in their own words.

mod repository;
mod reviewer;

pub use repository::{Blob, Repository, RepositoryError, Side, WordHit, WordQuery};
pub use reviewer::{Reviewer, ReviewerFailure};

/// A future behind a port.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
