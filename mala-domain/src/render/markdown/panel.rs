//! The result of a gate session as Markdown: consensus, lanes, findings and refuted findings.

use super::escape::inline;
use super::sections;
use crate::finding::Finding;
use crate::render::gate::{GateResultJson, check_words};
use crate::render::ranking;
use crate::render::visible::at_most;
use crate::secrets;

/// Renders the result of a session.
pub fn render_panel(waited: &GateResultJson) -> String {
    let mut out = format!("## mala: {}\n\n", waited.consensus.verdict.name().replace('_', "\\_"));
    out.push_str(&format!("**{}**\n\n", waited.headline().replace('_', "\\_")));
    for (name, lane) in &waited.reviewers {
        let details = waited.report.reviewers.get(name).and_then(|it| it.measured.as_ref());
        let measured = details.map(|it| format!(" ({})", inline(&it.shown()))).unwrap_or_default();
        let says = inline(&at_most(&waited.says(name), 500)).replace('_', "\\_");
        let summary = inline(&at_most(&lane.summary, 500));
        let name = inline(&at_most(name, 100));
        out.push_str(format!("- {name}: {says} {summary}").trim_end());
        out.push_str(&format!("{measured}\n"));
    }
    for error in waited.problems() {
        out.push_str(&format!("- {}\n", inline(&at_most(error, 500))));
    }
    out.push('\n');
    out.push_str(&findings(&waited.issues));
    let refuted: Vec<Finding> = waited.refuted().into_iter().cloned().collect();
    if !refuted.is_empty() {
        out.push_str("## Refuted\n\n");
        out.push_str(&findings(&refuted));
    }
    if !waited.report.checks.is_empty() {
        out.push_str("## Checks\n\n");
    }
    for check in &waited.report.checks {
        let words = format!("{}: {}", check.location, check_words(check));
        out.push_str(&format!("- {}\n", inline(&at_most(&words, 500))));
    }
    for warning in &waited.report.warnings {
        out.push_str(&format!("- warning: {}\n", inline(&at_most(warning, 500))));
    }
    secrets::redact(&out).into_owned()
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
