//! Reviewdog's diagnostic format (rdjson). Its `suggestions` are edits to apply; ours are prose, so
//! they are part of the message.

use super::ReportView;
use super::ranking::FindingLevel;
use super::wording;
use crate::finding::Finding;
use serde::Serialize;

#[derive(Serialize)]
struct RdjsonReport {
    source: RdjsonSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    diagnostics: Vec<RdjsonDiagnostic>,
}

#[derive(Serialize)]
struct RdjsonSource {
    name: &'static str,
}

#[derive(Serialize)]
struct RdjsonDiagnostic {
    message: String,
    location: RdjsonLocation,
    severity: &'static str,
    code: RdjsonCode,
}

#[derive(Serialize)]
struct RdjsonLocation {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<RdjsonRange>,
}

#[derive(Serialize)]
struct RdjsonRange {
    start: RdjsonPosition,
    end: RdjsonPosition,
}

#[derive(Serialize)]
struct RdjsonPosition {
    line: u32,
}

#[derive(Serialize)]
struct RdjsonCode {
    value: String,
}

/// Renders the report for reviewdog.
pub(super) fn render(view: &ReportView<'_>) -> String {
    let report = view.report;
    let incomplete = wording::incomplete_reason(report).map(|why| RdjsonDiagnostic {
        message: format!("mala could not review the change: {why}"),
        location: RdjsonLocation { path: wording::some_file(report), range: None },
        severity: "ERROR",
        code: RdjsonCode { value: "mala/could-not-review".to_owned() },
    });
    let worst = report.issues.iter().map(FindingLevel::of).min().map(severity);
    let severity = if incomplete.is_some() { Some("ERROR") } else { worst };
    let diagnostics = incomplete.into_iter().chain(report.issues.iter().map(diagnostic)).collect();
    super::pretty_json(&RdjsonReport {
        source: RdjsonSource { name: "mala" },
        severity,
        diagnostics,
    })
}

fn diagnostic(finding: &Finding) -> RdjsonDiagnostic {
    let span = finding.span();
    let mut message =
        format!("{} {}\n\n{}", finding.effective_priority(), wording::title(finding), finding.body);
    if let Some(suggestion) = &finding.suggestion {
        message.push_str(&format!("\n\nFix: {suggestion}"));
    }
    RdjsonDiagnostic {
        message,
        location: RdjsonLocation {
            path: finding.file.to_text().into_owned(),
            range: Some(RdjsonRange {
                start: RdjsonPosition { line: span.start() },
                end: RdjsonPosition { line: span.end() },
            }),
        },
        severity: severity(FindingLevel::of(finding)),
        code: RdjsonCode { value: wording::rule_id(finding) },
    }
}

fn severity(level: FindingLevel) -> &'static str {
    match level {
        FindingLevel::Error => "ERROR",
        FindingLevel::Warning => "WARNING",
        FindingLevel::Note => "INFO",
    }
}
