//! Verdict, threshold and outcome of a review.

use crate::finding::{Finding, Priority, VerificationOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict, always derived from the admitted findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// No findings.
    Pass,
    /// At least one P0 or P1.
    Fail,
    /// Only P2 and P3.
    NeedsWork,
}

impl Verdict {
    /// The verdict over these findings; refuted ones are shown and do not count.
    pub fn over<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        findings
            .into_iter()
            .filter(|finding| counts(finding))
            .map(|finding| finding.effective_priority())
            .min()
            .map_or(
                Self::Pass,
                |worst| {
                    if worst <= Priority::P1 { Self::Fail } else { Self::NeedsWork }
                },
            )
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::NeedsWork => "NEEDS_WORK",
        }
    }
}

/// From which priority on findings fail a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Threshold {
    /// Any finding of this priority or a more urgent one.
    #[serde(rename = "P0")]
    P0,
    /// P0 and P1.
    #[serde(rename = "P1")]
    P1,
    /// P0 to P2.
    #[serde(rename = "P2")]
    P2,
    /// Any finding.
    #[serde(rename = "P3")]
    P3,
    /// Findings never fail.
    #[serde(rename = "none")]
    None,
}

impl Threshold {
    /// Whether this finding fails the review.
    pub fn blocks(self, finding: &Finding) -> bool {
        let limit = match self {
            Self::P0 => Priority::P0,
            Self::P1 => Priority::P1,
            Self::P2 => Priority::P2,
            Self::P3 => Priority::P3,
            Self::None => return false,
        };
        counts(finding) && finding.effective_priority() <= limit
    }

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::P0 => "P0",
            Self::P1 => "P1",
            Self::P2 => "P2",
            Self::P3 => "P3",
            Self::None => "none",
        }
    }
}

impl std::str::FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::P0, Self::P1, Self::P2, Self::P3, Self::None]
            .into_iter()
            .find(|threshold| threshold.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("'{text}' is none of P0, P1, P2, P3, none"))
    }
}

/// Whether a finding counts: refuted findings and notes are shown, but do not affect the decision.
pub fn counts(finding: &Finding) -> bool {
    !is_refuted(finding) && !finding.is_note
}

/// Whether a check refuted a finding.
pub fn is_refuted(finding: &Finding) -> bool {
    finding.verification.outcome == VerificationOutcome::Refuted
}

/// How a review ended: three outcomes, never two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Reviewed, and nothing at or above the threshold.
    Passed,
    /// Reviewed, with findings at or above the threshold.
    Blocked,
    /// Not reviewed, or not all of it. Never a pass.
    CouldNotReview(NotReviewedReason),
}

/// Why a change could not be reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotReviewedReason {
    /// An answer that cannot be read, or a reviewer that failed, or hunks left over.
    Incomplete,
    /// Time ran out.
    TimedOut,
    /// No reviewer was available.
    NoReviewers,
    /// mala itself failed.
    Internal,
}
