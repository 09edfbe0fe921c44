//! Findings over time: when two findings are the same, their states, which lines a round reviews,
//! and when a loop of reviews and fixes ends. Pure: the storage of the ledger is a port.

pub mod convergence;
pub mod delta;
pub mod matching;
pub mod reported_code;
pub mod rounds;
pub mod states;
pub mod stats;
pub mod subject;
pub mod track;
pub mod waiver;

use crate::change::FilePath;
use crate::finding::{DedupeKey, Finding, FindingState, Priority, VerificationOutcome};
use reported_code::ReportedCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The id of a finding in the ledger: 16 hexadecimal digits, unique in a repository.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct FindingId(pub String);

impl std::fmt::Display for FindingId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a finding that the ledger does not have: its identity, or a hash of it when another finding has
/// that id.
pub fn new_finding_id(key: &DedupeKey, taken: &BTreeSet<FindingId>) -> FindingId {
    let mut id = FindingId(key.as_str().to_owned());
    while taken.contains(&id) {
        let digest = Sha256::digest(id.0.as_bytes());
        id = FindingId(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect());
    }
    id
}

/// A finding as the ledger stores it: its newest occurrence, and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerFinding {
    /// The id that commands accept.
    pub id: FindingId,
    /// The finding as it was reported last.
    pub finding: Finding,
    /// The current state.
    pub state: FindingState,
    /// The change (branch, task or pull request) in which it was reported or fixed last.
    pub subject: String,
    /// The standing of the finding after the last review of the requested change; null if that
    /// change never had it, or if no change was requested.
    #[serde(default)]
    pub standing: Option<Standing>,
    /// The id of the review that reported it first.
    pub first_seen: String,
    /// When it was reported first, as an RFC 3339 timestamp.
    pub first_seen_at: String,
    /// When it was reported last.
    pub last_seen_at: String,
    /// How many reviews reported it.
    pub n_occurrences: u32,
    /// The waiver that applies, when the state is `waived`.
    #[serde(default)]
    pub waiver: Option<waiver::Waiver>,
    /// Its file in the requested change; without one, all paths under which it was reported,
    /// because a change may have renamed its file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<FilePath>,
    /// Its code when the requested change last had it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ReportedCode>,
}

impl LedgerFinding {
    /// Its file in the requested change, or the file in which it was reported last.
    pub fn file(&self) -> &FilePath {
        let own = self.paths.first().filter(|_| self.standing.is_some());
        own.unwrap_or(&self.finding.file)
    }

    /// The files in which it may be.
    pub fn files(&self) -> &[FilePath] {
        if self.paths.is_empty() { std::slice::from_ref(&self.finding.file) } else { &self.paths }
    }

    /// Whether a review of the change must still account for it: it took part in a decision there,
    /// it was not fixed there, and no person's decision applies. A fix in another change does not
    /// fix it here.
    pub fn still_blocks(&self, today: &str) -> bool {
        let Some(standing) = self.standing else { return false };
        let is_decided = match self.state {
            FindingState::Waived => !self.waiver.as_ref().is_some_and(|it| it.is_past(today)),
            FindingState::Disputed | FindingState::Duplicate => true,
            FindingState::Open | FindingState::Regressed | FindingState::Fixed => false,
        };
        let was_decided = matches!(standing, Standing::Waived | Standing::Disputed);
        !is_decided && (was_decided || standing.takes_part(&self.finding))
    }
}

/// One report of a finding by one review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Occurrence {
    /// The review.
    pub review_id: String,
    /// The change under review.
    pub subject: String,
    /// Its reviewer.
    pub reviewer: String,
    /// The round of the change under review.
    pub round: u32,
    /// First line, 1-based.
    pub line_start: u32,
    /// Last line.
    pub line_end: u32,
    /// The commit that contains the lines; null for a working tree.
    pub commit: Option<String>,
    /// When, as an RFC 3339 timestamp.
    pub at: String,
    /// Why it was recognised, in one sentence.
    pub matched: String,
}

/// The standing of a finding after the last review of one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeStanding {
    /// The change.
    pub subject: String,
    /// The standing.
    pub standing: Standing,
    /// Its file in this change; null in exports of earlier versions.
    #[serde(default)]
    pub file: Option<FilePath>,
    /// Its code when a reviewer of this change reported it last.
    #[serde(default)]
    pub code: Option<ReportedCode>,
}

/// A change of state, with who, when and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateChange {
    /// The state from then on.
    pub state: FindingState,
    /// The author of the change: a person, or `mala` for a result of a review.
    pub by: String,
    /// When, as an RFC 3339 timestamp.
    pub at: String,
    /// Why.
    pub reason: String,
}

/// A finding of this review with its data from the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedFinding {
    /// The finding as this review reports it.
    pub finding: Finding,
    /// Its id in the ledger; `None` until it is stored.
    pub id: Option<FindingId>,
    /// How it relates to earlier reviews of the same change.
    pub standing: Standing,
    /// Why it was or was not recognised, in one sentence.
    pub matched: String,
    /// The reason of the waiver that applies, if any.
    pub reason: Option<String>,
    /// Its code, if a reviewer of this review reports it.
    pub code: Option<ReportedCode>,
}

/// How a finding of this review relates to earlier reviews.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Reported for the first time.
    New,
    /// Reported before and not fixed.
    StillOpen,
    /// Fixed earlier and back again.
    Regressed,
    /// Reported for the first time, on lines that an earlier round already reviewed.
    Late,
    /// A person accepted it.
    Waived,
    /// A person rejected it, and no new evidence was given.
    Disputed,
    /// Reported for the first time in a later round, and less urgent than the bar of that round.
    BelowBar,
    /// Reported before, and fixed.
    Fixed,
}

impl Standing {
    /// The name in JSON and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::StillOpen => "still_open",
            Self::Regressed => "regressed",
            Self::Late => "late",
            Self::Waived => "waived",
            Self::Disputed => "disputed",
            Self::BelowBar => "below_bar",
            Self::Fixed => "fixed",
        }
    }

    /// Whether a finding of this standing takes part in the decision. Late, waived, disputed and
    /// fixed findings and those below the bar do not, except a late, verified P0.
    pub fn takes_part(self, finding: &Finding) -> bool {
        match self {
            Self::New | Self::StillOpen | Self::Regressed => true,
            Self::Late => {
                finding.effective_priority() == Priority::P0
                    && finding.verification.outcome == VerificationOutcome::Verified
            }
            Self::Waived | Self::Disputed | Self::BelowBar | Self::Fixed => false,
        }
    }
}

/// A review as the ledger stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRecord {
    /// The id of the review.
    pub review_id: String,
    /// The change that was reviewed: a branch, task, pull request or commit.
    pub subject: String,
    /// The round, from 1.
    pub round: u32,
    /// When it ended, as an RFC 3339 timestamp.
    pub at: String,
    /// The commit it was compared with.
    pub base: Option<String>,
    /// The commit that was reviewed; null for a working tree.
    pub head: Option<String>,
    /// SHA-256 of the reviewed diff.
    pub diff_hash: String,
    /// Whether every hunk was reviewed; only such a review is a baseline for the next round.
    pub is_complete: bool,
    /// `passed`, `blocked` or `could_not_review`.
    pub outcome: String,
    /// The reviewers.
    pub reviewers: Vec<String>,
    /// The reviewers with their model, prompts and limits: only a review by the same panel is a baseline.
    pub panel: String,
    /// Dollars, when they are known.
    pub cost_usd: Option<f64>,
    /// The summary of this round, from which the next step follows.
    pub summary: convergence::RoundSummary,
    /// The next step after this round.
    pub next_step: convergence::NextStep,
    /// The changed lines, for the delta of the next round.
    pub lines: delta::ReviewedLines,
}

#[cfg(test)]
mod tests;
