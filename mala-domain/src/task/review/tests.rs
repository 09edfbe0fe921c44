//! 004's tables: what a result changes, whom it notifies, and which events it adds.

use super::*;

fn task(revision_count: u32) -> TaskRecord {
    let task = TaskRecord::new(IssueId::new("ab"), "T1");
    TaskRecord { status: TaskStatus::AwaitingReview, revision_count, ..task }
}

fn done(result: ReviewResult, blocking: bool) -> ReviewConclusion {
    let issues = match result {
        ReviewResult::Approved => Vec::new(),
        _ => vec!["criterion A1 is not met".to_owned()],
    };
    ReviewConclusion::Done(ConcludedReview {
        result,
        issues,
        summary: "drops the table".to_owned(),
        blocking,
        only_tests_failed: false,
    })
}

fn active(task: &TaskRecord) -> ActiveReview {
    let review = TaskReview::start(task, "r1".into(), "start".into(), "rev".into());
    ActiveReview { review, process: ReviewProcess { pid: 1, started: 2 } }
}

fn reviewed(task: &TaskRecord, conclusion: &ReviewConclusion) -> TaskReview {
    active(task).review.concluded(conclusion, "end".into())
}

/// Rows 004-002, 004-058, 004-059, 004-060, 004-061, 004-062, 004-063, 004-064, 004-065, 004-066, 004-067, 004-068,
/// 004-071, 004-073, 004-081, 004-085 and 004-101.
#[test]
fn a_result_has_its_status_its_revisions_and_its_notification() {
    use ReviewResult::{Approved, NeedsRevision, Rejected};
    use TaskStatus::{AwaitingReview, Blocked, Complete, InProgress};
    let failed = |n: u32| {
        Some(("Review Failed: T1".into(), format!("Task needs human review after {n} attempts")))
    };
    let rejected =
        || Some(("Review Rejected: T1".into(), "Blocking issue found: drops the table".into()));
    let not_done = || Some(("Review Not Done: T1".to_owned(), "timeout".to_owned()));
    let rows = [
        ("004-058, 004-059", done(Approved, false), 0, 3, (Complete, 0, None)),
        ("004-060", done(NeedsRevision, false), 0, 3, (InProgress, 1, None)),
        ("004-062", done(NeedsRevision, false), 1, 3, (InProgress, 2, None)),
        ("004-063, 004-064, 004-065", done(NeedsRevision, false), 2, 3, (Blocked, 2, failed(3))),
        ("004-062", done(NeedsRevision, false), 0, 1, (Blocked, 0, failed(1))),
        ("004-062", done(NeedsRevision, false), 2, 2, (Blocked, 2, failed(3))),
        ("004-085", done(NeedsRevision, false), 0, 0, (Blocked, 0, failed(1))),
        ("004-066, 004-067, 004-068", done(Rejected, false), 0, 9, (Blocked, 0, rejected())),
        ("004-066", done(Rejected, true), 1, 9, (Blocked, 1, rejected())),
        ("004-071", done(NeedsRevision, true), 0, 3, (Blocked, 0, rejected())),
        (
            "004-073",
            ReviewConclusion::NotDone("timeout".into()),
            1,
            3,
            (AwaitingReview, 1, not_done()),
        ),
    ];
    for (row, conclusion, revisions, max, expected) in rows {
        let task = task(revisions);
        let decision = decide_task(&task, &reviewed(&task, &conclusion), max);
        let sounds = decision.notification.iter().all(|it| it.sound.as_deref() == Some("Basso"));
        assert!(sounds, "004-069: {row}");
        let told = decision.notification.map(|it| (it.title, it.message));
        assert_eq!((decision.status, decision.revision_count, told), expected, "{row}");
    }
}

/// Rows 004-086, 004-087, 004-088, 004-089, 004-090, 004-091, 004-092 and 004-105.
#[test]
fn a_review_has_one_start_and_one_end() {
    let task = TaskRecord { status: TaskStatus::InProgress, ..task(1) };
    let (running, events) = task.with_review_started(active(&task), "p1");
    assert_eq!(running.status, TaskStatus::AwaitingReview);
    let started: Value = serde_json::from_str(&events[0]).unwrap();
    assert_eq!(
        started,
        json!({
            "event": "ReviewStarted", "task_id": "ab", "project_id": "p1",
            "review": {
                "id": "r1", "task_id": "ab", "attempt": 2, "result": "PENDING", "issues": [],
                "summary": "", "blocking": false, "reviewed_at": "start", "reviewer_command": "rev",
            },
        })
    );
    for (conclusion, name, result) in [
        (done(ReviewResult::Approved, false), "ReviewCompleted", json!("APPROVED")),
        (done(ReviewResult::NeedsRevision, false), "ReviewFailed", json!("NEEDS_REVISION")),
        (done(ReviewResult::Rejected, true), "ReviewFailed", json!("REJECTED")),
        (ReviewConclusion::NotDone("exit 7".into()), "ReviewFailed", json!(null)),
    ] {
        let review = reviewed(&task, &conclusion);
        let (ended, event, _) = running.with_review_ended(review, 5, "p1").unwrap();
        let event: Value = serde_json::from_str(&event).unwrap();
        assert_eq!((&event["event"], &event["review"]["result"]), (&json!(name), &result));
        assert_eq!(event["review"]["id"], "r1", "004-089");
        assert_eq!(event["reason"], if result.is_null() { json!("exit 7") } else { json!(null) });
        assert_eq!((ended.active_review, ended.reviews.len()), (None, 1));
    }
}

/// Rows 004-094 and 004-095.
#[test]
fn a_review_that_was_left_open_is_closed_and_its_late_end_is_ignored() {
    let task = task(0);
    let (running, _) = task.with_review_started(active(&task), "p1");
    let next = ActiveReview {
        review: TaskReview { id: "r2".into(), ..active(&task).review },
        ..active(&task)
    };
    let (again, events) = running.with_review_started(next, "p1");
    let names: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str::<Value>(event).unwrap()["event"].clone())
        .collect();
    assert_eq!(names, ["ReviewFailed", "ReviewStarted"]);
    assert_eq!(again.reviews[0].result, None);
    let late = reviewed(&task, &done(ReviewResult::Approved, false));
    assert_eq!(again.with_review_ended(late, 3, "p1"), None);
    assert_eq!(again.reviews.len(), 1);
}

#[test]
fn a_status_that_a_person_set_stays() {
    let task = task(0);
    let (mut running, _) = task.with_review_started(active(&task), "p1");
    running.status = TaskStatus::Blocked;
    let review = reviewed(&task, &done(ReviewResult::Approved, false));
    let (ended, ..) = running.with_review_ended(review, 3, "p1").unwrap();
    assert_eq!(ended.status, TaskStatus::Blocked);
}

/// Rows 004-061 and 004-107.
#[test]
fn the_next_attempt_is_told_the_issues_and_must_change_something() {
    let mut task = task(0);
    assert_eq!(task.fix_prompt(TaskTrigger::ScriptCompletion), None);
    assert!(!task.is_without_progress("h1", true), "004-107: a first attempt");
    let review = reviewed(&task, &done(ReviewResult::NeedsRevision, false));
    task.reviews.push(TaskReview { diff_hash: Some("h1".into()), ..review });
    task.revision_count = 1;
    for (hash, is_empty, expected) in
        [("h1", false, true), ("h2", false, false), ("h2", true, true)]
    {
        assert_eq!(task.is_without_progress(hash, is_empty), expected, "{hash} {is_empty}");
    }
    assert_eq!(
        task.fix_prompt(TaskTrigger::ScriptCompletion).unwrap(),
        "# Task ab: T1\n\n## Review of attempt 1\ndrops the table\n\nFix these issues:\n\
         1. criterion A1 is not met\n\nThen run `mala task done ab`.\n"
    );
    task.reviews.push(reviewed(&task, &ReviewConclusion::NotDone("timeout".into())));
    assert!(task.is_without_progress("h1", false), "a review that was not done changes nothing");
    let again = no_progress(&task);
    assert_eq!(again.issues.len(), 2);
    task.reviews.push(reviewed(&task, &ReviewConclusion::Done(again)));
    task.status = TaskStatus::Blocked;
    let prompt = task.fix_prompt(TaskTrigger::ScriptCompletion).unwrap();
    assert!(prompt.contains("Fix these issues:\n1. criterion A1 is not met\n\n"), "{prompt}");
    assert!(prompt.contains("`mala task reopen ab` and `mala task start ab`"), "{prompt}");
    for only_tests_failed in [true, false] {
        let review = TaskReview {
            only_tests_failed,
            diff_hash: Some("h3".into()),
            ..reviewed(&task, &done(ReviewResult::NeedsRevision, false))
        };
        let task = TaskRecord { reviews: vec![review], ..task.clone() };
        assert_eq!(task.is_without_progress("h3", false), !only_tests_failed);
    }
}

/// A complete task is reviewed when a change was approved.
#[test]
fn an_approval_of_nothing_is_no_review() {
    let mut task = task(0);
    assert!(!task.is_reviewed());
    let approved = reviewed(&task, &done(ReviewResult::Approved, false));
    task.reviews.push(TaskReview { is_empty: true, ..approved.clone() });
    assert!(!task.is_reviewed());
    task.reviews.push(approved.clone());
    assert!(task.is_reviewed());
    task.earlier_reviews = 2;
    assert!(!task.is_reviewed(), "the work since it was reopened is not");
    task.reviews.push(approved);
    assert!(task.is_reviewed());
}

#[test]
fn what_is_kept_is_bounded_and_says_so() {
    let review =
        TaskReview { raw_output: "x".repeat(MAX_RAW_OUTPUT + 1), ..active(&task(0)).review };
    let review = review.concluded(&done(ReviewResult::Approved, false), "end".into());
    assert!(review.raw_output.ends_with("\n[cut: 65536 of 65537 bytes shown]"), "004-028");
}

/// Row 004-106.
#[test]
fn statuses_are_rebuilt_from_the_log() {
    let event = |id: &str, to: &str| {
        json!({"event": "StatusChanged", "task_id": id, "from": null, "to": to}).to_string()
    };
    let events =
        [event("a", "PENDING"), "noise".into(), event("b", "PENDING"), event("a", "BLOCKED")];
    let statuses = rebuilt_statuses(events.iter().map(String::as_str));
    assert_eq!(
        statuses,
        BTreeMap::from([("a".into(), "BLOCKED".into()), ("b".into(), "PENDING".into())])
    );
}
