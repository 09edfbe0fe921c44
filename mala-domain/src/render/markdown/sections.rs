//! The sections of the Markdown report. The length of each is limited, so that one cannot displace
//! the others.

use super::escape::{code, fence, html, inline, prose};
use crate::change::FilePath;
use crate::finding::{Finding, Priority, VerificationOutcome};
use crate::render::ranking::FindingLevel;
use crate::render::visible::at_most;
use crate::render::wording::{self, PriorityCounts, ShaLength};
use crate::report::{Report, ReviewerReport};

/// Maximum length of all lists at the end, in characters.
const MAX_LIST_CHARS: usize = 12_000;

/// The verdict, its reason, and the counts.
pub(super) fn head(report: &Report) -> String {
    let headline = wording::headline(report);
    let mut out = format!("## mala: {}\n\n", headline.word.replace('_', "\\_"));
    out.push_str(&format!("**{}**\n\n", inline(&at_most(&headline.reason, 2000))));
    let summary = prose(&at_most(&report.summary, 2000));
    if !summary.trim().is_empty() {
        out.push_str(&summary);
        out.push('\n');
    }
    let priority_counts = PriorityCounts::of(&report.issues);
    if priority_counts.total() > 0 {
        out.push_str(&counts(priority_counts));
    }
    out
}

/// The heading of a file.
pub(super) fn file(path: &FilePath) -> String {
    format!("### {}\n\n", code(&at_most(&path.to_string(), 300)))
}

/// One finding below the heading of its file, collapsed unless it is urgent.
pub(super) fn finding(finding: &Finding) -> String {
    finding_at(finding, &format!("line {}", finding.span()))
}

/// One finding at this place, collapsed unless it is urgent.
pub(super) fn finding_at(finding: &Finding, place: &str) -> String {
    let open = if FindingLevel::of(finding) == FindingLevel::Error { " open" } else { "" };
    let mut out = format!(
        "<details{open}><summary><b>{} {}</b> {}, {}</summary>\n\n",
        finding.effective_priority(),
        finding.severity.name(),
        html(&at_most(&finding.title, 300)),
        html(&at_most(place, 300)),
    );
    out.push_str(&prose(&at_most(&finding.body, 3000)));
    out.push('\n');
    if !finding.evidence_snippet.is_empty() {
        let language = finding.language.map(crate::language::Language::name).unwrap_or_default();
        out.push_str(&fence(&excerpt(&finding.evidence_snippet), language));
        out.push('\n');
    }
    if let Some(suggestion) = finding.suggestion.as_deref().filter(|text| !text.trim().is_empty()) {
        out.push_str(&format!("**Fix:** {}\n", prose(&at_most(suggestion, 2000))));
    }
    out.push_str(&source(finding));
    out.push_str("\n\n</details>\n\n");
    out
}

/// The round and the state of its findings, in one line. The summary of a pull request omits it,
/// because it would change with every run.
pub(super) fn ledger(report: &Report) -> String {
    let line = |ledger: String| format!("**Ledger:** {}\n\n", inline(&at_most(&ledger, 1000)));
    wording::ledger(report).map(line).unwrap_or_default()
}

/// Coverage, lists of omitted items, scope and statistics.
pub(super) fn tail(report: &Report, length: ShaLength) -> String {
    let mut out = format!("---\n\n**Coverage:** {}\n\n", inline(&wording::coverage(report)));
    let mut lists = CollapsedLists::default();
    lists.add("Notes: minor or uncertain", report.notes.iter().map(note));
    lists.add(
        "Not reviewed",
        wording::unreviewed(report)
            .into_iter()
            .map(|(file, left)| format!("{}: {}", path(file), wording::counted(left, "hunk"))),
    );
    lists.add("Warnings", report.warnings.iter().map(|text| inline(&at_most(text, 500))));
    lists.add(
        "Suppressed by comments in the code",
        report.suppressed.iter().map(|item| {
            let finding = &item.finding;
            let title = inline(&at_most(&finding.title, 200));
            let reason = inline(&at_most(&item.reason, 200));
            let priority = finding.effective_priority();
            format!("{} line {}: {priority} {title} ({reason})", path(&finding.file), item.line)
        }),
    );
    lists.add(
        "Refuted",
        report.refuted.iter().map(|finding| inline(&at_most(&wording::refuted(finding), 500))),
    );
    for (reason, files) in wording::skipped(report) {
        lists
            .add(&format!("Skipped: {}", reason.name()), files.iter().map(|skip| path(&skip.file)));
    }
    lists.add("Reviewers", report.reviewers.iter().map(reviewer));
    out.push_str(&lists.text);
    let scope = inline(&at_most(&wording::scope(&report.scope, length), 1000));
    let hash = match length {
        ShaLength::Short => String::new(),
        ShaLength::Full => format!(", diff {}", code(&at_most(&report.scope.diff_hash, 100))),
    };
    out.push_str(&format!("**Scope:** {scope}{hash}\n\n"));
    out.push_str(&took(report));
    out
}

/// A note in a list: its location and text.
fn note(finding: &Finding) -> String {
    let place = code(&at_most(&format!("{}:{}", finding.file, finding.span()), 200));
    let title = inline(&at_most(&finding.title, 300));
    let body = at_most(&finding.body, 800);
    format!("{place} **{}** {title}: {}", finding.effective_priority(), inline(&body))
}

fn counts(priority_counts: PriorityCounts) -> String {
    let names = Priority::ALL.map(|priority| format!("{priority} {}", priority.severity().name()));
    let numbers = Priority::ALL.map(|priority| priority_counts.at(priority).to_string());
    format!("| {} |\n|{}\n| {} |\n\n", names.join(" | "), "---:|".repeat(4), numbers.join(" | "))
}

/// The rule, category, reviewers and confidence of a finding.
pub(super) fn source(finding: &Finding) -> String {
    let mut notes = vec![
        code(&at_most(&wording::rule_id(finding), 120)),
        finding.category.name().replace('_', " "),
        format!("by {}", inline(&at_most(&finding.reviewer, 100))),
    ];
    if !finding.also_reported_by.is_empty() {
        let others = finding.also_reported_by.join(", ");
        notes.push(format!("also reported by {}", inline(&at_most(&others, 200))));
    }
    if !finding.also_at.is_empty() {
        let places = wording::places(&finding.also_at);
        notes.push(format!("also at {}", inline(&at_most(&places, 400))));
    }
    if finding.verification.outcome == VerificationOutcome::Refuted {
        let how = finding.verification.how.as_deref().unwrap_or("a check");
        notes.push(format!("refuted by {}", inline(&at_most(how, 200))));
    }
    if !finding.on_changed_lines {
        notes.push("not on a changed line".to_owned());
    }
    notes.push(format!("confidence {:.2}", finding.confidence));
    format!("<sub>{}</sub>", notes.join(" · "))
}

/// The first lines of the evidence, cut to a readable length.
fn excerpt(evidence: &str) -> String {
    const LINES: usize = 30;
    let lines = evidence.lines().take(LINES).map(|line| at_most(line, 300).into_owned());
    let mut out = lines.collect::<Vec<_>>().join("\n");
    if evidence.lines().nth(LINES).is_some() {
        out.push_str("\n…");
    }
    out
}

fn reviewer(reviewer: &ReviewerReport) -> String {
    let model =
        reviewer.model.as_deref().map(|model| format!(" ({})", inline(&at_most(model, 100))));
    let said = match (&reviewer.error, reviewer.verdict) {
        (Some(error), _) => format!("could not review: {}", inline(&at_most(error, 500))),
        (None, Some(verdict)) => verdict.name().replace('_', "\\_"),
        (None, None) => "no verdict".to_owned(),
    };
    format!(
        "{}{}: {said}, {}, {} dropped",
        inline(&at_most(&reviewer.reviewer, 100)),
        model.unwrap_or_default(),
        wording::counted(reviewer.findings, "finding"),
        reviewer.dropped
    )
}

fn took(report: &Report) -> String {
    let stats = &report.stats;
    let counted = |n, noun| wording::counted(usize::try_from(n).unwrap_or(usize::MAX), noun);
    let mut parts = vec![
        format!("{:.1} s", stats.latency_seconds_e2e),
        counted(stats.llm_calls, "model call"),
        counted(stats.tool_calls, "tool call"),
    ];
    if stats.llm_calls > 0 {
        let unknown = || "unknown tokens".to_owned();
        parts.push(stats.tokens_used.map_or_else(unknown, |tokens| counted(tokens, "token")));
        let cost = stats.cost_usd.map_or("unknown".to_owned(), |cost| format!("${cost:.4}"));
        parts.push(format!("cost {}", inline(&cost)));
    }
    let id = code(&at_most(&report.review_id, 100));
    format!("<sub>review {id} · {}</sub>\n", parts.join(" · "))
}

fn path(path: &FilePath) -> String {
    code(&at_most(&path.to_string(), 200))
}

/// Collapsed lists with a common length limit.
#[derive(Default)]
struct CollapsedLists {
    text: String,
    n_chars: usize,
}

impl CollapsedLists {
    fn add(&mut self, title: &str, items: impl ExactSizeIterator<Item = String>) {
        let n_items = items.len();
        if n_items == 0 {
            return;
        }
        self.text.push_str(&format!("<details><summary>{title} ({n_items})</summary>\n\n"));
        for (index, item) in items.enumerate() {
            self.n_chars += item.chars().count();
            if self.n_chars > MAX_LIST_CHARS {
                self.text
                    .push_str(&format!("- … and {} more\n", wording::with_commas(n_items - index)));
                break;
            }
            self.text.push_str(&format!("- {item}\n"));
        }
        self.text.push_str("\n</details>\n\n");
    }
}
