//! Plans a round: its number, what it covers, and which findings may block in it.

use super::convergence::ConvergencePolicy;
use super::delta::ReviewedLines;
use super::{LedgerFinding, ReviewRecord};
use crate::review::decide::DecisionPolicy;
use crate::verdict::Threshold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How rounds are reviewed and when they end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundPolicy {
    /// The least urgent priority that counts in round 2, 3 and so on; the last one applies to all
    /// later rounds.
    pub bars: Vec<Threshold>,
    /// When a person takes over.
    pub convergence: ConvergencePolicy,
    /// Whether to review everything again.
    pub full_requested: bool,
}

impl Default for RoundPolicy {
    fn default() -> Self {
        Self {
            bars: DEFAULT_BARS.to_vec(),
            convergence: ConvergencePolicy::default(),
            full_requested: false,
        }
    }
}

impl RoundPolicy {
    /// The same, but findings that this threshold blocks count in every round.
    #[must_use]
    pub fn keeping(mut self, threshold: Threshold) -> Self {
        let urgency = |threshold: Threshold| match threshold {
            Threshold::None => 0,
            Threshold::P0 => 1,
            Threshold::P1 => 2,
            Threshold::P2 => 3,
            Threshold::P3 => 4,
        };
        for bar in &mut self.bars {
            if urgency(*bar) < urgency(threshold) {
                *bar = threshold;
            }
        }
        self
    }
}

/// The reviews of the current loop: those by this panel since the last review that passed or was of
/// other work (another base and no common lines). Reviews by other panels, such as the built-in
/// rules before a commit, neither use up its rounds nor end it.
pub fn current_loop<'r>(
    records: &'r [ReviewRecord],
    panel: &str,
    base: Option<&str>,
    lines: &ReviewedLines,
) -> Vec<&'r ReviewRecord> {
    let own: Vec<&ReviewRecord> = records.iter().filter(|record| record.panel == panel).collect();
    let is_other = |it: &ReviewRecord| it.base.as_deref() != base && !it.lines.shares_lines(lines);
    let last = own.iter().rposition(|it| it.outcome == "passed" || is_other(it));
    own.into_iter().skip(last.map_or(0, |index| index + 1)).collect()
}

/// Whether the last review of a change, by any panel, did not pass, and blocking findings of it are still open.
pub fn is_unanswered(
    records: &[ReviewRecord],
    known: &[LedgerFinding],
    policy: &DecisionPolicy,
    today: &str,
) -> bool {
    let is_open = records.last().is_some_and(|record| record.outcome != "passed");
    let blocks = |it: &LedgerFinding| {
        let thresholds = [policy.fail_on, policy.fail_on_objection];
        it.still_blocks(today) && thresholds.iter().any(|limit| limit.blocks(&it.finding))
    };
    is_open && known.iter().any(blocks)
}

/// The round by which the bar rises: a review that left hunks out does not raise it.
pub fn bar_round(current_loop: &[&ReviewRecord]) -> u32 {
    let n_complete = current_loop.iter().filter(|record| record.is_complete).count();
    u32::try_from(n_complete).unwrap_or(u32::MAX).saturating_add(1)
}

/// The last complete review by this panel: of the same base if there is one, because a review of another range had
/// other lines.
pub fn last_complete<'r>(
    records: &'r [ReviewRecord],
    panel: &str,
    base: Option<&str>,
) -> Option<&'r ReviewRecord> {
    let complete = || records.iter().filter(|it| it.is_complete && it.panel == panel);
    complete().rfind(|it| it.base.as_deref() == base).or_else(|| complete().next_back())
}

/// The facts that are known before a review starts.
#[derive(Debug, Clone, Copy)]
pub struct RoundFacts<'f> {
    /// The number of earlier rounds of the current loop.
    pub n_earlier: u32,
    /// Whether the change was reviewed before by the same panel.
    pub is_known: bool,
    /// The last complete review by the same panel.
    pub last_complete: Option<&'f ReviewRecord>,
    /// Whether lines changed since then.
    pub has_new_lines: bool,
    /// The base commit of this review.
    pub base: Option<&'f str>,
    /// Whether the commit that was reviewed last is no longer part of the history.
    pub is_rewritten: bool,
    /// Whether the base changed files of this change since the last review.
    pub base_changed_files: bool,
    /// Whether `--full` was given.
    pub full_requested: bool,
    /// Whether only built-in rules review.
    pub is_by_rules: bool,
}

/// The round of a review and what it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundPlan {
    /// The round, from 1.
    pub round: u32,
    /// What the round reviews.
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
    /// It is the first review of the change by these reviewers.
    FirstReview,
    /// No earlier review was complete.
    NoCompleteReview,
    /// `--full` was given.
    Requested,
    /// The history was rewritten, as by a rebase or a force-push.
    HistoryRewritten,
    /// The base changed files of the change.
    BaseChanged,
    /// No line is new since the last review.
    NothingNew,
    /// Only the built-in rules review; they check everything in every round.
    RulesOnly,
}

impl FullReviewReason {
    /// The reason, for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::FirstReview => "first review of this change by these reviewers",
            Self::NoCompleteReview => "no earlier review of this change was complete",
            Self::Requested => "--full was given",
            Self::HistoryRewritten => "the history was rewritten since the last review",
            Self::BaseChanged => "the base changed files of this change",
            Self::NothingNew => "no line is new since the last review",
            Self::RulesOnly => "the built-in rules review everything in every round",
        }
    }
}

/// Plans a review of a change that may have been reviewed before.
pub fn plan_round(facts: &RoundFacts<'_>) -> RoundPlan {
    use FullReviewReason as Reason;
    let is_moved = facts.last_complete.is_some_and(|last| last.base.as_deref() != facts.base);
    let full = match facts.last_complete {
        _ if !facts.is_known => Some(Reason::FirstReview),
        _ if facts.full_requested => Some(Reason::Requested),
        _ if facts.is_by_rules => Some(Reason::RulesOnly),
        None => Some(Reason::NoCompleteReview),
        Some(_) if facts.is_rewritten => Some(Reason::HistoryRewritten),
        Some(_) if is_moved && facts.base_changed_files => Some(Reason::BaseChanged),
        Some(_) if !facts.has_new_lines => Some(Reason::NothingNew),
        Some(_) => None,
    };
    let coverage = full.map_or(RoundCoverage::Delta, RoundCoverage::Full);
    RoundPlan { round: facts.n_earlier + 1, coverage }
}

/// The least urgent priority that counts among the findings that are new in a round: every one in the first
/// round, then without P3, then without P2 by default.
pub fn bar_of_round(round: u32, bars: &[Threshold]) -> Threshold {
    let later = round.checked_sub(2).and_then(|index| usize::try_from(index).ok());
    let bar = later.and_then(|index| bars.get(index).or(bars.last()));
    bar.copied().unwrap_or(Threshold::P3)
}

/// The default bars.
pub const DEFAULT_BARS: [Threshold; 2] = [Threshold::P2, Threshold::P1];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Change, parse};
    use Threshold::{P0, P1, P2, P3};

    #[test]
    fn the_threshold_of_a_run_holds_in_every_round() {
        let bars = |threshold| RoundPolicy::default().keeping(threshold).bars;
        assert_eq!(bars(Threshold::None), [P2, P1]);
        assert_eq!(bars(P1), [P2, P1]);
        assert_eq!(bars(P2), [P2, P2]);
        assert_eq!(bars(P3), [P3, P3]);
    }

    #[test]
    fn the_bar_rises_with_every_round() {
        let rows: [(&[Threshold], [Threshold; 4]); 3] =
            [(&DEFAULT_BARS, [P3, P2, P1, P1]), (&[], [P3; 4]), (&[P0], [P3, P0, P0, P0])];
        for (bars, expected) in rows {
            assert_eq!([1, 2, 3, 4].map(|round| bar_of_round(round, bars)), expected);
        }
    }

    #[test]
    fn a_loop_starts_after_a_pass_of_its_panel_and_counts_every_review() {
        let record = |round, panel: &str, outcome: &str, is_complete| ReviewRecord {
            panel: panel.to_owned(),
            outcome: outcome.to_owned(),
            is_complete,
            ..crate::ledger::convergence::tests::record(round, "base")
        };
        let records = [
            record(1, "codex", "blocked", true),
            record(2, "codex", "passed", true),
            record(3, "codex", "could_not_review", false),
            record(4, "rules", "passed", true),
            record(5, "codex", "blocked", true),
        ];
        let rows: [(usize, &str, &[u32], u32); 5] = [
            (5, "codex", &[3, 5], 2),
            (4, "codex", &[3], 1),
            (2, "codex", &[], 1),
            (1, "codex", &[1], 2),
            (5, "gemini", &[], 1),
        ];
        for (n_records, panel, rounds, bar) in rows {
            let lines = ReviewedLines::default();
            let current = current_loop(&records[..n_records], panel, Some("base"), &lines);
            let numbers: Vec<u32> = current.iter().map(|it| it.round).collect();
            assert_eq!((numbers.as_slice(), bar_round(&current)), (rounds, bar), "{panel}");
        }
    }

    #[test]
    fn a_loop_ends_where_other_work_starts() {
        let lines = |file: &str, text: &str| {
            let diff = format!("--- /dev/null\n+++ b/{file}\n@@ -0,0 +1,2 @@\n+{text}\n+\n");
            ReviewedLines::of(&Change { files: parse(diff.as_bytes()).unwrap() })
        };
        let records = [ReviewRecord {
            lines: lines("a.py", "x = 1"),
            ..crate::ledger::convergence::tests::record(1, "base")
        }];
        for (base, file, text, n_rounds, why) in [
            ("base", "a.py", "x = 2", 1, "a fix of the only line"),
            ("base", "b.py", "y = 1", 1, "the range grows from the same base"),
            ("other", "a.py", "x = 1", 1, "the same lines on another base"),
            ("other", "a.py", "y = 1", 0, "the next commit by itself"),
            ("other", "b.py", "x = 1", 0, "in another file"),
        ] {
            let current = current_loop(&records, "", Some(base), &lines(file, text));
            assert_eq!(current.len(), n_rounds, "{why}");
        }
    }

    #[test]
    fn a_round_is_compared_with_the_last_complete_review_of_its_base() {
        let record = |round, base, is_complete| ReviewRecord {
            is_complete,
            ..crate::ledger::convergence::tests::record(round, base)
        };
        let records =
            [record(1, "main", true), record(2, "parent", true), record(3, "main", false)];
        for (panel, base, expected) in [
            ("", "main", Some(1)),
            ("", "parent", Some(2)),
            ("", "moved", Some(2)),
            ("other", "main", None),
        ] {
            let found = last_complete(&records, panel, Some(base)).map(|it| it.round);
            assert_eq!(found, expected, "{panel} {base}");
        }
    }

    #[test]
    fn a_round_reviews_the_delta_unless_the_ground_moved() {
        use FullReviewReason as Reason;
        let record = crate::ledger::convergence::tests::record(1, "base");
        let same = RoundFacts {
            n_earlier: 1,
            is_known: true,
            last_complete: Some(&record),
            has_new_lines: true,
            base: Some("base"),
            is_rewritten: false,
            base_changed_files: false,
            full_requested: false,
            is_by_rules: false,
        };
        let rows = [
            (same, RoundCoverage::Delta),
            (
                RoundFacts { is_known: false, last_complete: None, ..same },
                full(Reason::FirstReview),
            ),
            (RoundFacts { n_earlier: 0, ..same }, RoundCoverage::Delta),
            (RoundFacts { has_new_lines: false, ..same }, full(Reason::NothingNew)),
            (RoundFacts { last_complete: None, ..same }, full(Reason::NoCompleteReview)),
            (RoundFacts { full_requested: true, ..same }, full(Reason::Requested)),
            (RoundFacts { is_by_rules: true, ..same }, full(Reason::RulesOnly)),
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
