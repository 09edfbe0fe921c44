//! Cases are read whole, or refused with their place.

use super::*;
use crate::finding::{Category, Severity};

const SMALL: &str = r#"{"id": "a", "language": "python", "diff": "x", "files": {"a.py": "x = 1\n"}, "ground_truth": [{"file": "a.py", "line_start": 1, "line_end": null, "category": "bug", "severity": "high", "description": "d", "human": true}], "meta": {"source": "us", "code_licence": "MIT", "added_lines": 3}, "later": {"more": [1]}}"#;

#[test]
fn what_is_not_known_is_passed_over_and_notes_are_kept() {
    let case = Case::parse("set.jsonl", 1, SMALL).unwrap();
    assert_eq!((case.id.as_str(), case.schema_version), ("a", 1));
    let truth = &case.ground_truth[0];
    assert_eq!((truth.category, truth.severity), (Category::Bug, Some(Severity::High)));
    assert_eq!(truth.span().to_string(), "1");
    assert_eq!((case.meta.source(), case.meta.licence()), (Some("us"), Some("MIT")));
    let again = serde_json::to_string(&case).unwrap();
    assert_eq!(Case::parse("again", 1, &again).unwrap(), case);
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
        (r#"{"id": "", "language": "x"}"#, "s:7:1: id must be a text without control characters"),
        (r#"{"id": "a", "language": "x"}"#, "s:7:1: case \"a\": it has neither a diff nor files"),
        (
            r#"{"id": "a", "language": "x", "files": {"../x": ""}}"#,
            "s:7:1: case \"a\": the path ../x leaves the tree",
        ),
        (
            r#"{"id": "a", "language": "x", "files": {"a/.GIT/config": ""}}"#,
            "s:7:1: case \"a\": the path a/.GIT/config is git's own",
        ),
        (
            r#"{"id": "a", "language": "x", "base_files": {"a": "", "a/b/c": ""}}"#,
            "s:7:1: case \"a\": a is both a file and the folder of a/b/c",
        ),
        (
            r#"{"id": "a", "language": "x", "diff": "d", "schema_version": 9}"#,
            "s:7:1: case \"a\": schema_version 9 is not known; 1 is",
        ),
        (
            r#"{"id": "a", "language": "x", "diff": "d", "ground_truth": [{"file": "f", "line_start": 5, "line_end": 4, "category": "bug"}]}"#,
            "s:7:1: case \"a\": ground_truth: f:5 ends before it starts, on line 4",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(Case::parse("s", 7, text).unwrap_err().to_string(), *expected, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}") {
        drop(Case::parse("s", 1, &text));
        drop(Case::parse("s", 1, &SMALL.replace("a.py", &text)));
    }
}
