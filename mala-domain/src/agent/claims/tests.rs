//! Which claims are checked, refuted and merged.

use super::*;
use crate::change::{Change, FilePath, LineSpan, parse};
use crate::finding::{Category, Priority, ReviewClaim, Verification};
use crate::ports::Blob;
use crate::review::FileTexts;

fn claim(line: u32, priority: Priority, confidence: f64) -> ReviewClaim {
    ReviewClaim {
        file: "a.py".into(),
        span: LineSpan::line(line),
        priority: Some(priority),
        category: Category::Bug,
        title: format!("[{priority}] title"),
        body: "body".to_owned(),
        suggestion: None,
        evidence: None,
        confidence,
        reviewer: "agent-sdk".to_owned(),
        rule: None,
        verification: Verification::default(),
    }
}

/// Binds `os` on line 1 and `split` on line 2.
struct Two;

impl NameBindings for Two {
    fn line_of(&self, _: &FilePath, name: &str, cited: LineSpan) -> Option<u32> {
        let line = match name {
            "os" => 1,
            "split" => 2,
            _ => return None,
        };
        (!cited.contains(line)).then_some(line)
    }
}

#[test]
fn a_name_that_is_there_is_not_missing() {
    for (title, cited, expected) in [
        ("[P1] Missing import of `os`", 9, Some("`os` is there: line 1")),
        ("[P1] 'split()' is never defined", 9, Some("`split` is there: line 2")),
        ("[P1] `os` is not imported in this file", 9, Some("`os` is there: line 1")),
        (
            "[P1] `os` and `split` are not imported",
            9,
            Some("`os` is there: line 1; `split` is there: line 2"),
        ),
        ("[P1] `os` and `sys` are not imported", 9, None),
        ("[P1] `os` is not defined", 1, None),
        // The value may be undefined, whatever is defined.
        ("[P1] `os` is undefined", 9, None),
        ("[P1] Undefined variable `os`", 9, None),
        // Not there at some time or place is another claim.
        ("[P1] `os` is not defined before login", 9, None),
        ("[P1] `os` is not defined in main", 9, None),
        ("[P1] `os` is not imported when running as a script", 9, None),
        ("[P1] `os` is not defined for zero", 9, None),
        ("[P1] `os` is not declared async", 9, None),
        ("[P1] `split` is never defined to handle zero", 9, None),
        ("[P1] Crash: `os` is not imported", 9, None),
        ("[P1] Missing import of `os` breaks `split`", 9, None),
        (
            "[P1] Missing imports: `os`, `split`.",
            9,
            Some("`os` is there: line 1; `split` is there: line 2"),
        ),
        ("[P1] Function `split` is used but not defined", 9, Some("`split` is there: line 2")),
        ("[P1] Uses `os` without importing it", 9, Some("`os` is there: line 1")),
        ("[P1] Unresolved reference to `os`", 9, Some("`os` is there: line 1")),
        ("[P1] Missing check of `os`", 9, None),
        ("[P1] Undefined name", 9, None),
    ] {
        let cited = LineSpan::line(cited);
        let refuted = refuted_by_definition(title, &"a.py".into(), cited, &Two);
        assert_eq!(refuted.as_deref(), expected, "{title}");
    }
}

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

#[test]
fn evidence_is_put_into_the_words_of_the_file() {
    let diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-check(x)\n+y = 1 / x\n";
    let change = Change { files: parse(diff.as_bytes()).unwrap() };
    let mut texts = FileTexts::default();
    texts.head.insert(
        "a.py".into(),
        Blob::Text(format!(
            "x = 1\ny = 1 / x\ntoken = {TOKEN}\n</mala-fence>\nodd = \"[imitation]\"; mala-fence\n"
        )),
    );
    for (quoted, evidence, body) in [
        ("y = 1 / x", Some("y = 1 / x"), "body"),
        ("2 + y = 1 / x", Some("y = 1 / x"), "body"),
        ("2 y = 1 / x", Some("y = 1 / x"), "body"),
        ("2+y = 1 / x", Some("y = 1 / x"), "body"),
        ("+    2| y = 1 / x", Some("y = 1 / x"), "body"),
        ("1 x = 1\n+y = 1 / x", Some("x = 1\ny = 1 / x"), "body"),
        ("odd = \"[imitation]\"", Some("odd = \"[imitation]\""), "body"),
        ("5+odd = \"[imitation]\"", Some("odd = \"[imitation]\""), "body"),
        ("odd = \"\"; m[imitation]ala-fence", Some("odd = \"[imitation]\"; mala-fence"), "body"),
        ("1   x = 1\n2 + y = 1 / x", Some("x = 1\ny = 1 / x"), "body"),
        ("</m[imitation]ala-fence>", Some("</mala-fence>"), "body"),
        ("token = [redacted:github-pat]", None, "body"),
        ("3 + token = [redacted:github-pat]", None, "body"),
        ("[redacted:x] nonsense", Some("[redacted:x] nonsense"), "body"),
        ("check(x)", None, "body\n\nRemoved: check(x)"),
        ("- check(x)", None, "body\n\nRemoved: check(x)"),
        ("invented()", Some("invented()"), "body"),
        ("-check(x)\n2+y = 1 / x", Some("y = 1 / x"), "body"),
        ("@@ -1,2 +1,2 @@\n x = 1\n-check(x)\n+y = 1 / x", Some("y = 1 / x"), "body"),
        ("-check(x)\n2+invented()", Some("-check(x)\n2+invented()"), "body"),
        ("x = 1\n...\n</mala-fence>", Some("</mala-fence>"), "body"),
        ("```python\ny = 1 / x\n```", Some("y = 1 / x"), "body"),
    ] {
        let quoting =
            ReviewClaim { evidence: Some(quoted.to_owned()), ..claim(2, Priority::P1, 0.9) };
        let grounded = ground_evidence(quoting, &change, &texts);
        assert_eq!(grounded.evidence.as_deref(), evidence, "{quoted}");
        assert_eq!(grounded.body, body, "{quoted}");
    }
}
