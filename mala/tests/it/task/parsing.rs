//! The parser: what it may say, and what it cannot do.

use super::TaskBench;
use serde_json::json;

/// Rows 004-005, 004-034, 004-035, 004-036, 004-037, 004-038, 004-039, 004-040, 004-055 and 004-071.
#[test]
fn only_one_object_with_a_result_is_an_answer() {
    let bench = TaskBench::new();
    let id = bench.task();
    for (rev, parse, row, message) in [
        ("APPROVED", r#"{"approved": true, "issues": []}"#, "004-005", "result"),
        ("APPROVED", r#"{"issues": []}"#, "004-035", "result"),
        ("APPROVED", r#"{"result": "MAYBE"}"#, "004-036", "MAYBE"),
        (
            "APPROVED",
            r#"{"result": "APPROVED", "issues": ["x"]}"#,
            "004-038",
            "APPROVED with issues",
        ),
        (
            "NEEDS_REVISION",
            r#"{"result": "NEEDS_REVISION", "issues": []}"#,
            "004-038",
            "without issues",
        ),
        ("REJECTED", r#"{"result": "REJECTED"}"#, "004-038", "without issues"),
        ("APPROVED", "LGTM", "004-039", "parser: invalid json"),
        ("APPROVED", "[1]", "004-039", "parser: "),
        ("APPROVED", r#"{"result": "APPROVED", "#, "004-039", "parser: invalid json"),
        ("APPROVED", "", "004-039", "parse"),
        (
            "APPROVED",
            r#"{"result": "APPROVED", "blocking": true}"#,
            "004-071",
            "APPROVED and blocking",
        ),
        (
            "NEEDS_REVISION",
            r#"{"result": "APPROVED"}"#,
            "004-055",
            "says NEEDS_REVISION and its parser APPROVED",
        ),
    ] {
        bench.answer(rev);
        bench.set("parse", parse);
        bench.forget("order");
        let (code, _, stderr) = bench.mala(&["task", "done", &id]);
        assert_eq!(code, 2, "{row}: {stderr}");
        assert!(stderr.contains(message), "{row}: {stderr}");
        let task = bench.show(&id);
        assert_eq!(
            (&task["status"], &task["revision_count"]),
            (&json!("AWAITING_REVIEW"), &json!(0)),
            "{row}"
        );
        assert_eq!(bench.said("order").matches("rev").count(), 1, "004-040");
        assert_eq!(bench.last_review(&id)["attempt"], 1, "004-040");
    }
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
    let (_, prompt, _) = bench.mala(&["task", "show", &id, "--fix-prompt"]);
    assert!(prompt.contains("2. criterion A1 is not met\n"), "004-057: {prompt}");
    let (_, findings, _) = bench.mala(&["findings"]);
    assert!(findings.contains("mine.py") && !findings.contains("criterion"), "004-057: {findings}");
}

/// An approval that names a blocking problem at a changed line contradicts itself.
#[test]
fn an_approval_that_names_a_blocker_is_not_done() {
    let bench = TaskBench::new();
    let id = bench.task();
    bench.set("text", "mine.py:1 [P0] SQL injection, must fix before merge\n");
    let (code, _, stderr) = bench.mala(&["task", "done", &id]);
    assert_eq!((code, bench.status(&id)), (2, "AWAITING_REVIEW".to_owned()), "{stderr}");
    assert!(stderr.contains("approves, and names a blocking problem: mine.py:1 [P0]"), "{stderr}");
}
