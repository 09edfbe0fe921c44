//! The pre-push hook: which refs are pushed, and whether they may be. Blocked pushes are not
//! counted, and no number of attempts releases one: the person who pushes can accept the work or
//! skip the hook.

use super::answer::{HookAnswer, counted, listed};
use super::{ConversationRecord, HookFacts, Stop, decide};
use std::collections::BTreeMap;

/// Whether a push may proceed, and the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushDecision {
    /// The push proceeds, with this message.
    Allowed(Option<String>),
    /// It is refused, for this reason.
    Refused(String),
}

/// The remote refs that are pushed and their new objects, from the lines of git: `LOCAL OBJECT
/// REMOTE OBJECT`. Deleted refs have an object of zeros. The local name is typed by the user and
/// may contain spaces.
pub fn pushed_refs(input: &str) -> Result<BTreeMap<String, String>, String> {
    let mut pushed = BTreeMap::new();
    for line in input.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.rsplitn(4, ' ').collect();
        let is_id = |id: &str| id.len() >= 40 && id.chars().all(|c| c.is_ascii_hexdigit());
        match words.as_slice() {
            [old, remote, new, _] if is_id(old) && is_id(new) => {
                if new.chars().any(|c| c != '0') {
                    pushed.insert((*remote).to_owned(), (*new).to_owned());
                }
            }
            _ => return Err(format!("git wrote a line that cannot be read: {line}")),
        }
    }
    Ok(pushed)
}

/// Decides whether a push may proceed. With `max_blocks` 0, findings are only reported.
pub fn decide_push(facts: &HookFacts, max_blocks: u32) -> PushDecision {
    let refused = match facts {
        HookFacts::Interrupted => {
            return PushDecision::Refused("interrupted: nothing was reviewed".to_owned());
        }
        HookFacts::ReleasedWork => {
            let why = "warning: not reviewed: this work was released or accepted before";
            return PushDecision::Allowed(Some(format!("mala: {why}")));
        }
        HookFacts::JudgedWork(judged) if !judged.passes => {
            format!("the review of the push did not pass: {}\n{}", counted(judged), listed(judged))
        }
        HookFacts::UnreviewedWork(work) => {
            let report = work.report.as_ref().map(|report| format!("\nMore: {report}"));
            format!("the push could not be reviewed: {}{}\n", work.why, report.unwrap_or_default())
        }
        _ => return PushDecision::Allowed(told(facts)),
    };
    match max_blocks {
        0 => PushDecision::Allowed(Some(format!("mala: warning: {refused}"))),
        _ => PushDecision::Refused(format!("mala: {refused}")),
    }
}

/// The record of a push: the refused work, which a person may accept.
pub fn push_record(facts: &HookFacts) -> ConversationRecord {
    let record = ConversationRecord::default();
    let decision = decide(facts, &Stop::default(), Some(&record), 1);
    decision.record.filter(|record| record.blocks > 0).unwrap_or_default()
}

/// The message of the stop hook when it does not block.
fn told(facts: &HookFacts) -> Option<String> {
    let record = ConversationRecord::default();
    let answer: HookAnswer = decide(facts, &Stop::default(), Some(&record), 0).answer;
    answer.message().map(str::to_owned)
}
