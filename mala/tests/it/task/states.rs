//! Transitions, import and export, and what a task shows.

use super::TaskBench;
use insta::assert_snapshot;
use serde_json::{Value, json};

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
    let mut refused = String::new();
    for (command, id) in [
        ("done", pending),
        ("review", pending),
        ("review", progress),
        ("start", progress),
        ("reopen", progress),
        ("start", awaiting),
        ("start", complete),
        ("done", complete),
        ("block", complete),
        ("start", blocked),
        ("done", blocked),
        ("block", blocked),
    ] {
        let before = bench.show(id);
        refused.push_str(&bench.world.name(id, "[TASK]").run(&["task", command, id]));
        assert_eq!(bench.show(id), before, "004-102: {command}");
    }
    assert_snapshot!(refused, @"
    [exit 64]
    [stderr]
    error: task [TASK] is PENDING: `mala task done` is not possible
    hint: possible: `mala task start [TASK]`, `mala task block [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is PENDING: `mala task review` is not possible
    hint: possible: `mala task start [TASK]`, `mala task block [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is IN_PROGRESS: `mala task review` is not possible
    hint: possible: `mala task done [TASK]`, `mala task block [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is IN_PROGRESS: `mala task start` is not possible
    hint: possible: `mala task done [TASK]`, `mala task block [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is IN_PROGRESS: `mala task reopen` is not possible
    hint: possible: `mala task done [TASK]`, `mala task block [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is AWAITING_REVIEW: `mala task start` is not possible
    hint: possible: `mala task done [TASK]`, `mala task review [TASK]`, `mala task block [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is COMPLETE: `mala task start` is not possible
    hint: possible: `mala task reopen [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is COMPLETE: `mala task done` is not possible
    hint: possible: `mala task reopen [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is COMPLETE: `mala task block` is not possible
    hint: possible: `mala task reopen [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is BLOCKED: `mala task start` is not possible
    hint: possible: `mala task reopen [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is BLOCKED: `mala task done` is not possible
    hint: possible: `mala task reopen [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] is BLOCKED: `mala task block` is not possible
    hint: possible: `mala task reopen [TASK]`
    ");
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
    assert_snapshot!(bench.world.name(&id, "[TASK]").run(&["issue", "close", &id]), @"
    [exit 64]
    [stderr]
    error: `[TASK]` is in progress: only a review completes it
    hint: run `mala task done [TASK]`, or `mala task block [TASK]` to set it aside
    ");
    assert_eq!(bench.status(&id), "IN_PROGRESS");
    bench.answer("crash");
    bench.done(&id);
    assert_eq!(bench.status(&id), "AWAITING_REVIEW");
    assert_eq!(bench.mala(&["issue", "close", &id]).0, 64);
    let other = bench.add("T2");
    assert_eq!(bench.mala(&["issue", "close", &other]).0, 0, "nothing was started");
}

/// A configuration that is not valid is no reason to show nothing.
#[test]
fn a_task_is_shown_with_an_invalid_configuration() {
    let bench = TaskBench::new();
    let id = bench.task();
    bench.answer("NEEDS_REVISION");
    assert_eq!(bench.done(&id).0, 1);
    bench.commit("mala.yaml", "tasks: 7\n");
    assert_snapshot!(bench.world.name(&id, "[TASK]").run(&["task", "show", &id]), @"
    [exit 0]
    [stdout]
    [TASK] T1
    status: IN_PROGRESS
    revisions: 1 of 3
    started at: [COMMIT]
    tests: none configured

    ## Scope
    S1

    ## Acceptance Criteria
    A1

    ## Reviews
    attempt 1: NEEDS_REVISION by rev at [TIME]
      S
      - criterion A1 is not met
    [stderr]
    warning: using the defaults: mala.yaml at HEAD:1:8: expected a block of keys
    ");
    assert_snapshot!(bench.world.run(&["task", "show", &id, "--fix-prompt"]), @"
    [exit 0]
    [stdout]
    # Task [TASK]: T1

    ## Scope
    S1

    ## Acceptance Criteria
    A1

    ## Review of attempt 1
    S

    Fix these issues:
    1. criterion A1 is not met

    Then run `mala task done [TASK]`.
    [stderr]
    warning: using the defaults: mala.yaml at HEAD:1:8: expected a block of keys
    ");
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
    bench.world.name(&id, "[TASK]");
    assert_snapshot!(bench.world.run(&["task", "show", &id, "--fix-prompt"]), @"
    [exit 0]
    [stdout]
    # Task [TASK]: T1

    ## Scope
    S1

    ## Acceptance Criteria
    A1

    ## Review of attempt 1
    S

    Fix these issues:
    1. criterion A1 is not met

    Run `mala task start [TASK]` before the work. Then run `mala task done [TASK]`.
    ");
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
    assert_snapshot!(bench.world.name(&id, "[TASK]").run(&["task", "done", &id]), @"
    [exit 64]
    [stderr]
    error: task [TASK] has no change here, and `feat` has commits since it started
    hint: check that work out and run `mala task done [TASK]`; to close the task without a change, run `mala task block [TASK]` and `mala issue close [TASK]`
    ");
    assert_eq!(bench.status(&id), "IN_PROGRESS");
    assert!(bench.review_events().is_empty());
    bench.repo.git(&["checkout", "-q", "feat"]);
    let (code, stdout, stderr) = bench.mala(&["task", "done", &id]);
    assert_eq!((code, stdout), (0, format!("{id}  COMPLETE  T1\n")), "{stderr}");
    let empty = bench.start("T2");
    assert_snapshot!(bench.world.name(&empty, "[EMPTY]").run(&["task", "done", &empty]), @"
    [exit 0]
    [stdout]
    [EMPTY]  COMPLETE (not reviewed)  T2
    [stderr]
    The change is empty: nothing was reviewed.
    ");
    assert_eq!(
        (&bench.show(&id)["reviewed"], &bench.show(&empty)["reviewed"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn every_command_of_a_task_says_what_it_did() {
    let bench = TaskBench::new();
    let run = |args: &[&str]| bench.world.run(args);
    assert_snapshot!(run(&["task", "add", "T1", "--scope", "S1"]), @"
    [exit 0]
    [stdout]
    w9bjn  PENDING  T1
    ");
    let id = bench.statuses().into_keys().next().unwrap();
    bench.world.name(&id, "[TASK]");
    assert_snapshot!(run(&["task", "start", &id]), @"
    [exit 0]
    [stdout]
    [TASK]  IN_PROGRESS  T1
    ");
    assert_snapshot!(run(&["task", "block", &id, "--reason", "too large"]), @"
    [exit 0]
    [stdout]
    [TASK]  BLOCKED  T1
    ");
    assert_snapshot!(run(&["task", "reopen", &id]), @"
    [exit 0]
    [stdout]
    [TASK]  PENDING  T1
    ");
    assert_snapshot!(run(&["task", "start", &id]), @"
    [exit 0]
    [stdout]
    [TASK]  IN_PROGRESS  T1
    ");
    bench.commit("mine.py", "mine = 1\n");
    bench.answer("crash");
    assert_snapshot!(run(&["task", "done", &id]), @"
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: rev: exit 7 without an answer
    hint: `mala task done [TASK]` tries again
    ");
    bench.answer("APPROVED");
    assert_snapshot!(run(&["task", "review", &id]), @"
    [exit 0]
    [stdout]
    [TASK]  COMPLETE  T1
    [stderr]
    reviewing with rev
    fine
    ");
    assert_snapshot!(run(&["task", "export"]), @"
    [exit 0]
    [stdout]
    # Plan

    - [x] T1 <!-- mala: id=[TASK] -->
      S1
      Notes:
      Blocked: too large
    ");
    assert_snapshot!(run(&["events"]), @"
    [exit 0]
    [stdout]
    [TIME]  [TASK]  StatusChanged  PENDING
    [TIME]  [TASK]  StatusChanged  IN_PROGRESS
    [TIME]  [TASK]  StatusChanged  BLOCKED
    [TIME]  [TASK]  StatusChanged  PENDING
    [TIME]  [TASK]  StatusChanged  IN_PROGRESS
    [TIME]  [TASK]  StatusChanged  AWAITING_REVIEW
    [TIME]  [TASK]  ReviewStarted  attempt 1
    [TIME]  [TASK]  ReviewFailed  attempt 1: rev: exit 7 without an answer
    [TIME]  [TASK]  ReviewStarted  attempt 1
    [TIME]  [TASK]  StatusChanged  COMPLETE
    [TIME]  [TASK]  ReviewCompleted  attempt 1: APPROVED
    ");
}

#[test]
fn tasks_need_a_repository() {
    let world = crate::world();
    let mut shown = String::new();
    for args in [
        &["task", "add", "T1"][..],
        &["task", "list"],
        &["task", "start", "t1"],
        &["task", "done", "t1"],
        &["task", "review", "t1"],
        &["task", "block", "t1"],
        &["task", "reopen", "t1"],
        &["task", "export"],
        &["events"],
        &["notify", "test"],
    ] {
        shown.push_str(&format!("$ mala {}\n{}", args.join(" "), world.run(args)));
    }
    assert_snapshot!(shown, @"
    $ mala task add T1
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala task list
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala task start t1
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala task done t1
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala task review t1
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala task block t1
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala task reopen t1
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala task export
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala events
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala notify test
    [exit 64]
    [stderr]
    error: `tasks.notify` is empty
    hint: set it in mala.yaml, such as `tasks: {notify: [desktop]}`
    ");
}
