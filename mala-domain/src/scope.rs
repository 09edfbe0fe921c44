//! The target and the scope of a review.

use crate::change::LineCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What to review, as requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewTarget {
    /// The working tree against HEAD: staged, unstaged and untracked files.
    WorkingTree,
    /// The working tree since the merge base of HEAD and a commit: commits, staged, unstaged and untracked files.
    WorkingTreeSince(String),
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
    /// A description of the target.
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

/// The inputs that determine the id of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewInputs<'a> {
    /// The repository, by its remote or its directory name.
    pub repo: &'a str,
    /// The pull request number; for a local change, the base commit and the diff hash.
    pub subject: &'a str,
    /// The head commit, or a name for another head.
    pub head: &'a str,
    /// The version of the prompts or of the built-in rules.
    pub prompt_version: &'a str,
    /// The model, or the reviewer if it has no model.
    pub model: &'a str,
    /// The budget profile and its changes.
    pub budget_profile: &'a str,
}

/// The id: 16 hexadecimal digits.
pub fn review_id(inputs: &ReviewInputs<'_>) -> String {
    let parts = [
        inputs.repo,
        inputs.subject,
        inputs.head,
        inputs.prompt_version,
        inputs.model,
        inputs.budget_profile,
    ];
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: ReviewInputs<'static> = ReviewInputs {
        repo: "acme/shop",
        subject: "7",
        head: "abc",
        prompt_version: "v1",
        model: "builtin",
        budget_profile: "standard",
    };

    #[test]
    fn same_inputs_same_id_and_any_other_input_another() {
        let id = review_id(&INPUTS);
        assert_eq!(id.len(), 16);
        assert_eq!(id, review_id(&INPUTS));
        let others = [
            ReviewInputs { repo: "acme/shops", ..INPUTS },
            ReviewInputs { subject: "8", ..INPUTS },
            ReviewInputs { head: "abd", ..INPUTS },
            ReviewInputs { prompt_version: "v2", ..INPUTS },
            ReviewInputs { model: "m", ..INPUTS },
            ReviewInputs { budget_profile: "quick", ..INPUTS },
            ReviewInputs { repo: "acme/shop7", subject: "", ..INPUTS },
        ];
        for other in &others {
            assert_ne!(id, review_id(other), "{other:?}");
        }
    }
}
