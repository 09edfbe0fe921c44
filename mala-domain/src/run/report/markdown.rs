//! The report of a run as Markdown.

use super::{RunReport, WorkEntry};
use crate::report::counted;
use crate::run::filing::one_line;

/// The report as Markdown. Untrusted texts are on one line and cannot start a block.
pub fn markdown(report: &RunReport) -> String {
    let mut text = format!(
        "# mala run: {} succeeded, {} failed\n\n",
        counted(report.succeeded, "issue"),
        report.failed
    );
    text.push_str(&format!(
        "Run `{}` · {} · ${:.2} · coders: {}\n\n",
        report.run_id,
        duration(report.seconds),
        report.cost_usd,
        plain(&report.confinement)
    ));
    if let Some(reason) = &report.aborted {
        text.push_str(&format!("**Aborted**: {}\n\n", plain(reason)));
    }
    section(&mut text, "Issues", &report.issues);
    section(&mut text, "Triggers", &report.triggers);
    list(&mut text, "Waiting", &report.waiting);
    list(&mut text, "Deadlocks", &report.deadlocks);
    if !report.next_steps.is_empty() {
        text.push_str("## Needs a person\n\n");
        for step in &report.next_steps {
            text.push_str(&format!("- {}: `{}`\n", plain(&step.reason), code(&step.command)));
        }
        text.push('\n');
    }
    text
}

fn section(text: &mut String, title: &str, entries: &[WorkEntry]) {
    if entries.is_empty() {
        return;
    }
    text.push_str(&format!("## {title}\n\n| | status | review | found | fixed | cost |\n"));
    text.push_str("|---|---|---|---|---|---|\n");
    for entry in entries {
        let name = format!("{} {}", entry.name, entry.title);
        let reason = entry.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        text.push_str(&format!(
            "| {} | {}{} | {} | {} | {} | ${:.2} |\n",
            plain(&name),
            entry.status,
            plain(&reason),
            plain(&review(entry)),
            entry.findings,
            entry.fixed,
            entry.cost_usd
        ));
    }
    text.push('\n');
    for entry in entries {
        if !entry.sensitive_files.is_empty() {
            let files = plain(&entry.sensitive_files.join(", "));
            let name = plain(&entry.name);
            text.push_str(&format!("- {name} changes tests, CI or lint configuration: {files}\n"));
        }
        for failed in &entry.command_failures {
            let (name, command) = (plain(&entry.name), plain(&failed.name));
            text.push_str(&format!("- {name}: command {command}: {}\n", plain(&failed.reason)));
            for line in failed.output.lines().filter(|line| !line.trim().is_empty()) {
                text.push_str(&format!("  - `{}`\n", code(line)));
            }
        }
        for warning in &entry.warnings {
            text.push_str(&format!("- {}: {}\n", plain(&entry.name), plain(warning)));
        }
    }
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
}

pub(super) fn review(entry: &WorkEntry) -> String {
    match (&entry.not_reviewed, entry.review, entry.skip_reason) {
        (Some(reason), ..) => format!("NOT REVIEWED: {reason}"),
        (None, Some(_), Some(skip)) => format!("skipped: {skip}"),
        (None, Some(_), None) if entry.reviewers.is_empty() => "reviewed".to_owned(),
        (None, Some(_), None) => format!("reviewed by {}", entry.reviewers.join(", ")),
        (None, None, _) => "no review".to_owned(),
    }
}

fn list(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push_str(&format!("## {title}\n\n"));
    for line in lines {
        text.push_str(&format!("- {}\n", plain(line)));
    }
    text.push('\n');
}

pub(super) fn duration(seconds: i64) -> String {
    format!("{} min {} s", seconds / 60, seconds % 60)
}

/// An untrusted text on one line, with Markdown syntax escaped.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text, 300).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '!' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn code(text: &str) -> String {
    one_line(text, 300).replace('`', "'")
}
