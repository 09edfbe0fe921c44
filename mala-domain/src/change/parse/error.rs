//! What is wrong with a diff, and where.

use thiserror::Error;

/// A diff that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct DiffError {
    /// The 1-based line of the diff; 0 when it is the whole of it.
    pub line: usize,
    /// What is wrong there.
    pub problem: DiffProblem,
}

impl std::fmt::Display for DiffError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => self.problem.fmt(f),
            line => write!(f, "line {line}: {}", self.problem),
        }
    }
}

/// What can be wrong with a diff.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DiffProblem {
    /// It holds no file header at all.
    #[error("no diff in it")]
    NoDiff,
    /// A hunk that belongs to no file.
    #[error("a hunk without a file header before it")]
    LostHunk,
    /// A line that starts with `@@` and is no hunk header.
    #[error("not a hunk header (`@@ -LINE,COUNT +LINE,COUNT @@`)")]
    HunkHeader,
    /// The hunk has fewer lines than its header says.
    #[error("the diff ends inside a hunk, {missing} lines before the end its header says")]
    HunkCut {
        /// How many are missing, at least.
        missing: u32,
    },
    /// A line inside a hunk that starts with none of ` `, `+`, `-`, `\`, or one too many.
    #[error("not a line of the hunk that starts at line {hunk}: its header counts {what}")]
    HunkLine {
        /// The line of the hunk's header.
        hunk: usize,
        /// What the header leaves to come.
        what: String,
    },
    /// A line of change after the last one that the header counts.
    #[error("the hunk above counts fewer lines than it has: this line belongs to none")]
    HunkOverflow,
    /// A file header that no hunk follows.
    #[error("the diff of this file has no lines: it is cut off, or not a diff")]
    NoHunks,
    /// A hunk that starts before the one before it ends.
    #[error("this hunk starts before the one above it ends")]
    HunkOrder,
    /// A file header that names no file.
    #[error("this file header names no file")]
    NoPath,
    /// A path that is absolute or climbs out with `..`.
    #[error("the path leads out of the tree: {0}")]
    Outside(String),
    /// The old format of `diff -c`.
    #[error("a context diff; make a unified one with `diff -u`")]
    ContextFormat,
    /// Two diffs of a file where the second does not start from what the first gives.
    #[error("{0} is changed a second time, from other lines than the first change leaves")]
    NoSequel(String),
    /// So many diffs of the same files that joining them takes too long.
    #[error("too many patches on top of each other")]
    TooManyPatches,
}

impl DiffProblem {
    pub(super) fn at(self, line: usize) -> DiffError {
        DiffError { line, problem: self }
    }
}
