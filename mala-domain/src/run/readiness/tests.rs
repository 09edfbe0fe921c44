//! What is ready, what waits, and what never can be done.

use super::super::tests::{closed, epic, issue};
use super::*;

fn check(issues: &[TrackerIssue], selection: &IssueSelection) -> Readiness {
    readiness(issues, selection, &BTreeSet::new(), "mala-1")
}

fn ids(ids: &[IssueId]) -> Vec<&str> {
    ids.iter().map(IssueId::as_str).collect()
}

fn ready(issues: &[TrackerIssue]) -> Vec<String> {
    let found = check(issues, &IssueSelection::default()).ready;
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn open_work_without_open_blockers_is_ready() {
    let issues = [
        epic("e", None),
        issue("a", Some("e"), &[]),
        issue("b", Some("e"), &["a"]),
        closed(issue("c", None, &[])),
        issue("d", None, &["c"]),
        issue("lost", None, &["gone"]),
        TrackerIssue { status: IssueStatus::Blocked, ..issue("aside", None, &[]) },
        TrackerIssue { status: IssueStatus::InProgress, ..issue("busy", None, &[]) },
    ];
    assert_eq!(ready(&issues), ["a", "d"], "epics are no work");
    let result = check(&issues, &IssueSelection::default());
    let waiting: Vec<(&str, Vec<&str>)> =
        result.waiting.iter().map(|(id, on)| (id.as_str(), ids(on))).collect();
    assert_eq!(waiting, [("b", vec!["a"]), ("lost", vec!["gone"])]);
}

#[test]
fn urgent_issues_come_first() {
    let issues = [issue("a", None, &[]), TrackerIssue { priority: 0, ..issue("z", None, &[]) }];
    assert_eq!(ready(&issues), ["z", "a"]);
}

#[test]
fn an_issue_that_waits_for_an_epic_waits_for_its_issues() {
    let open = [epic("e", None), issue("a", Some("e"), &[]), issue("b", None, &["e"])];
    assert_eq!(ready(&open), ["a"]);
    let done = [epic("e", None), closed(issue("a", Some("e"), &[])), issue("b", None, &["e"])];
    assert_eq!(ready(&done), ["b"]);
}

#[test]
fn deadlocks_are_reported() {
    for (name, issues, expected) in [
        ("two", vec![issue("a", None, &["b"]), issue("b", None, &["a"])], vec![vec!["a", "b"]]),
        ("itself", vec![issue("a", None, &["a"])], vec![vec!["a"]]),
        (
            "an epic that blocks its own issue",
            vec![epic("e", None), issue("a", Some("e"), &["e"])],
            vec![vec!["a", "e"]],
        ),
        ("none", vec![issue("a", None, &["b"]), issue("b", None, &[])], vec![]),
        ("closed", vec![issue("a", None, &["b"]), closed(issue("b", None, &["a"]))], vec![]),
    ] {
        let result = check(&issues, &IssueSelection::default());
        let found: Vec<Vec<&str>> = result.deadlocks.iter().map(|group| ids(group)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_selection_restricts_and_explains() {
    let issues = [
        epic("e", None),
        epic("inner", Some("e")),
        issue("a", Some("inner"), &[]),
        issue("b", None, &[]),
        closed(issue("c", None, &[])),
    ];
    let in_epic = IssueSelection { issues: Vec::new(), epic: Some(IssueId::new("e")) };
    assert_eq!(ids(&check(&issues, &in_epic).ready), ["a"]);
    let named = ["b", "c", "e", "zzz"].map(IssueId::new).to_vec();
    let result = check(&issues, &IssueSelection { issues: named, epic: None });
    assert_eq!(ids(&result.ready), ["b"]);
    let unusable: Vec<String> =
        result.unusable.iter().map(|(id, why)| format!("{id}: {why}")).collect();
    assert_eq!(
        unusable,
        [
            "c: it is closed",
            "e: it is an epic: use --epic to work on its issues",
            "zzz: the tracker has no such issue"
        ]
    );
}

/// A run that was killed, or replaced by another one, does not lose what it claimed.
#[test]
fn claims_of_the_same_owner_are_taken_up_again() {
    let claimed = |owner: &str| TrackerIssue {
        status: IssueStatus::InProgress,
        assignee: Some(owner.to_owned()),
        ..issue("a", None, &[])
    };
    let all = IssueSelection::default();
    assert_eq!(readiness(&[claimed("mala-1")], &all, &BTreeSet::new(), "mala-1").ready.len(), 1);
    assert_eq!(readiness(&[claimed("mala-2")], &all, &BTreeSet::new(), "mala-1").ready, []);
}
