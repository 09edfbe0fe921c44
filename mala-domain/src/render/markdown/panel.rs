//! The result of a gate session as Markdown: consensus, lanes, findings and refuted findings.

use super::escape::inline;
use super::sections;
use crate::finding::Finding;
use crate::render::gate::{GateResultJson, GateReviewerJson};
use crate::render::ranking;
use crate::render::visible::at_most;
use crate::secrets;

/// Renders the result of a session.
pub fn render_panel(waited: &GateResultJson) -> String {
    let consensus = &waited.consensus;
    let mut out = format!("## mala: {}\n\n", consensus.verdict.name().replace('_', "\\_"));
    out.push_str(&format!(
        "**{}: {} of {} needed passes**\n\n",
        consensus.rule, consensus.passes, consensus.needed
    ));
    for (name, lane) in &waited.reviewers {
        let measured = lane.measured.as_ref().map(|it| format!(" ({})", inline(&it.shown())));
        let measured = measured.unwrap_or_default();
        out.push_str(&format!("- {}: {}{measured}\n", inline(&at_most(name, 100)), said(lane)));
    }
    for error in waited.parse_errors.iter().filter(|_| waited.reviewers.is_empty()) {
        out.push_str(&format!("- {}\n", inline(&at_most(error, 500))));
    }
    out.push('\n');
    out.push_str(&findings(&waited.issues));
    if !waited.findings.refuted.is_empty() {
        out.push_str("## Refuted\n\n");
        out.push_str(&findings(&waited.findings.refuted));
    }
    for warning in &waited.warnings {
        out.push_str(&format!("- warning: {}\n", inline(&at_most(warning, 500))));
    }
    secrets::redact(&out).into_owned()
}

fn said(lane: &GateReviewerJson) -> String {
    let summary = inline(&at_most(&lane.summary, 500));
    match (&lane.verdict, &lane.error) {
        (Some(verdict), _) => format!("{} {summary}", verdict.name().replace('_', "\\_")),
        (None, Some(error)) => format!("no vote: {}", inline(&at_most(error, 500))),
        (None, None) => "no vote".to_owned(),
    }
}

fn findings(findings: &[Finding]) -> String {
    let all: Vec<&Finding> = findings.iter().collect();
    let mut out = String::new();
    for group in ranking::by_file(&all) {
        out.push_str(&sections::file(group.file));
        out.extend(group.findings.iter().map(|finding| sections::finding(finding)));
    }
    out
}
