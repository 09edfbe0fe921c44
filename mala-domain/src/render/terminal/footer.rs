//! The part between findings and verdict: suppressed, unreviewed and skipped items, warnings,
//! coverage, scope.

use super::TerminalPage;
use crate::render::visible::{at_most, one_line, visible};
use crate::render::wording::{self, ShaLength};
use crate::report::Report;

/// Number of names listed before the rest is counted.
const FEW: usize = 5;

/// Adds the text between the findings and the verdict.
pub(super) fn write(report: &Report, out: &mut TerminalPage) {
    out.blank();
    notes(report, out);
    suppressed(report, out);
    refuted(report, out);
    if let Some(tracking) = &report.tracking {
        super::tracking::write(tracking, out);
    }
    unreviewed(report, out);
    warnings(report, out);
    skipped(report, out);
    out.labelled("coverage:", "coverage:", &wording::coverage(report));
    reviewers(report, out);
    out.labelled("scope:", "scope:", &one_line(&wording::scope(&report.scope, ShaLength::Short)));
    if let Some(usage) = wording::usage(report) {
        out.labelled("usage:", "usage:", &one_line(&usage));
    }
    if let Some(path) = report.review_log_path.as_deref() {
        // Do not wrap the path, so that it can be clicked or copied.
        out.line(&format!("report:  {}/review.md", visible(&one_line(path))));
    }
}

fn notes(report: &Report, out: &mut TerminalPage) {
    if report.notes.is_empty() {
        return;
    }
    let count = wording::counted(report.notes.len(), "minor or uncertain finding");
    let hint = if out.options.verbose { ":" } else { " (use -v to list them)" };
    out.labelled("notes:", "notes:", &format!("{count}{hint}"));
    if out.options.verbose {
        for finding in &report.notes {
            out.wrapped(&one_line(&wording::note(finding)), 2, str::to_owned);
        }
    }
}

fn suppressed(report: &Report, out: &mut TerminalPage) {
    if report.suppressed.is_empty() {
        return;
    }
    let count = wording::counted(report.suppressed.len(), "finding");
    let hint = if out.options.verbose { ":" } else { " (use -v to list them)" };
    out.labelled("suppressed:", "suppressed:", &format!("{count} by comments in the code{hint}"));
    if out.options.verbose {
        for item in &report.suppressed {
            let finding = &item.finding;
            let reason =
                if item.reason.trim().is_empty() { "no reason given" } else { &item.reason };
            let text = format!(
                "{}:{} {} {} [{}]: {reason}",
                finding.file,
                item.line,
                finding.effective_priority(),
                at_most(&finding.title, 200),
                wording::rule_id(finding),
            );
            out.wrapped(&one_line(&text), 2, str::to_owned);
        }
    }
}

fn refuted(report: &Report, out: &mut TerminalPage) {
    if report.refuted.is_empty() {
        return;
    }
    let count = wording::counted(report.refuted.len(), "finding");
    let hint = if out.options.verbose { ":" } else { " (use -v to list them)" };
    out.labelled("refuted:", "refuted:", &format!("{count} by a check{hint}"));
    if out.options.verbose {
        for finding in &report.refuted {
            out.wrapped(&one_line(&wording::refuted(finding)), 2, str::to_owned);
        }
    }
}

fn unreviewed(report: &Report, out: &mut TerminalPage) {
    let files = wording::unreviewed(report);
    if files.is_empty() {
        return;
    }
    let names: Vec<String> = files
        .iter()
        .map(|(file, left)| format!("{file} ({})", wording::counted(*left, "hunk")))
        .collect();
    out.labelled("not reviewed:", "not reviewed:", &listed(&names, out));
}

fn warnings(report: &Report, out: &mut TerminalPage) {
    let most = if out.options.verbose { usize::MAX } else { 4 * FEW };
    for warning in report.warnings.iter().take(most) {
        out.labelled("warning:", "warning:", &one_line(&at_most(warning, 2000)));
    }
    let n_more = report.warnings.len().saturating_sub(most);
    if n_more > 0 {
        let text = format!("{} more (use -v to list them)", wording::with_commas(n_more));
        out.labelled("warning:", "warning:", &text);
    }
}

fn skipped(report: &Report, out: &mut TerminalPage) {
    for (reason, files) in wording::skipped(report) {
        let names: Vec<String> = files.iter().map(|skip| skip.file.to_string()).collect();
        let text = format!("{}: {}", reason.name(), listed(&names, out));
        out.labelled("skipped:", "skipped:", &text);
    }
}

/// The reviewers that failed; with `-v`, all reviewers.
fn reviewers(report: &Report, out: &mut TerminalPage) {
    let verbose = out.options.verbose;
    for reviewer in report.reviewers.iter().filter(|one| verbose || one.error.is_some()) {
        let model =
            reviewer.model.as_deref().map(|model| format!(" ({model})")).unwrap_or_default();
        let said = match (&reviewer.error, reviewer.verdict) {
            (Some(error), _) => format!("could not review: {error}"),
            (None, Some(verdict)) => verdict.name().to_owned(),
            (None, None) => "no verdict".to_owned(),
        };
        let text = format!(
            "{}{model}: {said}, {}, {} dropped",
            reviewer.reviewer,
            wording::counted(reviewer.findings, "finding"),
            reviewer.dropped
        );
        out.labelled("reviewer:", "reviewer:", &one_line(&text));
    }
}

fn listed(names: &[String], out: &TerminalPage) -> String {
    let most = if out.options.verbose { names.len() } else { FEW };
    let mut text =
        names.iter().take(most).map(|name| one_line(name)).collect::<Vec<_>>().join(", ");
    if names.len() > most {
        text.push_str(&format!(" and {} more", wording::with_commas(names.len() - most)));
    }
    text
}
