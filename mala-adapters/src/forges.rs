//! Forges: where pull requests are read, and where comments are written.

mod commits;
pub mod github;
mod history;

pub use commits::{CommitSource, FetchError, fetch_commits};
pub use history::ForgeHistory;
