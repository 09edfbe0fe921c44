//! Submodules whose own work tree differs from the commit that is checked out in them. Git's diff
//! shows them only by starting a git inside that obeys the submodule's configuration; here each is
//! opened like any other repository that nobody trusts.

use super::call::Call;
use super::filter::Filter;
use super::index::gitlinks;
use super::kept::{LIST_TAGS, Overlooked};
use super::{Git, GitError};
use mala_domain::change::{ChangedFile, FilePath};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// How many submodules are looked at, and how deep: submodules have submodules.
const MAX_SUBMODULES: usize = 100;
const MAX_DEPTH: usize = 4;

/// Lists the entries of an index, with the submodules among them.
pub(super) const LIST_LINKS: [&str; 4] = ["ls-files", "--stage", "--full-name", "-z"];

impl Git {
    /// The submodules with changes that are not committed in them, less those that the change has.
    pub(super) async fn dirty_submodules(
        &self,
        changed: &[ChangedFile],
        filter: &Filter,
    ) -> Result<Vec<FilePath>, GitError> {
        let known: HashSet<&FilePath> = changed.iter().map(|file| &file.path).collect();
        let mut links = self.links(Call::new(LIST_LINKS)).await?;
        links.retain(|path| filter.keeps(path) && !known.contains(path));
        Ok(self.dirty_among(links, MAX_DEPTH).await)
    }

    /// The submodules in the index that such a call lists, with changes that are not committed in them.
    pub(super) async fn dirty_listed(&self, list: Call) -> Result<Vec<FilePath>, GitError> {
        Ok(self.dirty_among(self.links(list).await?, MAX_DEPTH).await)
    }

    async fn links(&self, list: Call) -> Result<Vec<FilePath>, GitError> {
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

    /// Whether a submodule has changes, or may have some: one with files that cannot be opened does. One
    /// that is not checked out has none.
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

    /// Whether a work tree differs from what is committed, whatever git was told to overlook.
    async fn has_changes(&self, depth: usize) -> Result<bool, GitError> {
        let status = ["status", "--porcelain", "--ignore-submodules=dirty", "-z"];
        let status = Call::new(status).args(["--untracked-files=normal"]);
        if !self.output(&status).await?.is_empty() {
            return Ok(true);
        }
        let listed = self.output(&Call::new(LIST_TAGS)).await?;
        let Overlooked { assumed, skipped } = Overlooked::among(&listed, self.top());
        if !assumed.is_empty() || !skipped.is_empty() {
            return Ok(true);
        }
        let Some(depth) = depth.checked_sub(1) else { return Ok(false) };
        let links = self.links(Call::new(LIST_LINKS)).await?;
        Ok(!Box::pin(self.dirty_among(links, depth)).await.is_empty())
    }
}
