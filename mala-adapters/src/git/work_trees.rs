//! The work trees of a repository: the one that is open, and the others that git knows.

use super::call::Call;
use super::open::{MAX_LINK, git_folder_of};
use super::{Git, GitError, Version};
use crate::regular::read_named;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

impl Git {
    /// The roots of all work trees that are there, this one first; of a bare repository, its own folder.
    pub async fn work_trees(&self) -> Result<Vec<PathBuf>, GitError> {
        let mut call = Call::new(["worktree", "list", "--porcelain"]);
        let mut end = b'\n';
        if self.inner.version >= Version::EXACT_WORK_TREES {
            (call, end) = (call.args(["-z"]), 0);
        }
        let printed = self.output(&call).await?;
        let lines = printed.split(|byte| *byte == end);
        let paths = lines.filter_map(|line| line.strip_prefix(b"worktree "));
        let own = git_folder_at(self.top());
        let shared = shared_by(&own);
        let mut tops = vec![self.top().to_owned()];
        for top in paths.map(|path| PathBuf::from(OsStr::from_bytes(path))) {
            let folder = shared.as_deref().and_then(|shared| folder_inside(shared, &top));
            // The one that is open may have another name here.
            if folder.is_some() && folder != own.canonicalize().ok() {
                tops.push(top);
            }
        }
        Ok(tops)
    }
}

/// The git folder of a work tree; that of a bare repository is the repository.
pub(crate) fn git_folder_at(top: &Path) -> PathBuf {
    let has_own = std::fs::symlink_metadata(top.join(".git")).is_ok();
    if has_own { git_folder_of(top) } else { top.to_owned() }
}

/// The git folder of the whole repository, from that of one of its work trees.
fn shared_by(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    match read_named(&folder.join("commondir"), MAX_LINK) {
        Ok(path) => folder.join(OsStr::from_bytes(path.trim_ascii())).canonicalize().ok(),
        Err(_) => Some(folder),
    }
}

/// The git folder of a work tree, if it is in that of the repository. Another may be where a work tree was
/// once: what lies there says nothing about this repository.
fn folder_inside(shared: &Path, top: &Path) -> Option<PathBuf> {
    let folder = git_folder_at(top).canonicalize().ok()?;
    let is_linked = folder.parent() == Some(&shared.join("worktrees"));
    (folder == shared || is_linked).then_some(folder)
}
