//! Errors of the diff parser.

use thiserror::Error;

/// A diff that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct DiffError {
    /// The 1-based line of the diff; 0 if the error concerns all of it.
    pub line: usize,
    /// What is wrong.
    pub problem: DiffErrorKind,
}

impl std::fmt::Display for DiffError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => self.problem.fmt(f),
            line => write!(f, "line {line}: {}", self.problem),
        }
    }
}

/// What is wrong with a diff.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DiffErrorKind {
    /// The text contains no file header.
    #[error("no diff found in the input")]
    NoDiff,
    /// A hunk before any file header.
    #[error("hunk without a file header")]
    LostHunk,
    /// A line that starts with `@@` but is not a hunk header.
    #[error("invalid hunk header, expected `@@ -LINE,COUNT +LINE,COUNT @@`")]
    HunkHeader,
    /// The diff ends before the hunk is complete.
    #[error("the diff ends inside a hunk: {missing} more lines expected")]
    HunkCut {
        /// The minimum number of missing lines.
        missing: u32,
    },
    /// A line inside a hunk with an invalid first character, or one line too many.
    #[error("invalid line in the hunk at line {hunk}: {what} expected")]
    HunkLine {
        /// The line of the hunk header.
        hunk: usize,
        /// The lines that the header announces and that are still missing.
        what: String,
    },
    /// A changed line after the end of a hunk.
    #[error("unexpected line after the end of a hunk: the hunk header counts fewer lines")]
    HunkOverflow,
    /// A file header without hunks.
    #[error("file header without hunks: the diff may be truncated")]
    NoHunks,
    /// Hunks that overlap or are out of order.
    #[error("hunk starts before the end of the previous hunk")]
    HunkOrder,
    /// A file header without a file name.
    #[error("file header without a file name")]
    NoPath,
    /// An absolute path, or one with `..`.
    #[error("path outside of the repository: {0}")]
    Outside(String),
    /// A context diff (`diff -c`).
    #[error("context diffs are not supported; create a unified diff with `diff -u`")]
    ContextFormat,
    /// Two diffs of one file, where the second does not apply to the result of the first.
    #[error("the second diff of {0} does not apply to the result of the first")]
    NoSequel(String),
    /// Too many diffs of the same files to combine.
    #[error("too many consecutive patches of the same files")]
    TooManyPatches,
}

impl DiffErrorKind {
    pub(super) fn at(self, line: usize) -> DiffError {
        DiffError { line, problem: self }
    }
}
