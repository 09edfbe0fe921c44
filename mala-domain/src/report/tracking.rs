//! What the ledger says of a review: its round, how its findings relate to earlier reviews, and what is next.

use crate::finding::{DedupeKey, Finding};
use crate::ledger::convergence::{EscalationReason, NextStep};
use crate::ledger::rounds::RoundCoverage;
use crate::ledger::{FindingId, Standing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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

    /// Whether a person decided about one of the issues since: these are the findings that are waived or disputed.
    pub fn is_decided_since(&self, decided: &BTreeSet<FindingId>) -> bool {
        self.issues.iter().any(|issue| decided.contains(&issue.id))
    }

    /// What is not among the issues, a line each: fixed findings, those that do not count, and who decides next.
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

    /// The same in one line, with the round; `None` for a first round with nothing to say.
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
            is_stored: true,
        };
        assert_eq!((report.lines(), report.line()), (Vec::new(), None));
        report.set_aside = vec![aside(Standing::Waived), aside(Standing::Waived)];
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
