//! What the ledger says of a review: its round, how its findings relate to earlier reviews, and what is next.

use crate::finding::{DedupeKey, Finding};
use crate::ledger::convergence::{EscalationReason, NextStep};
use crate::ledger::rounds::RoundCoverage;
use crate::ledger::{FindingId, Standing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the ledger says of a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrackingReport {
    /// The change: reviews of the same change are rounds.
    pub change: String,
    /// The round, from 1.
    pub round: u32,
    /// What the round reviewed.
    pub reviewed: RoundCoverage,
    /// What to do after this round.
    pub next_step: NextStep,
    /// How each of the `issues` relates to earlier reviews, in the same order.
    pub issues: Vec<IssueTracking>,
    /// Findings that are late, waived, disputed or below the bar: they do not count.
    pub set_aside: Vec<SetAsideFinding>,
    /// Findings of earlier rounds that are fixed.
    pub fixed: Vec<FixedFinding>,
    /// Whether the review is stored.
    pub is_stored: bool,
}

/// How an issue relates to earlier reviews.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IssueTracking {
    /// Its id in the ledger.
    pub id: FindingId,
    /// The identity of the issue.
    pub dedupe_key: DedupeKey,
    /// How it relates to earlier reviews.
    pub standing: Standing,
    /// Why it was or was not recognised.
    pub matched: String,
}

/// A finding that does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetAsideFinding {
    /// Its id in the ledger.
    pub id: FindingId,
    /// Why it does not count.
    pub standing: Standing,
    /// The reason that a person gave, if any.
    pub reason: Option<String>,
    /// The finding.
    pub finding: Finding,
}

/// A finding of an earlier round that is fixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixedFinding {
    /// Its id in the ledger.
    pub id: FindingId,
    /// Why it counts as fixed.
    pub reason: String,
    /// The finding as it was reported last.
    pub finding: Finding,
}

impl TrackingReport {
    /// How an issue relates to earlier reviews.
    pub fn of_issue(&self, finding: &Finding) -> Option<&IssueTracking> {
        self.issues.iter().find(|it| it.dedupe_key == finding.dedupe_key)
    }

    /// Why a person decides, when that is so.
    pub fn escalation(&self) -> Option<&EscalationReason> {
        match &self.next_step {
            NextStep::Escalate(reason) => Some(reason),
            NextStep::Done | NextStep::Continue => None,
        }
    }
}
