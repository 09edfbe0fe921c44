//! The diff, with every option fixed: no configuration of the user or the repository changes what
//! is reviewed.

use super::call::GitCall;
use super::filter::PathFilter;
use super::{Git, GitError, GitScopeError, GitVersion, ObjectId};
use mala_domain::change::{FilePath, FileStatus};
use std::collections::HashSet;
use std::ffi::OsString;

/// The largest diff, in bytes.
pub(super) const MAX_DIFF: usize = 256 << 20;

/// The most lines of a diff. More would take a gigabyte of memory.
const MAX_LINES: usize = 3_000_000;

/// The most bytes of paths in one call, below the system's limit.
const MAX_ARGUMENTS: usize = 1 << 20;

const OPTIONS: &[&str] = &[
    "diff",
    "--patch",
    "--no-color",
    "--no-color-moved",
    "--ws-error-highlight=none",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--full-index",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=default",
    "--indent-heuristic",
    "--find-renames=50%",
    "--find-copies=50%",
    "-l1000",
    // Checking a dirty submodule would start a git that obeys the submodule's configuration.
    "--ignore-submodules=dirty",
    "--submodule=short",
];

/// The two states to compare.
#[derive(Debug, Clone)]
pub(super) enum DiffSides {
    /// Two commits or trees.
    Trees(ObjectId, ObjectId),
    /// A commit and the index.
    Index(ObjectId),
    /// A commit and the work tree, with an index that also contains its untracked files.
    WorkTree(ObjectId, Option<OsString>),
}

impl Git {
    /// The diff between two states, limited to some paths.
    pub(super) async fn diff(
        &self,
        sides: &DiffSides,
        filter: &PathFilter,
    ) -> Result<Vec<u8>, GitScopeError> {
        let diff = self.raw_diff(sides, OPTIONS, filter.args()).await?;
        if filter.is_everything() || !has_added_or_deleted(&diff) {
            return Ok(diff);
        }
        // If only one side of a rename is among the paths, git shows an added file. It finds the
        // rename if the other side is named too.
        let others = self.counterparts(sides, &diff).await?;
        let n_bytes: usize = others.iter().map(|path| path.as_bytes().len() + 32).sum();
        if others.is_empty() || n_bytes > MAX_ARGUMENTS {
            return Ok(diff);
        }
        self.raw_diff(sides, OPTIONS, filter.with_files(others.iter())).await
    }

    /// The diff between two states, if it has at most this many bytes.
    pub(super) async fn diff_within(
        &self,
        sides: &DiffSides,
        paths: Vec<OsString>,
        max_bytes: usize,
    ) -> Result<Vec<u8>, GitScopeError> {
        let call = GitCall::new(OPTIONS.iter().copied()).output(max_bytes);
        self.run_diff(call, sides, paths).await
    }

    async fn raw_diff(
        &self,
        sides: &DiffSides,
        options: &[&str],
        paths: Vec<OsString>,
    ) -> Result<Vec<u8>, GitScopeError> {
        let call = GitCall::new(options.iter().copied()).output(MAX_DIFF);
        self.run_diff(call, sides, paths).await
    }

    async fn run_diff(
        &self,
        mut call: GitCall,
        sides: &DiffSides,
        paths: Vec<OsString>,
    ) -> Result<Vec<u8>, GitScopeError> {
        call = match sides {
            DiffSides::Trees(base, head) => {
                let call = call.args([base, head]);
                if self.inner.version < GitVersion::ATTRIBUTES_OF_TREES {
                    self.without_work_tree(call)
                } else {
                    call
                }
            }
            DiffSides::Index(base) => call.args(["--cached"]).args([base]),
            DiffSides::WorkTree(base, index) => {
                let call = call.args([base]);
                match index {
                    Some(index) => call.env("GIT_INDEX_FILE", index),
                    None => call,
                }
            }
        };
        let diff = match self.output(&call.args(paths)).await {
            Err(GitError::TooMuch { limit, .. }) => return Err(too_large(limit)),
            result => result?,
        };
        let n_lines = diff.iter().filter(|byte| **byte == b'\n').count();
        if n_lines > MAX_LINES { Err(too_large(diff.len())) } else { Ok(diff) }
    }

    /// An old git reads attributes from the files on disk and from the index, which may be the
    /// reviewed ones. Without a work tree and an index it reads none.
    fn without_work_tree(&self, call: GitCall) -> GitCall {
        let folder = self.own_dir();
        let no_index = folder.join("no-such-index");
        let call = call.env("GIT_DIR", &folder).env("GIT_IMPLICIT_WORK_TREE", "0");
        call.env("GIT_INDEX_FILE", no_index).dir(folder)
    }

    /// The other sides of renames that cross the edge of the filter.
    async fn counterparts(
        &self,
        sides: &DiffSides,
        diff: &[u8],
    ) -> Result<Vec<FilePath>, GitScopeError> {
        let mut options: Vec<_> = OPTIONS.iter().copied().filter(|o| *o != "--patch").collect();
        options.extend(["--name-status", "-z", "--diff-filter=R"]);
        let listed = self.raw_diff(sides, &options, PathFilter::default().args()).await?;
        let shown = mala_domain::change::read(diff)?;
        let of_status = |status: FileStatus| -> HashSet<&FilePath> {
            shown.iter().filter(|file| file.status == status).map(|file| &file.path).collect()
        };
        let (added, deleted) = (of_status(FileStatus::Added), of_status(FileStatus::Deleted));
        let fields: Vec<_> = listed.split(|byte| *byte == 0).collect();
        let moves = fields
            .chunks_exact(3)
            .map(|fields| (FilePath::from_bytes(fields[1]), FilePath::from_bytes(fields[2])));
        Ok(moves
            .filter_map(|(old, new)| match (deleted.contains(&old), added.contains(&new)) {
                (false, true) => Some(old),
                (true, false) => Some(new),
                _ => None,
            })
            .collect())
    }
}

fn too_large(n_bytes: usize) -> GitScopeError {
    GitScopeError::TooLarge { n_bytes }
}

/// Whether a file is added or deleted, and so may be one side of a rename.
fn has_added_or_deleted(diff: &[u8]) -> bool {
    diff.split(|byte| *byte == b'\n')
        .any(|line| line.starts_with(b"new file mode ") || line.starts_with(b"deleted file mode "))
}
