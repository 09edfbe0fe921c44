//! Submodules with uncommitted changes. Git's own diff would start a git in the submodule that
//! obeys its configuration. Here each submodule is opened as an untrusted repository.

use super::call::GitCall;
use super::copy::{HiddenChanges, LIST_TAGS};
use super::filter::PathFilter;
use super::index::gitlinks;
use super::{Git, GitError};
use mala_domain::change::{ChangedFile, FilePath};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The most submodules that are checked, and the deepest nesting.
const MAX_SUBMODULES: usize = 100;
const MAX_DEPTH: usize = 4;

/// Lists the entries of an index, including submodules.
pub(super) const LIST_LINKS: [&str; 4] = ["ls-files", "--stage", "--full-name", "-z"];

impl Git {
    /// The submodules with uncommitted changes that are not part of the change yet.
    pub(super) async fn dirty_submodules(
        &self,
        changed: &[ChangedFile],
        filter: &PathFilter,
    ) -> Result<Vec<FilePath>, GitError> {
        let known: HashSet<&FilePath> = changed.iter().map(|file| &file.path).collect();
        let mut links = self.links(GitCall::new(LIST_LINKS)).await?;
        links.retain(|path| filter.includes(path) && !known.contains(path));
        Ok(self.dirty_among(links, MAX_DEPTH).await)
    }

    /// The submodules with uncommitted changes, from a call that lists an index.
    pub(super) async fn dirty_listed(&self, list: GitCall) -> Result<Vec<FilePath>, GitError> {
        Ok(self.dirty_among(self.links(list).await?, MAX_DEPTH).await)
    }

    async fn links(&self, list: GitCall) -> Result<Vec<FilePath>, GitError> {
        let listed = self.output(&list).await?;
        Ok(gitlinks(&listed).filter(FilePath::stays_inside).collect())
    }

    async fn dirty_among(&self, links: Vec<FilePath>, depth: usize) -> Vec<FilePath> {
        let mut dirty = Vec::new();
        for path in links.into_iter().take(MAX_SUBMODULES) {
            if self.is_dirty(&path, depth).await {
                dirty.push(path);
            }
        }
        dirty
    }

    /// Whether a submodule has changes. True if it cannot be opened, false if it is not checked
    /// out.
    async fn is_dirty(&self, path: &FilePath, depth: usize) -> bool {
        let folder = self.inner.top.join(OsStr::from_bytes(path.as_bytes()));
        let Ok(real) = folder.canonicalize() else { return false };
        let Ok(mut entries) = real.read_dir() else { return false };
        if !real.starts_with(&self.inner.top) || entries.next().is_none() {
            return false;
        }
        let opened = Box::pin(Self::open(&real, &self.inner.around)).await;
        match opened {
            Ok(inner) if inner.top() == real => inner.has_changes(depth).await.unwrap_or(true),
            _ => true,
        }
    }

    /// Whether a work tree differs from its commit, including files that are marked as unchanged.
    async fn has_changes(&self, depth: usize) -> Result<bool, GitError> {
        let status = ["status", "--porcelain", "--ignore-submodules=dirty", "-z"];
        let status = GitCall::new(status).args(["--untracked-files=normal"]);
        if !self.output(&status).await?.is_empty() {
            return Ok(true);
        }
        let listed = self.output(&GitCall::new(LIST_TAGS)).await?;
        let HiddenChanges { assumed, skipped } = HiddenChanges::among(&listed, self.top());
        if !assumed.is_empty() || !skipped.is_empty() {
            return Ok(true);
        }
        let Some(depth) = depth.checked_sub(1) else { return Ok(false) };
        let links = self.links(GitCall::new(LIST_LINKS)).await?;
        Ok(!Box::pin(self.dirty_among(links, depth)).await.is_empty())
    }
}
