//! Which findings of one reviewer have the same cause.

use super::*;
use crate::finding::{ReviewClaim, Verification};
use crate::review::admit::unchecked;

fn said(file: &str, lines: (u32, u32), evidence: &str, title: &str, body: &str) -> Finding {
    unchecked(ReviewClaim {
        file: file.into(),
        span: LineSpan::between(lines.0, lines.1),
        priority: Some(Priority::P2),
        category: Category::Bug,
        title: title.to_owned(),
        body: body.to_owned(),
        suggestion: None,
        evidence: Some(evidence.to_owned()),
        confidence: 0.8,
        reviewer: "agent".to_owned(),
        rule: None,
        verification: Verification::default(),
    })
}

fn within(symbol: &str, finding: Finding) -> Finding {
    Finding { symbol: Some(symbol.to_owned()), ..finding }
}

const CLOSE: &str = "conn.close()";
const LEAK: &str = "The connection is never closed when the query raises, so the pool runs dry.";
const LEAKS: &str = "When the query raises, the connection stays open and the pool runs dry.";
const PAY: &str = "total = a / b * rate";

#[test]
fn causes_are_compared_by_file_symbol_evidence_and_wording() {
    for (why, one, other, expected) in [
        (
            "the same lines and evidence in other words",
            said("a.py", (9, 9), CLOSE, "Connection leaks", LEAK),
            said("a.py", (8, 9), CLOSE, "Connection leaks on error", LEAKS),
            SameCause::Yes,
        ),
        (
            "the same lines and evidence under another title",
            said("a.py", (9, 9), CLOSE, "Connection leak", LEAK),
            said("a.py", (8, 9), CLOSE, "Pool exhausted on error", LEAKS),
            SameCause::Unclear,
        ),
        (
            "one function, far apart",
            within("load", said("a.py", (9, 9), CLOSE, "Connection leaks on error", LEAK)),
            within("load", said("a.py", (30, 31), "rows = run()", "Connection leaks", LEAKS)),
            SameCause::Yes,
        ),
        (
            "the same mistake in another file keeps both places",
            said("a.py", (9, 9), CLOSE, "Connection leaks on error", LEAK),
            said("b.py", (3, 3), CLOSE, "[P1] Connection leaks on error", LEAK),
            SameCause::Yes,
        ),
        (
            "two problems on one line",
            said("a.py", (4, 4), PAY, "Division by zero", "It raises when b is 0."),
            said("a.py", (4, 4), PAY, "Rate has the wrong unit", "Callers pass percent."),
            SameCause::Unclear,
        ),
        (
            "two problems on one line that share no word",
            said("a.py", (4, 4), PAY, "Division by zero", "An empty basket raises an exception."),
            said("a.py", (4, 4), PAY, "Wrong unit", "Callers pass percent, so amounts are huge."),
            SameCause::No,
        ),
        (
            "two names on one line",
            said("a.py", (4, 4), PAY, "Missing validation of a", "It is not checked."),
            said("a.py", (4, 4), PAY, "Missing validation of rate", "It is not checked."),
            SameCause::Unclear,
        ),
        (
            "overlapping lines alone",
            said("a.py", (1, 9), "if x:\n    y()", "The timeout is ignored", "It waits for ever."),
            said("a.py", (5, 6), "y()", "Log shows a password", "The text is written as it is."),
            SameCause::No,
        ),
        (
            "similar words about other code of the function",
            within("load", said("a.py", (9, 9), CLOSE, "Close is skipped", LEAK)),
            within("load", said("a.py", (20, 20), "retry()", "Retry drains it", LEAKS)),
            SameCause::Unclear,
        ),
    ] {
        assert_eq!(same_cause(&one, &other), expected, "{why}");
        assert_eq!(same_cause(&other, &one), expected, "{why}, the other way");
    }
}

#[test]
fn a_merged_finding_is_the_most_urgent_one_and_keeps_all_places() {
    let body = "The connection is never closed when the query raises, so the pool runs dry.";
    let one = said("a.py", (9, 9), CLOSE, "Connection leaks on error", body);
    let mut urgent = said("b.py", (3, 4), CLOSE, "Connection leaks on error", body);
    urgent.priority = Some(Priority::P1);
    let third = said("c.py", (7, 7), CLOSE, "Connection leaks on error", body);
    let findings = vec![one, urgent, third];
    let merged = by_cause(findings.clone(), &["agent"]);
    assert_eq!(merged.len(), 1);
    assert_eq!(
        (merged[0].file.to_string(), merged[0].priority),
        ("b.py".into(), Some(Priority::P1))
    );
    let places: Vec<String> = merged[0].also_at.iter().map(ToString::to_string).collect();
    assert_eq!(places, ["a.py:9", "c.py:7"]);
    assert_eq!(by_cause(findings.clone(), &["other"]).len(), 3, "others may tell them apart");
    let mut refuted = findings;
    refuted[0].verification = Verification::refuted("no");
    assert_eq!(by_cause(refuted, &["agent"]).len(), 2, "what is refuted stays apart");
}

#[test]
fn a_model_is_asked_only_if_a_pair_is_unclear() {
    let mut findings = vec![
        said("a.py", (4, 4), PAY, "Missing validation of a", "It is not checked."),
        said("b.py", (4, 4), PAY, "Wrong unit", "Callers pass percent."),
        said("a.py", (4, 4), PAY, "Missing validation of rate", "It is not checked."),
    ];
    assert!(leaves_cause_open(&findings));
    findings.pop();
    assert!(!leaves_cause_open(&findings));
}

#[test]
fn notes_are_kept_beside_the_most_urgent_findings() {
    let finding = |n: u32, is_note| {
        let mut it = said("a.py", (n, n), PAY, &format!("about x{n}"), "b");
        it.is_note = is_note;
        it
    };
    let findings = vec![finding(1, true), finding(2, false), finding(3, false), finding(4, true)];
    let (kept, left_out) = most_urgent(findings, 1, Threshold::P1);
    let lines: Vec<u32> = kept.iter().map(|it| it.line_start).collect();
    assert_eq!((lines, left_out), (vec![1, 2, 4], 1));
}

#[test]
fn what_a_rule_says_of_several_places_in_a_file_is_one_finding_unless_it_is_urgent() {
    let hit = |file: &str, line, rule: &str, priority| Finding {
        rule: Some(rule.to_owned()),
        reviewer: "builtin".to_owned(),
        priority: Some(priority),
        ..said(file, (line, line), CLOSE, "Method was removed", "It fails.")
    };
    for (why, other, reviewers, n_findings) in [
        ("another line", hit("a.py", 2, "r", Priority::P2), vec!["agent"], 1),
        ("another file", hit("b.py", 2, "r", Priority::P2), vec!["agent"], 2),
        ("another rule", hit("a.py", 2, "s", Priority::P2), vec!["agent"], 2),
        ("urgent", hit("a.py", 2, "r", Priority::P1), vec!["agent"], 2),
        ("only analyzers", hit("a.py", 2, "r", Priority::P2), vec![], 2),
    ] {
        let merged = by_cause(vec![hit("a.py", 1, "r", Priority::P2), other], &reviewers);
        assert_eq!(merged.len(), n_findings, "{why}");
    }
}

#[test]
fn a_merged_finding_has_the_higher_confidence() {
    let reported = |title: &str, priority, confidence| Finding {
        confidence,
        priority: Some(priority),
        ..said("a.py", (9, 9), CLOSE, title, LEAK)
    };
    let urgent = reported("Connection leaks", Priority::P1, 0.5);
    let surer = reported("Connection leaks on error", Priority::P2, 0.7);
    let merged = by_cause(vec![surer, urgent], &["agent"]);
    let found: Vec<_> = merged.iter().map(|it| (it.effective_priority(), it.confidence)).collect();
    assert_eq!(found, [(Priority::P1, 0.7)]);
}
