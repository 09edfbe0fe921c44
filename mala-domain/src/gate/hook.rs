//! The stop hook: a coding agent wants to stop, and its work is at the gate. Whether it may, and what it
//! is told, follows from what the panel said and from how often it was kept from stopping before. It is
//! never kept for ever.

mod answer;

#[cfg(test)]
mod tests;

pub use answer::HookAnswer;

use super::session::SessionState;
use crate::finding::Finding;
use crate::render::short_line;
use crate::verdict::{Outcome, Verdict, counts};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The variable with which a person turns the hook off: `MALA_HOOK=off`.
pub const SWITCH: &str = "MALA_HOOK";

/// So many commits that passed, or did not, are remembered of a conversation.
const MAX_COMMITS: usize = 16;

/// How much of a path that a host names is believed.
const MAX_PATH: usize = 4096;

/// What a host says when its agent wants to stop. Claude Code and Codex say the same words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stop {
    /// The conversation that it is about.
    pub session: Option<String>,
    /// Whether the agent goes on only because a hook kept it from stopping; `None` when nobody says.
    pub is_continued: Option<bool>,
    /// The folder that the agent is in.
    pub folder: Option<String>,
}

impl Stop {
    /// Reads what a host writes. Whatever it is, something can be said about it; the text tells what is
    /// wrong.
    pub fn read(bytes: &[u8]) -> (Self, Option<String>) {
        let value: Value = match serde_json::from_slice(bytes) {
            Ok(value) => value,
            Err(error) => return (Self::default(), Some(format!("invalid json: {error}"))),
        };
        let Some(fields) = value.as_object() else {
            return (Self::default(), Some("invalid json: not an object".to_owned()));
        };
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let folder = text("cwd").filter(|path| path.len() <= MAX_PATH && path.starts_with('/'));
        let stop = Self {
            session: text("session_id").filter(|session| !session.is_empty()),
            is_continued: fields.get("stop_hook_active").and_then(Value::as_bool),
            folder,
        };
        (stop, None)
    }
}

/// What is known about the work of an agent that wants to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookFacts {
    /// A person turned the hook off, with this.
    Off(String),
    /// The agent is itself a reviewer of a gate.
    InsideGate,
    /// There is no repository, and so nothing to gate.
    NoRepository,
    /// Somebody asked the hook to end.
    Interrupted,
    /// Nothing changed since it passed.
    NothingChanged(WorkLocation),
    /// The panel came to a verdict.
    JudgedWork(JudgedWork),
    /// The work is not reviewed.
    UnreviewedWork(UnreviewedWork),
}

/// Where work starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkStart {
    /// Nobody knows: all that is there is work.
    Unknown,
    /// Before the first commit.
    Nothing,
    /// After this commit.
    Commit(String),
}

/// Where an agent is at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkLocation {
    /// Where its work starts.
    pub start: WorkStart,
    /// Whether all that comes before is accepted.
    pub is_after_accepted: bool,
    /// The commit at HEAD; what is on disk comes after it.
    pub head: Option<String>,
    /// Whether what is on disk is that commit.
    pub is_committed: bool,
    /// Commits with earlier work of the conversation that did not pass and is not part of this, and the
    /// branches that have it.
    pub elsewhere: BTreeMap<String, String>,
}

impl WorkLocation {
    /// Up to where all is accepted once the work here passes; `None` when something before it is not, or
    /// when what passes is in no commit.
    pub fn accepted_by_pass(&self) -> Option<WorkStart> {
        let head = self.head.clone().map(WorkStart::Commit);
        head.filter(|_| self.is_after_accepted && self.is_committed)
    }

    /// The commit with work; `None` when all work is on disk.
    fn committed(&self) -> Option<&String> {
        self.head.as_ref().filter(|head| self.start != WorkStart::Commit((*head).clone()))
    }
}

/// The work of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookWork {
    /// The hash of its diff.
    pub hash: String,
    /// Where it is.
    pub place: WorkLocation,
}

/// A verdict of the panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedWork {
    /// What it is about.
    pub work: HookWork,
    /// Whether the work passes.
    pub passes: bool,
    /// Who passes it.
    pub passed_by: Vec<String>,
    /// What stands, worst first, a line each.
    pub findings: Vec<String>,
    /// What nobody looked at, and why, a line each.
    pub left_out: Vec<String>,
    /// Where everything is written.
    pub report: String,
}

/// Work that was not reviewed, or not completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreviewedWork {
    /// The work, when somebody came so far.
    pub work: Option<HookWork>,
    /// Why.
    pub why: String,
    /// Where more is written.
    pub report: Option<String>,
}

impl UnreviewedWork {
    /// Nobody came so far as to look at the work.
    pub fn because(why: impl Into<String>) -> Self {
        Self { work: None, why: why.into(), report: None }
    }
}

impl HookFacts {
    /// What a session says about this work; `path` is where its report is.
    pub fn of_session(work: &HookWork, state: &SessionState, path: String) -> Self {
        let (report, passes) = match (state.report(), state.outcome()) {
            (Some(report), Outcome::Passed) => (report, true),
            (Some(report), Outcome::Blocked) => (report, false),
            (report, _) => {
                let errors = report.map(|report| report.errors.clone()).unwrap_or_default();
                let why = errors.into_iter().chain(state.problem());
                let why: Vec<String> = why.take(3).map(|why| short_line(&why, 200)).collect();
                return Self::UnreviewedWork(UnreviewedWork {
                    work: Some(work.clone()),
                    why: if why.is_empty() { "no verdict".to_owned() } else { why.join("; ") },
                    report: Some(path),
                });
            }
        };
        let mut passed_by: Vec<String> = report
            .reviewers
            .iter()
            .filter(|reviewer| reviewer.verdict == Some(Verdict::Pass))
            .map(|reviewer| reviewer.reviewer.clone())
            .collect();
        passed_by.sort();
        let standing = report.issues.iter().filter(|finding| counts(finding));
        let line = |issue: &Finding| {
            let title = short_line(&issue.title, 160);
            format!("{}:{}: {title} ({})", issue.file, issue.line_start, issue.reviewer)
        };
        Self::JudgedWork(JudgedWork {
            work: work.clone(),
            passes,
            passed_by,
            findings: standing.map(|issue| short_line(&line(issue), 300)).collect(),
            left_out: report.coverage.left_out().iter().map(|line| short_line(line, 200)).collect(),
            report: path,
        })
    }
}

/// What is remembered of one conversation between two stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationMemory {
    /// The version of this file.
    pub schema_version: u32,
    /// The hash of the diff at the last stop.
    pub work: Option<String>,
    /// What is accepted, the newest last: where the work was when the conversation began, and where it
    /// passed since. No branch that moves in the meantime changes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<WorkStart>,
    /// The commit at HEAD when the conversation began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_at: Option<String>,
    /// Commits with work that did not pass, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// How often the agent was kept from stopping since the hook was armed.
    pub blocks: u32,
    /// Whether it was let go though its work does not pass. The hook is armed again by other work.
    pub is_released: bool,
}

impl Default for ConversationMemory {
    fn default() -> Self {
        Self {
            schema_version: super::SCHEMA_VERSION,
            work: None,
            accepted: Vec::new(),
            began_at: None,
            open: Vec::new(),
            blocks: 0,
            is_released: false,
        }
    }
}

impl ConversationMemory {
    /// A conversation that begins here; `None` when it began before.
    pub fn begun(&self, place: &WorkLocation) -> Option<Self> {
        let (accepted, began_at) = (vec![place.start.clone()], place.head.clone());
        self.accepted.is_empty().then(|| Self { accepted, began_at, ..self.clone() })
    }

    /// Whether the work before did not pass.
    fn has_open_work(&self) -> bool {
        self.blocks > 0
    }

    /// After this work passed.
    fn passed(&self, work: &HookWork) -> Self {
        let mut new = self.begun(&work.place).unwrap_or_else(|| self.clone());
        if let Some(passed) = work.place.accepted_by_pass() {
            new.accepted.retain(|known| *known != passed);
            if new.accepted.len() >= MAX_COMMITS {
                // Where it began stays.
                new.accepted.remove(1);
            }
            new.accepted.push(passed);
            new.open.retain(|commit| work.place.elsewhere.contains_key(commit));
        }
        Self { work: Some(work.hash.clone()), blocks: 0, is_released: false, ..new }
    }

    /// After work did not pass; nobody may know what it was.
    fn not_passed(&self, work: Option<&HookWork>, count: Count) -> Self {
        let place = work.map(|work| &work.place);
        let mut new = place.and_then(|place| self.begun(place)).unwrap_or_else(|| self.clone());
        if let Some(commit) = place.and_then(WorkLocation::committed) {
            new.open.retain(|known| known != commit);
            if new.open.len() >= MAX_COMMITS {
                new.open.remove(0);
            }
            new.open.push(commit.clone());
        }
        Self {
            work: work.map(|work| work.hash.clone()).or(new.work),
            blocks: count.block.or(count.blocks_before).unwrap_or_default(),
            is_released: count.block.is_none(),
            ..new
        }
    }
}

/// What the hook does, and what it remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookDecision {
    /// What the host is told.
    pub answer: HookAnswer,
    /// What to remember; `None` when it is what was remembered already.
    pub memory: Option<ConversationMemory>,
}

/// Whether the agent may stop. `memory` is `None` when nothing can be remembered: then it is kept only
/// when the host says that no hook kept it before.
pub fn decide(
    found: &HookFacts,
    stop: &Stop,
    memory: Option<&ConversationMemory>,
    max_blocks: u32,
) -> HookDecision {
    let quiet = |answer| HookDecision { answer, memory: None };
    match found {
        HookFacts::InsideGate => quiet(HookAnswer::default()),
        HookFacts::NothingChanged(place) => HookDecision {
            answer: HookAnswer::nothing_changed(
                place,
                memory.is_some_and(ConversationMemory::has_open_work),
            ),
            memory: memory.and_then(|memory| memory.begun(place)),
        },
        HookFacts::Off(by) => {
            quiet(HookAnswer::allow(format!("the stop hook is off ({by}): nothing was reviewed")))
        }
        HookFacts::NoRepository => {
            quiet(HookAnswer::allow("this is no git repository: nothing was reviewed".to_owned()))
        }
        HookFacts::Interrupted => {
            quiet(HookAnswer::allow("interrupted: nothing was reviewed".to_owned()))
        }
        HookFacts::JudgedWork(judged) if judged.passes => HookDecision {
            answer: HookAnswer::passed(judged),
            memory: memory.map(|memory| memory.passed(&judged.work)),
        },
        HookFacts::JudgedWork(judged) => {
            let count = Count::of(Some(&judged.work), stop, memory, max_blocks);
            let memory = memory.map(|memory| memory.not_passed(Some(&judged.work), count));
            HookDecision { answer: HookAnswer::findings(judged, count), memory }
        }
        HookFacts::UnreviewedWork(unseen) => {
            let work = unseen.work.as_ref();
            let count = Count::of(work, stop, memory, max_blocks);
            let memory = memory.map(|memory| memory.not_passed(work, count));
            HookDecision { answer: HookAnswer::not_reviewed(unseen, count), memory }
        }
    }
}

/// How often the agent was kept, this time included, if it is kept this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count {
    /// `None` lets it go.
    block: Option<u32>,
    /// `None` when nobody can count.
    blocks_before: Option<u32>,
    max_blocks: u32,
}

impl Count {
    fn of(
        work: Option<&HookWork>,
        stop: &Stop,
        memory: Option<&ConversationMemory>,
        max_blocks: u32,
    ) -> Self {
        let is_first = stop.is_continued == Some(false);
        let Some(memory) = memory else {
            let max_blocks = max_blocks.min(1);
            let block = (is_first && max_blocks > 0).then_some(1);
            return Self { block, blocks_before: None, max_blocks };
        };
        // Other work arms the hook again; not while the agent is still being kept, which would go on
        // for as long as it changes something.
        let known = memory.work.as_ref();
        let is_other = known.zip(work).is_some_and(|(known, work)| *known != work.hash);
        let is_rearmed = is_other && (memory.is_released || is_first);
        let blocks_before = if is_rearmed { 0 } else { memory.blocks };
        let is_armed = is_rearmed || !memory.is_released;
        let block = (is_armed && blocks_before < max_blocks).then_some(blocks_before + 1);
        Self { block, blocks_before: Some(blocks_before), max_blocks }
    }
}
