//! Forges: where pull requests are read, and where comments are written.

mod cache;
mod client;
mod commits;
pub mod github;
pub mod gitlab;
mod history;
mod port;

pub use client::WaitNotice;
pub use commits::{CommitSource, FetchError, fetch_commits};
pub use history::ForgeHistory;
