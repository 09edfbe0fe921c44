//! The stop hook: a coding agent wants to stop, and its work is reviewed. The decision follows from the
//! review and from how often the agent was blocked before. It is never blocked forever.

mod answer;
pub mod push;
pub mod scope;

#[cfg(test)]
mod tests;

pub use answer::HookAnswer;

use crate::gate::SCHEMA_VERSION;
use crate::gate::session::SessionState;
use crate::render::gate::reviewer_words;
use crate::render::short_line;
use crate::report::{Report, ReviewerReport, TrackingReport};
use crate::verdict::{NotReviewedReason, Outcome, Verdict, counts};
use scope::RepositoryState;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The variable that turns the hook off: `MALA_HOOK=off`.
pub const SWITCH: &str = "MALA_HOOK";

/// The longest path of a host that is accepted.
const MAX_PATH: usize = 4096;

/// The input of a host when its agent wants to stop. Claude Code and Codex use the same fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stop {
    /// The conversation.
    pub session: Option<String>,
    /// Whether the agent continued only because a hook blocked it; `None` if the host does not
    /// report it.
    pub is_continued: Option<bool>,
    /// The current folder of the agent.
    pub folder: Option<String>,
    /// The file with the conversation.
    pub transcript: Option<String>,
}

impl Stop {
    /// Parses the input of a host. Returns the fields that could be read, and the problem, if any.
    pub fn read(bytes: &[u8]) -> (Self, Option<String>) {
        let value: Value = match serde_json::from_slice(bytes) {
            Ok(value) => value,
            Err(error) => return (Self::default(), Some(format!("invalid json: {error}"))),
        };
        let Some(fields) = value.as_object() else {
            return (Self::default(), Some("invalid json: not an object".to_owned()));
        };
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let path =
            |name: &str| text(name).filter(|path| path.len() <= MAX_PATH && path.starts_with('/'));
        let stop = Self {
            session: text("session_id").filter(|session| !session.is_empty()),
            is_continued: fields.get("stop_hook_active").and_then(Value::as_bool),
            folder: path("cwd"),
            transcript: path("transcript_path"),
        };
        (stop, None)
    }
}

/// The state of the work of an agent that wants to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookFacts {
    /// The hook is turned off, by this.
    Off(String),
    /// The agent is itself a reviewer of a gate.
    InsideGate,
    /// The current folder is not in a repository.
    NoRepository,
    /// The hook was interrupted.
    Interrupted,
    /// The conversation changed nothing since its start, or since its work passed.
    NothingChanged(RepositoryState),
    /// The work was released before, and its diff is the same.
    ReleasedWork,
    /// Nothing else changed, and this was not reviewed, with the reason, a line each.
    LeftOutWork(RepositoryState, Vec<String>),
    /// A required reviewer is unavailable: what was not reviewed, and why.
    NoReviewer(String),
    /// The work was reviewed.
    JudgedWork(JudgedWork),
    /// The work was not reviewed, or not completely.
    UnreviewedWork(UnreviewedWork),
}

/// The work of a conversation at a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookWork {
    /// The hashes of the diffs of its parts.
    pub hashes: BTreeSet<String>,
    /// The last commits of its parts.
    pub tips: BTreeSet<String>,
    /// The state of the repository.
    pub state: RepositoryState,
}

/// Work with a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedWork {
    /// The work.
    pub work: HookWork,
    /// Whether it passes.
    pub passes: bool,
    /// Whether a reviewer looked at it; false if no file of it can be reviewed.
    pub is_reviewed: bool,
    /// The reviewers that pass it.
    pub passed_by: Vec<String>,
    /// The objections of the other reviewers.
    pub objections: Vec<String>,
    /// How many findings do not block, by why.
    pub not_blocking: Vec<String>,
    /// The findings that count, worst first, a line each.
    pub findings: Vec<String>,
    /// What was not reviewed and why, a line each.
    pub left_out: Vec<String>,
    /// Why a person decides, if another fix by the agent would not help.
    pub escalation: Option<String>,
    /// The path of the report.
    pub report: String,
}

/// Work without a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreviewedWork {
    /// The work, if it is known.
    pub work: Option<HookWork>,
    /// Why it was not reviewed.
    pub why: String,
    /// The path of a file with details.
    pub report: Option<String>,
}

impl UnreviewedWork {
    /// Work that could not even be determined.
    pub fn because(why: impl Into<String>) -> Self {
        Self { work: None, why: why.into(), report: None }
    }
}

/// The result of a review session for a part of the work.
#[derive(Debug, Clone, PartialEq)]
pub struct PartResult {
    /// The state of its session.
    pub state: SessionState,
    /// The branch that it is on; `None` for HEAD with the files on disk.
    pub branch: Option<String>,
    /// The path of its report.
    pub report: String,
}

impl PartResult {
    fn is_passed(&self) -> bool {
        self.state.outcome() == Outcome::Passed || self.has_only_remarks()
    }

    /// Whether it has only files that are not reviewed and do not keep other changes from passing.
    fn has_only_remarks(&self) -> bool {
        self.state.report().is_some_and(|report| {
            let coverage = &report.coverage;
            coverage.has_nothing_reviewable() && coverage.unreviewable().is_empty()
        })
    }

    fn lacks_reviewers(&self) -> bool {
        self.state.outcome() == Outcome::CouldNotReview(NotReviewedReason::NoReviewers)
    }

    /// Whether a reviewer looked at a file of it.
    fn is_reviewed(&self) -> bool {
        self.state.report().is_some_and(|report| !report.coverage.files.is_empty())
    }

    /// The findings that count, a line each.
    fn findings(&self) -> impl Iterator<Item = String> {
        let issues = self.state.report().into_iter().flat_map(|report| &report.issues);
        issues.filter(|issue| counts(issue)).map(|issue| {
            let (title, by) = (short_line(&issue.title, 160), &issue.reviewer);
            let branch = self.branch.as_ref().map(|it| format!(", on {it}")).unwrap_or_default();
            let line = format!("{}:{}: {title} ({by}{branch})", issue.file, issue.line_start);
            short_line(&line, 300)
        })
    }
}

/// Whether a reviewer objects, and its objection does not count.
fn is_overruled(reviewer: &ReviewerReport, report: &Report) -> bool {
    let aside = report.tracking.as_ref().map(|it| it.aside_words(&reviewer.reviewer));
    reviewer.claimed_verdict.is_some_and(|it| it != Verdict::Pass)
        || aside.is_some_and(|words| !words.is_empty())
}

impl HookFacts {
    /// The result for all parts of this work. It passes only if every part does.
    pub fn of_sessions(work: &HookWork, parts: &[PartResult]) -> Self {
        let blocked = parts.iter().find(|part| part.state.outcome() == Outcome::Blocked);
        let unreviewed = || parts.iter().filter(|part| !part.is_passed());
        // A part that only lacks a reviewer does not release the others.
        let first = unreviewed().find(|part| !part.lacks_reviewers());
        let first = first.or_else(|| unreviewed().next());
        if let (None, Some(part)) = (blocked, first) {
            return Self::unreviewed(work, part);
        }
        let passes = blocked.is_none();
        let shown = || {
            let is_shown = |part: &&PartResult| part.state.outcome() == Outcome::Blocked;
            parts.iter().filter(move |part| passes || is_shown(part))
        };
        let reports = || shown().filter_map(|part| part.state.report());
        let reviewers =
            || reports().flat_map(|report| report.reviewers.iter().map(move |it| (it, report)));
        let does_pass = |(it, report): &(&ReviewerReport, &Report)| {
            it.verdict == Some(Verdict::Pass) && !is_overruled(it, report)
        };
        let passed_by: BTreeSet<String> =
            reviewers().filter(does_pass).map(|(it, _)| it.reviewer.clone()).collect();
        let says = |(it, report): (&ReviewerReport, &Report)| {
            short_line(&format!("{}: {}", it.reviewer, reviewer_words(it, report)), 200)
        };
        let objections: BTreeSet<String> =
            reviewers().filter(|it| !does_pass(it)).map(says).collect();
        let tracking = || reports().filter_map(|report| report.tracking.as_ref());
        let left_out = reports().flat_map(|report| report.coverage.left_out());
        Self::JudgedWork(JudgedWork {
            work: work.clone(),
            passes,
            is_reviewed: shown().any(PartResult::is_reviewed),
            passed_by: passed_by.into_iter().collect(),
            objections: objections.into_iter().collect(),
            not_blocking: tracking().filter_map(TrackingReport::not_blocking).collect(),
            findings: shown().flat_map(PartResult::findings).collect(),
            left_out: left_out.map(|line| short_line(&line, 200)).collect(),
            escalation: tracking()
                .filter_map(TrackingReport::escalation)
                .map(|reason| short_line(&reason.to_string(), 200))
                .next(),
            report: shown().next().map(|part| part.report.clone()).unwrap_or_default(),
        })
    }

    /// The same beside work that was not reviewed, for these reasons.
    #[must_use]
    pub fn with_left_out(mut self, reasons: Vec<String>) -> Self {
        if reasons.is_empty() {
            return self;
        }
        match &mut self {
            Self::JudgedWork(judged) => judged.left_out.extend(reasons),
            Self::NoReviewer(why) => *why = format!("{why}; {}", reasons.join("; ")),
            Self::NothingChanged(state) => {
                return Self::LeftOutWork(std::mem::take(state), reasons);
            }
            _ => {}
        }
        self
    }

    fn unreviewed(work: &HookWork, part: &PartResult) -> Self {
        let report = part.state.report();
        // Only the person is told how to exclude such files: in the report.
        let coverage = report.map(|it| &it.coverage).filter(|it| it.has_nothing_reviewable());
        let errors = match coverage {
            Some(coverage) => coverage.left_out(),
            None => report.map(|report| report.errors.clone()).unwrap_or_default(),
        };
        let why = errors.into_iter().chain(part.state.problem());
        let why: Vec<String> = why.take(3).map(|why| short_line(&why, 200)).collect();
        let why = if why.is_empty() { "no verdict".to_owned() } else { why.join("; ") };
        if part.lacks_reviewers() {
            let mut reviewers = report.into_iter().flat_map(|report| &report.reviewers);
            let what = match (reviewers.any(|it| it.verdict.is_some()), &part.branch) {
                (true, None) => "not reviewed by the whole panel".to_owned(),
                (true, Some(branch)) => format!("{branch} was not reviewed by the whole panel"),
                (false, None) => "nothing was reviewed".to_owned(),
                (false, Some(branch)) => format!("{branch} was not reviewed"),
            };
            return Self::NoReviewer(format!("{what}: {why}"));
        }
        let report = Some(part.report.clone());
        Self::UnreviewedWork(UnreviewedWork { work: Some(work.clone()), why, report })
    }
}

/// The state of a conversation that is stored between two stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRecord {
    /// The version of this file.
    pub schema_version: u32,
    /// The state of the repository when the conversation started, or when its work last passed.
    #[serde(default)]
    pub start: Option<RepositoryState>,
    /// The hashes of the diffs at the last stop that did not pass; empty if its work was unknown.
    #[serde(rename = "parts", default)]
    pub work: BTreeSet<String>,
    /// The last commits of that work.
    #[serde(default)]
    pub tips: BTreeSet<String>,
    /// The path of the work tree at that stop.
    #[serde(default)]
    pub work_tree: String,
    /// How often the agent was blocked in a row.
    #[serde(default)]
    pub blocks: u32,
    /// Whether the agent was released though its work did not pass.
    #[serde(default)]
    pub is_released: bool,
    /// Whether the person was told that no reviewer is available.
    #[serde(default)]
    pub is_told: bool,
    /// Whether work that did not pass was accepted since the last stop.
    #[serde(default)]
    pub is_accepted: bool,
}

impl Default for ConversationRecord {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            start: None,
            work: BTreeSet::new(),
            tips: BTreeSet::new(),
            work_tree: String::new(),
            blocks: 0,
            is_released: false,
            is_told: false,
            is_accepted: false,
        }
    }
}

impl ConversationRecord {
    /// The record after everything in this state is accepted.
    #[must_use]
    pub fn accepting(&self, state: &RepositoryState) -> Self {
        let start = self.start.as_ref().map_or_else(|| state.clone(), |it| it.followed_by(state));
        Self { start: Some(start), blocks: 0, is_released: false, ..self.clone() }
    }

    /// After a person accepted the work that did not pass.
    #[must_use]
    pub fn with_accepted_work(self) -> Self {
        Self { blocks: 0, is_released: false, is_accepted: true, ..self }
    }
}

/// The decision of the hook, and the record to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookDecision {
    /// The answer to the host.
    pub answer: HookAnswer,
    /// The record to store; `None` if it does not change.
    pub record: Option<ConversationRecord>,
    /// The hashes of the diffs of work that is released though it does not pass.
    pub released: BTreeSet<String>,
}

/// Decides whether the agent may stop. `record` is `None` if no state can be stored: then the agent
/// is blocked only if the host reports that no hook blocked it before. The person is told once that
/// work was accepted, because an agent can accept it too.
pub fn decide(
    facts: &HookFacts,
    stop: &Stop,
    record: Option<&ConversationRecord>,
    max_blocks: u32,
) -> HookDecision {
    let decision = decide_work(facts, stop, record, max_blocks);
    let Some(record) = record.filter(|record| record.is_accepted) else { return decision };
    let record = decision.record.unwrap_or_else(|| record.clone());
    HookDecision {
        answer: decision.answer.with_accepted_work(),
        record: Some(ConversationRecord { is_accepted: false, ..record }),
        ..decision
    }
}

fn decide_work(
    facts: &HookFacts,
    stop: &Stop,
    record: Option<&ConversationRecord>,
    max_blocks: u32,
) -> HookDecision {
    let answered = |answer| HookDecision { answer, record: None, released: BTreeSet::new() };
    let allowed = |message: String| answered(HookAnswer::allow(message));
    match facts {
        HookFacts::InsideGate | HookFacts::ReleasedWork => answered(HookAnswer::default()),
        HookFacts::Off(by) => allowed(format!("the stop hook is off ({by}): nothing was reviewed")),
        HookFacts::NoRepository => {
            allowed("not in a git repository: nothing was reviewed".to_owned())
        }
        HookFacts::Interrupted => allowed("interrupted: nothing was reviewed".to_owned()),
        HookFacts::NothingChanged(state) => {
            let is_gone = record.is_some_and(|record| record.blocks > 0);
            let record = record.filter(|record| is_gone || record.start.is_none());
            HookDecision {
                record: record.map(|record| record.accepting(state)),
                ..answered(HookAnswer::nothing_changed(is_gone))
            }
        }
        HookFacts::LeftOutWork(state, reasons) => {
            let record = record.filter(|record| record.start.is_none());
            HookDecision {
                record: record.map(|record| record.accepting(state)),
                ..allowed(format!("warning: {}", reasons.join("; ")))
            }
        }
        HookFacts::NoReviewer(why) => {
            let is_told = record.is_some_and(|record| record.is_told);
            let record = record.filter(|_| !is_told);
            HookDecision {
                record: record.map(|record| ConversationRecord { is_told: true, ..record.clone() }),
                ..answered(HookAnswer::no_reviewer(why, is_told))
            }
        }
        HookFacts::JudgedWork(judged) if judged.passes => HookDecision {
            record: record.map(|record| record.accepting(&judged.work.state)),
            ..answered(HookAnswer::passed(judged))
        },
        HookFacts::JudgedWork(judged) => {
            let count = BlockCount::of(Some(&judged.work), stop, record, max_blocks);
            not_passed(HookAnswer::findings(judged, count), Some(&judged.work), record, count)
        }
        HookFacts::UnreviewedWork(unreviewed) => {
            let work = unreviewed.work.as_ref();
            let count = BlockCount::of(work, stop, record, max_blocks);
            not_passed(HookAnswer::not_reviewed(unreviewed, count), work, record, count)
        }
    }
}

fn not_passed(
    answer: HookAnswer,
    work: Option<&HookWork>,
    record: Option<&ConversationRecord>,
    count: BlockCount,
) -> HookDecision {
    let hashes = work.map(|work| work.hashes.clone()).unwrap_or_default();
    let tree = work.and_then(|work| work.state.trees.keys().next());
    let record = record.map(|record| ConversationRecord {
        work: if work.is_some() { hashes.clone() } else { record.work.clone() },
        tips: work.map_or_else(|| record.tips.clone(), |work| work.tips.clone()),
        work_tree: tree.unwrap_or(&record.work_tree).clone(),
        blocks: count.block.or(count.before).unwrap_or_default(),
        is_released: count.block.is_none(),
        ..record.clone()
    });
    let released = if count.block.is_none() { hashes } else { BTreeSet::new() };
    HookDecision { answer, record, released }
}

/// How often the agent was blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BlockCount {
    /// The number of this block; `None` releases the agent.
    block: Option<u32>,
    /// The number of blocks before; `None` if they cannot be counted.
    before: Option<u32>,
    max_blocks: u32,
}

impl BlockCount {
    fn of(
        work: Option<&HookWork>,
        stop: &Stop,
        record: Option<&ConversationRecord>,
        max_blocks: u32,
    ) -> Self {
        let is_first = stop.is_continued == Some(false);
        let Some(record) = record else {
            let max_blocks = max_blocks.min(1);
            let block = (is_first && max_blocks > 0).then_some(1);
            return Self { block, before: None, max_blocks };
        };
        // Other work starts a new count, and so does work that is known for the first time. While
        // the agent is being blocked, other work does not: the agent could be blocked for as long
        // as it changes something.
        let is_other = work.is_some_and(|work| work.hashes != record.work);
        let is_new = is_other && (is_first || record.is_released);
        let before = if is_new { 0 } else { record.blocks };
        let block = (before < max_blocks).then_some(before + 1);
        Self { block, before: Some(before), max_blocks }
    }
}
