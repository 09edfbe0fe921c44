//! Words find their findings, and a case has what they say.

use super::*;
use mala_domain::change::{Change, parse};

fn finding(key: &str, line: u32) -> Finding {
    let value = serde_json::json!({
        "file": "a.py", "line_start": line, "line_end": line, "priority": 1, "severity": "high",
        "category": "bug", "title": "T", "body": "B", "evidence_snippet": "  x = 1\n", "confidence": 0.9,
        "reviewer": "builtin", "rule": "r", "dedupe_key": key,
    });
    serde_json::from_value(value).unwrap()
}

fn requested(right: &[&str], wrong: &[&str], rest: Option<FindingLabel>) -> LabelRequest {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    LabelRequest { right: ids(right), wrong: ids(wrong), rest }
}

#[test]
fn a_word_goes_to_the_findings_with_its_id() {
    use FindingLabel::{LeaveOut, Right, Wrong};
    let findings = [finding("aa11", 1), finding("aa22", 2), finding("bb33", 3), finding("bb33", 4)];
    for (requested, expected) in [
        (requested(&["aa1"], &["bb"], None), Ok([Some(Right), None, Some(Wrong), Some(Wrong)])),
        (requested(&[], &[], Some(LeaveOut)), Ok([Some(LeaveOut); 4])),
        (
            requested(&["aa11"], &["aa22"], Some(Right)),
            Ok([Some(Right), Some(Wrong), Some(Right), Some(Right)]),
        ),
        (requested(&["aa"], &[], None), Err("several findings start with 'aa'")),
        (requested(&["cc"], &[], None), Err("the review has no finding 'cc'")),
        (requested(&[""], &[], None), Err("the review has no finding ''")),
        (requested(&["bb33"], &["bb"], None), Err("finding bb33 is labeled both right and wrong")),
    ] {
        let found = labels(&findings, &requested).map_err(|error| error.to_string());
        let expected = expected.map(|labels| labels.to_vec()).map_err(str::to_owned);
        assert_eq!(found, expected, "{requested:?}");
    }
}

#[test]
fn what_was_missed_has_a_place_and_a_kind() {
    for (text, expected) in [
        ("a.py:7:bug:It is off: by one", Some("a.py 7-7 bug It is off: by one")),
        ("C:x.py:7-9:error_handling: Lost", Some("C:x.py 7-9 error_handling Lost")),
        ("a.py:9-7:bug:x", None),
        ("a.py:0:bug:x", None),
        ("a.py:7:weather:x", None),
        ("a.py:7:bug", Some("a.py 7-7 bug ")),
        ("", None),
    ] {
        let shown = missed(text).map(|truth| {
            let (start, end) = (truth.line_start, truth.line_end.unwrap());
            format!("{} {start}-{end} {} {}", truth.file, truth.category.name(), truth.description)
        });
        assert_eq!(shown.as_deref().ok(), expected, "{text}");
    }
}

fn report(issues: Vec<Finding>) -> Report {
    let value = serde_json::json!({
        "review_id": "0011223344556677", "passed": false, "verdict": "FAIL", "outcome": "blocked", "status": "ok",
        "issues": issues, "summary": "", "fail_on": "P1", "reviewers": [],
        "coverage": {"hunks_given": 1, "hunks_accounted": 1, "files": [], "skipped": []},
        "scope": {"target": "a..b", "base": "a", "head": "working_tree", "diff_hash": "0", "files": 1,
                  "hunks": 1, "lines": {"added": 1, "removed": 0}},
        "stats": {"tokens_used": 0, "cost_usd": 0.0, "latency_seconds_e2e": 0.1, "latency_seconds_llm": 0.0,
                  "llm_calls": 0, "tool_calls": 0, "cache_read_tokens": 0},
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn right_is_truth_wrong_is_rejected_and_missed_is_added() {
    let diff = "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,3 @@\n+x = 1\n+y = 2\n+z = 3\n";
    let sides = ChangeSides {
        change: Change { files: parse(diff.as_bytes()).unwrap() },
        diff: diff.to_owned(),
        head: BTreeMap::from([(FilePath::from("a.py"), "x = 1\ny = 2\nz = 3\n".to_owned())]),
        head_id: "h".to_owned(),
        message: "Add x\n\nFor y.".to_owned(),
        ..ChangeSides::default()
    };
    let report = report(vec![finding("a", 1), finding("b", 2), finding("c", 3)]);
    let labels = [FindingLabel::Right, FindingLabel::Wrong, FindingLabel::LeaveOut];
    let missed_one = missed("a.py:3:logic:z").unwrap();
    let judged = LabeledReview { report: &report, labels: &labels, missed: vec![missed_one] };
    let case = capture(judged, sides.clone()).unwrap();
    let lines: Vec<u32> = case.ground_truth.iter().map(|truth| truth.line_start).collect();
    assert_eq!((lines, case.rejected_findings.len()), (vec![1, 3], 1));
    assert_eq!(case.ground_truth[0].evidence.as_deref(), Some("x = 1"));
    assert_eq!((case.pr_title.as_str(), case.pr_description.as_str()), ("Add x", "For y."));
    assert_eq!((case.language.as_str(), case.tags.as_slice()), ("python", &[TAG.to_owned()][..]));
    assert_eq!(EvalCase::parse("f", 1, &serde_json::to_string(&case).unwrap()).unwrap(), case);
    for (place, expected) in [
        ("a.py:4:bug:x", "a.py has only 3 lines, not 4"),
        ("b.py:1:bug:x", "b.py is not a text file at head"),
    ] {
        let judged = LabeledReview {
            report: &report,
            labels: &labels,
            missed: vec![missed(place).unwrap()],
        };
        assert_eq!(capture(judged, sides.clone()).unwrap_err(), expected);
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[a:0-9 -]{0,24}|.{0,40}") {
        drop(missed(&text));
    }
}
