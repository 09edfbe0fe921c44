//! Which claims are checked, refuted and merged.

use super::*;
use crate::change::{Change, FilePath, LineSpan, parse};
use crate::finding::{Category, Verification};
use crate::ports::Blob;
use crate::review::Texts;

fn claim(line: u32, priority: Priority, confidence: f64) -> Candidate {
    Candidate {
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

#[test]
fn urgent_and_doubtful_claims_are_checked() {
    use Priority::{P0, P1, P2, P3};
    for (priority, confidence, check, escalation) in [
        (P0, 0.99, true, false),
        (P1, 0.60, true, false),
        (P1, 0.59, true, true),
        (P2, 0.65, false, false),
        (P2, 0.64, true, false),
        (P3, 0.10, true, false),
    ] {
        let claim = claim(1, priority, confidence);
        let found = (needs_check(&claim), needs_escalation(&claim));
        assert_eq!(found, (check, escalation), "{priority} {confidence}");
    }
    let refuted = Candidate { verification: Verification::refuted("x"), ..claim(1, P0, 0.1) };
    assert!(!needs_check(&refuted) && !needs_escalation(&refuted));
}

#[test]
fn what_several_passes_say_is_said_once() {
    let other = Candidate { category: Category::Style, ..claim(1, Priority::P3, 0.9) };
    let claims = vec![
        claim(1, Priority::P2, 0.9),
        claim(1, Priority::P1, 0.5),
        claim(9, Priority::P2, 0.9),
        Candidate { title: "another".into(), ..other },
    ];
    let merged = merged(claims, &Texts::default());
    let kept: Vec<(u32, f64)> =
        merged.iter().map(|claim| (claim.span.start(), claim.confidence)).collect();
    assert_eq!(kept, [(1, 0.5), (9, 0.9), (1, 0.9)]);
    assert_eq!(merged[0].body, "body\n\nAlso said, of 1: [P2] title", "it leaves a trace");
}

#[test]
fn different_problems_on_one_line_stay_two() {
    let of = |title: &str, body: &str| Candidate {
        title: title.to_owned(),
        body: body.to_owned(),
        ..claim(2, Priority::P1, 0.9)
    };
    let claims = vec![
        of("[P1] Division by zero", "When n is 0, half raises an error."),
        of("[P1] The result is no longer an integer", "Callers index lists with it."),
    ];
    assert_eq!(merged(claims, &Texts::default()).len(), 2);
}

#[test]
fn what_is_refuted_takes_nothing_with_it_that_stands() {
    let of = |title: &str, verification| Candidate {
        title: format!("[P1] {title}"),
        verification,
        ..claim(1, Priority::P1, 0.9)
    };
    let (refuted, verified) = (Verification::refuted("no"), Verification::verified("yes"));
    let mut texts = Texts::default();
    texts.head.insert("a.py".into(), Blob::Text("total = a / b * rate / (a - b)\n".to_owned()));
    let (b, ab) = ("Division by zero when b is 0", "Division by zero when a equals b");
    for (claims, expected) in [
        (vec![of(b, verified.clone()), of(ab, refuted.clone())], 2),
        (vec![of(b, verified.clone()), of(ab, verified.clone())], 2),
        (vec![of(b, verified.clone()), of(b, refuted)], 2),
        (vec![of(b, verified.clone()), of("Zero division: b may be 0", verified)], 1),
    ] {
        let kept = merged(claims, &texts);
        assert_eq!(kept.len(), expected, "{kept:#?}");
        assert_eq!(kept[0].verification.outcome, VerificationOutcome::Verified);
    }
}

#[test]
fn the_same_words_are_said_once() {
    let claims = vec![claim(2, Priority::P2, 0.9), claim(1, Priority::P1, 0.5)];
    let twice = [claims.clone(), claims].concat();
    let lines: Vec<u32> = distinct(twice).iter().map(|claim| claim.span.start()).collect();
    assert_eq!(lines, [1, 2]);
}

/// Binds `os` on line 1 and `split` on line 2.
struct Two;

impl Bindings for Two {
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
    let mut texts = Texts::default();
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
            Candidate { evidence: Some(quoted.to_owned()), ..claim(2, Priority::P1, 0.9) };
        let grounded = ground(quoting, &change, &texts);
        assert_eq!(grounded.evidence.as_deref(), evidence, "{quoted}");
        assert_eq!(grounded.body, body, "{quoted}");
    }
}
