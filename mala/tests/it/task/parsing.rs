//! The parser: what it may say, and what it cannot do.

use super::TaskBench;
use insta::assert_snapshot;
use serde_json::json;

/// Rows 004-005, 004-034, 004-035, 004-036, 004-037, 004-038, 004-039, 004-040, 004-055 and 004-071.
#[test]
fn only_one_object_with_a_result_is_an_answer() {
    let bench = TaskBench::new();
    let id = bench.task();
    let mut shown = String::new();
    for (rev, parse, row) in [
        ("APPROVED", r#"{"approved": true, "issues": []}"#, "004-005"),
        ("APPROVED", r#"{"issues": []}"#, "004-035"),
        ("APPROVED", r#"{"result": "MAYBE"}"#, "004-036"),
        ("APPROVED", r#"{"result": "APPROVED", "issues": ["x"]}"#, "004-038"),
        ("NEEDS_REVISION", r#"{"result": "NEEDS_REVISION", "issues": []}"#, "004-038"),
        ("REJECTED", r#"{"result": "REJECTED"}"#, "004-038"),
        ("APPROVED", "LGTM", "004-039"),
        ("APPROVED", "[1]", "004-039"),
        ("APPROVED", r#"{"result": "APPROVED", "#, "004-039"),
        ("APPROVED", "", "004-039"),
        ("APPROVED", r#"{"result": "APPROVED", "blocking": true}"#, "004-071"),
        ("NEEDS_REVISION", r#"{"result": "APPROVED"}"#, "004-055"),
    ] {
        bench.answer(rev);
        bench.set("parse", parse);
        bench.forget("order");
        let said = bench.world.name(&id, "[TASK]").run(&["task", "done", &id]);
        shown.push_str(&format!("{row} {rev}: {parse}\n{said}"));
        let task = bench.show(&id);
        assert_eq!(
            (&task["status"], &task["revision_count"]),
            (&json!("AWAITING_REVIEW"), &json!(0)),
            "{row}"
        );
        assert_eq!(bench.said("order").matches("rev").count(), 1, "004-040");
        assert_eq!(bench.last_review(&id)["attempt"], 1, "004-040");
    }
    assert_snapshot!(shown, @r#"
    004-005 APPROVED: {"approved": true, "issues": []}
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: missing field: result
    hint: `mala task done [TASK]` tries again
    004-035 APPROVED: {"issues": []}
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: missing field: result
    hint: `mala task done [TASK]` tries again
    004-036 APPROVED: {"result": "MAYBE"}
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: invalid verdict: MAYBE
    hint: `mala task done [TASK]` tries again
    004-038 APPROVED: {"result": "APPROVED", "issues": ["x"]}
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: invalid verdict: APPROVED with issues
    hint: `mala task done [TASK]` tries again
    004-038 NEEDS_REVISION: {"result": "NEEDS_REVISION", "issues": []}
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: invalid verdict: NEEDS_REVISION without issues
    hint: `mala task done [TASK]` tries again
    004-038 REJECTED: {"result": "REJECTED"}
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: invalid verdict: REJECTED without issues
    hint: `mala task done [TASK]` tries again
    004-039 APPROVED: LGTM
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: invalid json: expected value at line 1 column 1
    hint: `mala task done [TASK]` tries again
    004-039 APPROVED: [1]
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: missing field: result
    hint: `mala task done [TASK]` tries again
    004-039 APPROVED: {"result": "APPROVED", 
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: invalid json: EOF while parsing a value at line 1 column 22
    hint: `mala task done [TASK]` tries again
    004-039 APPROVED: 
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parse: exit 0 without an answer
    hint: `mala task done [TASK]` tries again
    004-071 APPROVED: {"result": "APPROVED", "blocking": true}
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: parser: invalid verdict: APPROVED and blocking
    hint: `mala task done [TASK]` tries again
    004-055 NEEDS_REVISION: {"result": "APPROVED"}
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: the review says NEEDS_REVISION and its parser APPROVED
    hint: `mala task done [TASK]` tries again
    "#);
    bench.answer("APPROVED");
    bench.set("parse", r#"{"result": "approved"}"#);
    assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()), "004-034, 004-037");
    let review = bench.last_review(&id);
    assert_eq!(
        json!([review["result"], review["issues"], review["summary"], review["blocking"]]),
        json!(["APPROVED", [], "", false]),
        "004-037"
    );
}

/// Rows 004-025, 004-050 and 004-057.
#[test]
fn issues_with_a_place_exist_and_others_are_kept() {
    let bench = TaskBench::new();
    let id = bench.task();
    bench.answer("NEEDS_REVISION");
    bench.set("text", "# Review\n\n{\"json\": 1}\n\nmine.py:1 and mine.py:99 are wrong.\n");
    bench.set(
        "parse",
        r#"{"result": "Needs_Revision", "issues": ["mine.py:1: [P1] is wrong", "mine.py:99: is wrong", "criterion A1 is not met"], "summary": "S"}"#,
    );
    assert_eq!(bench.done(&id), (1, "IN_PROGRESS".to_owned()));
    assert!(bench.said("parsed").contains("# Review\n\n{\"json\": 1}\n"), "004-050");
    let review = bench.last_review(&id);
    assert_eq!(
        review["issues"],
        json!(["mine.py:1: [P1] is wrong", "criterion A1 is not met"]),
        "004-025"
    );
    let warnings = review["warnings"].to_string();
    assert!(warnings.contains("left out an issue: its place does not exist"), "{warnings}");
    // 004-057
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
    1. mine.py:1: [P1] is wrong
    2. criterion A1 is not met

    Then run `mala task done [TASK]`.
    ");
    assert_snapshot!(bench.world.run(&["findings"]), @"
    [exit 0]
    [stdout]
    8c769f75  open       P1  mine.py:1  mine.py:1: [P1] is wrong [command]
    ");
}

/// An approval that names a blocking problem at a changed line contradicts itself.
#[test]
fn an_approval_that_names_a_blocker_is_not_done() {
    let bench = TaskBench::new();
    let id = bench.task();
    bench.set("text", "mine.py:1 [P0] SQL injection, must fix before merge\n");
    assert_snapshot!(bench.world.name(&id, "[TASK]").run(&["task", "done", &id]), @"
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T1
    [stderr]
    reviewing with rev
    error: could not review: the review approves, and names a blocking problem: mine.py:1 [P0] SQL injection, must fix before merge
    hint: `mala task done [TASK]` tries again
    ");
}
