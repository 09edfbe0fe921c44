//! Cases are read whole, or refused with their place.

use super::*;
use mala_domain::finding::{Category, Severity};

const SMALL: &str = r#"{"id": "a", "language": "python", "diff": "", "files": {"a.py": "x = 1\n"}, "ground_truth": [{"file": "a.py", "line_start": 1, "line_end": null, "category": "bug", "severity": "high", "description": "d", "human": true}], "meta": {"source": "us", "code_licence": "MIT", "added_lines": 3}, "later": {"more": [1]}}"#;

#[test]
fn what_is_not_known_is_passed_over_and_notes_are_kept() {
    let case = EvalCase::parse("set.jsonl", 1, SMALL).unwrap();
    assert_eq!((case.id.as_str(), case.schema_version), ("a", 1));
    let truth = &case.ground_truth[0];
    assert_eq!((truth.category, truth.severity), (Category::Bug, Some(Severity::High)));
    assert_eq!(truth.span().to_string(), "1");
    assert_eq!((case.meta.source(), case.meta.licence()), (Some("us"), Some("MIT")));
    let again = serde_json::to_string(&case).unwrap();
    assert_eq!(EvalCase::parse("again", 1, &again).unwrap(), case);
    assert!(again.contains("added_lines"));
}

#[test]
fn a_refusal_names_file_line_column_and_reason() {
    let rows: &[(&str, &str)] = &[
        ("", "s:7:1: EOF while parsing a value"),
        ("{\"id\": \"a\",", "s:7:11: EOF while parsing a value"),
        ("{\"id\": \"a\"}", "s:7:11: missing field `language`"),
        ("{\n  \"id\": 3\n}", "s:8:9: invalid type: integer `3`, expected a string"),
        (
            r#"{"id": "a", "language": "x", "ground_truth": [{"file": "f", "line_start": 1, "category": "typo"}]}"#,
            "s:7:95: unknown variant `typo`, expected one of `security`, `bug`, `error_handling`, `performance`, `style`, `logic`",
        ),
        (
            r#"{"id": "", "language": "x"}"#,
            "s:7:1: id must not be empty or contain control characters",
        ),
        (
            r#"{"id": "a", "language": "x"}"#,
            "s:7:1: case \"a\": the case has neither a diff nor files",
        ),
        (
            r#"{"id": "a", "language": "x", "files": {"../x": ""}}"#,
            "s:7:1: case \"a\": the path ../x leaves the tree",
        ),
        (
            r#"{"id": "a", "language": "x", "files": {"a/.GIT/config": ""}}"#,
            "s:7:1: case \"a\": the path a/.GIT/config is inside .git",
        ),
        (
            r#"{"id": "a", "language": "x", "base_files": {"a": "", "a/b/c": ""}}"#,
            "s:7:1: case \"a\": a is both a file and a folder",
        ),
        (
            r#"{"id": "a", "language": "x", "files": {"f": ""}, "schema_version": 9}"#,
            "s:7:1: case \"a\": unsupported schema_version 9, expected 1",
        ),
        (
            r#"{"id": "a", "language": "x", "files": {"f": ""}, "ground_truth": [{"file": "f", "line_start": 5, "line_end": 4, "category": "bug"}]}"#,
            "s:7:1: case \"a\": ground_truth: f:5: line_end 4 is before line_start",
        ),
        ("[1, 2]", "s:7:1: expected an object, found a list"),
        (" \"a\"", "s:7:1: expected an object, found a text"),
        ("null", "s:7:1: expected an object, found a single value"),
    ];
    for (text, expected) in rows {
        assert_eq!(EvalCase::parse("s", 7, text).unwrap_err().to_string(), *expected, "{text}");
    }
}

/// A problem of a case whose diff changes line 2 of `old.py` and adds `new.py`; `here.py` is in its files.
fn problem_at(truth: &str) -> Option<String> {
    let diff = "diff --git a/old.py b/old.py\\n--- a/old.py\\n+++ b/old.py\\n@@ -1,3 +1,3 @@\\n a\\n-b\\n+x = 1\\n c\\ndiff --git a/new.py b/new.py\\nnew file mode 100644\\n--- /dev/null\\n+++ b/new.py\\n@@ -0,0 +1,2 @@\\n+y = 1\\n+z = 2\\ndiff --git a/gone.py b/gone.py\\ndeleted file mode 100644\\n--- a/gone.py\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-w\\n";
    let files = r#"{"here.py": "one = 1\ntwo = 2\nthree  =  3\n"}"#;
    let text = format!(
        r#"{{"id": "a", "language": "x", "diff": "{diff}", "files": {files}, "ground_truth": [{{{truth}, "category": "bug"}}]}}"#
    );
    EvalCase::parse("s", 1, &text).err().map(|error| error.why)
}

#[test]
fn a_problem_is_where_the_case_has_lines() {
    for (truth, expected) in [
        (r#""file": "here.py", "line_start": 3"#, None),
        (
            r#""file": "here.py", "line_start": 2, "line_end": 4"#,
            Some("here.py:2-4: the file has 3 lines"),
        ),
        (r#""file": "here.py", "line_start": 3, "evidence": "three = 3""#, None),
        (r#""file": "here.py", "line_start": 2, "line_end": 3, "evidence": "two = 2 three""#, None),
        (
            r#""file": "here.py", "line_start": 2, "evidence": "three""#,
            Some("here.py:2: evidence \"three\" not found on these lines"),
        ),
        (r#""file": "old.py", "line_start": 2, "evidence": "x = 1""#, None),
        (
            r#""file": "old.py", "line_start": 2, "evidence": "b""#,
            Some("old.py:2: evidence \"b\" not found on these lines"),
        ),
        // Lines outside the diff are unknown.
        (r#""file": "old.py", "line_start": 400, "evidence": "x = 1""#, None),
        (r#""file": "new.py", "line_start": 2"#, None),
        (r#""file": "new.py", "line_start": 3"#, Some("new.py:3: the file has 2 lines")),
        (
            r#""file": "gone.py", "line_start": 1"#,
            Some("gone.py:1: the file is neither in `files` nor in the diff"),
        ),
        (
            r#""file": "zz.py", "line_start": 1"#,
            Some("zz.py:1: the file is neither in `files` nor in the diff"),
        ),
    ] {
        let expected = expected.map(|why| format!("case \"a\": ground_truth: {why}"));
        assert_eq!(problem_at(truth), expected, "{truth}");
    }
    let garbage = r#"{"id": "a", "language": "x", "diff": "garbage"}"#;
    let why = EvalCase::parse("s", 1, garbage).unwrap_err().why;
    assert!(why.starts_with("case \"a\": the diff cannot be read: "), "{why}");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}") {
        drop(EvalCase::parse("s", 1, &text));
        drop(EvalCase::parse("s", 1, &SMALL.replace("a.py", &text)));
    }
}
