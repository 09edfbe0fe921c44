//! What `review-gate` prints. The fields of the first version are the least that readers rely on; all
//! others are additions.

use super::canary::Measured;
use super::consensus::{Absence, Rule};
use crate::finding::Finding;
use crate::review::{Coverage, Usage};
use crate::scope::Scope;
use crate::verdict::{Obstacle, Outcome, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `spawn-code-review` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spawned {
    /// The version of this form.
    pub schema_version: u32,
    /// The session to wait for.
    pub session_key: String,
    /// The reviewers that were started.
    pub reviewers_spawned: Vec<String>,
    /// The reviewers of the panel that were not, and why.
    pub reviewers_missing: BTreeMap<String, String>,
    /// Where the session's files are.
    pub session_dir: String,
    /// The commit under review.
    pub head: Option<String>,
}

/// How waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The panel came to a verdict.
    Resolved,
    /// Time ran out.
    Timeout,
    /// There is no verdict.
    Error,
}

/// The verdict of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PanelVerdict {
    /// It passes.
    #[serde(rename = "PASS")]
    Pass,
    /// At least one P0 or P1.
    #[serde(rename = "FAIL")]
    Fail,
    /// Only P2 and P3.
    #[serde(rename = "NEEDS_WORK")]
    NeedsWork,
    /// Not enough reviewers came to a verdict.
    #[serde(rename = "no_reviewers")]
    NoReviewers,
}

impl PanelVerdict {
    /// The words for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::NeedsWork => "NEEDS_WORK",
            Self::NoReviewers => "no verdict",
        }
    }
}

impl From<Option<Verdict>> for PanelVerdict {
    fn from(verdict: Option<Verdict>) -> Self {
        match verdict {
            Some(Verdict::Pass) => Self::Pass,
            Some(Verdict::Fail) => Self::Fail,
            Some(Verdict::NeedsWork) => Self::NeedsWork,
            None => Self::NoReviewers,
        }
    }
}

/// What `wait --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waited {
    /// The version of this form.
    pub schema_version: u32,
    /// How waiting ended.
    pub status: Status,
    /// The joint decision.
    pub consensus: Consensus,
    /// Each reviewer of the panel.
    pub reviewers: BTreeMap<String, LaneReport>,
    /// What stands, worst first; what several reviewers say is there once.
    pub issues: Vec<Finding>,
    /// Why reviewers gave no answer.
    pub parse_errors: Vec<String>,
    /// The session.
    pub session_key: Option<String>,
    /// Where the session's files are.
    pub session_dir: Option<String>,
    /// Exactly what was reviewed.
    pub scope: Option<Scope>,
    /// Which findings are whose.
    pub findings: FindingSets,
    /// What all reviewers together account for.
    pub coverage: Coverage,
    /// What all reviewers together used, the one who checks included.
    pub usage: Usage,
    /// The agent, when it checked findings that no other lane could check.
    #[serde(default)]
    pub checker: Option<CheckerReport>,
    /// What else there is to know.
    pub warnings: Vec<String>,
    /// Why there is no verdict; null when there is one.
    pub obstacle: Option<Obstacle>,
}

/// The joint decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Consensus {
    /// The verdict.
    pub verdict: PanelVerdict,
    /// A session is one pass.
    pub iteration: u32,
    /// How many must pass it.
    pub rule: Rule,
    /// The same as a number.
    pub needed: usize,
    /// How many passed it.
    pub passes: usize,
    /// The verdicts as the reviewers gave them, and what the rule makes of them.
    pub raw: Votes,
    /// The verdicts after blocking findings were checked, and what the rule makes of them.
    pub verified: Votes,
}

/// Votes and what a rule makes of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Votes {
    /// The verdict.
    pub verdict: PanelVerdict,
    /// The verdict of each reviewer; null when it has none.
    pub votes: BTreeMap<String, Option<Verdict>>,
}

/// One reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneReport {
    /// Its verdict over the findings that stand; null when it has none.
    pub verdict: Option<Verdict>,
    /// What it says of the whole.
    pub summary: String,
    /// Its findings that stand.
    pub issues: Vec<Finding>,
    /// Why it has no verdict.
    pub error: Option<String>,
    /// The same as a word.
    pub absence: Option<Absence>,
    /// The verdict that it gave itself.
    pub raw_verdict: Option<Verdict>,
    /// What it accounts for.
    pub coverage: Coverage,
    /// What it used.
    pub usage: Usage,
    /// How it ended; null when it did not end by itself.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub seconds: f64,
    /// Files that it wrote, though it must not.
    pub wrote: Vec<String>,
    /// What it finds of planted defects, when that was measured. It has no part in the verdict.
    #[serde(default)]
    pub measured: Option<Measured>,
}

/// The part of the agent that checks findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckerReport {
    /// Its name.
    pub reviewer: String,
    /// The model behind it.
    pub model: String,
    /// How many findings it was asked about.
    pub findings: usize,
    /// What it used.
    pub usage: Usage,
}

/// Which findings are whose, by their keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingSets {
    /// Everything that anybody found.
    pub union: Vec<String>,
    /// What at least two reviewers found.
    pub agreed: Vec<String>,
    /// What a check confirmed.
    pub verified: Vec<String>,
    /// What a check refuted, in full: it does not count.
    pub refuted: Vec<Finding>,
}

impl Waited {
    /// Nobody decided anything, for this reason.
    pub fn undecided(obstacle: Obstacle, why: impl Into<String>) -> Self {
        let nothing = || Votes { verdict: PanelVerdict::NoReviewers, votes: BTreeMap::new() };
        Self {
            schema_version: super::SCHEMA_VERSION,
            status: status(Outcome::CouldNotReview(obstacle)),
            consensus: Consensus {
                verdict: PanelVerdict::NoReviewers,
                iteration: 1,
                rule: Rule::Unanimous,
                needed: 0,
                passes: 0,
                raw: nothing(),
                verified: nothing(),
            },
            reviewers: BTreeMap::new(),
            issues: Vec::new(),
            parse_errors: vec![why.into()],
            session_key: None,
            session_dir: None,
            scope: None,
            findings: FindingSets::default(),
            coverage: Coverage::default(),
            usage: Usage::default(),
            checker: None,
            warnings: Vec::new(),
            obstacle: Some(obstacle),
        }
    }

    /// What follows from it. Anything that does not fit together is no pass.
    pub fn outcome(&self) -> Outcome {
        let consensus = &self.consensus;
        match (self.status, consensus.verdict, self.obstacle) {
            (Status::Resolved, PanelVerdict::Pass, None)
                if consensus.verified.verdict == PanelVerdict::Pass
                    && (consensus.passes >= consensus.needed || self.reviewers.is_empty()) =>
            {
                Outcome::Passed
            }
            (Status::Resolved, PanelVerdict::Fail | PanelVerdict::NeedsWork, None) => {
                Outcome::Blocked
            }
            (_, _, Some(obstacle)) => Outcome::CouldNotReview(obstacle),
            _ => Outcome::CouldNotReview(Obstacle::Internal),
        }
    }
}

/// The JSON Schema of what `spawn-code-review` prints.
pub fn spawned_schema() -> schemars::Schema {
    schemars::schema_for!(Spawned)
}

/// The JSON Schema of what `wait --json` prints.
pub fn waited_schema() -> schemars::Schema {
    schemars::schema_for!(Waited)
}

/// How waiting ended, by what came of it.
pub fn status(outcome: Outcome) -> Status {
    match outcome {
        Outcome::Passed | Outcome::Blocked => Status::Resolved,
        Outcome::CouldNotReview(Obstacle::TimedOut) => Status::Timeout,
        Outcome::CouldNotReview(_) => Status::Error,
    }
}
