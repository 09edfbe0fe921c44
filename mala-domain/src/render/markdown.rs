//! The report as Markdown, for files and pull request comments: the verdict, the findings by file,
//! the coverage. The length is limited to that of a comment.

pub mod escape;
mod panel;
mod pull_request;
mod sections;

#[cfg(test)]
mod tests;

pub use panel::render_panel;
pub use pull_request::{render_explanation, render_inline, render_no_effect, render_summary};

use super::ReportView;
use super::ranking;
use super::wording::{self, ShaLength};
use std::collections::HashSet;

/// Maximum length of a report in characters; a comment on GitHub may have 65,536.
pub const LIMIT: usize = 60_000;

/// Characters reserved for the note about omitted findings.
const NOTE: usize = 400;

/// Renders the report as Markdown.
pub fn render(view: &ReportView<'_>) -> String {
    let report = view.report;
    let head = sections::head(report);
    let tail = format!("{}{}", sections::ledger(report), sections::tail(report, ShaLength::Full));
    let room = LIMIT.saturating_sub(n_chars(&head) + n_chars(&tail) + NOTE);
    let (findings, n_left_out) = findings(view, room);
    let mut out = head;
    out.push_str(&findings);
    if n_left_out > 0 {
        out.push_str(&left_out(report.review_log_path.as_deref(), n_left_out));
    }
    out.push_str(&tail);
    out
}

/// As many findings as fit, worst first, and the number of omitted ones.
fn findings(view: &ReportView<'_>, room: usize) -> (String, usize) {
    let ranked = ranking::worst_first(view.report);
    let mut chosen = Vec::new();
    let mut files = HashSet::new();
    let mut used = 0;
    for finding in &ranked {
        used += n_chars(&sections::finding(finding));
        if files.insert(&finding.file) {
            used += n_chars(&sections::file(&finding.file));
        }
        if used > room {
            break;
        }
        chosen.push(*finding);
    }
    let mut out = String::new();
    for group in ranking::by_file(&chosen) {
        out.push_str(&sections::file(group.file));
        out.extend(group.findings.iter().map(|finding| sections::finding(finding)));
    }
    (out, ranked.len() - chosen.len())
}

fn left_out(report_path: Option<&str>, n: usize) -> String {
    let place = report_path.map_or_else(
        || "use `--format json` to see all of them".to_owned(),
        |path| {
            let path: String = path.chars().take(200).collect();
            format!("see {} for all of them", escape::code(&path))
        },
    );
    format!("**{} omitted for lack of space**; {place}.\n\n", more(n))
}

fn more(n: usize) -> String {
    wording::counted(n, "more finding")
}

fn n_chars(text: &str) -> usize {
    text.chars().count()
}
