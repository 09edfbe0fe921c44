//! What starts a review.

use super::{TaskBench, config};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Row 004-077.
#[test]
fn an_explicit_trigger_waits_for_the_command() {
    let bench = TaskBench::with_config(&config(", trigger: explicit", ""));
    let id = bench.task();
    assert_snapshot!(bench.world.name(&id, "[TASK]").run(&["task", "done", &id]), @"
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    hint: run `mala task review [TASK]`
    ");
    assert_eq!(stop(&bench), json!({}), "the stop hook starts none");
    assert_eq!(bench.review_events(), [] as [&str; 0]);
    let (code, ..) = bench.mala(&["task", "review", &id]);
    assert_eq!((code, bench.status(&id)), (0, "COMPLETE".to_owned()));
}

/// What the stop hook answers, without a panel.
fn stop(bench: &TaskBench) -> Value {
    let input = json!({"session_id": "s", "cwd": bench.repo.root(), "stop_hook_active": false});
    let output = bench.world.output(&["hook", "stop"], input.to_string().as_bytes());
    let text = String::from_utf8_lossy(&output.stdout);
    let mut answer: Value = serde_json::from_str(&text).unwrap();
    // Without reviewers on a panel, the hook of the gate only has a message.
    if answer["systemMessage"].as_str().is_some_and(|it| !it.contains("task ")) {
        answer = json!({});
    }
    answer
}

/// Row 004-076.
#[test]
fn an_idle_conversation_has_its_task_reviewed() {
    let bench = TaskBench::with_config(&config(", trigger: session_idle", ""));
    let id = bench.start("T1");
    assert_eq!(stop(&bench), json!({}), "there is no work yet");
    bench.commit("mine.py", "mine = 1\n");
    bench.answer("NEEDS_REVISION");
    let answer = stop(&bench);
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("1. criterion A1 is not met"), "{answer}");
    assert_eq!(bench.status(&id), "IN_PROGRESS");
    assert_eq!(stop(&bench), json!({}), "no work since the last review");
    assert_eq!(bench.review_events(), ["ReviewStarted", "ReviewFailed"]);
    bench.commit("mine.py", "mine = 2\n");
    let (code, ..) = bench.mala(&["task", "done", &id]);
    assert_eq!(
        (code, bench.status(&id)),
        (2, "AWAITING_REVIEW".to_owned()),
        "done alone reviews nothing"
    );
    assert_eq!(bench.review_events().len(), 2);
    bench.answer("APPROVED");
    let answer = stop(&bench);
    assert!(
        answer["systemMessage"].as_str().unwrap().contains(&format!("task {id} is COMPLETE")),
        "{answer}"
    );
    assert_eq!(bench.status(&id), "COMPLETE");
}

/// Row 004-078, 004-085 and 004-051, through the binary.
#[test]
fn invalid_settings_have_their_exit_code() {
    let mut shown = String::new();
    for tasks in [
        "review: {trigger: always}",
        "review: {max_revision: 3}",
        "review: {reviewer: builtin, command: [rev]}",
    ] {
        let bench = TaskBench::with_config(&format!("tasks: {{{tasks}}}\n"));
        shown.push_str(&bench.world.run(&["config", "check"]));
    }
    assert_snapshot!(shown, @"
    [exit 78]
    [stderr]
    error: mala.yaml:1:27: invalid value `always`
     --> mala.yaml:1:27
      |
    1 | tasks: {review: {trigger: always}}
      |                           ^^^^^^ invalid value
    hint: valid values: script_completion, session_idle, explicit
    [exit 78]
    [stderr]
    error: mala.yaml:1:18: unknown key `max_revision` in `tasks.review`
     --> mala.yaml:1:18
      |
    1 | tasks: {review: {max_revision: 3}}
      |                  ^^^^^^^^^^^^ unknown key
    hint: did you mean `max_revisions`?
    [exit 78]
    [stderr]
    error: mala.yaml:1:28: `reviewer` and `command` are both set
     --> mala.yaml:1:28
      |
    1 | tasks: {review: {reviewer: builtin, command: [rev]}}
      |                            ^^^^^^^ here
    ");
}

/// Rows 004-048, 004-053, 004-079, 004-080, 004-081, 004-082.
#[test]
fn the_defaults_are_shown() {
    let bench = TaskBench::with_config("");
    let shown = bench.json(&["config", "show", "--format", "json"]);
    for (key, value) in [
        ("tasks.review.enabled", json!(true)),
        ("tasks.review.command", json!("/review-task")),
        ("tasks.review.parser", json!("/parse-review")),
        ("tasks.review.model", json!(null)),
        ("tasks.review.max_revisions", json!(3)),
        ("tasks.review.trigger", json!("script_completion")),
    ] {
        assert_eq!(shown["values"][key], json!({"value": value, "origin": "default"}), "{key}");
    }
}

/// Row 004-075: a coder under `mala run` has its task reviewed, with the events of any review.
#[test]
fn a_coder_of_a_run_has_its_task_reviewed() {
    let bench = TaskBench::with_config(
        "validation_triggers: {session_end: {code_review: {enabled: true, reviewer_type: builtin, finding_threshold: P2, max_retries: 1}}}\n\
         run: {coder: scripted, coders: {scripted: {command: [coder, '{prompt_file}', '{prefix}']}}}\n",
    );
    let coder = "if grep -q 'Review Failed' \"$1\"; then echo 'x = 1' > made.py; else printf 'def f(x=[]):\\n    x.append(1)\\n    return x\\n' > made.py; fi; git add -A; git commit -q -m \"${2}work\"";
    let TaskBench { repo, world } = bench;
    let bench = TaskBench { repo, world: world.with_program("coder", coder) };
    let id = bench.add("T1");
    let (code, _, stderr) = bench.mala(&["run"]);
    assert_eq!((code, bench.status(&id)), (0, "COMPLETE".to_owned()), "{stderr}");
    assert_eq!(
        bench.review_events(),
        ["ReviewStarted", "ReviewFailed", "ReviewStarted", "ReviewCompleted"],
        "004-075"
    );
    let reviews = bench.show(&id)["reviews"].clone();
    assert_eq!(
        (&reviews[0]["result"], &reviews[1]["result"]),
        (&json!("NEEDS_REVISION"), &json!("APPROVED"))
    );
    assert_eq!(
        (&reviews[1]["attempt"], &reviews[1]["reviewer_command"]),
        (&json!(2), &json!("builtin"))
    );
    assert_eq!(bench.show(&id)["reviewed"], true);
    assert_eq!(super::states::rebuilt(&bench.events())[&id], "COMPLETE", "004-106");
}
