//! Which round of a change a review is, what it covers, and which findings may block in it.

use super::ReviewRecord;
use crate::verdict::Threshold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the caller knows before a review starts.
#[derive(Debug, Clone, Copy)]
pub struct RoundFacts<'f> {
    /// The number of earlier reviews of the same change.
    pub n_earlier: u32,
    /// The last of them that was complete.
    pub last_complete: Option<&'f ReviewRecord>,
    /// The base commit of this review.
    pub base: Option<&'f str>,
    /// Whether the commit that was reviewed last is no longer part of the history.
    pub is_rewritten: bool,
    /// Whether the base changed files of this change since the last review.
    pub base_changed_files: bool,
    /// Whether `--full` was given.
    pub full_requested: bool,
}

/// The round of a review and what it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundPlan {
    /// The round, from 1.
    pub round: u32,
    /// What is reviewed.
    pub coverage: RoundCoverage,
}

/// What a round reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoundCoverage {
    /// The whole change, for this reason.
    Full(FullReviewReason),
    /// The lines that are new since the last complete review, and the open findings.
    Delta,
}

/// Why a whole change is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullReviewReason {
    /// It is the first review of the change.
    FirstReview,
    /// No earlier review was complete.
    NoCompleteReview,
    /// `--full` was given.
    Requested,
    /// The history was rewritten, as by a rebase or a force-push.
    HistoryRewritten,
    /// The base changed files of the change.
    BaseChanged,
}

impl FullReviewReason {
    /// The reason, for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::FirstReview => "first review of this change",
            Self::NoCompleteReview => "no earlier review of this change was complete",
            Self::Requested => "--full was given",
            Self::HistoryRewritten => "the history was rewritten since the last review",
            Self::BaseChanged => "the base changed files of this change",
        }
    }
}

/// Plans a review of a change that may have been reviewed before.
pub fn plan_round(facts: &RoundFacts<'_>) -> RoundPlan {
    use FullReviewReason as Reason;
    let is_moved = facts.last_complete.is_some_and(|last| last.base.as_deref() != facts.base);
    let full = match facts.last_complete {
        _ if facts.n_earlier == 0 => Some(Reason::FirstReview),
        _ if facts.full_requested => Some(Reason::Requested),
        None => Some(Reason::NoCompleteReview),
        Some(_) if facts.is_rewritten => Some(Reason::HistoryRewritten),
        Some(_) if is_moved && facts.base_changed_files => Some(Reason::BaseChanged),
        Some(_) => None,
    };
    let coverage = full.map_or(RoundCoverage::Delta, RoundCoverage::Full);
    RoundPlan { round: facts.n_earlier + 1, coverage }
}

/// The threshold for findings that are new in a round: the configured one in the first, then without P3,
/// then without P2. `bars` has one entry per round after the first; the last one holds from there on.
pub fn threshold_in_round(fail_on: Threshold, round: u32, bars: &[Threshold]) -> Threshold {
    let later = round.saturating_sub(2) as usize;
    let bar = match round {
        0 | 1 => None,
        _ => bars.get(later).or(bars.last()),
    };
    bar.map_or(fail_on, |bar| stricter(fail_on, *bar))
}

/// The bars when none are configured.
pub const DEFAULT_BARS: [Threshold; 2] = [Threshold::P2, Threshold::P1];

/// The threshold that lets more findings pass.
fn stricter(one: Threshold, other: Threshold) -> Threshold {
    if rank(one) <= rank(other) { one } else { other }
}

fn rank(threshold: Threshold) -> u8 {
    match threshold {
        Threshold::None => 0,
        Threshold::P0 => 1,
        Threshold::P1 => 2,
        Threshold::P2 => 3,
        Threshold::P3 => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Threshold::{P0, P1, P2, P3};

    #[test]
    fn the_bar_rises_with_every_round() {
        for (fail_on, expected) in [
            (P3, [P3, P2, P1, P1]),
            (P2, [P2, P2, P1, P1]),
            (P1, [P1, P1, P1, P1]),
            (P0, [P0, P0, P0, P0]),
            (Threshold::None, [Threshold::None; 4]),
        ] {
            let rounds = [1, 2, 3, 4];
            assert_eq!(rounds.map(|it| threshold_in_round(fail_on, it, &DEFAULT_BARS)), expected);
        }
        assert_eq!(threshold_in_round(P3, 5, &[]), P3);
    }

    #[test]
    fn a_round_reviews_the_delta_unless_the_ground_moved() {
        use FullReviewReason as Reason;
        let record = crate::ledger::convergence::tests::record(1, "base");
        let same = RoundFacts {
            n_earlier: 1,
            last_complete: Some(&record),
            base: Some("base"),
            is_rewritten: false,
            base_changed_files: false,
            full_requested: false,
        };
        let rows = [
            (same, RoundCoverage::Delta),
            (RoundFacts { n_earlier: 0, last_complete: None, ..same }, full(Reason::FirstReview)),
            (RoundFacts { last_complete: None, ..same }, full(Reason::NoCompleteReview)),
            (RoundFacts { full_requested: true, ..same }, full(Reason::Requested)),
            (RoundFacts { is_rewritten: true, ..same }, full(Reason::HistoryRewritten)),
            (RoundFacts { base: Some("other"), ..same }, RoundCoverage::Delta),
            (
                RoundFacts { base: Some("other"), base_changed_files: true, ..same },
                full(Reason::BaseChanged),
            ),
        ];
        for (facts, expected) in rows {
            let plan = plan_round(&facts);
            assert_eq!(plan.coverage, expected);
            assert_eq!(plan.round, facts.n_earlier + 1);
        }
    }

    fn full(reason: FullReviewReason) -> RoundCoverage {
        RoundCoverage::Full(reason)
    }
}
