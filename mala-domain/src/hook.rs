//! The stop hook: a coding agent wants to stop, and its work is reviewed. The decision follows from the
//! review and from how often the agent was blocked before. It is never blocked forever.

mod answer;
pub mod scope;

#[cfg(test)]
mod tests;

pub use answer::HookAnswer;

use crate::finding::Finding;
use crate::gate::SCHEMA_VERSION;
use crate::gate::session::SessionState;
use crate::render::short_line;
use crate::verdict::{NotReviewedReason, Outcome, Verdict, counts};
use scope::RepositoryState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The variable that turns the hook off: `MALA_HOOK=off`.
pub const SWITCH: &str = "MALA_HOOK";

/// The longest path of a host that is accepted.
const MAX_PATH: usize = 4096;

/// What a host says when its agent wants to stop. Claude Code and Codex use the same fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stop {
    /// The conversation.
    pub session: Option<String>,
    /// Whether the agent goes on only because a hook blocked it; `None` if the host does not say.
    pub is_continued: Option<bool>,
    /// The current folder of the agent.
    pub folder: Option<String>,
    /// The file with the conversation.
    pub transcript: Option<String>,
}

impl Stop {
    /// Reads the input of a host. Returns what is wrong with it beside what could be read.
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

/// What is known about the work of an agent that wants to stop.
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
    /// No reviewer can be used, for this reason.
    NoReviewer(String),
    /// The work was reviewed.
    JudgedWork(JudgedWork),
    /// The work was not reviewed, or not completely.
    UnreviewedWork(UnreviewedWork),
}

/// The work of a conversation at a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookWork {
    /// The hash of its diff.
    pub hash: String,
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
    /// The reviewers that pass it.
    pub passed_by: Vec<String>,
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
    /// The path of a file that says more.
    pub report: Option<String>,
}

impl UnreviewedWork {
    /// Work that could not even be determined.
    pub fn because(why: impl Into<String>) -> Self {
        Self { work: None, why: why.into(), report: None }
    }
}

/// What a review session says about a part of the work.
#[derive(Debug, Clone, PartialEq)]
pub struct PartResult {
    /// The state of its session.
    pub state: SessionState,
    /// The path of its report.
    pub report: String,
}

impl HookFacts {
    /// What the sessions say about all parts of this work. One part that does not pass is enough.
    pub fn of_sessions(work: &HookWork, parts: &[PartResult]) -> Self {
        let is = |outcome: Outcome| move |part: &&PartResult| part.state.outcome() == outcome;
        let blocked = parts.iter().find(is(Outcome::Blocked));
        let unreviewed = || parts.iter().find(|part| !is(Outcome::Passed)(part));
        if let (None, Some(part)) = (blocked, unreviewed()) {
            return Self::unreviewed(work, part);
        }
        let passes = blocked.is_none();
        let shown = || parts.iter().filter(move |part| is(Outcome::Passed)(part) == passes);
        let reports = || shown().filter_map(|part| part.state.report());
        let mut passed_by: Vec<String> = reports()
            .flat_map(|report| &report.reviewers)
            .filter(|reviewer| reviewer.verdict == Some(Verdict::Pass))
            .map(|reviewer| reviewer.reviewer.clone())
            .collect();
        passed_by.sort();
        passed_by.dedup();
        let line = |issue: &Finding| {
            let title = short_line(&issue.title, 160);
            let line = format!("{}:{}: {title} ({})", issue.file, issue.line_start, issue.reviewer);
            short_line(&line, 300)
        };
        let findings = reports().flat_map(|report| &report.issues).filter(|it| counts(it));
        let left_out = reports().flat_map(|report| report.coverage.left_out());
        Self::JudgedWork(JudgedWork {
            work: work.clone(),
            passes,
            passed_by,
            findings: findings.map(line).collect(),
            left_out: left_out.map(|line| short_line(&line, 200)).collect(),
            escalation: reports()
                .filter_map(|report| report.tracking.as_ref()?.escalation())
                .map(|reason| short_line(&reason.to_string(), 200))
                .next(),
            report: shown().next().map(|part| part.report.clone()).unwrap_or_default(),
        })
    }

    fn unreviewed(work: &HookWork, part: &PartResult) -> Self {
        let errors = part.state.report().map(|report| report.errors.clone()).unwrap_or_default();
        let why = errors.into_iter().chain(part.state.problem());
        let why: Vec<String> = why.take(3).map(|why| short_line(&why, 200)).collect();
        let why = if why.is_empty() { "no verdict".to_owned() } else { why.join("; ") };
        if part.state.outcome() == Outcome::CouldNotReview(NotReviewedReason::NoReviewers) {
            return Self::NoReviewer(why);
        }
        let report = Some(part.report.clone());
        Self::UnreviewedWork(UnreviewedWork { work: Some(work.clone()), why, report })
    }
}

/// What is remembered of a conversation between two stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRecord {
    /// The version of this file.
    pub schema_version: u32,
    /// The state of the repository when the conversation started, or when its work last passed.
    #[serde(default)]
    pub start: Option<RepositoryState>,
    /// The hash of the diff at the last stop.
    #[serde(default)]
    pub work: Option<String>,
    /// How often the agent was blocked in a row.
    #[serde(default)]
    pub blocks: u32,
    /// Whether the agent was released though its work did not pass.
    #[serde(default)]
    pub is_released: bool,
    /// Whether the person was told that no reviewer can be used.
    #[serde(default)]
    pub is_told: bool,
}

impl Default for ConversationRecord {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            start: None,
            work: None,
            blocks: 0,
            is_released: false,
            is_told: false,
        }
    }
}

impl ConversationRecord {
    /// After everything in this state is accepted.
    #[must_use]
    pub fn accepting(&self, state: &RepositoryState) -> Self {
        let start = self.start.as_ref().map_or_else(|| state.clone(), |it| it.followed_by(state));
        Self { start: Some(start), blocks: 0, is_released: false, ..self.clone() }
    }
}

/// What the hook does, and what it remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookDecision {
    /// The answer to the host.
    pub answer: HookAnswer,
    /// What to remember; `None` if that does not change.
    pub record: Option<ConversationRecord>,
    /// The hash of the diff of work that is released though it does not pass.
    pub released: Option<String>,
}

/// Whether the agent may stop. `record` is `None` if nothing can be remembered: then the agent is blocked
/// only if the host says that no hook blocked it before.
pub fn decide(
    facts: &HookFacts,
    stop: &Stop,
    record: Option<&ConversationRecord>,
    max_blocks: u32,
) -> HookDecision {
    let answered = |answer| HookDecision { answer, record: None, released: None };
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
    let hash = work.map(|work| work.hash.clone());
    let record = record.map(|record| ConversationRecord {
        work: hash.clone().or_else(|| record.work.clone()),
        blocks: count.block.or(count.before).unwrap_or_default(),
        is_released: count.block.is_none(),
        ..record.clone()
    });
    HookDecision { answer, record, released: hash.filter(|_| count.block.is_none()) }
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
        // Other work starts a new count, but not while the agent is being blocked: it would be blocked for
        // as long as it changes something.
        let known = record.work.as_ref();
        let is_other = known.zip(work).is_some_and(|(known, work)| *known != work.hash);
        let is_new = is_other && (is_first || record.is_released);
        let before = if is_new { 0 } else { record.blocks };
        let block = (before < max_blocks).then_some(before + 1);
        Self { block, before: Some(before), max_blocks }
    }
}
