//! Samples for the tests of a run.

use super::issue::{IssueId, IssueKind, IssueStatus, TrackerIssue};
use crate::finding::{Finding, Priority, Verification};

/// A finding with this title; its identity follows from the title.
pub(super) fn finding(title: &str, priority: Option<Priority>) -> Finding {
    let severity = priority.unwrap_or(Priority::P2).severity().name();
    let mut finding: Finding = serde_json::from_value(serde_json::json!({
        "file": "src/a.rs", "line_start": 7, "line_end": 9, "priority": null,
        "severity": severity, "category": "bug", "title": title, "body": format!("{title} body"),
        "evidence_snippet": title, "confidence": 0.9, "reviewer": "agent_sdk",
        "dedupe_key": format!("key-{title}"),
    }))
    .unwrap();
    finding.priority = priority;
    finding
}

pub(super) fn refuted(mut finding: Finding) -> Finding {
    finding.verification = Verification::refuted("it is there");
    finding
}

pub(super) fn issue(id: &str, parent: Option<&str>, blocked_by: &[&str]) -> TrackerIssue {
    TrackerIssue {
        id: IssueId::new(id),
        title: format!("Title of {id}"),
        body: format!("Body of {id}"),
        notes: String::new(),
        status: IssueStatus::Open,
        kind: IssueKind::Work,
        priority: 2,
        labels: Vec::new(),
        parent: parent.map(IssueId::new),
        blocked_by: blocked_by.iter().map(|id| IssueId::new(*id)).collect(),
        assignee: None,
    }
}

pub(super) fn epic(id: &str, parent: Option<&str>) -> TrackerIssue {
    TrackerIssue { kind: IssueKind::Epic, ..issue(id, parent, &[]) }
}

pub(super) fn closed(issue: TrackerIssue) -> TrackerIssue {
    TrackerIssue { status: IssueStatus::Closed, ..issue }
}
