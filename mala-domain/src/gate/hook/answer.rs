//! What a host is told: one JSON object, in words that Claude Code and Codex both know. The agent reads
//! `reason`; the person reads `systemMessage`, and only the person is told the ways out.

use super::{Count, JudgedWork, UnreviewedWork, WorkLocation};
use crate::render::short_line;
use serde::Serialize;
use std::collections::BTreeSet;

/// How many findings an agent is told at once; the report has all.
const MAX_FINDINGS: usize = 5;

const WAYS_OUT: &str = "To let it stop anyway: mala hook off, or MALA_HOOK=off.";

/// What the hook prints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HookAnswer {
    /// `block` keeps the agent from stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    /// What the agent is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What the person is told.
    #[serde(rename = "systemMessage", skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl HookAnswer {
    /// The agent may stop; the person is told this.
    pub fn allow(message: String) -> Self {
        Self { message: Some(format!("mala: {message}")), ..Self::default() }
    }

    /// Whether the agent is kept from stopping.
    pub fn blocks(&self) -> bool {
        self.decision.is_some()
    }

    fn block(reason: String, message: String) -> Self {
        let message = Some(format!("mala: {message} {WAYS_OUT}"));
        Self { decision: Some("block"), reason: Some(reason), message }
    }

    pub(super) fn nothing_changed(place: &WorkLocation, is_open: bool) -> Self {
        match open_on(place) {
            Some(open) => Self::allow(format!("nothing to review here; {open}")),
            None if is_open => Self::allow(
                "nothing to review. The work before did not pass: it is undone, or elsewhere"
                    .to_owned(),
            ),
            None => Self::default(),
        }
    }

    pub(super) fn passed(judged: &JudgedWork) -> Self {
        let mut message = match judged.passed_by.as_slice() {
            [] => "this work passes".to_owned(),
            names => format!("this work passes ({})", names.join(", ")),
        };
        for line in judged.left_out.iter().take(MAX_FINDINGS) {
            message.push_str(&format!("; {line}"));
        }
        match judged.left_out.len().saturating_sub(MAX_FINDINGS) {
            0 => {}
            n => message.push_str(&format!("; and {n} more. Report: {}", judged.report)),
        }
        if let Some(open) = open_on(&judged.work.place) {
            message.push_str(&format!("; {open}"));
        }
        Self::allow(message)
    }

    pub(super) fn findings(judged: &JudgedWork, count: Count) -> Self {
        let (number, report) = (judged.findings.len(), &judged.report);
        let found = match number {
            0 => "the panel does not pass this work".to_owned(),
            1 => "1 finding".to_owned(),
            n => format!("{n} findings"),
        };
        let Some(block) = count.block else {
            return Self::allow(format!(
                "LET GO WITH {}: {}. Report: {report}",
                found.to_uppercase(),
                kept(count)
            ));
        };
        let mut reason = format!("The review of your work does not pass: {found}.\n");
        for line in judged.findings.iter().take(MAX_FINDINGS) {
            reason.push_str(&format!("- {line}\n"));
        }
        if number > MAX_FINDINGS {
            reason.push_str(&format!("- and {} more\n", number - MAX_FINDINGS));
        }
        reason.push_str(&format!(
            "Full report: {report}\nFix what is right, say of the rest why it is wrong, then stop again."
        ));
        let message = format!("{found}, block {block} of {}. Report: {report}.", count.max_blocks);
        Self::block(reason, message)
    }

    pub(super) fn not_reviewed(work: &UnreviewedWork, count: Count) -> Self {
        let why = &work.why;
        let report = work.report.as_ref().map(|report| format!("\nMore: {report}."));
        let report = report.unwrap_or_default();
        let Some(block) = count.block else {
            return Self::allow(format!(
                "NOTHING WAS REVIEWED: {why}. Let go: {}.{}",
                kept(count),
                report.replace('\n', " ")
            ));
        };
        let reason = format!(
            "Your work could not be reviewed: {why}.{report}\nThis says nothing about the work. Change nothing \
             that the reason does not ask for and stop again: the review is tried again."
        );
        let message = format!(
            "NOT REVIEWED, block {block} of {}: {why}.{}",
            count.max_blocks,
            report.replace('\n', " ")
        );
        Self::block(reason, message)
    }
}

/// That earlier work is left.
fn open_on(place: &WorkLocation) -> Option<String> {
    let branches: BTreeSet<&String> = place.elsewhere.values().collect();
    let branches = branches.into_iter().map(|branch| short_line(branch, 100));
    let branches: Vec<String> = branches.take(MAX_FINDINGS).collect();
    let names = branches.join(", ");
    (!names.is_empty()).then(|| format!("EARLIER WORK DID NOT PASS and is still on {names}"))
}

/// Why it is not kept any longer.
fn kept(count: Count) -> String {
    match count.blocks_before {
        None => "how often it was kept from stopping cannot be counted here".to_owned(),
        Some(0) => "nothing is kept from stopping here".to_owned(),
        Some(1) => "it was kept from stopping once for this".to_owned(),
        Some(n) => format!("it was kept from stopping {n} times for this"),
    }
}
