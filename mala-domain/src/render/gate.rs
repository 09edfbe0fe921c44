//! The JSON output of `review-gate`: the state of a session and its report.

mod checks;
mod words;

pub use checks::{GateCheckJson, check_words};
pub use words::reviewer_words;

use crate::finding::Finding;
use crate::gate::SCHEMA_VERSION;
use crate::gate::canary::Measured;
use crate::gate::lane::LaneFailureKind;
use crate::gate::session::{LaneOpinion, PanelMember, Session, SessionProgress, SessionState};
use crate::report::{Report, ReviewerReport, TrackingReport};
use crate::review::consensus::ConsensusRule;
use crate::review::verify::CheckerReport;
use crate::review::{Coverage, Usage};
use crate::scope::{HeadState, ScopeSummary};
use crate::verdict::{NotReviewedReason, Outcome, Verdict, counts};
use checks::{check, checked_by, checkers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The output of `spawn-code-review`.
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
    /// The folder of the session.
    pub session_dir: String,
    /// The commit under review.
    pub head: Option<String>,
}

/// How waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateStatus {
    /// The panel has a verdict.
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
    /// Not enough reviewers have a verdict.
    #[serde(rename = "no_reviewers")]
    NoReviewers,
}

impl PanelVerdict {
    /// The description for people.
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

/// The output of `wait --json`: the fields of the contract, then a report with all other data.
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
    /// The findings that count, worst first; a finding of several reviewers is listed once.
    pub issues: Vec<Finding>,
    /// Why reviewers gave no answer.
    pub parse_errors: Vec<String>,
    /// Everything else.
    pub report: GateReportJson,
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
}

/// One reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateReviewerJson {
    /// Its verdict; null if it has none. A reviewer whose findings were all refuted, or do not
    /// block, keeps its own verdict.
    pub verdict: Option<Verdict>,
    /// Its summary.
    pub summary: String,
    /// Its findings, with those that are refuted or do not block.
    pub issues: Vec<Finding>,
    /// Why it has no verdict.
    pub error: Option<String>,
}

/// More data about a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateReportJson {
    /// The session.
    pub session_key: Option<String>,
    /// The folder with its files.
    pub session_dir: Option<String>,
    /// Exactly what was reviewed.
    pub scope: Option<ScopeSummary>,
    /// Why there is no verdict; null when there is one.
    pub not_reviewed: Option<NotReviewedReason>,
    /// How each finding was checked, in the order of `issues`, followed by the refuted findings and
    /// those that do not block.
    pub checks: Vec<GateCheckJson>,
    /// Each reviewer of the panel in detail.
    pub reviewers: BTreeMap<String, GateLaneJson>,
    /// The coverage of all reviewers together.
    pub coverage: Coverage,
    /// The usage of all reviewers and checks together.
    pub usage: Usage,
    /// The agent, if it checked findings that no other lane could check.
    #[serde(default)]
    pub checker: Option<CheckerReport>,
    /// The data of the ledger: the round, which findings are known, fixed or waived, and the next
    /// step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracking: Option<TrackingReport>,
    /// Other warnings.
    pub warnings: Vec<String>,
}

/// One reviewer in detail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateLaneJson {
    /// The verdict that it gave itself.
    pub claimed_verdict: Option<Verdict>,
    /// The reviewers that refuted its findings, if all of them were refuted.
    pub refuted_by: Vec<String>,
    /// Why it has no vote, as a kind.
    pub absence: Option<LaneFailureKind>,
    /// Its coverage.
    pub coverage: Coverage,
    /// Its usage.
    pub usage: Usage,
    /// Its exit code; null when it did not end by itself.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub seconds: f64,
    /// Files that it wrote, though it must not.
    pub wrote: Vec<String>,
    /// Its measured recall on planted defects, if any. It does not affect the verdict.
    #[serde(default)]
    pub measured: Option<Measured>,
}

/// The data about a session besides its state.
#[derive(Debug, Clone, Default)]
pub struct SessionFacts {
    /// The session.
    pub session: Option<Session>,
    /// The folder with its files.
    pub folder: Option<String>,
    /// The progress.
    pub progress: SessionProgress,
    /// The measured recall of lanes on planted defects.
    pub measured: BTreeMap<String, Measured>,
}

impl GateResultJson {
    /// The output of `wait --json` for a session.
    pub fn of(state: &SessionState, facts: &SessionFacts) -> Self {
        let mut result = match state.report() {
            Some(report) => Self::of_report(report),
            None => Self::without_report(state, facts),
        };
        if let Some(session) = &facts.session {
            result.consensus.rule = session.rule;
            result.report.session_key = Some(session.key.clone());
            result.report.scope = Some(session.scope.clone());
        }
        result.report.session_dir.clone_from(&facts.folder);
        for (name, lane) in &mut result.report.reviewers {
            lane.measured = facts.measured.get(name).cloned();
        }
        result
    }

    /// The result before there is a report: the state of each lane, and the findings so far. The
    /// verdict is `FAIL` once the panel cannot pass any more.
    fn without_report(state: &SessionState, facts: &SessionFacts) -> Self {
        let (progress, session) = (&facts.progress, facts.session.as_ref());
        let rule = session.map(|session| session.rule).unwrap_or_default();
        let members = session.map(|session| session.members.as_slice()).unwrap_or_default();
        let is_running = matches!(state, SessionState::Running(_));
        let decision = progress.decision(rule, members).filter(|_| is_running);
        let outcome = decision.map_or(state.outcome(), |decision| decision.outcome);
        let verdict = decision.and_then(|decision| decision.verdict);
        let members = || members.iter().filter(|_| !matches!(state, SessionState::Ended(_)));
        let reviewers: BTreeMap<String, GateReviewerJson> = members()
            .map(|member| (member.lane.name.clone(), member_json(member, progress)))
            .collect();
        let errors = reviewers
            .iter()
            .filter_map(|(name, it)| it.error.as_ref().map(|error| format!("{name}: {error}")));
        let problem = state.problem().filter(|_| decision.is_none());
        let parse_errors = problem.into_iter().chain(errors).collect();
        let mut issues: Vec<Finding> =
            reviewers.values().flat_map(|it| it.issues.iter().cloned()).collect();
        issues.sort_by_key(|finding| finding.priority.map_or(2, |priority| priority.number()));
        let not_reviewed = match outcome {
            Outcome::CouldNotReview(reason) => Some(reason),
            Outcome::Passed | Outcome::Blocked => None,
        };
        let warnings = match (is_running, decision) {
            (true, Some(_)) => vec!["the review is not over: findings were not checked".to_owned()],
            _ => Vec::new(),
        };
        let lanes = reviewers.keys().map(|name| (name.clone(), GateLaneJson::default()));
        Self {
            schema_version: SCHEMA_VERSION,
            status: status(outcome),
            consensus: GateConsensusJson {
                verdict: verdict.into(),
                iteration: 1,
                rule,
                needed: decision.map(|decision| decision.needed).unwrap_or_default(),
                passes: decision.map(|decision| decision.passes).unwrap_or_default(),
            },
            report: GateReportJson {
                not_reviewed,
                warnings,
                reviewers: lanes.collect(),
                checks: issues.iter().map(|finding| check(finding, &[])).collect(),
                ..GateReportJson::default()
            },
            reviewers,
            issues,
            parse_errors,
        }
    }

    fn of_report(report: &Report) -> Self {
        let consensus = &report.consensus;
        let empty =
            (report.scope.files == 0).then(|| "nothing changed: no reviewer was run".to_owned());
        let stats = &report.stats;
        let names = checkers(report);
        let refuted = refuted(report);
        let reviewers = || report.reviewers.iter();
        Self {
            schema_version: SCHEMA_VERSION,
            status: status(report.outcome),
            consensus: GateConsensusJson {
                verdict: consensus.verdict.into(),
                iteration: 1,
                rule: consensus.rule,
                needed: consensus.needed,
                passes: consensus.passes,
            },
            reviewers: reviewers()
                .map(|it| (it.reviewer.clone(), GateReviewerJson::of(it, report)))
                .collect(),
            issues: standing(report).cloned().collect(),
            parse_errors: report.errors.clone(),
            report: GateReportJson {
                session_key: None,
                session_dir: None,
                scope: Some(report.scope.clone()),
                not_reviewed: match report.outcome {
                    Outcome::CouldNotReview(reason) => Some(reason),
                    Outcome::Passed | Outcome::Blocked => None,
                },
                checks: standing(report)
                    .chain(refuted)
                    .chain(set_aside(report))
                    .map(|it| check(it, &names))
                    .collect(),
                reviewers: reviewers()
                    .map(|it| (it.reviewer.clone(), GateLaneJson::of(it, report)))
                    .collect(),
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
                tracking: report.tracking.clone(),
                warnings: empty
                    .into_iter()
                    .chain(report.tracking.iter().flat_map(TrackingReport::late_lines))
                    .chain(report.coverage.left_out())
                    .chain(report.warnings.iter().cloned())
                    .collect(),
            },
        }
    }

    /// The outcome. A contradictory result does not pass.
    pub fn outcome(&self) -> Outcome {
        let consensus = &self.consensus;
        match (self.status, consensus.verdict, self.report.not_reviewed) {
            (GateStatus::Resolved, PanelVerdict::Pass, None)
                if consensus.passes >= consensus.needed || self.reviewers.is_empty() =>
            {
                Outcome::Passed
            }
            (GateStatus::Resolved, PanelVerdict::Fail | PanelVerdict::NeedsWork, None) => {
                Outcome::Blocked
            }
            (_, _, Some(reason)) => Outcome::CouldNotReview(reason),
            _ => Outcome::CouldNotReview(NotReviewedReason::Internal),
        }
    }
}

fn standing(report: &Report) -> impl Iterator<Item = &Finding> {
    report.issues.iter().filter(|finding| counts(finding))
}

fn refuted(report: &Report) -> impl Iterator<Item = &Finding> {
    let all = report.issues.iter().chain(&report.refuted).chain(&report.dropped);
    all.filter(|finding| !counts(finding))
}

fn set_aside(report: &Report) -> impl Iterator<Item = &Finding> {
    report.tracking.iter().flat_map(|it| &it.set_aside).map(|it| &it.finding)
}

fn member_json(member: &PanelMember, progress: &SessionProgress) -> GateReviewerJson {
    let opinion = progress.opinions.get(&member.lane.name).cloned();
    let waiting = || match (&member.absent, progress.started.contains(&member.lane.name)) {
        (Some(why), _) => why.clone(),
        (None, true) => "no answer yet".to_owned(),
        (None, false) => "not started yet".to_owned(),
    };
    match opinion {
        Some(LaneOpinion { verdict, summary, findings, error, .. }) => {
            GateReviewerJson { verdict, summary, issues: findings, error }
        }
        None => GateReviewerJson {
            verdict: None,
            summary: String::new(),
            issues: Vec::new(),
            error: Some(waiting()),
        },
    }
}

impl GateReviewerJson {
    fn of(reviewer: &ReviewerReport, report: &Report) -> Self {
        let all = standing(report).chain(refuted(report)).chain(set_aside(report));
        let issues: Vec<Finding> =
            all.filter(|it| it.is_reported_by(&reviewer.reviewer)).cloned().collect();
        let is_overruled = reviewer.verdict == Some(Verdict::Pass) && !issues.is_empty();
        let claimed = reviewer.claimed_verdict.or_else(|| Some(Verdict::over(&issues)));
        let claimed = claimed.filter(|it| is_overruled && *it != Verdict::Pass);
        Self {
            verdict: claimed.or(reviewer.verdict),
            summary: reviewer.summary.clone(),
            issues,
            error: reviewer.error.clone(),
        }
    }
}

impl GateLaneJson {
    fn of(reviewer: &ReviewerReport, report: &Report) -> Self {
        let names = checkers(report);
        let objected = reviewer.claimed_verdict.is_some_and(|it| it != Verdict::Pass);
        let is_refuted = objected && reviewer.verdict == Some(Verdict::Pass);
        let own = refuted(report).filter(|it| is_refuted && it.is_reported_by(&reviewer.reviewer));
        let mut refuted_by: Vec<String> =
            own.map(|it| checked_by(it, &names).unwrap_or("mala").to_owned()).collect();
        refuted_by.sort();
        refuted_by.dedup();
        let process = reviewer.process.clone().unwrap_or_default();
        Self {
            claimed_verdict: reviewer.claimed_verdict,
            refuted_by,
            absence: reviewer.not_reviewed.map(|reason| match reason {
                NotReviewedReason::NoReviewers => LaneFailureKind::Unavailable,
                NotReviewedReason::TimedOut => LaneFailureKind::TimedOut,
                NotReviewedReason::Incomplete | NotReviewedReason::Internal => {
                    LaneFailureKind::Unusable
                }
            }),
            coverage: reviewer.coverage.clone().unwrap_or_else(|| report.coverage.clone()),
            usage: reviewer.usage.clone(),
            exit_code: process.exit_code,
            seconds: process.seconds,
            wrote: process.wrote,
            measured: None,
        }
    }
}

impl GateSpawnJson {
    /// The output of `spawn-code-review` for a session.
    pub fn of(session: &Session, folder: String, started: Vec<String>) -> Self {
        let missing = session.members.iter().filter(|member| !started.contains(&member.lane.name));
        let missing = missing.map(|member| {
            let why = match session.has_nothing_to_review() {
                true => "nothing changed",
                false => "not started",
            };
            let why = member.absent.clone().unwrap_or_else(|| why.to_owned());
            (member.lane.name.clone(), why)
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

/// The JSON Schema of the output of `spawn-code-review`.
pub fn spawn_schema() -> schemars::Schema {
    schemars::schema_for!(GateSpawnJson)
}

/// The JSON Schema of the output of `wait --json`.
pub fn result_schema() -> schemars::Schema {
    schemars::schema_for!(GateResultJson)
}

/// The status for an outcome.
pub fn status(outcome: Outcome) -> GateStatus {
    match outcome {
        Outcome::Passed | Outcome::Blocked => GateStatus::Resolved,
        Outcome::CouldNotReview(NotReviewedReason::TimedOut) => GateStatus::Timeout,
        Outcome::CouldNotReview(_) => GateStatus::Error,
    }
}
