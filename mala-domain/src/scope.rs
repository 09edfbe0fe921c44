//! The target and the scope of a review.

use crate::change::LineCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to review, as requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewTarget {
    /// The working tree against HEAD: staged, unstaged and untracked files.
    WorkingTree,
    /// The index against HEAD.
    Staged,
    /// `A..B`: the difference between two commits.
    Range {
        /// The base commit.
        base: String,
        /// The head commit.
        head: String,
    },
    /// `A...B` and `--base A`: the changes of `head` since its merge base with `base`.
    SinceMergeBase {
        /// The branch to compare with.
        base: String,
        /// The head commit.
        head: String,
    },
    /// Single commits, each against its first parent.
    Commits(Vec<String>),
    /// A unified diff, with or without a repository.
    Patch(Vec<u8>),
}

/// The version of the files that contains the reviewed lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeadState {
    /// A commit.
    Commit(String),
    /// The index.
    Index,
    /// The files on disk.
    WorkingTree,
    /// The patch only.
    Patch,
}

/// Exactly what was reviewed: two reviews with the same scope compare the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeSummary {
    /// The URL of the repository, without credentials; null if unknown.
    #[serde(default)]
    pub repository: Option<String>,
    /// The target, in words.
    pub target: String,
    /// The base commit; null for a patch and for the first commit of a repository.
    pub base: Option<String>,
    /// The version that contains the reviewed lines.
    pub head: HeadState,
    /// SHA-256 of the diff.
    pub diff_hash: String,
    /// Number of changed files.
    pub files: usize,
    /// Number of hunks.
    pub hunks: usize,
    /// Number of added and removed lines.
    pub lines: LineCounts,
}
