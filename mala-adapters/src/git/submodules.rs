//! Submodules whose own work tree differs from the commit that is checked out in them. Git's diff
//! shows them only by starting a git inside that obeys the submodule's configuration; here each is
//! opened like any other repository that nobody trusts.

use super::call::Call;
use super::filter::Filter;
use super::index::gitlinks;
use super::{Git, GitError};
use mala_domain::change::{ChangedFile, FilePath};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// How many submodules are looked at.
const MAX_SUBMODULES: usize = 100;

impl Git {
    /// The submodules with changes that are not committed in them, less those that the change has.
    pub(super) async fn dirty_submodules(
        &self,
        changed: &[ChangedFile],
        filter: &Filter,
    ) -> Result<Vec<FilePath>, GitError> {
        // The index of a large repository is read only where there may be any.
        if !self.inner.top.join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let known: HashSet<&FilePath> = changed.iter().map(|file| &file.path).collect();
        let listed = self.output(&Call::new(["ls-files", "--stage", "--full-name", "-z"])).await?;
        let wanted = gitlinks(&listed)
            .filter(|path| path.stays_inside() && filter.keeps(path) && !known.contains(path));
        let mut dirty = Vec::new();
        for path in wanted.take(MAX_SUBMODULES) {
            if self.is_dirty(&path).await {
                dirty.push(path);
            }
        }
        Ok(dirty)
    }

    /// Whether a submodule has changes. One that is not checked out, or cannot be opened, has none
    /// that anybody could see.
    async fn is_dirty(&self, path: &FilePath) -> bool {
        let folder = self.inner.top.join(OsStr::from_bytes(path.as_bytes()));
        let Ok(real) = folder.canonicalize() else { return false };
        if !real.starts_with(&self.inner.top) || !real.join(".git").exists() {
            return false;
        }
        let Ok(inner) = Box::pin(Self::open(&real, &self.inner.around)).await else { return false };
        let call = Call::new(["status", "--porcelain", "--ignore-submodules=dirty", "-z"]);
        inner.top() == real && inner.output(&call).await.is_ok_and(|said| !said.is_empty())
    }
}
