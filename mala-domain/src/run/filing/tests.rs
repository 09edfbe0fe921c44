//! Findings as issues: texts, labels, attribution, and none of them twice.

use super::super::tests::{closed, finding, issue, refuted};
use super::*;
use crate::finding::Priority;

fn source(trigger: TriggerKind, linked_to: &str) -> FindingSource {
    FindingSource {
        trigger,
        linked_to: Some(IssueId::new(linked_to)),
        base: "abc123".to_owned(),
        head: "def456".to_owned(),
        ledger_ids: BTreeMap::new(),
    }
}

fn filed(draft: &IssueDraft, id: &str) -> TrackerIssue {
    TrackerIssue { notes: draft.notes.clone(), ..issue(id, None, &[]) }
}

#[test]
fn each_finding_becomes_one_issue_on_the_same_scale() {
    let findings: Vec<Finding> =
        Priority::ALL.map(|it| finding(&it.to_string(), Some(it))).to_vec();
    let plan = plan(&findings, &source(TriggerKind::RunEnd, "e"), &[], None);
    let priorities: Vec<u8> = plan.drafts.iter().map(|(_, draft)| draft.priority).collect();
    assert_eq!(priorities, [0, 1, 2, 3], "003-127, 003-128");
    let (_, first) = &plan.drafts[0];
    assert!(first.body.contains("`src/a.rs:7-9`"), "003-129: {}", first.body);
}

#[test]
fn labels_say_where_a_finding_comes_from() {
    for (rows, trigger, expected) in [
        ("003-138, 003-139", TriggerKind::SessionEnd, &["review-finding"][..]),
        (
            "003-138, 003-139, 003-140",
            TriggerKind::EpicCompletion,
            &["review-finding", "cumulative-review", "trigger:epic_completion"],
        ),
        (
            "003-138, 003-139, 003-140",
            TriggerKind::RunEnd,
            &["review-finding", "cumulative-review", "trigger:run_end"],
        ),
    ] {
        assert_eq!(labels(trigger), expected, "{rows}");
        assert!(labels(trigger).iter().all(|label| label.chars().count() <= MAX_LABEL));
    }
}

/// Rows 003-141 to 003-148.
#[test]
fn notes_say_what_was_reviewed() {
    let notes = |trigger, linked| {
        let findings = [finding("x", Some(Priority::P1))];
        let plan = plan(&findings, &source(trigger, linked), &[], None);
        let (_, draft) = &plan.drafts[0];
        (draft.notes.clone(), draft.related_to.clone().unwrap().to_string())
    };
    let (text, linked) = notes(TriggerKind::EpicCompletion, "bd-xyz789");
    assert_eq!(
        text,
        "Source: cumulative_review\nTrigger: epic_completion\nEpic: bd-xyz789\n\
         Baseline: abc123..def456\nPriority: P1\nFinding: key-x\n",
        "003-141, 003-142, 003-143, 003-144, 003-145"
    );
    assert_eq!(linked, "bd-xyz789", "003-147");
    let (text, linked) = notes(TriggerKind::RunEnd, "first-epic");
    assert!(!text.contains("Epic:") && text.contains("Trigger: run_end\n"), "003-142, 003-143");
    assert_eq!(linked, "first-epic", "003-148");
    let (text, linked) = notes(TriggerKind::SessionEnd, "bd-1");
    assert!(!text.contains("cumulative"), "003-139");
    assert_eq!(linked, "bd-1", "003-146");
}

/// Rows 003-133 to 003-136.
#[test]
fn no_finding_is_filed_twice() {
    let findings = [finding("x", Some(Priority::P1)), finding("y", Some(Priority::P2))];
    let first = plan(&findings, &source(TriggerKind::SessionEnd, "bd-1"), &[], None);
    let existing: Vec<TrackerIssue> =
        first.drafts.iter().zip(["i-1", "i-2"]).map(|((_, draft), id)| filed(draft, id)).collect();
    let again = plan(&findings, &source(TriggerKind::RunEnd, "e"), &existing, None);
    assert!(again.drafts.is_empty(), "003-133, 003-134, 003-136");
    assert_eq!(again.known.len(), 2, "003-133");
    let closed: Vec<TrackerIssue> = existing.into_iter().map(closed).collect();
    let again = plan(&findings, &source(TriggerKind::RunEnd, "e"), &closed, None);
    assert!(again.drafts.is_empty(), "003-135");
    let body = TrackerIssue {
        body: "text\nSource: code_review\nFinding: key-x\n".to_owned(),
        ..issue("i", None, &[])
    };
    let again = plan(&findings, &source(TriggerKind::RunEnd, "e"), &[body], None);
    assert_eq!(again.drafts.len(), 1, "trackers without notes keep them in the body");
    let hostile = TrackerIssue { body: "Finding: key-x\n".to_owned(), ..issue("i", None, &[]) };
    let again = plan(&findings, &source(TriggerKind::RunEnd, "e"), &[hostile], None);
    assert_eq!(again.drafts.len(), 2, "the text of an issue names no finding");
}

/// Rows 003-130 and 003-131: the ledger recognises a finding on other lines and in other words.
#[test]
fn a_finding_that_the_ledger_knows_is_not_filed_again() {
    let with_id = |key: &str| {
        let ledger_ids = BTreeMap::from([(format!("key-{key}"), "f00d".to_owned())]);
        FindingSource { ledger_ids, ..source(TriggerKind::SessionEnd, "bd-1") }
    };
    let first = plan(&[finding("x", Some(Priority::P1))], &with_id("x"), &[], None);
    let (_, draft) = &first.drafts[0];
    assert!(draft.notes.ends_with("Finding: key-x\nFinding: f00d\n"), "{}", draft.notes);
    let existing = [closed(filed(draft, "i-1"))];
    let reworded = [finding("x in other words", Some(Priority::P1))];
    let again = plan(&reworded, &with_id("x in other words"), &existing, None);
    assert!(again.drafts.is_empty(), "003-130, 003-131");
    assert_eq!(again.known[0].1, IssueId::new("i-1"), "003-131");
}

#[test]
fn issues_of_fixed_findings_are_closed() {
    let findings = [finding("x", Some(Priority::P1)), finding("y", Some(Priority::P2))];
    let review = source(TriggerKind::SessionEnd, "bd-1");
    let drafts = plan(&findings, &review, &[], None).drafts;
    let issues: Vec<TrackerIssue> =
        drafts.iter().zip(["i-1", "i-2"]).map(|((_, draft), id)| filed(draft, id)).collect();
    let ids = [IssueId::new("i-1"), IssueId::new("i-2"), IssueId::new("bd-1")];
    let other = issue("bd-1", None, &[]);
    let existing: Vec<TrackerIssue> = issues.iter().cloned().chain([other]).collect();
    let fixed = |findings: &[Finding], filed: &[IssueId], existing: &[TrackerIssue]| {
        fixed_issues(filed, findings, &review, existing)
    };
    assert_eq!(fixed(&findings, &ids, &existing), []);
    assert_eq!(fixed(&findings[1..], &ids, &existing), [IssueId::new("i-1")]);
    assert_eq!(fixed(&[], &ids[1..], &existing), [IssueId::new("i-2")], "only those of this work");
    let done: Vec<TrackerIssue> = issues.into_iter().map(closed).collect();
    assert_eq!(fixed(&[], &ids, &done), []);
}

#[test]
fn the_same_finding_twice_in_one_review_is_one_issue() {
    let findings = [finding("x", Some(Priority::P1)), finding("x", Some(Priority::P1))];
    assert_eq!(plan(&findings, &source(TriggerKind::RunEnd, "e"), &[], None).drafts.len(), 1);
    let both = [finding("x", Some(Priority::P1)), finding("y", Some(Priority::P1))];
    let plan = plan(&both, &source(TriggerKind::RunEnd, "e"), &[], None);
    assert_eq!(plan.drafts.len(), 2, "003-137");
}

#[test]
fn refuted_findings_are_not_filed() {
    let findings = [refuted(finding("x", Some(Priority::P0)))];
    assert!(plan(&findings, &source(TriggerKind::RunEnd, "e"), &[], None).drafts.is_empty());
}

#[test]
fn findings_below_the_threshold_can_be_grouped() {
    let findings = [
        finding("a", Some(Priority::P1)),
        finding("b", Some(Priority::P2)),
        finding("c", Some(Priority::P3)),
    ];
    let plan = plan(&findings, &source(TriggerKind::RunEnd, "e"), &[], Some(Threshold::P1));
    let titles: Vec<&str> = plan.drafts.iter().map(|(_, draft)| draft.title.as_str()).collect();
    assert_eq!(titles, ["a", "2 findings below the threshold"]);
    let (keys, draft) = &plan.drafts[1];
    assert_eq!((keys.len(), draft.priority), (2, 2));
    assert!(draft.notes.contains("Finding: key-b\nFinding: key-c\n"));
}

#[test]
fn titles_are_one_short_line() {
    assert_eq!(one_line("a\n\u{1b}[31mb\t c", 50), "a [31mb c");
    assert_eq!(one_line(&"x".repeat(300), MAX_TITLE).chars().count(), MAX_TITLE);
}

#[test]
fn a_summary_issue_ends_with_its_last_finding() {
    let source = source(TriggerKind::RunEnd, "s");
    let findings = [finding("x", None), finding("y", None)];
    let drafts = plan(&findings, &source, &[], None).drafts;
    let (x, y) = (filed(&drafts[0].1, "x"), filed(&drafts[1].1, "y"));
    let summary = TrackerIssue {
        labels: vec![SUMMARY_LABEL.to_owned()],
        notes: "Source: run_end\nRun: r\n".to_owned(),
        ..issue("s", None, &[])
    };
    let ended = |existing: &[&TrackerIssue], closed: &[&str]| {
        let existing: Vec<TrackerIssue> = existing.iter().map(|it| (*it).clone()).collect();
        let closed: Vec<IssueId> = closed.iter().map(|id| IssueId::new(*id)).collect();
        finished_summaries(&existing, &closed)
    };
    let closed_x = closed(x.clone());
    assert!(ended(&[&summary, &x, &y], &["y"]).is_empty());
    assert_eq!(ended(&[&summary, &closed_x, &y], &["y"]), [IssueId::new("s")]);
    assert!(ended(&[&summary], &[]).is_empty(), "it has no finding yet");
    assert!(ended(&[&closed(summary), &closed_x], &[]).is_empty(), "it is closed");
}
