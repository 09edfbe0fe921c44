//! Transitions, the one active review, import and export.

use super::TaskBench;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Rows 004-097, 004-098, 004-099, 004-102 and 004-103.
#[test]
fn other_transitions_are_refused_and_change_nothing() {
    let bench = TaskBench::new();
    let ids: Vec<String> = ["P", "I", "A", "C", "B"].iter().map(|title| bench.add(title)).collect();
    let [pending, progress, awaiting, complete, blocked] = &ids[..] else { panic!("{ids:?}") };
    assert_eq!(bench.status(pending), "PENDING", "004-098");
    for id in [progress, awaiting, complete, blocked] {
        assert_eq!(bench.mala(&["task", "start", id]).0, 0, "004-099");
    }
    assert_eq!(bench.done(complete).1, "COMPLETE");
    assert_eq!(bench.mala(&["task", "block", blocked, "--reason", "too large"]).0, 0);
    bench.commit("x.py", "x = 1\n");
    bench.answer("crash");
    assert_eq!(bench.done(awaiting).1, "AWAITING_REVIEW");
    for (command, id, status) in [
        ("done", pending, "PENDING"),
        ("review", pending, "PENDING"),
        ("review", progress, "IN_PROGRESS"),
        ("start", progress, "IN_PROGRESS"),
        ("reopen", progress, "IN_PROGRESS"),
        ("start", awaiting, "AWAITING_REVIEW"),
        ("start", complete, "COMPLETE"),
        ("done", complete, "COMPLETE"),
        ("block", complete, "COMPLETE"),
        ("start", blocked, "BLOCKED"),
        ("done", blocked, "BLOCKED"),
        ("block", blocked, "BLOCKED"),
    ] {
        let before = bench.show(id);
        let (code, _, stderr) = bench.mala(&["task", command, id]);
        assert_eq!(code, 64, "{command} {status}: {stderr}");
        let refusal = format!(
            "error: task {id} is {status}: `mala task {command}` is not possible\nhint: possible: "
        );
        assert!(stderr.starts_with(&refusal), "{stderr}");
        assert_eq!(bench.show(id), before, "004-102: {command} {status}");
    }
    for (command, id, status) in [
        ("block", pending, "BLOCKED"),
        ("block", progress, "BLOCKED"),
        ("block", awaiting, "BLOCKED"),
        ("reopen", complete, "PENDING"),
        ("reopen", blocked, "PENDING"),
    ] {
        assert_eq!(bench.mala(&["task", command, id]).0, 0, "{command}");
        assert_eq!(bench.status(id), status, "004-103: {command}");
    }
    let kept = bench.show(complete);
    assert_eq!(kept["reviews"].as_array().unwrap().len(), 1, "004-103: reviews stay");
    assert!(kept["start_commit"].is_string(), "004-103");
    assert_eq!(rebuilt(&bench.events()), bench.statuses(), "004-106");
}

/// Row 004-097.
#[test]
fn a_task_has_one_of_five_statuses() {
    let bench = TaskBench::new();
    let schema = bench.json(&["schema", "task"]);
    let names: Vec<&str> = schema["$defs"]["TaskStatus"]["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["const"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["PENDING", "IN_PROGRESS", "AWAITING_REVIEW", "COMPLETE", "BLOCKED"],
        "004-097"
    );
}

pub(super) fn rebuilt(events: &[Value]) -> std::collections::BTreeMap<String, String> {
    let texts: Vec<String> = events.iter().map(Value::to_string).collect();
    mala_domain::task::review::rebuilt_statuses(texts.iter().map(String::as_str))
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Rows 004-004, 004-093, 004-094, 004-096, 004-100 and 004-105.
#[test]
fn one_review_of_a_task_runs_at_a_time() {
    let bench = TaskBench::new();
    let (id, other) = (bench.start("T1"), bench.start("T2"));
    bench.commit("mine.py", "mine = 1\n");
    bench.set("hold", "");
    bench.answer("held");
    let mala = env!("CARGO_BIN_EXE_mala");
    let follow = bench.control("followed");
    let mut follower = bench.world.command(mala);
    let follower = follower.args(["events", "--follow", "--format", "json"]);
    let mut follower = follower
        .stdout(std::fs::File::create(&follow).unwrap())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let start = |id: &str| {
        let mut command = bench.world.command(mala);
        command
            .args(["task", "done", id])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let early = bench.mala(&["events", "--format", "json"]).1;
    let mut first = start(&id);
    wait_until("the review runs", || bench.said("order").contains("rev"));
    assert_eq!(bench.status(&id), "AWAITING_REVIEW", "004-100");
    let (_, shown, _) = bench.mala(&["task", "show", &id]);
    assert!(shown.contains("review: running since "), "004-093: {shown}");
    let (code, _, stderr) = bench.mala(&["task", "done", &id]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains(&format!("task {id} is being reviewed since ")), "004-093: {stderr}");
    let mut second = start(&other);
    wait_until("the other task is reviewed", || bench.said("order").matches("rev").count() == 2);
    first.kill().unwrap();
    first.wait().unwrap();
    let (_, shown, _) = bench.mala(&["task", "show", &id]);
    assert!(shown.contains("review: interrupted; it started at "), "{shown}");
    bench.forget("hold");
    assert_eq!(
        second.wait().unwrap().code(),
        Some(0),
        "004-093: other tasks are reviewed meanwhile"
    );
    assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()), "004-094");
    let of_first: Vec<Value> =
        bench.events().into_iter().filter(|event| event["task_id"] == *id).collect();
    let names: Vec<&str> = of_first.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let reviews: Vec<&str> = names.into_iter().filter(|name| name.starts_with("Review")).collect();
    assert_eq!(
        reviews,
        ["ReviewStarted", "ReviewFailed", "ReviewStarted", "ReviewCompleted"],
        "004-095"
    );
    let log = bench.mala(&["events", "--format", "json"]).1;
    assert!(!early.is_empty() && log.starts_with(&early), "004-096: the log only grows");
    wait_until("the follower has it all", || std::fs::read_to_string(&follow).unwrap() == log);
    follower.kill().unwrap();
    follower.wait().unwrap();
}

/// Row 004-086.
#[test]
fn the_project_has_one_id_in_all_work_trees() {
    let bench = TaskBench::new();
    let linked = bench.repo.beside("linked");
    bench.repo.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let (id, other) = (bench.start("T1"), bench.start("T2"));
    assert_eq!(bench.done(&id).0, 0);
    let TaskBench { repo, world } = bench;
    let bench = TaskBench { world: world.in_folder(&linked), repo };
    assert_eq!(bench.done(&other).0, 0);
    let events = bench.events();
    let started = events.iter().filter(|event| event["event"] == "ReviewStarted");
    let projects: Vec<&Value> = started.map(|event| &event["project_id"]).collect();
    assert_eq!((projects.len(), projects[0]), (2, projects[1]));
}

#[test]
fn plans_and_json_lines_lead_back() {
    let bench = TaskBench::new();
    bench.world.write(
        "plan.md",
        "# Plan\n\n- [ ] First\n  Do it.\n  Acceptance:\n  It works.\n- [x] Second\n",
    );
    assert_snapshot!(bench.world.run(&["task", "import", "plan.md"]), @"
    [exit 0]
    [stdout]
    2 tasks read: 2 added, 0 updated
    ");
    let (_, plan, _) = bench.mala(&["task", "export"]);
    bench.world.write("again.md", &plan);
    let again = bench.json(&["task", "import", "again.md", "--format", "json"]);
    assert_eq!((&again["added"], &again["updated"]), (&json!(0), &json!(0)), "{plan}");
    let (_, lines, _) = bench.mala(&["task", "export", "--format", "json"]);
    bench.world.write("tasks.jsonl", &lines);
    let again = bench.json(&["task", "import", "tasks.jsonl", "--format", "json"]);
    assert_eq!((&again["added"], &again["updated"]), (&json!(0), &json!(0)), "{lines}");
    assert_snapshot!(bench.world.run(&["task", "list"]), @"
    [exit 0]
    [stdout]
    uaif5  PENDING  First
    v7hs7  COMPLETE  Second
    ");
    bench.world.write("empty.md", "no tasks\n");
    assert_snapshot!(bench.world.run(&["task", "import", "empty.md"]), @"
    [exit 64]
    [stderr]
    error: [WORK]/empty.md has no tasks
    hint: a plan has a task per line: `- [ ] Title`
    ");
    assert_snapshot!(bench.world.run(&["task", "show", "zz"]), @"
    [exit 64]
    [stderr]
    error: no issue `zz`
    hint: run `mala task list`
    ");
    assert_snapshot!(bench.world.run(&["task", "add", " "]), @"
    [exit 64]
    [stderr]
    error: the title is empty
    ");
}

#[test]
fn closing_an_issue_does_not_go_around_the_review() {
    let bench = TaskBench::new();
    let id = bench.task();
    let (code, _, stderr) = bench.mala(&["issue", "close", &id]);
    assert_eq!(code, 64, "{stderr}");
    assert!(stderr.contains("is in progress: only a review completes it"), "{stderr}");
    assert!(stderr.contains(&format!("`mala task done {id}`")), "{stderr}");
    assert_eq!(bench.status(&id), "IN_PROGRESS");
    bench.answer("crash");
    bench.done(&id);
    assert_eq!(bench.status(&id), "AWAITING_REVIEW");
    assert_eq!(bench.mala(&["issue", "close", &id]).0, 64);
    let other = bench.add("T2");
    assert_eq!(bench.mala(&["issue", "close", &other]).0, 0, "nothing was started");
}
