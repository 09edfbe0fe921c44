//! Files findings as issues of a tracker: title, labels, notes and attribution. No finding is filed
//! twice.

use super::issue::{IssueDraft, IssueId, IssueStatus, MAX_LABEL, TrackerIssue};
use super::triggers::TriggerKind;
use crate::finding::{Finding, VerificationOutcome};
use crate::verdict::Threshold;
use std::collections::{BTreeMap, BTreeSet};

/// The longest title, in characters.
const MAX_TITLE: usize = 200;

/// The start of a line in notes that names a finding which an issue is about: by its own key, or by its id in
/// the ledger.
const MARKER: &str = "Finding: ";

/// The label of the issue that the findings of a whole run are linked to.
pub const SUMMARY_LABEL: &str = "run-summary";

/// The label of issues that are about findings.
pub const FINDING_LABEL: &str = "review-finding";

/// The start of the line in notes that names the issue in which a finding was found.
const FOUND_IN: &str = "Found in: ";

/// The start of the line that the notes of a finding begin with.
const SOURCE: &str = "Source: ";

/// The review that findings come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingSource {
    /// The trigger.
    pub trigger: TriggerKind,
    /// The issue, epic or summary issue that the findings are linked to.
    pub linked_to: Option<IssueId>,
    /// The commit that the review started from.
    pub base: String,
    /// The commit that was reviewed.
    pub head: String,
    /// The ids of the findings in the ledger, by their keys. The ledger recognises a finding after
    /// its wording or its lines changed.
    pub ledger_ids: BTreeMap<String, String>,
}

impl FindingSource {
    /// The names of a finding: its key, and its id in the ledger.
    fn names<'n>(&'n self, finding: &'n Finding) -> impl Iterator<Item = &'n str> {
        let key = finding.dedupe_key.as_str();
        std::iter::once(key).chain(self.ledger_ids.get(key).map(String::as_str))
    }
}

/// The issues to file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilingPlan {
    /// Issues to create, each with the keys of its findings.
    pub drafts: Vec<(Vec<String>, IssueDraft)>,
    /// Findings that an issue is about already, open or closed.
    pub known: Vec<(String, IssueId)>,
}

/// Plans the issues for findings. `existing` has all issues of the tracker, closed ones included.
/// With `group_below`, findings below this threshold become one issue.
pub fn plan(
    findings: &[Finding],
    source: &FindingSource,
    existing: &[TrackerIssue],
    group_below: Option<Threshold>,
) -> FilingPlan {
    let filed = filed_findings(existing);
    let mut seen = BTreeSet::new();
    let mut plan = FilingPlan::default();
    let mut grouped = Vec::new();
    let counts = |finding: &&Finding| finding.verification.outcome != VerificationOutcome::Refuted;
    for finding in findings.iter().filter(counts) {
        let key = finding.dedupe_key.as_str();
        if let Some(issue) = source.names(finding).find_map(|name| filed.get(name)) {
            plan.known.push((key.to_owned(), (*issue).clone()));
        } else if source.names(finding).filter(|name| seen.insert(*name)).count() > 0 {
            match group_below {
                Some(threshold) if !threshold.blocks(finding) => grouped.push(finding),
                _ => plan.drafts.push((vec![key.to_owned()], draft(&[finding], source))),
            }
        }
    }
    if !grouped.is_empty() {
        let keys = grouped.iter().map(|finding| finding.dedupe_key.as_str().to_owned()).collect();
        plan.drafts.push((keys, draft(&grouped, source)));
    }
    plan
}

/// The issues that are about findings, by the names of the findings.
pub fn filed_findings(issues: &[TrackerIssue]) -> BTreeMap<&str, &IssueId> {
    issues
        .iter()
        .flat_map(|issue| finding_names(issue).into_iter().map(|name| (name, &issue.id)))
        .collect()
}

/// The open issues whose findings a later review does not report any more.
pub fn fixed_issues(
    filed: &[IssueId],
    findings: &[Finding],
    source: &FindingSource,
    existing: &[TrackerIssue],
) -> Vec<IssueId> {
    let reported: BTreeSet<&str> = findings.iter().flat_map(|it| source.names(it)).collect();
    let is_fixed = |issue: &&TrackerIssue| {
        let names = finding_names(issue);
        filed.contains(&issue.id)
            && issue.status != IssueStatus::Closed
            && !names.is_empty()
            && names.iter().all(|name| !reported.contains(name))
    };
    existing.iter().filter(is_fixed).map(|issue| issue.id.clone()).collect()
}

/// The open summary issues of runs whose findings are all closed. `closed` are closed since the issues were read.
pub fn finished_summaries(existing: &[TrackerIssue], closed: &[IssueId]) -> Vec<IssueId> {
    let is_closed =
        |issue: &TrackerIssue| issue.status == IssueStatus::Closed || closed.contains(&issue.id);
    let is_finished = |summary: &&TrackerIssue| {
        let is_its = |issue: &&TrackerIssue| found_in(issue) == Some(summary.id.as_str());
        let mut findings = existing.iter().filter(is_its).peekable();
        summary.labels.iter().any(|label| label == SUMMARY_LABEL)
            && !is_closed(summary)
            && findings.peek().is_some()
            && findings.all(is_closed)
    };
    existing.iter().filter(is_finished).map(|issue| issue.id.clone()).collect()
}

/// The names of the findings that an issue is about.
fn finding_names(issue: &TrackerIssue) -> Vec<&str> {
    own_notes(issue).into_iter().filter_map(|line| line.strip_prefix(MARKER)).collect()
}

fn found_in(issue: &TrackerIssue) -> Option<&str> {
    own_notes(issue).into_iter().find_map(|line| line.strip_prefix(FOUND_IN))
}

/// The lines that mala wrote about a finding. The texts of findings come before them, so that they cannot name
/// other findings.
fn own_notes(issue: &TrackerIssue) -> Vec<&str> {
    let lines: Vec<&str> = issue.body.lines().chain(issue.notes.lines()).map(str::trim).collect();
    let start = lines.iter().rposition(|line| line.starts_with(SOURCE)).unwrap_or(lines.len());
    lines.get(start..).unwrap_or_default().to_vec()
}

fn draft(findings: &[&Finding], source: &FindingSource) -> IssueDraft {
    let worst = findings.iter().map(|finding| finding.effective_priority()).min();
    let priority = worst.map_or(3, |priority| priority.number());
    let title = match findings {
        [finding] => finding.title.clone(),
        _ => format!("{} below the threshold", crate::report::counted(findings.len(), "finding")),
    };
    let body: Vec<String> = findings.iter().map(|finding| describe(finding)).collect();
    IssueDraft {
        title: one_line(&title, MAX_TITLE),
        body: body.join("\n---\n\n"),
        notes: notes(findings, source, priority),
        priority,
        labels: labels(source.trigger),
        related_to: source.linked_to.clone(),
        ..IssueDraft::default()
    }
}

/// A finding, as Markdown.
pub fn describe(finding: &Finding) -> String {
    let mut text = format!("`{}`", location(finding));
    let reporters: Vec<&str> = finding.reporters().collect();
    text.push_str(&format!(
        " · {} · {} · {}\n\n",
        finding.effective_priority(),
        finding.category,
        reporters.join(", ")
    ));
    text.push_str(&format!("{}\n\n", finding.body.trim()));
    if let Some(suggestion) = finding.suggestion.as_deref().filter(|it| !it.trim().is_empty()) {
        text.push_str(&format!("Suggestion: {}\n\n", suggestion.trim()));
    }
    text
}

/// `file:line` or `file:line-line`.
pub fn location(finding: &Finding) -> String {
    match finding.line_end > finding.line_start {
        true => format!("{}:{}-{}", finding.file, finding.line_start, finding.line_end),
        false => format!("{}:{}", finding.file, finding.line_start),
    }
}

/// The labels of an issue from this trigger, each within the limit of every tracker.
pub fn labels(trigger: TriggerKind) -> Vec<String> {
    let mut labels = vec![FINDING_LABEL.to_owned()];
    if trigger != TriggerKind::SessionEnd {
        labels.push("cumulative-review".to_owned());
        labels.push(format!("trigger:{trigger}"));
    }
    labels.into_iter().map(|label| label.chars().take(MAX_LABEL).collect()).collect()
}

fn notes(findings: &[&Finding], source: &FindingSource, priority: u8) -> String {
    let is_cumulative = source.trigger != TriggerKind::SessionEnd;
    let origin = if is_cumulative { "cumulative_review" } else { "code_review" };
    let mut notes = format!("{SOURCE}{origin}\nTrigger: {}\n", source.trigger);
    if let Some(linked) = &source.linked_to {
        let name = match source.trigger {
            TriggerKind::EpicCompletion => "Epic: ",
            _ => FOUND_IN,
        };
        notes.push_str(&format!("{name}{linked}\n"));
    }
    notes.push_str(&format!("Baseline: {}..{}\nPriority: P{priority}\n", source.base, source.head));
    for name in findings.iter().flat_map(|finding| source.names(finding)) {
        notes.push_str(&format!("{MARKER}{name}\n"));
    }
    notes
}

/// The text without control characters, in one line of at most `max` characters.
pub fn one_line(text: &str, max: usize) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let line = words.join(" ");
    match line.chars().count() > max {
        true => line.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
        false => line,
    }
}

#[cfg(test)]
mod tests;
