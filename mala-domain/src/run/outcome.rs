//! Decides what happens after a review of a trigger, from its outcome, the failure mode and the
//! threshold. The threshold applies to findings, the failure mode to reviews that could not be
//! done.

use super::baseline::ReviewSkip;
use crate::config::{CodeReviewSettings, FailureMode};
use crate::finding::Finding;
use crate::report::Report;
use crate::verdict::{NotReviewedReason, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of one review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerReview {
    /// The reviewer could not produce a result.
    ExecutionError {
        /// The kind.
        kind: ReviewErrorKind,
        /// The message.
        message: String,
    },
    /// All of the change was reviewed, with these findings.
    Completed(Vec<Finding>),
    /// There was nothing to review.
    Skipped(ReviewSkip),
}

/// The kinds of errors that a run treats or logs differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewErrorKind {
    /// Time ran out.
    Timeout,
    /// A crash, a non-zero exit or a broken connection.
    Crash,
    /// An answer that cannot be read, or that does not account for all of the change.
    UnparsableAnswer,
    /// No reviewer is available.
    NoReviewers,
    /// Files of the change that cannot be reviewed, such as sources that are no text.
    UnreviewableChange,
    /// mala or the repository failed.
    Internal,
}

impl ReviewErrorKind {
    /// The name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::UnparsableAnswer => "unparsable_answer",
            Self::NoReviewers => "no_reviewers",
            Self::UnreviewableChange => "unreviewable_change",
            Self::Internal => "internal",
        }
    }

    /// Whether another try is of no use.
    fn is_fatal(self) -> bool {
        matches!(self, Self::NoReviewers | Self::UnreviewableChange | Self::Internal)
    }
}

/// Reads the outcome of a report.
pub fn of_report(report: &Report) -> TriggerReview {
    let kind = match report.outcome {
        Outcome::Passed | Outcome::Blocked => {
            return TriggerReview::Completed(report.issues.clone());
        }
        Outcome::CouldNotReview(NotReviewedReason::TimedOut) => ReviewErrorKind::Timeout,
        Outcome::CouldNotReview(NotReviewedReason::NoReviewers) => ReviewErrorKind::NoReviewers,
        Outcome::CouldNotReview(NotReviewedReason::Internal) => ReviewErrorKind::Internal,
        Outcome::CouldNotReview(NotReviewedReason::Incomplete) => {
            let is_crash = report.reviewers.iter().any(|reviewer| reviewer.crashed);
            match report.coverage.unreviewable().is_empty() {
                _ if is_crash => ReviewErrorKind::Crash,
                false => ReviewErrorKind::UnreviewableChange,
                true => ReviewErrorKind::UnparsableAnswer,
            }
        }
    };
    let message = report.failure_reason().unwrap_or(&report.summary).to_owned();
    TriggerReview::ExecutionError { kind, message }
}

impl TriggerReview {
    /// The status in logs and reports.
    pub fn status(&self) -> &'static str {
        match self {
            Self::ExecutionError { .. } => "failed",
            Self::Completed(_) => "success",
            Self::Skipped(_) => "skipped",
        }
    }

    /// Whether the stored baseline advances to the head that was reviewed.
    pub fn advances_baseline(&self) -> bool {
        matches!(self, Self::Completed(_))
    }

    /// The findings that count: those that no check refuted.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Completed(findings) => findings,
            _ => &[],
        }
    }
}

/// A review and what it reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewedRange {
    /// The result.
    pub review: TriggerReview,
    /// The commit that it started from.
    pub base: String,
    /// The commit that it reviewed.
    pub head: String,
    /// The folder with its files.
    #[serde(default)]
    pub log: Option<String>,
    /// The cost.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// Files of the change that are tests, CI or lint configuration.
    #[serde(default)]
    pub sensitive_files: Vec<String>,
    /// The ids of its findings in the ledger, by their own keys.
    #[serde(default)]
    pub ledger_ids: BTreeMap<String, String>,
    /// The reviewers.
    #[serde(default)]
    pub reviewers: Vec<String>,
    /// Other warnings, such as files that are not reviewed.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl ReviewedRange {
    /// Keeps how the review ended, and forgets what it found and where it started.
    pub(super) fn forget_details(&mut self) {
        self.base = String::new();
        self.ledger_ids = BTreeMap::new();
        if let TriggerReview::Completed(findings) = &mut self.review {
            *findings = Vec::new();
        }
    }

    /// A review of the range between two commits, without further data.
    pub fn new(review: TriggerReview, base: impl Into<String>, head: impl Into<String>) -> Self {
        Self {
            review,
            base: base.into(),
            head: head.into(),
            log: None,
            cost_usd: None,
            sensitive_files: Vec::new(),
            ledger_ids: BTreeMap::new(),
            reviewers: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// The retries that a trigger has used since it fired; the two counts are independent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetriesUsed {
    /// Repetitions after a review that could not be done.
    pub reviews: u32,
    /// Attempts to fix findings.
    pub fixes: u32,
}

/// The action after a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterReview {
    /// The work is accepted.
    Accept,
    /// The work is accepted without a review, for this reason; reports say so.
    AcceptNotReviewed(String),
    /// The review is repeated; the coder is not prompted.
    Repeat,
    /// The coder fixes the findings.
    Fix,
    /// The work fails, for this reason.
    Fail(String),
    /// The run fails at once, for this reason.
    Abort(String),
}

/// Decides the action after a review. With `fails_closed`, work that could not be reviewed fails.
/// With `remediate`, it fails too if a retry cannot help.
pub fn after_review(
    settings: &CodeReviewSettings,
    fails_closed: bool,
    used: RetriesUsed,
    review: &TriggerReview,
) -> AfterReview {
    let retries = settings.retries();
    match review {
        TriggerReview::Skipped(ReviewSkip::NoCommits) => {
            AfterReview::Fail("no commits for the issue".to_owned())
        }
        TriggerReview::Skipped(_) => AfterReview::Accept,
        TriggerReview::Completed(findings) => {
            let threshold = settings.finding_threshold;
            let n_blocking = findings.iter().filter(|finding| threshold.blocks(finding)).count();
            match n_blocking {
                0 => AfterReview::Accept,
                _ if used.fixes < retries => AfterReview::Fix,
                _ => AfterReview::Fail(format!(
                    "{} at or above {} after {}",
                    crate::report::counted(n_blocking, "finding"),
                    threshold.name(),
                    crate::report::counted(used.fixes as usize, "fix attempt"),
                )),
            }
        }
        TriggerReview::ExecutionError { kind, message } => {
            let repeats = match kind {
                ReviewErrorKind::UnparsableAnswer => true,
                kind => settings.failure_mode == FailureMode::Remediate && !kind.is_fatal(),
            };
            let reason = format!("the review could not be done: {message}");
            match settings.failure_mode {
                _ if repeats && used.reviews < retries => AfterReview::Repeat,
                FailureMode::Abort => AfterReview::Abort(reason),
                _ if fails_closed => AfterReview::Fail(reason),
                FailureMode::Remediate if kind.is_fatal() && retries > 0 => {
                    AfterReview::Fail(reason)
                }
                FailureMode::Continue | FailureMode::Remediate => {
                    AfterReview::AcceptNotReviewed(reason)
                }
            }
        }
    }
}

/// The action after the commands of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterCommands {
    /// The review follows. Commands that failed are listed in the report.
    Review,
    /// The coder fixes the failed commands.
    Fix,
    /// The run fails at once.
    Abort,
}

/// Decides the action after commands of which some failed.
pub fn after_failed_commands(
    mode: FailureMode,
    max_retries: u32,
    fixes_used: u32,
) -> AfterCommands {
    match mode {
        FailureMode::Abort => AfterCommands::Abort,
        FailureMode::Remediate if fixes_used < max_retries => AfterCommands::Fix,
        FailureMode::Continue | FailureMode::Remediate => AfterCommands::Review,
    }
}

/// Whether failed commands of `session_end` prevent the merge of an issue: with `remediate`, after
/// its retries are used up. With `continue`, or `remediate` without retries, the issue is merged
/// and the report mentions it.
pub fn failed_commands_fail_issue(mode: FailureMode, max_retries: u32) -> bool {
    mode == FailureMode::Remediate && max_retries > 0
}

#[cfg(test)]
mod tests;
