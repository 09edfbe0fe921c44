//! The diff itself, with every option spelled out: neither the user's nor the repository's taste may
//! change what is reviewed.

use super::call::Call;
use super::filter::Filter;
use super::{Git, GitError, ObjectId, ScopeError, Version};
use mala_domain::change::{FilePath, FileStatus};
use std::collections::HashSet;
use std::ffi::OsString;

/// A diff larger than this is not reviewed by anybody.
pub(super) const MAX_DIFF: usize = 256 << 20;

/// Nor is one with more lines than this, which would take a gigabyte of memory.
const MAX_LINES: usize = 3_000_000;

/// How many bytes of paths are given to git: below what a system takes.
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
    // A dirty submodule would be looked into by a git of its own, which obeys its configuration.
    "--ignore-submodules=dirty",
    "--submodule=short",
];

/// The two states that are compared.
#[derive(Debug, Clone)]
pub(super) enum Sides {
    /// Two commits, or trees.
    Trees(ObjectId, ObjectId),
    /// A commit and the index.
    Index(ObjectId),
    /// A commit and the work tree, by an index that knows its untracked files too.
    WorkTree(ObjectId, Option<OsString>),
}

impl Git {
    /// The diff between two states, kept to some paths.
    pub(super) async fn diff(&self, sides: &Sides, filter: &Filter) -> Result<Vec<u8>, ScopeError> {
        let diff = self.raw_diff(sides, OPTIONS, filter.args()).await?;
        if filter.is_everything() || !has_halves(&diff) {
            return Ok(diff);
        }
        // Kept to some paths, git sees one half of a move over their edge, and shows a whole new
        // file. With the other half named too, it finds the move.
        let others = self.other_halves(sides, &diff).await?;
        let n_bytes: usize = others.iter().map(|path| path.as_bytes().len() + 32).sum();
        if others.is_empty() || n_bytes > MAX_ARGUMENTS {
            return Ok(diff);
        }
        self.raw_diff(sides, OPTIONS, filter.with_files(others.iter())).await
    }

    /// The diff between two states, when it has at most so many bytes.
    pub(super) async fn diff_within(
        &self,
        sides: &Sides,
        paths: Vec<OsString>,
        max_bytes: usize,
    ) -> Result<Vec<u8>, ScopeError> {
        let call = Call::new(OPTIONS.iter().copied()).output(max_bytes);
        self.run_diff(call, sides, paths).await
    }

    async fn raw_diff(
        &self,
        sides: &Sides,
        options: &[&str],
        paths: Vec<OsString>,
    ) -> Result<Vec<u8>, ScopeError> {
        let call = Call::new(options.iter().copied()).output(MAX_DIFF);
        self.run_diff(call, sides, paths).await
    }

    async fn run_diff(
        &self,
        mut call: Call,
        sides: &Sides,
        paths: Vec<OsString>,
    ) -> Result<Vec<u8>, ScopeError> {
        call = match sides {
            Sides::Trees(base, head) => {
                let call = call.args([base, head]);
                if self.inner.version < Version::ATTRIBUTES_OF_TREES {
                    self.without_work_tree(call).await?
                } else {
                    call
                }
            }
            Sides::Index(base) => call.args(["--cached"]).args([base]),
            Sides::WorkTree(base, index) => {
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

    /// An old git reads attributes from the files on disk and from the index, which may be the ones
    /// under review. Without a work tree and an index it reads none.
    async fn without_work_tree(&self, call: Call) -> Result<Call, GitError> {
        let folder = self.git_path("").await?;
        let no_index = folder.join("no-such-index");
        let call = call.env("GIT_DIR", &folder).env("GIT_IMPLICIT_WORK_TREE", "0");
        Ok(call.env("GIT_INDEX_FILE", no_index).dir(folder))
    }

    /// The other halves of moves over the edge of the wanted paths.
    async fn other_halves(&self, sides: &Sides, diff: &[u8]) -> Result<Vec<FilePath>, ScopeError> {
        let mut options: Vec<_> = OPTIONS.iter().copied().filter(|o| *o != "--patch").collect();
        options.extend(["--name-status", "-z", "--diff-filter=R"]);
        let listed = self.raw_diff(sides, &options, Filter::default().args()).await?;
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

fn too_large(n_bytes: usize) -> ScopeError {
    ScopeError::TooLarge { n_bytes }
}

/// Whether a file is new or gone, and so may be half of a move.
fn has_halves(diff: &[u8]) -> bool {
    diff.split(|byte| *byte == b'\n')
        .any(|line| line.starts_with(b"new file mode ") || line.starts_with(b"deleted file mode "))
}
