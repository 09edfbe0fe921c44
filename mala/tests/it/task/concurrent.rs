//! What happens while a review of a task runs: a second one, edits, a status that a person sets, and a kill.

use super::TaskBench;
use insta::assert_snapshot;
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

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
    // 004-093
    bench.world.name(&first.id().to_string(), "[PID]");
    assert_snapshot!(bench.world.name(&id, "[TASK]").run(&["task", "show", &id]), @"
    [exit 0]
    [stdout]
    [TASK] T1
    status: AWAITING_REVIEW
    revisions: 0 of 3
    started at: [COMMIT]
    tests: echo T-OUT
    review: running since [TIME] (process [PID])

    ## Scope
    S1

    ## Acceptance Criteria
    A1
    ");
    assert_snapshot!(bench.world.run(&["task", "done", &id]), @"
    [exit 2]
    [stderr]
    error: task [TASK] is being reviewed since [TIME] by process [PID]
    ");
    let mut second = start(&other);
    wait_until("the other task is reviewed", || bench.said("order").matches("rev").count() == 2);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_snapshot!(bench.world.run(&["task", "show", &id]), @"
    [exit 0]
    [stdout]
    [TASK] T1
    status: AWAITING_REVIEW
    revisions: 0 of 3
    started at: [COMMIT]
    tests: echo T-OUT
    review: interrupted; it started at [TIME]

    ## Scope
    S1

    ## Acceptance Criteria
    A1
    ");
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

/// People go on working while a task is reviewed: the review is of the state at its start.
#[test]
fn an_edit_during_a_review_is_a_warning() {
    let bench = TaskBench::new();
    let id = bench.task();
    let shown = done_meanwhile(&bench, &id, || bench.repo.write("notes.txt", "of the user\n"));
    assert_snapshot!(shown, @"
    [exit 0]
    [stdout]
    [TASK]  COMPLETE  T1
    [stderr]
    reviewing with rev
    fine
    warning: the work changed during the review: the review is of its state at [TIME]
    ");
    assert_eq!(bench.status(&id), "COMPLETE");
    assert_snapshot!(bench.world.run(&["task", "show", &id]), @"
    [exit 0]
    [stdout]
    [TASK] T1
    status: COMPLETE
    revisions: 0 of 3
    started at: [COMMIT]
    tests: echo T-OUT

    ## Scope
    S1

    ## Acceptance Criteria
    A1

    ## Reviews
    attempt 1: APPROVED by rev at [TIME]
      fine
      warning: the work changed during the review: the review is of its state at [TIME]
    ");
}

/// The output of `mala task done`, where this happens while the command reviews.
fn done_meanwhile(bench: &TaskBench, id: &str, meanwhile: impl FnOnce()) -> String {
    bench.set("hold", "");
    bench.forget("behaviour");
    bench.answer("held");
    let mut done = bench.world.command(env!("CARGO_BIN_EXE_mala"));
    let done = done.args(["task", "done", id]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = done.spawn().unwrap();
    wait_until("the review starts", || !bench.said("behaviour").is_empty());
    meanwhile();
    bench.forget("hold");
    bench.world.name(id, "[TASK]").show(&done.wait_with_output().unwrap())
}

/// Row 004-074: only a complete task has exit code 0.
#[test]
fn a_status_that_a_person_sets_during_a_review_stays() {
    let mut shown = String::new();
    for (commands, status) in
        [(&["block"][..], "BLOCKED"), (&["block", "reopen", "start"], "IN_PROGRESS")]
    {
        let bench = TaskBench::new();
        let id = bench.task();
        shown.push_str(&done_meanwhile(&bench, &id, || {
            for command in commands {
                assert_eq!(bench.mala(&["task", command, &id]).0, 0, "{command}");
            }
        }));
        assert_eq!(bench.status(&id), status);
    }
    assert_snapshot!(shown, @"
    [exit 1]
    [stdout]
    [TASK]  BLOCKED  T1
    [stderr]
    reviewing with rev
    fine
    hint: the review approves; the task was set to BLOCKED in the meantime
    [exit 1]
    [stdout]
    [TASK]  IN_PROGRESS  T1
    [stderr]
    reviewing with rev
    fine
    hint: the review approves; the task was set to IN_PROGRESS in the meantime
    ");
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
