//! The answer to a host: one JSON object with fields that Claude Code and Codex both support. The
//! agent reads `reason`. The person reads `systemMessage`, and only that says how to turn the hook
//! off.

use super::{BlockCount, JudgedWork, UnreviewedWork};
use serde::Serialize;

/// The maximum number of findings in the reason for the agent; the report has all.
const MAX_FINDINGS: usize = 5;

const WAYS_OUT: &str = "To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off.";

/// The output of the hook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HookAnswer {
    /// `block` keeps the agent from stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    /// The message to the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The message to the person.
    #[serde(rename = "systemMessage", skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl HookAnswer {
    /// Lets the agent stop, with this message for the person.
    pub fn allow(message: String) -> Self {
        Self { message: Some(format!("mala: {message}")), ..Self::default() }
    }

    /// Whether the agent is kept from stopping.
    pub fn blocks(&self) -> bool {
        self.decision.is_some()
    }

    /// The message to the agent.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The message to the person.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Blocks the agent for this reason, with a message for the person.
    pub fn block(reason: String, message: String) -> Self {
        let message = Some(format!("mala: {message} {WAYS_OUT}"));
        Self { decision: Some("block"), reason: Some(reason), message }
    }

    pub(super) fn nothing_changed(is_gone: bool) -> Self {
        match is_gone {
            true => Self::allow(
                "warning: the work that did not pass is not on disk or on a local branch any more"
                    .to_owned(),
            ),
            false => Self::default(),
        }
    }

    pub(super) fn no_reviewer(why: &str, is_told: bool) -> Self {
        match is_told {
            true => Self::default(),
            false => Self::allow(format!("warning: {why}. Run `review-gate lanes` to see why")),
        }
    }

    /// Adds a message for the person that work which did not pass was accepted.
    pub(super) fn with_accepted_work(self) -> Self {
        let told = "mala: warning: work that did not pass was accepted (mala hook accept)";
        let message = match &self.message {
            Some(message) => format!("{message}\n{told}"),
            None => told.to_owned(),
        };
        Self { message: Some(message), ..self }
    }

    pub(super) fn passed(judged: &JudgedWork) -> Self {
        let mut words = vec![match judged.passed_by.as_slice() {
            _ if !judged.is_reviewed => "warning: nothing was reviewed".to_owned(),
            [] => "the review passed".to_owned(),
            names => format!("the review passed ({})", names.join(", ")),
        }];
        words.extend(judged.not_blocking.iter().map(|it| format!("not blocking: {it}")));
        words.extend(judged.objections.iter().filter(|_| judged.is_reviewed).cloned());
        words.extend(judged.escalation.iter().map(|why| format!("a person decides: {why}")));
        let is_longer = words.len() > 1 || judged.left_out.len() > MAX_FINDINGS;
        words.extend(judged.left_out.iter().take(MAX_FINDINGS).cloned());
        match judged.left_out.len().saturating_sub(MAX_FINDINGS) {
            0 => {}
            n => words.push(format!("and {n} more")),
        }
        let report = if is_longer { format!(". Report: {}", judged.report) } else { String::new() };
        Self::allow(format!("{}{report}", words.join("; ")))
    }

    pub(super) fn findings(judged: &JudgedWork, count: BlockCount) -> Self {
        let (number, report) = (judged.findings.len(), &judged.report);
        let findings = counted(judged);
        let Some(block) = count.block else {
            let unresolved = match number {
                0 => "without agreement to pass".to_owned(),
                1 => "with 1 unresolved finding".to_owned(),
                n => format!("with {n} unresolved findings"),
            };
            let why = match &judged.escalation {
                Some(why) => format!("a person decides: {why}"),
                None => blocked(count),
            };
            return Self::allow(format!("warning: stopping {unresolved}: {why}. Report: {report}"));
        };
        let reason = format!(
            "The review of your work did not pass: {findings}.\n{}Fix the findings that are right. For those \
             that are wrong, say why. Then stop again.",
            listed(judged)
        );
        let message =
            format!("{findings}, block {block} of {}. Report: {report}.", count.max_blocks);
        Self::block(reason, message)
    }

    pub(super) fn not_reviewed(work: &UnreviewedWork, count: BlockCount) -> Self {
        let why = &work.why;
        let report = work.report.as_ref().map(|report| format!(" More: {report}."));
        let report = report.unwrap_or_default();
        let Some(block) = count.block else {
            return Self::allow(format!(
                "warning: stopping without a review: {why}; {}.{report}",
                blocked(count)
            ));
        };
        let reason = format!(
            "Your work could not be reviewed: {why}.{report}\nThis says nothing about the work. Change \
             only what the reason asks for and stop again: the review is repeated."
        );
        let message =
            format!("not reviewed, block {block} of {}: {why}.{report}", count.max_blocks);
        Self::block(reason, message)
    }
}

/// The number of findings.
pub(super) fn counted(judged: &JudgedWork) -> String {
    match judged.findings.len() {
        0 => "no agreement to pass".to_owned(),
        1 => "1 finding".to_owned(),
        n => format!("{n} findings"),
    }
}

/// The first findings and the path of the report, a line each.
pub(super) fn listed(judged: &JudgedWork) -> String {
    let shown = judged.findings.iter().take(MAX_FINDINGS);
    let mut text: String = shown.map(|line| format!("- {line}\n")).collect();
    match judged.findings.len().saturating_sub(MAX_FINDINGS) {
        0 => {}
        n => text.push_str(&format!("- and {n} more\n")),
    }
    text + &format!("Full report: {}\n", judged.report)
}

/// Why the agent is not blocked any more.
fn blocked(count: BlockCount) -> String {
    match count.before {
        None => "blocks cannot be counted here".to_owned(),
        Some(0) => "gate.max_blocks is 0".to_owned(),
        Some(1) => "blocked once for this work".to_owned(),
        Some(n) => format!("blocked {n} times for this work"),
    }
}
