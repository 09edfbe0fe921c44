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
    assert!(!stderr.contains("reviewing with"), "{stderr}");
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
    assert_eq!(bench.mala(&["task", "done", &other, "--here"]).0, 0);
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
    v7hs7  COMPLETE (not reviewed)  Second
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

/// No checkbox of a plan is left out without a word.
#[test]
fn an_import_names_what_is_no_task() {
    let bench = TaskBench::new();
    bench.world.write(
        "plan.md",
        "1. [ ] One <!-- mala: id=abc -->\n2) [x] Two <!-- mala: id=abd -->\n- [-] Three\n- [ ] Four\n  - [ ] step\n",
    );
    assert_snapshot!(bench.world.run(&["task", "import", "plan.md"]), @"
    [exit 0]
    [stdout]
    3 tasks read: 3 added, 0 updated
    [stderr]
    warning: line 3: `[-]` is neither `[ ]` nor `[x]`: no task was added
    warning: line 5: the checkbox is a step of the task above, and no task of its own
    ");
    assert_snapshot!(bench.world.run(&["task", "done", "ab"]), @"
    [exit 64]
    [stderr]
    error: `ab` is ambiguous: it could be abc, abd
    hint: run `mala task list`
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

/// People go on working while a task is reviewed: the review is of the state at its start.
#[test]
fn an_edit_during_a_review_is_a_warning() {
    let bench = TaskBench::new();
    let id = bench.task();
    let (code, stderr) =
        done_meanwhile(&bench, &id, || bench.repo.write("notes.txt", "of the user\n"));
    assert_eq!((code, bench.status(&id)), (Some(0), "COMPLETE".to_owned()), "{stderr}");
    let warning = "warning: the work changed during the review";
    assert!(stderr.contains(warning), "{stderr}");
    let (_, shown, _) = bench.mala(&["task", "show", &id]);
    assert!(shown.contains(warning), "{shown}");
}

/// The exit code and the messages of `mala task done`, where this happens while the command reviews.
fn done_meanwhile(bench: &TaskBench, id: &str, meanwhile: impl FnOnce()) -> (Option<i32>, String) {
    bench.set("hold", "");
    bench.forget("behaviour");
    bench.answer("held");
    let mut done = bench.world.command(env!("CARGO_BIN_EXE_mala"));
    let done = done.args(["task", "done", id]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = done.spawn().unwrap();
    wait_until("the review starts", || !bench.said("behaviour").is_empty());
    meanwhile();
    bench.forget("hold");
    let output = done.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Row 004-074: only a complete task has exit code 0.
#[test]
fn a_status_that_a_person_sets_during_a_review_stays() {
    for (commands, status) in
        [(&["block"][..], "BLOCKED"), (&["block", "reopen", "start"], "IN_PROGRESS")]
    {
        let bench = TaskBench::new();
        let id = bench.task();
        let (code, stderr) = done_meanwhile(&bench, &id, || {
            for command in commands {
                assert_eq!(bench.mala(&["task", command, &id]).0, 0, "{command}");
            }
        });
        assert_eq!((code, bench.status(&id)), (Some(1), status.to_owned()), "{stderr}");
        let hint =
            format!("hint: the review approves; the task was set to {status} in the meantime");
        assert!(stderr.contains(&hint), "{stderr}");
    }
}

/// A configuration that is not valid is no reason to show nothing.
#[test]
fn a_task_is_shown_with_an_invalid_configuration() {
    let bench = TaskBench::new();
    let id = bench.task();
    bench.answer("NEEDS_REVISION");
    assert_eq!(bench.done(&id).0, 1);
    bench.commit("mala.yaml", "tasks: 7\n");
    for args in [&["task", "show", &id][..], &["task", "show", &id, "--fix-prompt"]] {
        let (code, stdout, stderr) = bench.mala(args);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("criterion A1 is not met"), "{stdout}");
        assert!(stderr.starts_with("warning: using the defaults: mala.yaml"), "{stderr}");
    }
}

/// What a task had before it was reopened says nothing about the work since then.
#[test]
fn a_reopened_task_is_reviewed_anew() {
    let bench = TaskBench::new();
    let id = bench.task();
    bench.answer("NEEDS_REVISION");
    assert_eq!(bench.done(&id).0, 1);
    for command in ["block", "reopen"] {
        assert_eq!(bench.mala(&["task", command, &id]).0, 0);
    }
    let (_, prompt, _) = bench.mala(&["task", "show", &id, "--fix-prompt"]);
    assert!(prompt.contains(&format!("Run `mala task start {id}` before the work.")), "{prompt}");
    assert_eq!(bench.mala(&["task", "start", &id]).0, 0);
    bench.answer("APPROVED");
    assert_eq!(bench.done(&id).0, 0);
    assert_eq!(bench.show(&id)["reviewed"], true);
    for command in ["reopen", "start", "block"] {
        assert_eq!(bench.mala(&["task", command, &id]).0, 0);
    }
    assert_eq!(bench.mala(&["issue", "close", &id]).0, 0);
    let (_, listed, _) = bench.mala(&["task", "list"]);
    assert_eq!(listed, format!("{id}  COMPLETE (not reviewed)  T1\n"));
}

/// A damaged store is said once as an error, and as a warning as long as the damaged file is there.
#[test]
fn a_damaged_store_is_not_an_empty_one() {
    let bench = TaskBench::new();
    bench.add("T1");
    let file = bench.repo.root().join(".git/mala/ledger.db");
    std::fs::write(&file, "not a database, but long enough to look like a file").unwrap();
    assert_snapshot!(bench.world.run(&["task", "list"]), @"
    [exit 2]
    [stderr]
    error: the tasks and findings in [WORK]/.git/mala/ledger.db are damaged
    hint: they were moved to [WORK]/.git/mala/ledger.db.damaged-1; from here on, a new store is used
    ");
    assert_snapshot!(bench.world.run(&["events"]), @"
    [exit 0]
    [stderr]
    warning: tasks may be missing: an earlier store was damaged, see [WORK]/.git/mala/ledger.db.damaged-1 (delete it to end this warning)
    ");
    std::fs::remove_file(file.with_extension("db.damaged-1")).unwrap();
    assert_snapshot!(bench.world.run(&["task", "list"]), @"[exit 0]");
}

/// A task whose work is on another branch is not complete without a review, and one without any work says so.
#[test]
fn work_on_another_branch_is_not_left_out() {
    let bench = TaskBench::new();
    let id = bench.start("T1");
    bench.repo.git(&["checkout", "-q", "-b", "feat"]);
    bench.repo.write("mine.py", "mine = 1\n");
    bench.repo.git(&["add", "-A"]);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut commit = bench.world.command("git");
    commit.args(["commit", "-q", "-m", "work"]);
    commit.env("GIT_COMMITTER_DATE", format!("@{} +0000", now.as_secs() + 1));
    assert!(commit.status().unwrap().success());
    bench.repo.git(&["checkout", "-q", "main"]);
    let (code, _, stderr) = bench.mala(&["task", "done", &id]);
    assert_eq!((code, bench.status(&id)), (64, "IN_PROGRESS".to_owned()), "{stderr}");
    assert!(stderr.contains("`feat` has commits since it started"), "{stderr}");
    assert!(bench.review_events().is_empty());
    bench.repo.git(&["checkout", "-q", "feat"]);
    let (code, stdout, stderr) = bench.mala(&["task", "done", &id]);
    assert_eq!((code, stdout), (0, format!("{id}  COMPLETE  T1\n")), "{stderr}");
    let empty = bench.start("T2");
    let (code, stdout, stderr) = bench.mala(&["task", "done", &empty]);
    assert_eq!((code, stdout), (0, format!("{empty}  COMPLETE (not reviewed)  T2\n")), "{stderr}");
    assert!(!stderr.contains("reviewing with"), "{stderr}");
    assert_eq!(
        (&bench.show(&id)["reviewed"], &bench.show(&empty)["reviewed"]),
        (&json!(true), &json!(false))
    );
}

/// The processes of a review whose `mala` was killed end with the next command.
#[test]
fn the_next_command_ends_what_a_killed_review_left() {
    let bench = TaskBench::new();
    let id = bench.task();
    bench.answer("never");
    let mut done = bench.world.command(env!("CARGO_BIN_EXE_mala"));
    let done = done.args(["task", "done", &id]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut done = done.spawn().unwrap();
    wait_until("the review starts", || !bench.said("behaviour").is_empty());
    done.kill().unwrap();
    done.wait().unwrap();
    assert_eq!(bench.mala(&["task", "block", &id]).0, 0);
    let home = bench.world.home().display().to_string();
    crate::cerberus::assert_none_left(|environ, command| {
        environ.contains(&home) && command.contains("1009")
    });
}
