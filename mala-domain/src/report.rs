//! The immutable result of a review: the one value that every output shows.

mod assemble;
mod telemetry;
mod tracking;

pub use crate::review::counted;
pub use assemble::{ReportParts, assemble, tally};
pub use telemetry::Telemetry;
pub use tracking::{FixedFinding, IssueTracking, SetAsideFinding, TrackingReport};

use crate::agent::answer::ParseMethod;
use crate::finding::Finding;
use crate::review::consensus::ConsensusRule;
use crate::review::suppress::SuppressedFinding;
use crate::review::verify::CheckerReport;
use crate::review::{Coverage, ProcessRun, Usage};
use crate::scope::ScopeSummary;
use crate::verdict::{NotReviewedReason, Outcome, Threshold, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the JSON of a `Report`.
pub const SCHEMA_VERSION: u32 = 1;

/// The result of a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "ReviewResult")]
pub struct Report {
    /// The version of this format.
    #[serde(default = "first_version")]
    pub schema_version: u32,
    /// The id of the review. The same inputs give the same id.
    pub review_id: String,
    /// Whether the whole change was reviewed without findings at or above the threshold.
    pub passed: bool,
    /// The verdict over the admitted findings; null if the change could not be reviewed.
    #[serde(alias = "consensus_verdict")]
    pub verdict: Option<Verdict>,
    /// How the review ended.
    pub outcome: Outcome,
    /// Whether all of the change was reviewed.
    pub status: ReviewStatus,
    /// The admitted findings, worst first.
    #[serde(alias = "findings")]
    pub issues: Vec<Finding>,
    /// Minor or uncertain findings. They do not count, never block and are not posted on lines.
    #[serde(default)]
    pub notes: Vec<Finding>,
    /// Findings that a check refuted. They do not count.
    #[serde(default)]
    pub refuted: Vec<Finding>,
    /// Findings that an inline comment suppresses.
    #[serde(default)]
    pub suppressed: Vec<SuppressedFinding>,
    /// Why the review failed, if a retry may help; else null.
    #[serde(default)]
    pub parse_error: Option<String>,
    /// Whether a retry cannot help.
    #[serde(default)]
    pub fatal_error: bool,
    /// The folder with this review's files.
    #[serde(default, alias = "session_log_path", alias = "codex_review_log_path")]
    pub review_log_path: Option<String>,
    /// The models that were used.
    #[serde(default)]
    pub model_used: Option<String>,
    /// Problems that did not stop the review.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// One or two sentences.
    pub summary: String,
    /// The files that were reviewed.
    #[serde(default)]
    pub files_reviewed: Vec<crate::change::FilePath>,
    /// Which hunks were reviewed, and which files were skipped.
    pub coverage: Coverage,
    /// Exactly what was reviewed.
    pub scope: ScopeSummary,
    /// The priority from which findings fail the review.
    pub fail_on: Threshold,
    /// One entry per reviewer.
    pub reviewers: Vec<ReviewerReport>,
    /// How the votes of the reviewers were counted.
    #[serde(default)]
    pub consensus: Consensus,
    /// Why reviewers have no vote, and other errors of the review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// Claims whose file, lines or evidence do not exist at head. They do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Finding>,
    /// The agent, when it checked findings of other reviewers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checker: Option<CheckerReport>,
    /// The ledger's data about the review; null if it is not tracked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracking: Option<TrackingReport>,
    /// Numbers: calls, tokens, cost, time.
    pub stats: ReportStats,
}

/// How the votes of the reviewers were counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Consensus {
    /// How many reviewers must pass the change.
    pub rule: ConsensusRule,
    /// The same as a number.
    pub needed: usize,
    /// How many passed it.
    pub passes: usize,
    /// The verdict of the votes; null if there is none.
    pub verdict: Option<Verdict>,
    /// The verdict of the votes as the reviewers gave them, before their findings were checked.
    pub claimed_verdict: Option<Verdict>,
}

/// Whether all of the change was reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStatus {
    /// All of it.
    Ok,
    /// A part of it; or all of it, without some look or check that a reviewer wanted.
    Truncated,
    /// None of it.
    Error,
}

impl Report {
    /// Why the change could not be reviewed: the error of the reviewer whose reason decided, the parse error, or
    /// the error of the first reviewer that failed.
    pub fn failure_reason(&self) -> Option<&str> {
        let reason = match self.outcome {
            Outcome::CouldNotReview(NotReviewedReason::Incomplete) => None,
            Outcome::CouldNotReview(reason) => Some(reason),
            Outcome::Passed | Outcome::Blocked => None,
        };
        let decided =
            |reviewer: &&ReviewerReport| reason.is_some() && reviewer.not_reviewed == reason;
        let deciding = self.reviewers.iter().filter(decided).find_map(|it| it.error.as_deref());
        let first = || self.reviewers.iter().find_map(|it| it.error.as_deref());
        let text = deciding.or(self.parse_error.as_deref()).or_else(first);
        text.filter(|text| !text.trim().is_empty())
    }
}

/// One reviewer's part in a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerReport {
    /// Its name.
    pub reviewer: String,
    /// The model behind it.
    #[serde(default)]
    pub model: Option<String>,
    /// Its verdict over its own admitted findings; null when it could not review.
    pub verdict: Option<Verdict>,
    /// How many of its findings were admitted.
    pub findings: usize,
    /// How many of its claims were dropped: no such file or lines.
    pub dropped: usize,
    /// Why it could not review.
    #[serde(default)]
    pub error: Option<String>,
    /// The folder of its own files, such as those of a panel's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Its usage.
    pub usage: Usage,
    /// The verdict that it gave itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_verdict: Option<Verdict>,
    /// Its summary of the change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Why it has no vote, as a kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_reviewed: Option<NotReviewedReason>,
    /// Whether it failed without an answer: a crash, a non-zero exit or a broken connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crashed: bool,
    /// Its coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// How its process ran, if it is a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRun>,
}

/// Usage and time of a review.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportStats {
    /// Tokens of all reviewers; null if one of them did not report them.
    pub tokens_used: Option<u64>,
    /// Dollars of all reviewers; null if one of them did not report them.
    pub cost_usd: Option<f64>,
    /// Seconds from start to end.
    pub latency_seconds_e2e: f64,
    /// Seconds waiting for models.
    pub latency_seconds_llm: f64,
    /// Calls to models that mala made itself; those of a lane or a command are not known.
    pub llm_calls: u64,
    /// Calls to tools that mala made itself.
    pub tool_calls: u64,
    /// Tokens read from providers' caches; null if one of them did not report them.
    pub cache_read_tokens: Option<u64>,
    /// How many answers of models were read in which way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers_read: BTreeMap<ParseMethod, u64>,
}

fn first_version() -> u32 {
    1
}

/// The JSON Schema of a report.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Report)
}
