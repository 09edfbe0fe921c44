//! Implements the port of a forge with plain async functions, so that each forge only implements
//! the differences.

use super::client::ApiWrite;
use mala_domain::forge::{
    ComparedCommits, Discussion, DiscussionParts, ForgeWrite, PullRequest, PullRequestBranch,
    PullRequestRef, RepositoryName,
};
use mala_domain::ports::{BoxFuture, Forge, ForgeError};
use std::future::Future;

/// The functions of the port `Forge`, where they are documented.
pub(super) trait AsyncForge: Send + Sync {
    fn pull_request(
        &self,
        at: &PullRequestRef,
    ) -> impl Future<Output = Result<PullRequest, ForgeError>> + Send;

    fn pull_request_of(
        &self,
        branch: &PullRequestBranch,
    ) -> impl Future<Output = Result<Option<PullRequestRef>, ForgeError>> + Send;

    /// The discussion, without the accounts that may write.
    fn discussion(
        &self,
        at: &PullRequestRef,
        parts: &DiscussionParts,
    ) -> impl Future<Output = Result<Discussion, ForgeError>> + Send;

    fn compare(
        &self,
        repository: &RepositoryName,
        commits: (&str, &str),
    ) -> impl Future<Output = Result<Option<ComparedCommits>, ForgeError>> + Send;

    /// Whether an account of the discussion, as it was last read, may write to the repository.
    fn may_write(
        &self,
        at: &PullRequestRef,
        login: &str,
    ) -> impl Future<Output = Result<bool, ForgeError>> + Send;

    /// The requests of a write, in order.
    fn requests(
        &self,
        at: &PullRequestRef,
        write: &ForgeWrite,
    ) -> impl Future<Output = Result<Vec<ApiWrite>, ForgeError>> + Send;

    fn write(
        &self,
        at: &PullRequestRef,
        write: &ForgeWrite,
    ) -> impl Future<Output = Result<(), ForgeError>> + Send;
}

/// A forge as a port.
pub(super) struct ForgePort<F>(pub(super) F);

impl<F: AsyncForge> Forge for ForgePort<F> {
    fn pull_request<'a>(
        &'a self,
        at: &'a PullRequestRef,
    ) -> BoxFuture<'a, Result<PullRequest, ForgeError>> {
        Box::pin(self.0.pull_request(at))
    }

    fn pull_request_of<'a>(
        &'a self,
        branch: &'a PullRequestBranch,
    ) -> BoxFuture<'a, Result<Option<PullRequestRef>, ForgeError>> {
        Box::pin(self.0.pull_request_of(branch))
    }

    fn discussion<'a>(
        &'a self,
        at: &'a PullRequestRef,
        parts: &'a DiscussionParts,
    ) -> BoxFuture<'a, Result<Discussion, ForgeError>> {
        Box::pin(async move {
            let mut found = self.0.discussion(at, parts).await?;
            for login in found.speakers() {
                match self.0.may_write(at, &login).await {
                    Ok(true) => found.writers.insert(login),
                    // A program, or an account that is gone or no member.
                    Ok(false) | Err(ForgeError::NotFound { .. }) => continue,
                    Err(ForgeError::Forbidden { .. }) => found.unknown_access.insert(login),
                    Err(error) => return Err(error),
                };
            }
            Ok(found)
        })
    }

    fn compare<'a>(
        &'a self,
        repository: &'a RepositoryName,
        commits: (&'a str, &'a str),
    ) -> BoxFuture<'a, Result<Option<ComparedCommits>, ForgeError>> {
        Box::pin(self.0.compare(repository, commits))
    }

    fn preview<'a>(
        &'a self,
        at: &'a PullRequestRef,
        write: &'a ForgeWrite,
    ) -> BoxFuture<'a, Result<String, ForgeError>> {
        Box::pin(async move {
            let requests = self.0.requests(at, write).await?;
            let shown = requests.into_iter().map(|(method, path, body)| {
                let body = body.map(|body| format!("{body:#}\n")).unwrap_or_default();
                format!("{method} {path}\n{body}")
            });
            Ok(shown.collect())
        })
    }

    fn write<'a>(
        &'a self,
        at: &'a PullRequestRef,
        write: &'a ForgeWrite,
    ) -> BoxFuture<'a, Result<(), ForgeError>> {
        Box::pin(self.0.write(at, write))
    }
}

/// The value, or the default if the forge does not have it or the token cannot read it.
pub(super) fn if_allowed<T: Default>(answer: Result<T, ForgeError>) -> Result<T, ForgeError> {
    match answer {
        Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => Ok(T::default()),
        answer => answer,
    }
}
