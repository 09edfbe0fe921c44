//! From votes to one decision: pure, over the verdicts after verification. A lane without a vote counts
//! in the panel and never as a pass.

use crate::verdict::{Obstacle, Outcome, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// How many of the panel must pass a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
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

impl Rule {
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

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unanimous => f.write_str("unanimous"),
            Self::Majority => f.write_str("majority"),
            Self::Any => f.write_str("any"),
            Self::Quorum(number) => write!(f, "quorum:{number}"),
        }
    }
}

impl std::str::FromStr for Rule {
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

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Rule {
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

/// Why a lane has no vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// It could not be asked: not installed, or not to be started.
    Unavailable,
    /// It took too long.
    TimedOut,
    /// It failed, or what it said is no answer to this session, or leaves hunks out.
    Unusable,
}

/// What a lane contributes to the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// Its verdict.
    Verdict(Verdict),
    /// It has none.
    Absent(Absence),
}

/// The joint decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The verdict; `None` when the panel came to none.
    pub verdict: Option<Verdict>,
    /// What follows.
    pub outcome: Outcome,
    /// How many passed it.
    pub passes: usize,
    /// How many it takes.
    pub needed: usize,
}

/// The decision over these votes.
pub fn decide(rule: Rule, votes: &[Vote]) -> Decision {
    let passes = count(votes, |vote| *vote == Vote::Verdict(Verdict::Pass));
    let needed = rule.needed(votes.len());
    let (verdict, outcome) = if passes >= needed {
        (Some(Verdict::Pass), Outcome::Passed)
    } else if let Some(objection) = objection(votes) {
        (Some(objection), Outcome::Blocked)
    } else {
        (None, Outcome::CouldNotReview(obstacle(votes)))
    };
    Decision { verdict, outcome, passes, needed }
}

/// The worst verdict that is no pass.
fn objection(votes: &[Vote]) -> Option<Verdict> {
    let has = |verdict| votes.contains(&Vote::Verdict(verdict)).then_some(verdict);
    has(Verdict::Fail).or_else(|| has(Verdict::NeedsWork))
}

/// Why there is no decision though nobody objects: what another try may mend goes first.
fn obstacle(votes: &[Vote]) -> Obstacle {
    let has = |absence| votes.contains(&Vote::Absent(absence));
    if has(Absence::Unavailable) || !votes.iter().any(|vote| matches!(vote, Vote::Absent(_))) {
        // A lane that is not there does not come with another try, and too small a panel stays so.
        Obstacle::NoReviewers
    } else if has(Absence::Unusable) {
        Obstacle::Incomplete
    } else {
        Obstacle::TimedOut
    }
}

fn count(votes: &[Vote], wanted: impl Fn(&Vote) -> bool) -> usize {
    votes.iter().filter(|vote| wanted(vote)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(letter: char) -> Vote {
        match letter {
            'P' => Vote::Verdict(Verdict::Pass),
            'F' => Vote::Verdict(Verdict::Fail),
            'N' => Vote::Verdict(Verdict::NeedsWork),
            't' => Vote::Absent(Absence::TimedOut),
            'u' => Vote::Absent(Absence::Unusable),
            _ => Vote::Absent(Absence::Unavailable),
        }
    }

    #[test]
    fn every_rule_over_panels_of_up_to_three() {
        use Obstacle::{Incomplete, NoReviewers, TimedOut};
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
            ("tu", [Could(Incomplete); 4]),
            ("PPP", [Passed; 4]),
            ("PPF", [Blocked, Passed, Passed, Passed]),
            ("PPt", [Could(TimedOut), Passed, Passed, Passed]),
            ("PFF", [Blocked, Blocked, Passed, Blocked]),
            ("Ptt", [Could(TimedOut), Could(TimedOut), Passed, Could(TimedOut)]),
            ("PNt", [Blocked, Blocked, Passed, Blocked]),
        ];
        let rules = [Rule::Unanimous, Rule::Majority, Rule::Any, Rule::Quorum(2)];
        for (letters, expected) in rows {
            let votes: Vec<Vote> = letters.chars().map(vote).collect();
            let got = rules.map(|rule| decide(rule, &votes).outcome);
            assert_eq!(got, expected, "{letters}");
        }
    }

    #[test]
    fn the_worst_verdict_is_the_panels() {
        let verdict = |letters: &str| {
            let votes: Vec<Vote> = letters.chars().map(vote).collect();
            decide(Rule::Unanimous, &votes).verdict
        };
        assert_eq!(verdict("PNF"), Some(Verdict::Fail));
        assert_eq!(verdict("PN"), Some(Verdict::NeedsWork));
        assert_eq!(verdict("Pu"), None);
    }

    #[test]
    fn rules_are_read_as_they_are_shown() {
        for word in ["unanimous", "majority", "any", "quorum:2"] {
            assert_eq!(word.parse::<Rule>().map(|rule| rule.to_string()), Ok(word.to_owned()));
        }
        for word in ["", "all", "quorum", "quorum:0", "quorum:-1", "quorum:101", "Unanimous"] {
            assert!(word.parse::<Rule>().is_err(), "{word}");
        }
    }
}
