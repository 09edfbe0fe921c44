//! The consensus: combines votes into one decision. Every reviewer must pass the change, and a panel passes
//! it by its rule. A reviewer without a vote counts towards the size of the panel and never as a pass.

use crate::verdict::{NotReviewedReason, Outcome, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// How many of the panel must pass a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConsensusRule {
    /// All.
    #[default]
    Unanimous,
    /// More than half.
    Majority,
    /// One.
    Any,
    /// This number of reviewers.
    Quorum(u32),
}

impl ConsensusRule {
    /// The number of passes that a panel of this size needs.
    pub fn needed(self, panel: usize) -> usize {
        match self {
            Self::Unanimous => panel.max(1),
            Self::Majority => panel / 2 + 1,
            Self::Any => 1,
            Self::Quorum(number) => usize::try_from(number).unwrap_or(usize::MAX).max(1),
        }
    }
}

impl std::fmt::Display for ConsensusRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unanimous => f.write_str("unanimous"),
            Self::Majority => f.write_str("majority"),
            Self::Any => f.write_str("any"),
            Self::Quorum(number) => write!(f, "quorum:{number}"),
        }
    }
}

impl std::str::FromStr for ConsensusRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "unanimous" => Ok(Self::Unanimous),
            "majority" => Ok(Self::Majority),
            "any" => Ok(Self::Any),
            other => other
                .strip_prefix("quorum:")
                .and_then(|number| number.parse().ok())
                .filter(|number| (1..=100).contains(number))
                .map(Self::Quorum)
                .ok_or_else(|| {
                    format!(
                        "`{other}` is none of unanimous, majority, any, quorum:N (N from 1 to 100)"
                    )
                }),
        }
    }
}

impl Serialize for ConsensusRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ConsensusRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for ConsensusRule {
    fn schema_name() -> Cow<'static, str> {
        "ConsensusRule".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^(unanimous|majority|any|quorum:[1-9][0-9]*)$",
            "description": "How many of the panel must pass a change."
        })
    }
}

/// The part of a reviewer in the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteStatus {
    /// None of its findings reaches the threshold.
    Passes,
    /// Its findings fail the change, with this verdict over them.
    Objects(Verdict),
    /// It has no vote.
    Absent(NotReviewedReason),
}

/// The joint decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The verdict; `None` if there is none.
    pub verdict: Option<Verdict>,
    /// The outcome that follows.
    pub outcome: Outcome,
    /// How many passed it.
    pub passes: usize,
    /// The number of passes needed.
    pub needed: usize,
}

impl Decision {
    /// Both must pass; the worse of the two decides.
    fn and(self, other: Self) -> Self {
        let worst = |a: Option<Verdict>, b: Option<Verdict>| match (a, b) {
            (Some(Verdict::Fail), _) | (_, Some(Verdict::Fail)) => Some(Verdict::Fail),
            (a, b) => a.filter(|it| *it != Verdict::Pass).or(b),
        };
        let (verdict, outcome) = match (self.outcome, other.outcome) {
            (Outcome::Passed, _) => (other.verdict, other.outcome),
            (_, Outcome::Passed) => (self.verdict, self.outcome),
            (Outcome::Blocked, Outcome::Blocked) => {
                (worst(self.verdict, other.verdict), Outcome::Blocked)
            }
            (Outcome::Blocked, _) => (self.verdict, self.outcome),
            (_, Outcome::Blocked) => (other.verdict, other.outcome),
            (Outcome::CouldNotReview(one), Outcome::CouldNotReview(two)) => {
                let votes = [one, two].map(VoteStatus::Absent);
                (None, Outcome::CouldNotReview(reason(&votes)))
            }
        };
        let counted = |it: &Self| it.passes.min(it.needed);
        let (passes, needed) = (counted(&self) + counted(&other), self.needed + other.needed);
        Self { verdict, outcome, passes, needed }
    }
}

/// The votes of a review: those of reviewers that must each pass the change, and those of the panel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitVotes {
    /// The votes of reviewers outside the panel.
    pub single: Vec<VoteStatus>,
    /// The votes of the members of the panel.
    pub panel: Vec<VoteStatus>,
}

/// The joint decision of all reviewers: each reviewer outside the panel must pass, and the panel by its rule.
pub fn joint(rule: ConsensusRule, votes: &SplitVotes) -> Decision {
    match (votes.single.as_slice(), votes.panel.as_slice()) {
        ([], panel) => by_rule(rule, panel),
        (single, []) => by_rule(ConsensusRule::Unanimous, single),
        (single, panel) => by_rule(ConsensusRule::Unanimous, single).and(by_rule(rule, panel)),
    }
}

/// The decision over these votes.
pub fn by_rule(rule: ConsensusRule, votes: &[VoteStatus]) -> Decision {
    let passes = votes.iter().filter(|vote| **vote == VoteStatus::Passes).count();
    let needed = rule.needed(votes.len());
    let (verdict, outcome) = if passes >= needed {
        (Some(Verdict::Pass), Outcome::Passed)
    } else if let Some(objection) = objection(votes) {
        (Some(objection), Outcome::Blocked)
    } else {
        (None, Outcome::CouldNotReview(reason(votes)))
    };
    Decision { verdict, outcome, passes, needed }
}

/// The worst verdict that is no pass.
fn objection(votes: &[VoteStatus]) -> Option<Verdict> {
    let has = |verdict| votes.contains(&VoteStatus::Objects(verdict)).then_some(verdict);
    has(Verdict::Fail).or_else(|| has(Verdict::NeedsWork))
}

/// Why there is no decision though no reviewer objects. The reason that a retry is least likely to
/// fix wins. If no reviewer is absent, the panel is too small for its rule.
fn reason(votes: &[VoteStatus]) -> NotReviewedReason {
    let order = [
        NotReviewedReason::Internal,
        NotReviewedReason::NoReviewers,
        NotReviewedReason::Incomplete,
        NotReviewedReason::TimedOut,
    ];
    let has = |reason: &NotReviewedReason| votes.contains(&VoteStatus::Absent(*reason));
    order.into_iter().find(has).unwrap_or(NotReviewedReason::NoReviewers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(letter: char) -> VoteStatus {
        match letter {
            'P' => VoteStatus::Passes,
            'F' => VoteStatus::Objects(Verdict::Fail),
            'N' => VoteStatus::Objects(Verdict::NeedsWork),
            't' => VoteStatus::Absent(NotReviewedReason::TimedOut),
            'u' => VoteStatus::Absent(NotReviewedReason::Incomplete),
            'i' => VoteStatus::Absent(NotReviewedReason::Internal),
            _ => VoteStatus::Absent(NotReviewedReason::NoReviewers),
        }
    }

    #[test]
    fn every_rule_over_panels_of_up_to_three() {
        use NotReviewedReason::{Incomplete, NoReviewers, TimedOut};
        use Outcome::{Blocked, CouldNotReview as Could, Passed};
        // The votes, then what unanimous, majority, any and quorum:2 make of them.
        let rows = [
            ("", [Could(NoReviewers); 4]),
            ("P", [Passed, Passed, Passed, Could(NoReviewers)]),
            ("F", [Blocked; 4]),
            ("N", [Blocked; 4]),
            ("t", [Could(TimedOut); 4]),
            ("u", [Could(Incomplete); 4]),
            ("-", [Could(NoReviewers); 4]),
            ("PP", [Passed; 4]),
            ("PF", [Blocked, Blocked, Passed, Blocked]),
            ("Pt", [Could(TimedOut), Could(TimedOut), Passed, Could(TimedOut)]),
            ("Pu", [Could(Incomplete), Could(Incomplete), Passed, Could(Incomplete)]),
            ("P-", [Could(NoReviewers), Could(NoReviewers), Passed, Could(NoReviewers)]),
            ("Fu", [Blocked; 4]),
            ("u-", [Could(NoReviewers); 4]),
            ("i-", [Could(NotReviewedReason::Internal); 4]),
            ("tu", [Could(Incomplete); 4]),
            ("PPP", [Passed; 4]),
            ("PPF", [Blocked, Passed, Passed, Passed]),
            ("PPt", [Could(TimedOut), Passed, Passed, Passed]),
            ("PFF", [Blocked, Blocked, Passed, Blocked]),
            ("Ptt", [Could(TimedOut), Could(TimedOut), Passed, Could(TimedOut)]),
            ("PNt", [Blocked, Blocked, Passed, Blocked]),
        ];
        let rules = [
            ConsensusRule::Unanimous,
            ConsensusRule::Majority,
            ConsensusRule::Any,
            ConsensusRule::Quorum(2),
        ];
        for (letters, expected) in rows {
            let votes: Vec<VoteStatus> = letters.chars().map(vote).collect();
            let got = rules.map(|rule| by_rule(rule, &votes).outcome);
            assert_eq!(got, expected, "{letters}");
        }
    }

    #[test]
    fn every_single_reviewer_must_pass_and_the_panel_by_its_rule() {
        use NotReviewedReason::{Incomplete, Internal, NoReviewers, TimedOut};
        use Outcome::{Blocked, CouldNotReview as Could, Passed};
        // Single reviewers, panel, rule of the panel; outcome, passes, needed passes.
        let rows = [
            ("P", "PF", ConsensusRule::Any, Passed, 2, 2),
            ("P", "PF", ConsensusRule::Unanimous, Blocked, 2, 3),
            ("P", "PPF", ConsensusRule::Majority, Passed, 3, 3),
            ("F", "PPP", ConsensusRule::Majority, Blocked, 2, 3),
            ("-", "PPP", ConsensusRule::Any, Could(NoReviewers), 1, 2),
            ("-", "F", ConsensusRule::Any, Blocked, 0, 2),
            ("F", "-", ConsensusRule::Any, Blocked, 0, 2),
            ("P", "--", ConsensusRule::Any, Could(NoReviewers), 1, 2),
            ("u", "t", ConsensusRule::Any, Could(Incomplete), 0, 2),
            ("t", "i", ConsensusRule::Any, Could(Internal), 0, 2),
            ("Pt", "", ConsensusRule::Any, Could(TimedOut), 1, 2),
            ("PP", "", ConsensusRule::Any, Passed, 2, 2),
            ("", "PF", ConsensusRule::Any, Passed, 1, 1),
            ("", "", ConsensusRule::Unanimous, Could(NoReviewers), 0, 1),
        ];
        for (single, panel, rule, outcome, passes, needed) in rows {
            let votes = |letters: &str| letters.chars().map(vote).collect();
            let votes = SplitVotes { single: votes(single), panel: votes(panel) };
            let got = joint(rule, &votes);
            let expected = (outcome, passes, needed);
            assert_eq!((got.outcome, got.passes, got.needed), expected, "{single} {panel}");
        }
        let votes = SplitVotes { single: vec![vote('N')], panel: vec![vote('F')] };
        assert_eq!(joint(ConsensusRule::Any, &votes).verdict, Some(Verdict::Fail));
        let votes = SplitVotes { single: vec![vote('N')], panel: vec![vote('P')] };
        assert_eq!(joint(ConsensusRule::Any, &votes).verdict, Some(Verdict::NeedsWork));
    }

    #[test]
    fn the_worst_verdict_is_the_panels() {
        let verdict = |letters: &str| {
            let votes: Vec<VoteStatus> = letters.chars().map(vote).collect();
            by_rule(ConsensusRule::Unanimous, &votes).verdict
        };
        assert_eq!(verdict("PNF"), Some(Verdict::Fail));
        assert_eq!(verdict("PN"), Some(Verdict::NeedsWork));
        assert_eq!(verdict("Pu"), None);
    }

    #[test]
    fn rules_are_read_as_they_are_shown() {
        for word in ["unanimous", "majority", "any", "quorum:2"] {
            assert_eq!(
                word.parse::<ConsensusRule>().map(|rule| rule.to_string()),
                Ok(word.to_owned())
            );
        }
        for word in ["", "all", "quorum", "quorum:0", "quorum:-1", "quorum:101", "Unanimous"] {
            assert!(word.parse::<ConsensusRule>().is_err(), "{word}");
        }
    }
}
