//! A forge: where pull requests are, and where their comments are read and written.

use super::BoxFuture;
use crate::forge::{
    ComparedCommits, Discussion, DiscussionParts, ForgeWrite, PullRequest, PullRequestBranch,
    PullRequestRef, RepositoryName,
};
use thiserror::Error;

/// A forge.
pub trait Forge: Send + Sync {
    /// A pull request as it is.
    fn pull_request<'a>(
        &'a self,
        at: &'a PullRequestRef,
    ) -> BoxFuture<'a, Result<PullRequest, ForgeError>>;

    /// The open pull request of a branch, at any commit.
    fn pull_request_of<'a>(
        &'a self,
        branch: &'a PullRequestBranch,
    ) -> BoxFuture<'a, Result<Option<PullRequestRef>, ForgeError>>;

    /// The wanted parts of the discussion of a pull request.
    fn discussion<'a>(
        &'a self,
        at: &'a PullRequestRef,
        parts: &'a DiscussionParts,
    ) -> BoxFuture<'a, Result<Discussion, ForgeError>>;

    /// Compares two commits. `None` if the forge does not know them, or does not list all files.
    fn compare<'a>(
        &'a self,
        repository: &'a RepositoryName,
        commits: (&'a str, &'a str),
    ) -> BoxFuture<'a, Result<Option<ComparedCommits>, ForgeError>>;

    /// The requests of a write, as text.
    fn preview<'a>(
        &'a self,
        at: &'a PullRequestRef,
        write: &'a ForgeWrite,
    ) -> BoxFuture<'a, Result<String, ForgeError>>;

    /// Changes the discussion.
    fn write<'a>(
        &'a self,
        at: &'a PullRequestRef,
        write: &'a ForgeWrite,
    ) -> BoxFuture<'a, Result<(), ForgeError>>;
}

/// Why a forge does not perform a request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ForgeError {
    /// The token is missing, invalid or lacks a permission.
    #[error("{what}")]
    Forbidden {
        /// The answer.
        what: String,
        /// The permission that the token needs.
        hint: String,
    },
    /// There is no such pull request, or the token cannot see it.
    #[error("{what}")]
    NotFound {
        /// What is missing.
        what: String,
    },
    /// The forge does not accept the content, such as lines outside the diff.
    #[error("{0}")]
    Rejected(String),
    /// A write may or may not have happened, or was delayed: read the discussion again to see what
    /// is missing.
    #[error("{0}")]
    Uncertain(String),
    /// The forge is unreachable, fails, or demands too long a wait.
    #[error("{0}")]
    Unavailable(String),
}
