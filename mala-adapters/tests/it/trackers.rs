//! The built-in tracker and its database.

mod beads;

use crate::git::wait;
use mala_adapters::ledger::SqliteLedger;
use mala_adapters::trackers::BuiltinTracker;
use mala_domain::ports::{ImportCount, TaskStore, Tracker, TrackerError};
use mala_domain::run::issue::{IssueDraft, IssueId, IssueStatus};
use mala_domain::task::plan::{parse_plan, print_plan};
use mala_domain::task::{TaskRecord, TaskStatus};
use std::path::Path;

fn open(folder: &Path) -> BuiltinTracker {
    BuiltinTracker::new(SqliteLedger::open(&folder.join("ledger.db")).unwrap())
}

pub(crate) fn draft(title: &str) -> IssueDraft {
    IssueDraft {
        title: title.to_owned(),
        body: "Fix it.\n\nAll of it.".to_owned(),
        notes: "Finding: k1\nFound in: x-1".to_owned(),
        priority: 1,
        labels: vec!["review-finding".to_owned(), "x".repeat(300)],
        ..IssueDraft::default()
    }
}

#[test]
fn issues_are_claimed_once_released_and_closed() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = open(folder.path());
    let id = wait(tracker.create(&draft("Fix\nthis"))).unwrap();
    let other = wait(tracker.create(&draft("Fix\nthis"))).unwrap();
    assert_ne!(id, other);
    let issue = wait(tracker.issue(&id)).unwrap();
    assert_eq!((issue.title.as_str(), issue.priority), ("Fix this", 1));
    assert_eq!(issue.notes, "Finding: k1\nFound in: x-1");
    assert_eq!(issue.labels[1].len(), 50);
    let claimed = wait(tracker.claim(&id, "run-1")).unwrap();
    assert_eq!(
        (claimed.status, claimed.assignee.as_deref()),
        (IssueStatus::InProgress, Some("run-1"))
    );
    // A second claim changes nothing, also through another connection.
    let second = wait(open(folder.path()).claim(&id, "run-2")).unwrap();
    assert_eq!(second.assignee.as_deref(), Some("run-1"));
    wait(tracker.release(&id, "the coder made no progress")).unwrap();
    let released = wait(tracker.issue(&id)).unwrap();
    assert_eq!((released.status, released.assignee), (IssueStatus::Open, None));
    assert!(released.notes.ends_with("\n\nthe coder made no progress"));
    wait(tracker.close(&id, "done")).unwrap();
    wait(tracker.close(&id, "again")).unwrap();
    assert_eq!(wait(tracker.task(id.as_str())).unwrap().close_reason.as_deref(), Some("done"));
    let statuses: Vec<_> = wait(tracker.issues()).unwrap().iter().map(|it| it.status).collect();
    assert_eq!(statuses, [IssueStatus::Closed, IssueStatus::Open]);
    let unknown = IssueId::new("nope");
    let expected = TrackerError::Unknown(unknown.clone());
    assert_eq!(wait(tracker.claim(&unknown, "x")), Err(expected.clone()));
    assert_eq!(wait(tracker.close(&unknown, "x")), Err(expected));
}

/// What one task takes does not depend on how many others there are.
#[test]
fn a_task_is_read_without_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = open(folder.path());
    for id in ["ab-1", "ab-2", "b-1", "ab"] {
        wait(tracker.add(&TaskRecord::new(IssueId::new(id), id))).unwrap();
    }
    let database = rusqlite::Connection::open(folder.path().join("ledger.db")).unwrap();
    database.execute("UPDATE task SET task = 'unreadable' WHERE id = 'b-1'", []).unwrap();
    assert!(wait(tracker.tasks()).is_err());
    let found = |id: &str| wait(tracker.task(id)).map(|task| task.id.0);
    assert_eq!(found("ab").as_deref(), Ok("ab"), "the whole id comes first");
    assert_eq!(found("ab-2").as_deref(), Ok("ab-2"));
    let (id, several) = ("a".to_owned(), "ab-1, ab-2, ab".to_owned());
    assert_eq!(found("a"), Err(TrackerError::Ambiguous { id, found: several }));
    for id in ["", "AB", "ab%", "x"] {
        assert_eq!(found(id), Err(TrackerError::Unknown(IssueId::new(id))), "{id}");
    }
}

#[test]
fn many_claims_at_the_same_time_have_one_winner() {
    let folder = tempfile::tempdir().unwrap();
    let id = wait(open(folder.path()).create(&draft("one"))).unwrap();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let (tracker, id) = (open(folder.path()), id.clone());
            std::thread::spawn(move || {
                let owner = format!("run-{number}");
                wait(tracker.claim(&id, &owner)).unwrap().assignee == Some(owner)
            })
        })
        .collect();
    let n_won = threads.into_iter().map(|it| it.join().unwrap()).filter(|won| *won).count();
    assert_eq!(n_won, 1);
}

#[test]
fn every_change_of_status_is_in_the_log_and_only_the_newest_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = open(folder.path());
    let task = wait(tracker.add(&TaskRecord::new(IssueId::new(""), "one"))).unwrap();
    assert!(!task.created_at.is_empty());
    let started = TaskRecord { status: TaskStatus::InProgress, ..task.clone() };
    let event = vec![r#"{"event":"ReviewStarted"}"#.to_owned()];
    assert!(wait(tracker.replace(&task, &started, &event)).unwrap());
    // It is not as it was read any more: nothing happens, and no event is added.
    assert!(!wait(tracker.replace(&task, &started, &event)).unwrap());
    wait(tracker.add_event(r#"{"event":"ReviewFailed"}"#)).unwrap();
    let events = wait(tracker.events_after(0)).unwrap();
    let names: Vec<_> = events.iter().map(|event| event.event.as_str()).collect();
    let id = &task.id;
    assert_eq!(
        names,
        [
            format!(r#"{{"event":"StatusChanged","from":null,"task_id":"{id}","to":"PENDING"}}"#),
            format!(
                r#"{{"event":"StatusChanged","from":"PENDING","task_id":"{id}","to":"IN_PROGRESS"}}"#
            ),
            r#"{"event":"ReviewStarted"}"#.to_owned(),
            r#"{"event":"ReviewFailed"}"#.to_owned(),
        ]
    );
    assert_eq!(wait(tracker.events_after(events[2].number)).unwrap().len(), 1);
}

#[test]
fn an_import_adds_tasks_and_never_changes_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = open(folder.path());
    let plan = "- [ ] One\n- [x] Two\n## Epic: All\n- [ ] Three\n";
    let tasks = parse_plan(plan).tasks;
    let count = |added, updated| ImportCount { added, updated };
    assert_eq!(wait(tracker.import(&tasks)).unwrap(), count(4, 0));
    assert_eq!(wait(tracker.import(&tasks)).unwrap(), count(0, 0));
    let one = wait(tracker.task(&tasks[0].id.as_str()[..3])).unwrap();
    wait(tracker.claim(&one.id, "ada")).unwrap();
    let plan = print_plan(&wait(tracker.tasks()).unwrap());
    let edited = plan.replace("- [ ] One", "- [x] One more").replace(" status=IN_PROGRESS", "");
    assert_eq!(wait(tracker.import(&parse_plan(&edited).tasks)).unwrap(), count(0, 1));
    let one = wait(tracker.task(one.id.as_str())).unwrap();
    assert_eq!((one.title.as_str(), one.status), ("One more", TaskStatus::InProgress));
    assert_eq!(one.claimed_by.as_deref(), Some("ada"));
}
