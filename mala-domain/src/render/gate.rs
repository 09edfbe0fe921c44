//! What `review-gate` prints: a session's state and its report, as JSON. The fields of the first version
//! are the least that readers rely on; all others are additions.

use crate::finding::{Finding, VerificationOutcome};
use crate::gate::SCHEMA_VERSION;
use crate::gate::canary::Measured;
use crate::gate::lane::LaneFailureKind;
use crate::gate::session::{Session, SessionState};
use crate::report::{CheckerReport, Report, ReviewerReport};
use crate::review::consensus::ConsensusRule;
use crate::review::{Coverage, Usage};
use crate::scope::{HeadState, ScopeSummary};
use crate::verdict::{NotReviewedReason, Outcome, Verdict, counts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `spawn-code-review` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateSpawnJson {
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
pub enum GateStatus {
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
pub struct GateResultJson {
    /// The version of this form.
    pub schema_version: u32,
    /// How waiting ended.
    pub status: GateStatus,
    /// The joint decision.
    pub consensus: GateConsensusJson,
    /// Each reviewer of the panel.
    pub reviewers: BTreeMap<String, GateReviewerJson>,
    /// What stands, worst first; what several reviewers say is there once.
    pub issues: Vec<Finding>,
    /// Why reviewers gave no answer.
    pub parse_errors: Vec<String>,
    /// The session.
    pub session_key: Option<String>,
    /// Where the session's files are.
    pub session_dir: Option<String>,
    /// Exactly what was reviewed.
    pub scope: Option<ScopeSummary>,
    /// Which findings are whose.
    pub findings: GateFindingSets,
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
    pub obstacle: Option<NotReviewedReason>,
}

/// The joint decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateConsensusJson {
    /// The verdict.
    pub verdict: PanelVerdict,
    /// A session is one pass.
    pub iteration: u32,
    /// How many must pass it.
    pub rule: ConsensusRule,
    /// The same as a number.
    pub needed: usize,
    /// How many passed it.
    pub passes: usize,
    /// The verdicts as the reviewers gave them, and what the rule makes of them.
    pub raw: GateVotesJson,
    /// The verdicts after blocking findings were checked, and what the rule makes of them.
    pub verified: GateVotesJson,
}

/// Votes and what a rule makes of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateVotesJson {
    /// The verdict.
    pub verdict: PanelVerdict,
    /// The verdict of each reviewer; null when it has none.
    pub votes: BTreeMap<String, Option<Verdict>>,
}

/// One reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateReviewerJson {
    /// Its verdict over the findings that stand; null when it has none.
    pub verdict: Option<Verdict>,
    /// What it says of the whole.
    pub summary: String,
    /// Its findings that stand.
    pub issues: Vec<Finding>,
    /// Why it has no verdict.
    pub error: Option<String>,
    /// The same as a word.
    pub absence: Option<LaneFailureKind>,
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

/// Which findings are whose, by their keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateFindingSets {
    /// All findings of all reviewers.
    pub union: Vec<String>,
    /// What at least two reviewers found.
    pub agreed: Vec<String>,
    /// What a check confirmed.
    pub verified: Vec<String>,
    /// What a check refuted, in full: it does not count.
    pub refuted: Vec<Finding>,
}

/// What `wait` knows of a session besides its state.
#[derive(Debug, Clone, Default)]
pub struct SessionFacts {
    /// The session.
    pub session: Option<Session>,
    /// Where its files are.
    pub folder: Option<String>,
    /// The lanes that have ended.
    pub ended: Vec<String>,
    /// What lanes find of planted defects, as far as that was measured.
    pub measured: BTreeMap<String, Measured>,
}

impl GateResultJson {
    /// What `wait --json` prints of a session.
    pub fn of(state: &SessionState, facts: &SessionFacts) -> Self {
        let mut result = match state.report() {
            Some(report) => Self::of_report(report, &facts.measured),
            None => Self::without_report(state, facts),
        };
        if let Some(session) = &facts.session {
            result.consensus.rule = session.rule;
            result.session_key = Some(session.key.clone());
            result.scope = Some(session.scope.clone());
        }
        result.session_dir.clone_from(&facts.folder);
        result
    }

    fn without_report(state: &SessionState, facts: &SessionFacts) -> Self {
        let reason = match state.outcome() {
            Outcome::CouldNotReview(reason) => reason,
            Outcome::Passed | Outcome::Blocked => NotReviewedReason::Internal,
        };
        let seats = facts.session.iter().flat_map(|session| &session.seats);
        let running = seats.filter(|seat| !facts.ended.contains(&seat.lane.name));
        let running = running.map(|seat| format!("{}: no answer yet", seat.lane.name));
        let running: Vec<String> = match state {
            SessionState::Ended(_) => Vec::new(),
            _ => running.collect(),
        };
        let votes = || GateVotesJson { verdict: PanelVerdict::NoReviewers, votes: BTreeMap::new() };
        Self {
            schema_version: SCHEMA_VERSION,
            status: status(Outcome::CouldNotReview(reason)),
            consensus: GateConsensusJson {
                verdict: PanelVerdict::NoReviewers,
                iteration: 1,
                rule: ConsensusRule::Unanimous,
                needed: 0,
                passes: 0,
                raw: votes(),
                verified: votes(),
            },
            reviewers: BTreeMap::new(),
            issues: Vec::new(),
            parse_errors: state.problem().into_iter().chain(running).collect(),
            session_key: None,
            session_dir: None,
            scope: None,
            findings: GateFindingSets::default(),
            coverage: Coverage::default(),
            usage: Usage::default(),
            checker: None,
            warnings: Vec::new(),
            obstacle: Some(reason),
        }
    }

    fn of_report(report: &Report, measured: &BTreeMap<String, Measured>) -> Self {
        let reviewers = || report.reviewers.iter();
        let votes = |verdict: Option<Verdict>, of: fn(&ReviewerReport) -> Option<Verdict>| {
            let votes = reviewers().map(|it| (it.reviewer.clone(), of(it)));
            GateVotesJson { verdict: verdict.into(), votes: votes.collect() }
        };
        let consensus = &report.consensus;
        let nothing = report.scope.files == 0;
        let empty = nothing.then(|| "nothing changed: no reviewer was run".to_owned());
        let stats = &report.stats;
        Self {
            schema_version: SCHEMA_VERSION,
            status: status(report.outcome),
            consensus: GateConsensusJson {
                verdict: consensus.verdict.into(),
                iteration: 1,
                rule: consensus.rule,
                needed: consensus.needed,
                passes: consensus.passes,
                raw: votes(consensus.claimed_verdict, |it| it.claimed_verdict),
                verified: votes(consensus.verdict, |it| it.verdict),
            },
            reviewers: reviewers()
                .map(|it| {
                    let own = measured.get(&it.reviewer).cloned();
                    (it.reviewer.clone(), GateReviewerJson::of(it, report, own))
                })
                .collect(),
            issues: standing(report).cloned().collect(),
            parse_errors: report.errors.clone(),
            session_key: None,
            session_dir: None,
            scope: Some(report.scope.clone()),
            findings: GateFindingSets::of(report),
            coverage: report.coverage.clone(),
            usage: Usage {
                llm_calls: stats.llm_calls,
                tool_calls: stats.tool_calls,
                tokens_used: stats.tokens_used,
                cache_read_tokens: stats.cache_read_tokens,
                cost_usd: stats.cost_usd,
                latency_seconds_llm: stats.latency_seconds_llm,
                answers_read: stats.answers_read.clone(),
            },
            checker: report.checker.clone(),
            warnings: empty
                .into_iter()
                .chain(report.coverage.left_out())
                .chain(report.warnings.iter().cloned())
                .collect(),
            obstacle: match report.outcome {
                Outcome::CouldNotReview(reason) => Some(reason),
                _ => None,
            },
        }
    }

    /// What follows from it. Anything that does not fit together is no pass.
    pub fn outcome(&self) -> Outcome {
        let consensus = &self.consensus;
        match (self.status, consensus.verdict, self.obstacle) {
            (GateStatus::Resolved, PanelVerdict::Pass, None)
                if consensus.verified.verdict == PanelVerdict::Pass
                    && (consensus.passes >= consensus.needed || self.reviewers.is_empty()) =>
            {
                Outcome::Passed
            }
            (GateStatus::Resolved, PanelVerdict::Fail | PanelVerdict::NeedsWork, None) => {
                Outcome::Blocked
            }
            (_, _, Some(obstacle)) => Outcome::CouldNotReview(obstacle),
            _ => Outcome::CouldNotReview(NotReviewedReason::Internal),
        }
    }
}

fn standing(report: &Report) -> impl Iterator<Item = &Finding> {
    report.issues.iter().filter(|finding| counts(finding))
}

impl GateReviewerJson {
    fn of(reviewer: &ReviewerReport, report: &Report, measured: Option<Measured>) -> Self {
        let own = standing(report).filter(|it| it.is_reported_by(&reviewer.reviewer));
        let process = reviewer.process.clone().unwrap_or_default();
        Self {
            verdict: reviewer.verdict,
            summary: reviewer.summary.clone(),
            issues: own.cloned().collect(),
            error: reviewer.error.clone(),
            absence: reviewer.not_reviewed.map(|reason| match reason {
                NotReviewedReason::NoReviewers => LaneFailureKind::Unavailable,
                NotReviewedReason::TimedOut => LaneFailureKind::TimedOut,
                NotReviewedReason::Incomplete | NotReviewedReason::Internal => {
                    LaneFailureKind::Unusable
                }
            }),
            raw_verdict: reviewer.claimed_verdict,
            coverage: reviewer.coverage.clone().unwrap_or_else(|| report.coverage.clone()),
            usage: reviewer.usage.clone(),
            exit_code: process.exit_code,
            seconds: process.seconds,
            wrote: process.wrote,
            measured,
        }
    }
}

impl GateFindingSets {
    fn of(report: &Report) -> Self {
        let all = || report.issues.iter().chain(&report.refuted).chain(&report.dropped);
        let keys = |wanted: &dyn Fn(&Finding) -> bool| {
            let wanted = all().filter(|finding| wanted(finding));
            wanted.map(|finding| finding.dedupe_key.to_string()).collect()
        };
        Self {
            union: keys(&|_| true),
            agreed: keys(&|finding| !finding.also_reported_by.is_empty()),
            verified: keys(&|it| it.verification.outcome == VerificationOutcome::Verified),
            refuted: all().filter(|finding| !counts(finding)).cloned().collect(),
        }
    }
}

impl GateSpawnJson {
    /// What `spawn-code-review` prints of a session whose lanes were started, or not.
    pub fn of(session: &Session, folder: String, started: Vec<String>) -> Self {
        let missing = session.seats.iter().filter(|seat| !started.contains(&seat.lane.name));
        let missing = missing.map(|seat| {
            let why = match session.has_nothing_to_review() {
                true => "nothing changed",
                false => "not started",
            };
            let why = seat.absent.clone().unwrap_or_else(|| why.to_owned());
            (seat.lane.name.clone(), why)
        });
        Self {
            schema_version: SCHEMA_VERSION,
            session_key: session.key.clone(),
            reviewers_missing: missing.collect(),
            reviewers_spawned: started,
            session_dir: folder,
            head: match &session.scope.head {
                HeadState::Commit(sha) => Some(sha.clone()),
                _ => None,
            },
        }
    }
}

/// The JSON Schema of what `spawn-code-review` prints.
pub fn spawn_schema() -> schemars::Schema {
    schemars::schema_for!(GateSpawnJson)
}

/// The JSON Schema of what `wait --json` prints.
pub fn result_schema() -> schemars::Schema {
    schemars::schema_for!(GateResultJson)
}

/// How waiting ended, by what came of it.
pub fn status(outcome: Outcome) -> GateStatus {
    match outcome {
        Outcome::Passed | Outcome::Blocked => GateStatus::Resolved,
        Outcome::CouldNotReview(NotReviewedReason::TimedOut) => GateStatus::Timeout,
        Outcome::CouldNotReview(_) => GateStatus::Error,
    }
}
