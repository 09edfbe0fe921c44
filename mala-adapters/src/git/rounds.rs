//! How the commits of a change moved between two reviews: a rebase, or an advanced base.

use super::call::GitCall;
use super::open::{git_dir_of, shared_by};
use super::{Git, GitError, ObjectId};
use mala_domain::change::FilePath;
use mala_domain::ports::{BoxFuture, ChangeHistory, HistoryMoves, LedgerError, ReviewedCommits};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl Git {
    async fn moves_between(
        &self,
        earlier: ReviewedCommits<'_>,
        current: ReviewedCommits<'_>,
    ) -> Result<HistoryMoves, GitError> {
        Ok(HistoryMoves {
            is_rewritten: self.is_rewritten(earlier.head, current.head).await?,
            base_files: self.files_between(earlier.base, current.base).await?,
        })
    }

    /// Whether an existing commit is no longer part of the history. A commit that does not exist
    /// here was a copy of a working tree, on which nothing is based.
    async fn is_rewritten(&self, old: Option<&str>, new: Option<&str>) -> Result<bool, GitError> {
        if old == new {
            return Ok(false);
        }
        let (Some(old), Some(new)) = (self.existing(old).await?, self.existing(new).await?) else {
            return Ok(false);
        };
        Ok(!self.is_ancestor(&old, &new).await?)
    }

    async fn files_between(
        &self,
        old: Option<&str>,
        new: Option<&str>,
    ) -> Result<BTreeSet<FilePath>, GitError> {
        if old == new {
            return Ok(BTreeSet::new());
        }
        let (Some(old), Some(new)) = (self.existing(old).await?, self.existing(new).await?) else {
            return Ok(BTreeSet::new());
        };
        let call = GitCall::new(["diff-tree", "-r", "-z", "--name-only", "--no-renames"]);
        let listed = self.output(&call.args([&old, &new])).await?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(FilePath::from_bytes).collect())
    }

    async fn existing(&self, commit: Option<&str>) -> Result<Option<ObjectId>, GitError> {
        match commit {
            Some(commit) if ObjectId::parse(commit.as_bytes()).is_some() => {
                self.resolve(&format!("{commit}^{{commit}}")).await
            }
            _ => Ok(None),
        }
    }
}

/// The git folder that all work trees of a repository share, from one of them.
pub fn common_dir_of(top: &Path) -> PathBuf {
    let own = git_dir_of(top);
    shared_by(&own).unwrap_or(own)
}

impl ChangeHistory for Git {
    fn moves<'a>(
        &'a self,
        earlier: ReviewedCommits<'a>,
        current: ReviewedCommits<'a>,
    ) -> BoxFuture<'a, Result<HistoryMoves, LedgerError>> {
        Box::pin(async move {
            let moves = self.moves_between(earlier, current).await;
            moves.map_err(|error| LedgerError::Storage { what: error.to_string() })
        })
    }
}
