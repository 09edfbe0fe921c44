//! Where a cumulative review starts, when it is skipped, and when its baseline advances.

use super::issue::IssueId;
use super::triggers::TriggerKind;
use crate::config::Baseline;
use crate::ports::{CommitReach, RangeSummary};
use serde::{Deserialize, Serialize};

/// A cumulative review of more changed lines than this is warned of.
pub const LARGE_DIFF_LINES: u64 = 5000;

/// The log text of a review without changes.
pub const EMPTY_DIFF_TEXT: &str = "No changes since baseline, skipping review";

/// The log text of an issue without commits.
pub const NO_COMMITS_TEXT: &str = "No commits for issue, skipping review";

/// Why a review is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewSkip {
    /// Nothing differs between the baseline and the head.
    EmptyDiff,
    /// No baseline is known that leads to the head.
    BaselineNotFound,
    /// The issue has no commits.
    NoCommits,
}

impl ReviewSkip {
    /// The name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::EmptyDiff => "empty_diff",
            Self::BaselineNotFound => "baseline_not_found",
            Self::NoCommits => "no_commits",
        }
    }
}

/// A commit that may be a baseline, and how it relates to the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineCandidate {
    /// The commit.
    pub commit: String,
    /// How it relates to the head.
    pub reach: CommitReach,
}

/// The facts for the choice of a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineFacts {
    /// The configured mode; without one, `since_run_start`.
    pub mode: Option<Baseline>,
    /// The commit that this trigger reviewed last.
    pub last_review: Option<BaselineCandidate>,
    /// The commit where the run started.
    pub run_start: Option<BaselineCandidate>,
}

/// The start of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineChoice {
    /// The effective mode.
    pub mode: Baseline,
    /// The commit; `None` skips the review.
    pub commit: Option<String>,
    /// A stored commit that is not used, with the reason.
    pub dropped: Option<String>,
    /// An error to log when the commit cannot be reached.
    pub error: Option<String>,
}

/// The name of a mode in configuration and logs.
pub fn mode_name(mode: Baseline) -> &'static str {
    match mode {
        Baseline::SinceRunStart => "since_run_start",
        Baseline::SinceLastReview => "since_last_review",
    }
}

/// Chooses where a cumulative review starts.
pub fn choose(facts: &BaselineFacts) -> BaselineChoice {
    let mode = facts.mode.unwrap_or(Baseline::SinceRunStart);
    let mut choice = BaselineChoice { mode, commit: None, dropped: None, error: None };
    if let (Baseline::SinceLastReview, Some(last)) = (mode, &facts.last_review) {
        if last.reach == CommitReach::Ancestor {
            choice.commit = Some(last.commit.clone());
            return choice;
        }
        choice.dropped = Some(format!(
            "the last reviewed commit {} does not lead to the head: using the start of the run",
            last.commit
        ));
    }
    match &facts.run_start {
        Some(start) if start.reach == CommitReach::Ancestor => {
            choice.commit = Some(start.commit.clone());
        }
        Some(start) if start.reach == CommitReach::Missing => {
            choice.error = Some(format!(
                "Baseline commit {} not reachable (shallow clone?), skipping review",
                start.commit
            ));
        }
        _ => {}
    }
    choice
}

/// The size of a range, as far as reviews treat it differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeSize {
    /// Nothing differs, by content: skip the review.
    Empty,
    /// Review it.
    Normal,
    /// Review it in full, with a warning that has this number of lines.
    Large(u64),
}

/// The size of a range.
pub fn range_size(range: &RangeSummary) -> RangeSize {
    match range.lines {
        _ if range.is_empty => RangeSize::Empty,
        lines if lines > LARGE_DIFF_LINES => RangeSize::Large(lines),
        _ => RangeSize::Normal,
    }
}

/// The warning about a large diff on stderr.
pub fn large_diff_warning(lines: u64) -> String {
    format!("WARNING: Large diff ({lines} lines) may affect review quality")
}

/// The key of a trigger's baseline in the metadata; `None` for `session_end`, whose baseline is
/// computed at every review.
pub fn baseline_key(trigger: TriggerKind, epic: Option<&IssueId>) -> Option<String> {
    match (trigger, epic) {
        (TriggerKind::SessionEnd, _) => None,
        (TriggerKind::EpicCompletion, Some(epic)) => Some(format!("{trigger}:{epic}")),
        _ => Some(trigger.name().to_owned()),
    }
}

/// The commit where a run starts, and whether it is captured late.
pub fn run_start(stored: Option<&str>, tip: &str, is_resumed: bool) -> (String, bool) {
    match stored.filter(|_| is_resumed) {
        Some(commit) => (commit.to_owned(), false),
        None => (tip.to_owned(), is_resumed),
    }
}

#[cfg(test)]
mod tests;
