//! The consensus rule: combines votes into one decision. A reviewer without a vote counts towards the size
//! of the panel and never as a pass.

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
    /// So many.
    Quorum(u32),
}

impl ConsensusRule {
    /// How many passes it takes in a panel of this size.
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

/// What a reviewer contributes to the decision.
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
    /// The verdict; `None` when there is none.
    pub verdict: Option<Verdict>,
    /// What follows.
    pub outcome: Outcome,
    /// How many passed it.
    pub passes: usize,
    /// How many it takes.
    pub needed: usize,
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

/// Why there is no decision though no reviewer objects: the reason that another try mends least goes
/// first. Without any absent reviewer, the panel is too small for its rule.
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
