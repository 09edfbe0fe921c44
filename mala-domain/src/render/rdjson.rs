//! Reviewdog's diagnostic format (rdjson). Its `suggestions` are edits to apply; ours are prose, so they are part of
//! the message.

use super::View;
use super::level::Level;
use super::{json, wording};
use crate::finding::Finding;
use serde::Serialize;

#[derive(Serialize)]
struct DiagnosticResult {
    source: Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

#[derive(Serialize)]
struct Diagnostic {
    message: String,
    location: Location,
    severity: &'static str,
    code: Code,
}

#[derive(Serialize)]
struct Location {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u32,
}

#[derive(Serialize)]
struct Code {
    value: String,
}

/// Renders the report for reviewdog.
pub(super) fn render(view: &View<'_>) -> String {
    let report = view.report;
    let could_not = wording::obstacle(report).map(|why| Diagnostic {
        message: format!("mala could not review the change: {why}"),
        location: Location { path: wording::some_file(report), range: None },
        severity: "ERROR",
        code: Code { value: "mala/could-not-review".to_owned() },
    });
    let worst = report.issues.iter().map(Level::of).min().map(severity);
    let severity = if could_not.is_some() { Some("ERROR") } else { worst };
    let diagnostics = could_not.into_iter().chain(report.issues.iter().map(diagnostic)).collect();
    json::pretty(&DiagnosticResult { source: Source { name: "mala" }, severity, diagnostics })
}

fn diagnostic(finding: &Finding) -> Diagnostic {
    let span = finding.span();
    let mut message =
        format!("{} {}\n\n{}", finding.effective_priority(), wording::title(finding), finding.body);
    if let Some(suggestion) = &finding.suggestion {
        message.push_str(&format!("\n\nFix: {suggestion}"));
    }
    Diagnostic {
        message,
        location: Location {
            path: finding.file.to_text().into_owned(),
            range: Some(Range {
                start: Position { line: span.start() },
                end: Position { line: span.end() },
            }),
        },
        severity: severity(Level::of(finding)),
        code: Code { value: wording::rule_id(finding) },
    }
}

fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "ERROR",
        Level::Warning => "WARNING",
        Level::Note => "INFO",
    }
}
