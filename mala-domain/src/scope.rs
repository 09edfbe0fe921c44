//! Exactly what was reviewed.

use crate::change::LineCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to review, as a person asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The working tree against HEAD: staged, unstaged and untracked.
    WorkingTree,
    /// The index against HEAD.
    Staged,
    /// `A..B`: what differs between two commits.
    Range {
        /// Where it starts.
        base: String,
        /// Where it ends.
        head: String,
    },
    /// `A...B` and `--base A`: what `head` has that its merge base with `base` has not.
    SinceMergeBase {
        /// The branch it is compared with.
        base: String,
        /// Where it ends.
        head: String,
    },
    /// These commits, each against its first parent.
    Commits(Vec<String>),
    /// A unified diff, with or without a repository.
    Patch(Vec<u8>),
}

/// Which state of the tree holds the reviewed lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Head {
    /// A commit.
    Commit(String),
    /// The index.
    Index,
    /// The files on disk.
    WorkingTree,
    /// Only the patch itself.
    Patch,
}

/// Exactly what was reviewed: two reviews of the same scope see the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// Where the repository is published, as a URL without credentials; null when nobody knows.
    #[serde(default)]
    pub repository: Option<String>,
    /// What was asked for, in words.
    pub target: String,
    /// The commit it is compared with; null for a patch and for the first commit of a repository.
    pub base: Option<String>,
    /// The state that holds the reviewed lines.
    pub head: Head,
    /// SHA-256 of the reviewed diff.
    pub diff_hash: String,
    /// Changed files.
    pub files: usize,
    /// Changed regions.
    pub hunks: usize,
    /// Added and removed lines.
    pub lines: LineCounts,
}
