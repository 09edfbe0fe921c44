//! GitLab Code Quality report. The format cannot express an incomplete review, so that is reported
//! as an issue of the highest severity.

use super::ReportView;
use super::visible::{at_most, one_line};
use super::wording;
use crate::finding::{Finding, Priority};
use crate::verdict;
use serde::Serialize;
use std::collections::HashMap;

#[derive(Serialize)]
struct GitlabIssue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: GitlabLocation,
}

#[derive(Serialize)]
struct GitlabLocation {
    path: String,
    lines: GitlabLines,
}

#[derive(Serialize)]
struct GitlabLines {
    begin: u32,
    end: u32,
}

/// Renders the report for GitLab's merge request widget.
pub(super) fn render(view: &ReportView<'_>) -> String {
    let report = view.report;
    let mut issues = Vec::new();
    if let Some(why) = wording::incomplete_reason(report) {
        issues.push(GitlabIssue {
            description: one_line(&format!("mala could not review the change: {why}")),
            check_name: "mala/could-not-review".to_owned(),
            fingerprint: format!("could-not-review-{}", one_line(&report.review_id)),
            severity: "blocker",
            location: GitlabLocation {
                path: wording::some_file(report),
                lines: GitlabLines { begin: 1, end: 1 },
            },
        });
    }
    let mut seen = HashMap::new();
    issues.extend(report.issues.iter().map(|finding| issue(finding, &mut seen)));
    super::pretty_json(&issues)
}

fn issue<'f>(finding: &'f Finding, seen: &mut HashMap<&'f str, usize>) -> GitlabIssue {
    let span = finding.span();
    let body = at_most(&finding.body, 4000);
    let fix = finding.suggestion.as_deref().map(|text| format!(" Fix: {}", at_most(text, 2000)));
    GitlabIssue {
        description: one_line(&format!(
            "{}: {body}{}",
            wording::title(finding),
            fix.unwrap_or_default()
        )),
        check_name: one_line(&wording::rule_id(finding)),
        fingerprint: unique(finding.dedupe_key.as_str(), seen),
        severity: severity(finding),
        location: GitlabLocation {
            path: finding.file.to_text().into_owned(),
            lines: GitlabLines { begin: span.start(), end: span.end() },
        },
    }
}

/// The key, with a number if another finding has the same key.
pub(super) fn unique<'f>(key: &'f str, seen: &mut HashMap<&'f str, usize>) -> String {
    let n = seen.entry(key).or_default();
    *n += 1;
    match *n {
        1 => key.to_owned(),
        n => format!("{key}-{n}"),
    }
}

fn severity(finding: &Finding) -> &'static str {
    if !verdict::counts(finding) {
        return "info";
    }
    match finding.effective_priority() {
        Priority::P0 => "blocker",
        Priority::P1 => "critical",
        Priority::P2 => "major",
        Priority::P3 => "minor",
    }
}
