//! The ledger's data about a review: its round, how its findings relate to earlier reviews, and the
//! next step.

use crate::finding::{DedupeKey, Finding};
use crate::ledger::convergence::{EscalationReason, NextStep};
use crate::ledger::rounds::RoundCoverage;
use crate::ledger::{FindingId, Standing};
use crate::render::short_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The ledger's data about a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrackingReport {
    /// The change: reviews of the same change are rounds.
    pub change: String,
    /// The round, from 1.
    pub round: u32,
    /// What the round reviewed.
    pub reviewed: RoundCoverage,
    /// The next step after this round.
    pub next_step: NextStep,
    /// How each of the `issues` relates to earlier reviews, in the same order.
    pub issues: Vec<IssueTracking>,
    /// Findings that are late, waived, disputed or below the bar: they do not count.
    pub set_aside: Vec<SetAsideFinding>,
    /// Findings of earlier rounds that are fixed.
    pub fixed: Vec<FixedFinding>,
    /// Open findings of earlier rounds whose code changed, and that this round could not check.
    #[serde(default)]
    pub unknown: Vec<SetAsideFinding>,
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

/// Standings that do not block, and their names in messages.
const ASIDE: [(Standing, &str); 4] = [
    (Standing::Late, "late"),
    (Standing::BelowBar, "minor"),
    (Standing::Waived, "waived"),
    (Standing::Disputed, "disputed"),
];

impl TrackingReport {
    /// How an issue relates to earlier reviews.
    pub fn of_issue(&self, finding: &Finding) -> Option<&IssueTracking> {
        self.issues.iter().find(|it| it.dedupe_key == finding.dedupe_key)
    }

    /// Whether a person decided about one of the issues since: these are the findings that are waived or disputed.
    pub fn is_decided_since(&self, decided: &BTreeSet<FindingId>) -> bool {
        self.issues.iter().any(|issue| decided.contains(&issue.id))
    }

    /// Lines about findings that are not among the issues: fixed ones, those that do not count, and
    /// who decides next.
    pub fn lines(&self) -> Vec<String> {
        let counted = |n: usize, what: &str| match n {
            0 => None,
            1 => Some(format!("1 finding {what}")),
            n => Some(format!("{n} findings {what}")),
        };
        let aside = |standing| self.set_aside.iter().filter(|it| it.standing == standing).count();
        let person = self.escalation().map(|reason| format!("a person decides: {reason}"));
        let counts = [
            counted(self.fixed.len(), "fixed"),
            counted(aside(Standing::Late), "late, on lines that an earlier round reviewed"),
            counted(aside(Standing::BelowBar), "minor, less urgent than this round asks for"),
            counted(aside(Standing::Waived), "waived"),
            counted(aside(Standing::Disputed), "disputed"),
        ];
        counts.into_iter().flatten().chain(person).collect()
    }

    /// The number of findings that do not block, by reason: `1 late, 2 waived`; `None` if all
    /// findings count.
    pub fn not_blocking(&self) -> Option<String> {
        let counted = |(standing, word): &(Standing, &str)| {
            let n = self.set_aside.iter().filter(|it| it.standing == *standing).count();
            (n > 0).then(|| format!("{n} {word}"))
        };
        let words: Vec<String> = ASIDE.iter().filter_map(counted).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Why findings of a reviewer do not block, one word each.
    pub fn aside_words(&self, reviewer: &str) -> Vec<&'static str> {
        let own = || self.set_aside.iter().filter(|it| it.finding.is_reported_by(reviewer));
        let is_own = |standing: Standing| own().any(|it| it.standing == standing);
        ASIDE.iter().filter(|(standing, _)| is_own(*standing)).map(|(_, word)| *word).collect()
    }

    /// The late findings, a line each: no person decided about them, and they do not block.
    pub fn late_lines(&self) -> Vec<String> {
        let late = self.set_aside.iter().filter(|it| it.standing == Standing::Late);
        let line = |it: &SetAsideFinding| {
            let (found, by) = (&it.finding, it.finding.reporters().collect::<Vec<_>>().join(", "));
            let line = format!("{}:{}: {} ({by})", found.file, found.line_start, found.title);
            format!("late: not blocking: {}", short_line(&line, 300))
        };
        late.map(line).collect()
    }

    /// The content of `lines` in one line, with the round; `None` for a first round without such
    /// content.
    pub fn line(&self) -> Option<String> {
        let round = (self.round > 1).then(|| format!("round {}", self.round));
        let words: Vec<String> = round.into_iter().chain(self.lines()).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// Why a person decides, when that is so.
    pub fn escalation(&self) -> Option<&EscalationReason> {
        match &self.next_step {
            NextStep::Escalate(reason) => Some(reason),
            NextStep::Done | NextStep::Continue => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Priority;
    use crate::ledger::rounds::FullReviewReason;
    use crate::ledger::track::tests::finding;

    #[test]
    fn what_is_not_an_issue_is_said_in_lines() {
        let found = finding("return a / b", 2, Priority::P1);
        let id = FindingId("1".repeat(16));
        let aside = |standing| SetAsideFinding {
            id: id.clone(),
            standing,
            reason: None,
            finding: found.clone(),
        };
        let mut report = TrackingReport {
            change: "topic against main".to_owned(),
            round: 1,
            reviewed: RoundCoverage::Full(FullReviewReason::FirstReview),
            next_step: NextStep::Continue,
            issues: Vec::new(),
            set_aside: Vec::new(),
            fixed: Vec::new(),
            unknown: Vec::new(),
            is_stored: true,
        };
        assert_eq!((report.lines(), report.line()), (Vec::new(), None));
        assert_eq!(report.not_blocking(), None);
        report.set_aside = vec![aside(Standing::Waived), aside(Standing::Waived)];
        report.set_aside.push(aside(Standing::Late));
        assert_eq!(report.not_blocking().as_deref(), Some("1 late, 2 waived"));
        assert_eq!(report.aside_words(&found.reviewer), ["late", "waived"]);
        assert!(report.aside_words("other").is_empty());
        let late = report.late_lines();
        assert!(late.len() == 1 && late[0].starts_with("late: not blocking: "), "{late:?}");
        report.set_aside.pop();
        report.fixed =
            vec![FixedFinding { id: id.clone(), reason: String::new(), finding: found.clone() }];
        report.next_step = NextStep::Escalate(EscalationReason::NoProgress);
        let expected = [
            "1 finding fixed",
            "2 findings waived",
            "a person decides: nothing changed since the last review",
        ];
        assert_eq!(report.lines(), expected);
        report.round = 2;
        assert_eq!(report.line(), Some(format!("round 2; {}", expected.join("; "))));
        let decided = BTreeSet::from([id.clone()]);
        assert!(!report.is_decided_since(&decided));
        report.issues = vec![IssueTracking {
            id,
            dedupe_key: found.dedupe_key,
            standing: Standing::New,
            matched: String::new(),
        }];
        assert!(report.is_decided_since(&decided) && !report.is_decided_since(&BTreeSet::new()));
    }
}
