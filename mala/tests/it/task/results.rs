//! Results: statuses, revisions, records, notifications and exit codes.

use super::{TaskBench, config};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Rows 004-001, 004-002, 004-031, 004-073, 004-074, 004-090, 004-091, 004-092 and 004-101.
#[test]
fn every_outcome_has_its_status_its_exit_code_and_its_events() {
    for (behaviour, code, status, end, notes) in [
        ("APPROVED", 0, "COMPLETE", "ReviewCompleted", 0),
        ("NEEDS_REVISION", 1, "IN_PROGRESS", "ReviewFailed", 0),
        ("REJECTED", 1, "BLOCKED", "ReviewFailed", 1),
        ("crash", 2, "AWAITING_REVIEW", "ReviewFailed", 1),
        ("empty", 2, "AWAITING_REVIEW", "ReviewFailed", 1),
        ("unproven", 2, "AWAITING_REVIEW", "ReviewFailed", 1),
        ("echo", 2, "AWAITING_REVIEW", "ReviewFailed", 1),
    ] {
        let bench = TaskBench::new();
        bench.answer(behaviour);
        let id = bench.task();
        assert_eq!(bench.done(&id), (code, status.to_owned()), "{behaviour}");
        assert_eq!(bench.review_events(), ["ReviewStarted", end], "{behaviour}");
        assert_eq!(bench.notes().len(), notes, "004-059: {behaviour}");
        if notes == 1 && status == "AWAITING_REVIEW" {
            assert_eq!(bench.notes()[0]["title"], "Review Not Done: T1", "004-073");
            assert_eq!(bench.show(&id)["revision_count"], 0, "004-031");
            let last = bench.events().pop().unwrap();
            assert_eq!(last["reason"], bench.notes()[0]["message"], "004-092");
        }
        assert!(!bench.said("seen").is_empty(), "004-001");
    }
}

/// Row 004-031, for a time limit.
#[test]
fn a_review_that_takes_too_long_exits_with_3() {
    let bench = TaskBench::with_config(&format!("{}review: {{timeout: 4}}\n", config("", "")));
    bench.answer("never");
    let id = bench.task();
    assert_eq!(bench.done(&id), (3, "AWAITING_REVIEW".to_owned()));
    bench.answer("APPROVED");
    assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()), "004-073");
    let attempts: Vec<Value> = bench.show(&id)["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| json!([review["attempt"], review["result"]]))
        .collect();
    assert_eq!(attempts, [json!([1, null]), json!([1, "APPROVED"])], "004-073");
}

/// Rows 004-023, 004-024, 004-025, 004-026, 004-027, 004-028, 004-029, 004-060, 004-061, 004-062, 004-063, 004-064,
/// 004-065, 004-081 and 004-106.
#[test]
fn objections_send_a_task_back_until_the_limit_blocks_it() {
    let bench = TaskBench::new();
    bench.answer("NEEDS_REVISION");
    let id = bench.task();
    let before = jiff::Timestamp::now();
    for (attempt, status, revisions) in
        [(1, "IN_PROGRESS", 1), (2, "IN_PROGRESS", 2), (3, "BLOCKED", 2)]
    {
        bench.commit("mine.py", &format!("mine = {}\n", attempt + 1));
        assert_eq!(bench.done(&id), (1, status.to_owned()), "004-060, 004-062");
        assert_eq!(bench.show(&id)["revision_count"], revisions, "004-063");
        assert_eq!(bench.last_review(&id)["attempt"], attempt, "004-024");
    }
    let task = bench.show(&id);
    let reviews = task["reviews"].as_array().unwrap();
    assert_eq!(reviews.len(), 3, "004-029");
    assert_ne!(reviews[0]["id"], reviews[1]["id"], "004-023");
    assert!(reviews.iter().all(|review| review["task_id"] == *id), "004-023");
    let last = &reviews[2];
    assert_eq!(
        json!([last["result"], last["issues"], last["summary"], last["blocking"]]),
        json!(["NEEDS_REVISION", ["criterion A1 is not met"], "S", false]),
        "004-025"
    );
    let at: jiff::Timestamp = last["reviewed_at"].as_str().unwrap().parse().unwrap();
    assert!(before <= at && at <= jiff::Timestamp::now(), "004-026");
    assert_eq!(last["reviewer_command"], "rev", "004-027");
    assert!(last["raw_output"].as_str().unwrap().contains("MARK-1"), "004-028");
    let note = &bench.notes()[0];
    assert_eq!(note["title"], "Review Failed: T1", "004-064");
    assert_eq!(note["message"], "Task needs human review after 3 attempts", "004-065");
    assert_eq!(note["sound"], "Basso", "004-069");
    assert_eq!(bench.notes().len(), 1, "004-059");
    // 004-061
    bench.world.name(&id, "[TASK]");
    assert_snapshot!(bench.world.run(&["task", "show", &id, "--fix-prompt"]), @"
    [exit 0]
    [stdout]
    # Task [TASK]: T1

    ## Scope
    S1

    ## Acceptance Criteria
    A1

    ## Review of attempt 3
    S

    Fix these issues:
    1. criterion A1 is not met

    The task is blocked: a person decides. Then run `mala task reopen [TASK]` and `mala task start [TASK]` before the work. Then run `mala task done [TASK]`.
    ");
    let events = bench.events();
    let ends: Vec<&Value> =
        events.iter().filter(|event| event["event"] == "ReviewFailed").collect();
    for (end, review) in ends.iter().zip(reviews) {
        assert_eq!(end["review"]["id"], review["id"], "004-089, 004-106");
        assert_eq!(end["review"]["result"], review["result"], "004-106");
        assert_eq!(end["review"]["issues"], review["issues"], "004-089");
    }
    let starts: Vec<&Value> =
        events.iter().filter(|event| event["event"] == "ReviewStarted").collect();
    assert_eq!(starts[1]["review"]["attempt"], 2, "004-088");
    assert_eq!(starts[0]["review"]["result"], "PENDING", "004-086, 004-087");
    assert_eq!(starts[0]["project_id"].as_str().unwrap().len(), 16, "004-086");
    assert_eq!(starts[0]["project_id"], ends[2]["project_id"]);
}

/// Rows 004-062, 004-066, 004-067, 004-068, 004-069, 004-070, 004-071 and 004-085.
#[test]
fn limits_and_rejections() {
    let bench = TaskBench::new();
    bench.user_config("tasks: {review: {max_revisions: 1}}\n");
    bench.answer("NEEDS_REVISION");
    let id = bench.task();
    assert_eq!(bench.done(&id), (1, "BLOCKED".to_owned()), "004-062");
    assert_eq!(bench.notes()[0]["message"], "Task needs human review after 1 attempts", "004-065");
    bench.user_config("tasks: {review: {max_revisions: 5}}\n");
    assert_eq!(bench.mala(&["task", "reopen", &id]).0, 0);
    assert_eq!(bench.mala(&["task", "start", &id]).0, 0);
    assert_eq!(bench.done(&id), (1, "IN_PROGRESS".to_owned()), "004-103: the limit applies anew");
    bench.user_config("tasks: {review: {max_revisions: 2}}\n");
    bench.commit("mine.py", "mine = 2\n");
    assert_eq!(bench.done(&id), (1, "BLOCKED".to_owned()), "004-062");
    for (parse, revisions, row) in [
        ("", 0, "004-066"),
        (
            r#"{"result": "NEEDS_REVISION", "issues": ["x"], "summary": "drops the table", "blocking": true}"#,
            0,
            "004-071",
        ),
    ] {
        bench.user_config("tasks: {review: {max_revisions: 9}}\n");
        bench.forget("notes");
        let id = bench.start("T1");
        bench.commit("mine.py", &format!("mine = '{row}'\n"));
        match parse {
            "" => bench.answer("REJECTED"),
            parse => {
                bench.answer("NEEDS_REVISION");
                bench.set("parse", parse);
            }
        }
        assert_eq!(bench.done(&id), (1, "BLOCKED".to_owned()), "{row}");
        assert_eq!(bench.show(&id)["revision_count"], revisions, "{row}");
        let note = &bench.notes()[0];
        assert_eq!(note["title"], "Review Rejected: T1", "004-067: {row}");
        assert_eq!(note["message"], "Blocking issue found: drops the table", "004-068: {row}");
        assert_eq!(note["sound"], "Basso", "004-069: {row}");
    }
}

/// Rows 004-070 and 004-072.
#[test]
fn a_notification_that_fails_changes_nothing() {
    for (notify, warnings) in
        [("[]", 0), ("[{command: ['false']}, {webhook: 'http://127.0.0.1:1'}]", 2)]
    {
        let bench = TaskBench::new();
        bench.user_config(&format!("tasks: {{notify: {notify}}}\n"));
        bench.answer("REJECTED");
        let id = bench.task();
        let (code, _, stderr) = bench.mala(&["task", "done", &id]);
        assert_eq!((code, bench.status(&id)), (1, "BLOCKED".to_owned()));
        assert_eq!(stderr.matches("warning: cannot notify by ").count(), warnings, "{stderr}");
        assert_eq!(bench.notes().len(), 0);
    }
}

/// Rows 004-104 and 004-079.
#[test]
fn without_reviews_a_task_is_complete_at_once() {
    let bench = TaskBench::with_config(&config(", enabled: false", ""));
    let id = bench.task();
    assert_snapshot!(bench.world.name(&id, "[TASK]").run(&["task", "done", &id]), @"
    [exit 0]
    [stdout]
    [TASK]  COMPLETE (not reviewed)  T1
    [stderr]
    note: reviews are off: nothing was reviewed
    ");
    assert_eq!((bench.said("seen"), bench.said("notes")), (String::new(), String::new()));
    let statuses: Vec<Value> = bench.events().iter().map(|event| event["to"].clone()).collect();
    assert_eq!(statuses, ["PENDING", "IN_PROGRESS", "COMPLETE"], "004-104");
}

/// Row 004-107.
#[test]
fn a_task_without_a_change_is_not_reviewed() {
    let bench = TaskBench::new();
    let id = bench.start("T1");
    assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()));
    assert_eq!(bench.last_review(&id)["summary"], "The change is empty: nothing was reviewed.");
    assert_eq!(bench.said("order"), "", "nothing ran");
    bench.answer("NEEDS_REVISION");
    let id = bench.start("T2");
    bench.commit("b.py", "b = 1\n");
    assert_eq!(bench.done(&id), (1, "IN_PROGRESS".to_owned()));
    bench.forget("order");
    bench.answer("APPROVED");
    assert_eq!(bench.done(&id), (1, "IN_PROGRESS".to_owned()), "no progress");
    assert_eq!((bench.said("order").as_str(), &bench.show(&id)["revision_count"]), ("", &json!(2)));
}

#[test]
fn failed_tests_need_a_revision_whatever_the_reviewer_says() {
    for (what, review) in [
        ("a command that approves", "{command: [rev], parser: [parse]}"),
        ("the built-in reviewer", "{reviewer: builtin}"),
    ] {
        let config = format!("tasks: {{tests: 'echo boom; exit 3', review: {review}}}\n");
        let bench = TaskBench::with_config(&config);
        let id = bench.task();
        assert_eq!(bench.done(&id), (1, "IN_PROGRESS".to_owned()), "{what}");
        let review = bench.last_review(&id);
        assert_eq!(review["result"], "NEEDS_REVISION", "{what}: {review}");
        let issue = review["issues"][0].as_str().unwrap();
        assert_eq!(issue, "the tests failed: exit status 3\nboom", "{what}");
    }
}

/// Tests that failed may pass on the same change once the machine is ready. Tests that cannot run say nothing.
#[test]
fn failed_tests_run_again_and_tests_that_cannot_run_are_no_revision() {
    let bench = TaskBench::new();
    let database = bench.control("database").display().to_string();
    let tests =
        |command: &str| bench.user_config(&format!("tasks: {{tests: '{command}', timeout: 1}}\n"));
    let id = bench.task();
    let mut shown = String::new();
    for command in ["exit 127", "sleep 60", "kill -9 $$"] {
        tests(command);
        shown.push_str(&bench.world.name(&id, "[TASK]").run(&["task", "done", &id]));
        assert_eq!(bench.status(&id), "AWAITING_REVIEW", "{command}");
        assert_eq!(bench.show(&id)["revision_count"], 0, "{command}");
    }
    assert_snapshot!(shown, @"
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: the tests could not be run: exit status 127
    hint: `mala task done [TASK]` tries again
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: the tests could not be run: not done after 1 s
    hint: `mala task done [TASK]` tries again
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: the tests could not be run: ended by signal 9
    hint: `mala task done [TASK]` tries again
    ");
    tests(&format!("test -f {database}"));
    assert_eq!(bench.done(&id), (1, "IN_PROGRESS".to_owned()));
    bench.set("database", "");
    assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()));
}

/// Attributes that are not part of the base hide no file.
#[test]
fn attributes_of_the_clone_hide_nothing() {
    for attribute in ["linguist-generated", "linguist-vendored", "binary", "-diff"] {
        let bench = TaskBench::with_config("tasks: {review: {reviewer: builtin}}\n");
        bench.repo.write(".git/info/attributes", format!("*.py {attribute}\n"));
        bench.repo.write(".git/info/exclude", "excluded.py\n");
        let id = bench.start("T1");
        bench.repo.write("excluded.py", "breakpoint()\n");
        bench.repo.write("new.py", "breakpoint()\n");
        bench.commit("mine.txt", "mine\n");
        assert_eq!(bench.done(&id), (1, "IN_PROGRESS".to_owned()), "{attribute}");
        let issues = bench.last_review(&id)["issues"].to_string();
        assert!(issues.contains("new.py:1: ") && !issues.contains("excluded"), "{issues}");
    }
}

/// Every review says which files it did not cover, also later.
#[test]
fn files_that_are_not_reviewed_are_named() {
    let mut shown = String::new();
    for (what, review) in [
        ("a command", "{command: [rev], parser: [parse]}"),
        ("the built-in reviewer", "{reviewer: builtin}"),
    ] {
        shown.push_str(&format!("# {what}\n"));
        let bench = TaskBench::with_config(&format!(
            "tasks: {{review: {review}}}\nreview: {{ignore: [docs/**]}}\n"
        ));
        let mut run = |id: &str, args: &[&str]| {
            shown.push_str(&bench.world.name(id, "[TASK]").run(args));
        };
        let id = bench.start("T1");
        bench.repo.write("logo.png", b"\x89PNG\0\x01");
        bench.commit("mine.py", "mine = 1\n");
        run(&id, &["task", "done", &id]);
        run(&id, &["task", "show", &id]);
        let warnings = bench.events().pop().unwrap()["review"]["warnings"].to_string();
        assert!(warnings.contains("logo.png is not reviewed"), "{what}: {warnings}");
        // Files that the configuration excludes are no review.
        let id = bench.start("T2");
        bench.commit("docs/a.md", "# A\n");
        run(&id, &["task", "done", &id]);
        // A change without any file that can be reviewed is for a person.
        let id = bench.start("T3");
        bench.commit("package-lock.json", "{}\n");
        run(&id, &["task", "done", &id]);
        assert_eq!(bench.mala(&["task", "block", &id]).0, 0);
        assert_eq!(bench.mala(&["issue", "close", &id]).0, 0);
    }
    assert_snapshot!(shown, @"
    # a command
    [exit 0]
    [stdout]
    [TASK]  COMPLETE  T1
    [stderr]
    reviewing with rev
    fine
    warning: logo.png is not reviewed: binary
    [exit 0]
    [stdout]
    [TASK] T1
    status: COMPLETE
    revisions: 0 of 3
    started at: [COMMIT]
    tests: none configured

    ## Scope
    S1

    ## Acceptance Criteria
    A1

    ## Reviews
    attempt 1: APPROVED by rev at [TIME]
      fine
      warning: logo.png is not reviewed: binary
    [exit 0]
    [stdout]
    [TASK]  COMPLETE (not reviewed)  T2
    [stderr]
    reviewing with rev
    fine
    warning: docs/a.md is not reviewed: ignored by configuration
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T3
    [stderr]
    reviewing with rev
    warning: package-lock.json is not reviewed: lock file
    error: could not review: no file of this change can be reviewed
    hint: a person decides: `mala task block [TASK]` and `mala issue close [TASK]` complete it without a review
    # the built-in reviewer
    [exit 0]
    [stdout]
    [TASK]  COMPLETE  T1
    [stderr]
    reviewing with builtin
    builtin reviewed 1 hunk in 1 file: no findings.
    warning: logo.png is not reviewed: binary
    [exit 0]
    [stdout]
    [TASK] T1
    status: COMPLETE
    revisions: 0 of 3
    started at: [COMMIT]
    tests: none configured

    ## Scope
    S1

    ## Acceptance Criteria
    A1

    ## Reviews
    attempt 1: APPROVED by builtin at [TIME]
      builtin reviewed 1 hunk in 1 file: no findings.
      warning: logo.png is not reviewed: binary
    [exit 0]
    [stdout]
    [TASK]  COMPLETE (not reviewed)  T2
    [stderr]
    reviewing with builtin
    builtin reviewed 0 hunks in 0 files: no findings.
    warning: docs/a.md is not reviewed: ignored by configuration
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T3
    [stderr]
    reviewing with builtin
    warning: package-lock.json is not reviewed: lock file
    error: could not review: no file of this change can be reviewed
    hint: a person decides: `mala task block [TASK]` and `mala issue close [TASK]` complete it without a review
    ");
}
