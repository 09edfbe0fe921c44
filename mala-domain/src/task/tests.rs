//! Records as JSON and as plans: every dialect, hostile input, and the way there and back.

use super::json::{ImportedTasks, issues_in, parse_lines, print_lines, task_of};
use super::plan::{parse_plan, print_plan};
use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(answer: Value) -> Vec<TaskRecord> {
    issues_in(&answer).unwrap_or_default().into_iter().filter_map(task_of).collect()
}

#[test]
fn every_dialect_says_the_same() {
    let upstream = json!([{
        "id": "bd-2", "title": "Refund", "description": "impl", "acceptance_criteria": "works",
        "notes": "later", "status": "in_progress", "priority": 1, "issue_type": "task",
        "assignee": "ada", "labels": ["a", "b"], "parent": "bd-1",
        "dependencies": [
            {"id": "bd-1", "dependency_type": "parent-child"},
            {"id": "bd-3", "dependency_type": "blocks"},
            {"id": "bd-4", "dependency_type": "related"},
        ],
    }]);
    let jsonl = json!({"schema_version": 1, "data": [{
        "id": "bd-2", "title": "Refund", "description": "impl", "acceptance_criteria": "works",
        "notes": "later", "status": "in_progress", "priority": "P1", "issue_type": "task",
        "assignee": "ada", "labels": [{"name": "a"}, "b"],
        "dependencies": [
            {"issue_id": "bd-2", "depends_on_id": "bd-1", "type": "parent-child"},
            {"issue_id": "bd-2", "depends_on_id": "bd-3", "type": "blocks"},
            {"issue_id": "bd-9", "depends_on_id": "bd-2", "type": "blocks"},
        ],
    }]});
    let beads_rs = json!({"result": "issue", "data": {
        "id": "bd-2", "title": "Refund", "description": "impl", "design": null,
        "acceptance_criteria": "works", "status": "in_progress", "priority": 1, "type": "task",
        "labels": ["a", "b"], "assignee": "ada", "created_at": {"wall_ms": 1, "counter": 0},
        "notes": [{"id": "x", "content": "later", "author": "ada"}],
        "deps_outgoing": [
            {"from": "bd-2", "to": "bd-1", "kind": "parent", "deleted_at": null},
            {"from": "bd-2", "to": "bd-3", "kind": "blocks", "deleted_at": null},
            {"from": "bd-2", "to": "bd-5", "kind": "blocks", "deleted_at": {"wall_ms": 1}},
            {"from": "bd-2", "to": "bd-6", "kind": "discovered_from", "deleted_at": null},
        ],
        "deps_incoming": [{"from": "bd-7", "to": "bd-2", "kind": "blocks"}],
    }});
    let ready =
        json!({"result": "ready", "data": {"issues": [beads_rs["data"]], "blocked_count": 0}});
    let listed = json!({"issues": jsonl["data"], "total": 1});
    let mut expected = TaskRecord::new(IssueId::new("bd-2"), "Refund");
    expected.scope = "impl".to_owned();
    expected.acceptance = "works".to_owned();
    expected.notes = "later".to_owned();
    expected.status = TaskStatus::InProgress;
    expected.priority = 1;
    expected.labels = vec!["a".to_owned(), "b".to_owned()];
    expected.parent = Some(IssueId::new("bd-1"));
    expected.blocked_by = vec![IssueId::new("bd-3")];
    expected.claimed_by = Some("ada".to_owned());
    for answer in [upstream, jsonl, beads_rs, ready, listed] {
        assert_eq!(read(answer.clone()), [expected.clone()], "{answer}");
    }
    let issue = expected.to_issue();
    assert_eq!(issue.body, "impl\n\n## Acceptance criteria\n\nworks");
    assert_eq!((issue.status, issue.assignee.as_deref()), (IssueStatus::InProgress, Some("ada")));
}

#[test]
fn statuses_of_every_dialect_have_a_meaning() {
    for (word, expected) in [
        ("open", IssueStatus::Open),
        ("PENDING", IssueStatus::Open),
        ("in-progress", IssueStatus::InProgress),
        ("awaiting_review", IssueStatus::InProgress),
        ("closed", IssueStatus::Closed),
        ("Won't fix", IssueStatus::Blocked),
        ("wont_fix", IssueStatus::Closed),
        ("tombstone", IssueStatus::Closed),
        ("deferred", IssueStatus::Blocked),
        ("blocked", IssueStatus::Blocked),
        ("no such status", IssueStatus::Blocked),
    ] {
        let task = task_of(&json!({"id": "a", "title": "t", "status": word})).unwrap();
        assert_eq!(task.status.issue_status(), expected, "{word}");
    }
}

#[test]
fn answers_that_are_no_issues_are_none() {
    for answer in [json!(null), json!("x"), json!(7), json!({}), json!({"data": {"x": 1}})] {
        assert_eq!(issues_in(&answer), None, "{answer}");
    }
    for item in [json!({}), json!({"id": 1, "title": "x"}), json!({"id": "a"}), json!("a")] {
        assert_eq!(task_of(&item), None, "{item}");
    }
}

#[test]
fn a_plan_is_read_as_people_write_it() {
    let plan = "# Shop\n\nIntro - [ ] no task\n\n- [ ] Add pay\n  Take cards.\n\n  - [ ] a step\n\n  \
        Acceptance:\n  pay works\n* [x] Done thing\n- [?] no checkbox\n1. [ ] Numbered\n10) [X] Tenth\n- [a](b)\n\n## Epic: Checkout\n  All of it.\n\
        + [ ] Add refund <!-- mala: id=r-1 blocked_by=r-0,../x labels=a,b%2C;c priority=0 -->\r\n\n\
        ```\n- [ ] an example\n```\n## Later\n- [ ] Add pay\n- [ ]\n";
    let ImportedTasks { tasks, warnings } = parse_plan(plan);
    let found: Vec<_> =
        tasks.iter().map(|task| (task.title.as_str(), task.status.name())).collect();
    assert_eq!(
        found,
        [
            ("Add pay", "PENDING"),
            ("Done thing", "COMPLETE"),
            ("Numbered", "PENDING"),
            ("Tenth", "COMPLETE"),
            ("Checkout", "PENDING"),
            ("Add refund", "PENDING"),
            ("Add pay", "PENDING"),
        ]
    );
    assert_eq!(tasks[0].scope, "Take cards.\n\n- [ ] a step");
    assert_eq!(tasks[0].acceptance, "pay works");
    assert_eq!((tasks[4].kind, tasks[4].scope.as_str()), (IssueKind::Epic, "All of it."));
    assert_eq!((&tasks[5].parent, tasks[5].id.as_str()), (&Some(tasks[4].id.clone()), "r-1"));
    assert_eq!(
        (tasks[5].priority, tasks[5].blocked_by.as_slice()),
        (0, &[IssueId::new("r-0")][..])
    );
    assert_eq!(tasks[5].labels, ["a", "bc"]);
    assert_eq!(tasks[6].parent, None);
    assert_ne!(tasks[0].id, tasks[6].id);
    assert_eq!(
        warnings,
        [
            "line 8: the checkbox is a step of the task above, and no task of its own",
            "line 13: `[?]` is neither `[ ]` nor `[x]`: no task was added",
            "line 27: the title is empty",
        ]
    );
    // The same plan has the same ids.
    assert_eq!(parse_plan(plan).tasks, tasks);
}

#[test]
fn hostile_ids_and_titles_stay_texts() {
    let lines = "{\"id\":\"../../x\",\"title\":\"a\\nb\\u001b[2J\"}\n\nnot json\n{\"id\":\"b\"}\n\
        {\"id\":\"c\",\"title\":\"one\",\"parent\":\"--help\"}\n{\"id\":\"c\",\"title\":\"two\"}\n[]\n";
    let ImportedTasks { tasks, warnings } = parse_lines(lines);
    assert_eq!(tasks.len(), 2);
    assert_eq!(tasks[0].title, "a b[2J");
    assert!(is_id(tasks[0].id.as_str()));
    assert_eq!(tasks[1].parent, None);
    assert_eq!(warnings.len(), 5, "{warnings:?}");
    for id in ["", "-x", ".", "..", "a..b", "a/b", "a b", "a.", "\u{e9}", &"x".repeat(65)] {
        assert!(!is_id(id), "{id}");
    }
    for id in ["a", "bd-1", "remote-1np.2", "A_b"] {
        assert!(is_id(id), "{id}");
    }
    assert_eq!(clean_label(&"x".repeat(80)).unwrap().chars().count(), MAX_LABEL);
    assert_eq!((clean_label(" \n"), clean_label("a, b").as_deref()), (None, Some("ab")));
}

fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        any::<String>(),
        Just("Acceptance:".to_owned()),
        Just("\\Notes:".to_owned()),
        Just("- [ ] nested".to_owned()),
        Just("  indented".to_owned()),
        Just("```".to_owned()),
        Just(String::new()),
    ];
    prop::collection::vec(line, 0..5).prop_map(|lines| clean_text(&lines.join("\n")))
}

fn title() -> impl Strategy<Value = String> {
    let hostile = "<!-- mala: id=x -->";
    let text =
        prop_oneof![any::<String>(), Just(hostile.to_owned()), Just("[x] # Epic:".to_owned())];
    text.prop_map(|text| one_line(&text)).prop_filter("a title", |title| !title.is_empty())
}

prop_compose! {
    fn task(number: usize)(
        title in title(),
        texts in [lines(), lines(), lines()],
        status in prop::sample::select(TaskStatus::ALL.to_vec()),
        is_epic in any::<bool>(),
        priority in 0..5_u8,
        labels in prop::collection::vec(any::<String>(), 0..3),
        parent in prop::option::of(0..6_usize),
        blocked_by in prop::collection::btree_set(0..6_usize, 0..3),
        claimed_by in prop::option::of(title_of_owner()),
        revision_count in 0..4_u32,
    ) -> TaskRecord {
        let [scope, acceptance, notes] = texts;
        let id = |number: usize| IssueId(format!("t-{number}"));
        let mut labels: Vec<String> = labels.iter().filter_map(|it| clean_label(it)).collect();
        labels.dedup();
        TaskRecord {
            scope, acceptance, notes, status, priority, claimed_by, revision_count,
            labels: labels.into_iter().take(1).collect(),
            kind: if is_epic { IssueKind::Epic } else { IssueKind::Work },
            parent: parent.filter(|it| *it != number).map(id),
            blocked_by: blocked_by.into_iter().filter(|it| *it != number).map(id).collect(),
            ..TaskRecord::new(id(number), &title)
        }
    }
}

fn title_of_owner() -> impl Strategy<Value = String> {
    title()
}

fn tasks() -> impl Strategy<Value = Vec<TaskRecord>> {
    (0..5_usize).prop_flat_map(|n| (0..n).map(task).collect::<Vec<_>>())
}

fn by_id(mut tasks: Vec<TaskRecord>) -> Vec<TaskRecord> {
    tasks.sort_by(|a, b| a.id.cmp(&b.id));
    tasks
}

proptest! {
    #[test]
    fn json_lines_lead_back(tasks in tasks()) {
        let imported = parse_lines(&print_lines(&tasks));
        prop_assert_eq!(imported, ImportedTasks { tasks, warnings: Vec::new() });
    }

    #[test]
    fn plans_lead_back(tasks in tasks()) {
        let plan = print_plan(&tasks);
        let imported = parse_plan(&plan);
        prop_assert_eq!(imported.warnings, Vec::<String>::new(), "{}", plan);
        prop_assert_eq!(by_id(imported.tasks), by_id(tasks), "{}", plan);
    }

    #[test]
    fn any_text_is_read_without_harm(text in any::<String>()) {
        for imported in [parse_plan(&text), parse_lines(&text)] {
            prop_assert!(imported.tasks.iter().all(|task| is_id(task.id.as_str())));
        }
    }
}
