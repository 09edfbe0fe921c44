//! Draft, merge, verify, edit: what becomes of claims on their way to the report.

use super::scripted::*;
use mala_domain::agent::budget::Profile;
use mala_domain::agent::prompts::Look;
use mala_domain::conversation::ToolChoice;
use mala_domain::finding::VerificationOutcome;
use serde_json::{Value, json};
use std::sync::Arc;

/// A claim about a line of the sample.
fn claim(line: u32, priority: u8, title: &str, body: &str) -> Value {
    let text = HEAD.lines().nth(usize::try_from(line).unwrap() - 1).unwrap();
    let mut claim = finding(priority, 0.4);
    claim["line_start"] = json!(line);
    claim["line_end"] = json!(line);
    claim["title"] = json!(format!("[P{priority}] {title}"));
    claim["body"] = json!(body);
    claim["evidence"] = json!(text);
    claim["when"] = json!("always");
    claim["then"] = json!(body);
    claim
}

fn three() -> Vec<Value> {
    vec![
        claim(4, 1, "Division by zero", "half raises for zero"),
        claim(7, 2, "other always fails", "It calls half with a constant of nought"),
        claim(1, 3, "Unused module", "Nothing needs the operating system"),
    ]
}

/// Answers by what is asked: the draft, a second draft without findings, the checks, the edit.
fn flow(draft: Vec<Value>, outcomes: Answered, edited: Answered) -> Scripted {
    Scripted::new(move |_, ask| {
        if ask.system.starts_with("You check claims") {
            outcomes.clone()
        } else if ask.system.starts_with("You edit") {
            edited.clone()
        } else if ask.system.starts_with("You are given claims") {
            says(json!({"groups": [["c1", "c2"]]}).to_string())
        } else if sent(ask).contains(Look::Second.instruction()) {
            says(PASS)
        } else {
            review(&draft)
        }
    })
}

#[tokio::test]
async fn findings_notes_and_refuted_claims_are_listed_apart() {
    let outcomes = checks(&[("c1", "holds"), ("c2", "unsure"), ("c3", "refuted")]);
    let edited = edit(&[("c2", ""), ("c1", "")]);
    let run = Stage::new(Profile::Standard).run(flow(three(), outcomes, edited)).await;
    let report = &run.report;
    let titles = |findings: &[mala_domain::finding::Finding]| -> Vec<String> {
        findings.iter().map(|it| it.title.clone()).collect()
    };
    assert_eq!(titles(&report.issues), ["[P1] edited c1"], "what is urgent is never a note");
    assert_eq!(titles(&report.notes), ["[P2] edited c2"]);
    assert_eq!(titles(&report.refuted), ["[P3] Unused module"]);
    assert_eq!(report.summary, "agent-sdk reviewed 1 hunk in 1 file: 1 finding (1 P1), 1 note.");
    assert_eq!(run.asks.len(), 4, "two drafts, one check of all claims, one edit");
    assert!(run.report.warnings.is_empty(), "{:?}", run.report.warnings);
}

#[tokio::test]
async fn notes_never_block() {
    let minor = vec![claim(4, 2, "Division by zero", "half raises for zero")];
    let mut stage = Stage::new(Profile::Standard);
    stage.fail_on = mala_domain::verdict::Threshold::P3;
    for (checked, edited, is_note) in
        [(None, 10, true), (None, 80, false), (Some(0), 20, true), (Some(80), 20, false)]
    {
        let mut check = json!({"id": "c1", "outcome": "holds", "why": "a reason"});
        check["worth"] = json!(checked);
        let check = says(json!({"checks": [check]}).to_string());
        let report = stage.run(flow(minor.clone(), check, worth(edited))).await.report;
        let expected = if is_note { (true, 0, 1) } else { (false, 1, 0) };
        let found = (report.passed, report.issues.len(), report.notes.len());
        assert_eq!(found, expected, "check {checked:?}, edit {edited}");
    }
}

/// 002-084, 002-086
#[tokio::test]
async fn every_claim_is_checked_with_tools_the_purpose_and_the_cause() {
    let mut stage = Stage::new(Profile::Standard);
    stage.tasks.push(("task".into(), "Halve quickly.".into()));
    let outcomes = checks(&[("c1", "holds"), ("c2", "holds"), ("c3", "holds")]);
    let run = stage.run(flow(three(), outcomes, edit(&[]))).await;
    let check = &run.asks[2];
    assert!(check.system.contains("Does this change cause it"), "{}", check.system);
    assert_eq!((check.tools.len(), check.tool_choice), (10, ToolChoice::Free));
    assert_eq!(check.turns.len(), 1, "a fresh context");
    let text = sent(check);
    for told in ["Halve quickly.", "c1: app.py:4", "c2: app.py:7", "c3: app.py:1", "Budget: "] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let verified = |it: &mala_domain::finding::Finding| {
        it.verification.outcome == VerificationOutcome::Verified
    };
    assert!(run.report.issues.len() == 3 && run.report.issues.iter().all(verified));
    assert!(sent(&run.asks[0]).contains("Budget: You have 10 answers"), "{}", sent(&run.asks[0]));
}

#[tokio::test]
async fn a_check_can_correct_the_consequence() {
    let corrected = json!({"checks": [{
        "id": "c1", "outcome": "corrected", "why": "callers catch it",
        "consequence": "The caller logs an error and goes on.", "priority": 3,
    }]});
    let draft = vec![claim(4, 1, "Division by zero", "half raises for zero")];
    let edited = says(json!({"findings": []}).to_string());
    let run =
        Stage::new(Profile::Standard).run(flow(draft, says(corrected.to_string()), edited)).await;
    let finding = &run.report.issues[0];
    assert_eq!(finding.verification.outcome, VerificationOutcome::Corrected);
    assert_eq!(finding.title, "[P3] Division by zero");
    assert!(finding.body.ends_with("Corrected: The caller logs an error and goes on."));
    assert!(run.report.passed, "below the threshold");
}

#[tokio::test]
async fn one_cause_is_checked_and_reported_once() {
    let twice = vec![
        claim(4, 1, "Division by zero", "half raises an error when the argument is zero"),
        claim(4, 2, "half: division by zero", "half raises an error when the argument is zero"),
    ];
    let run = Stage::new(Profile::Standard)
        .run(flow(twice, checks(&[("c1", "holds")]), edit(&[("c1", "")])))
        .await;
    assert_eq!(run.report.issues.len(), 1);
    assert!(!sent(&run.asks[2]).contains("c2:"), "it is merged before the check");
}

#[tokio::test]
async fn where_words_leave_it_open_a_model_says_whether_causes_are_the_same() {
    let unclear = vec![
        claim(4, 1, "Division by zero", "It raises."),
        claim(4, 2, "Wrong type", "It is a float."),
    ];
    let run = Stage::new(Profile::Standard)
        .run(flow(unclear, checks(&[("c1", "holds")]), edit(&[("c1", "")])))
        .await;
    let systems: Vec<bool> =
        run.asks.iter().map(|ask| ask.system.starts_with("You are given claims")).collect();
    assert_eq!(systems, [false, false, true, false, false], "before the check");
    assert_eq!(run.report.issues.len(), 1, "{:?}", run.report.issues);
}

#[tokio::test]
async fn a_claim_that_is_merged_with_a_refuted_one_is_checked_on_its_own() {
    let unclear = vec![
        claim(4, 1, "Division by zero", "It raises."),
        claim(4, 1, "Wrong type", "It is a float."),
    ];
    let model = Scripted::new(move |_, ask| {
        if ask.system.starts_with("You check claims") {
            let is_first = sent(ask).contains("\n[P1] Division by zero");
            checks(&[("c1", if is_first { "refuted" } else { "holds" })])
        } else if ask.system.starts_with("You edit") {
            edit(&[])
        } else if ask.system.starts_with("You are given claims") {
            says(json!({"groups": [["c1", "c2"], ["c2", "c1"]]}).to_string())
        } else if sent(ask).contains(Look::Second.instruction()) {
            says(PASS)
        } else {
            review(&unclear)
        }
    });
    let report = Stage::new(Profile::Standard).run(model).await.report;
    let titles = |findings: &[mala_domain::finding::Finding]| -> Vec<String> {
        findings.iter().map(|it| it.title.clone()).collect()
    };
    assert_eq!(titles(&report.issues), ["[P1] Wrong type"]);
    assert_eq!(titles(&report.refuted), ["[P1] Division by zero"]);
    assert_eq!(report.issues[0].verification.outcome, VerificationOutcome::Verified);
}

#[tokio::test]
async fn the_edit_orders_and_merges_and_loses_nothing() {
    let outcomes = checks(&[("c1", "holds"), ("c2", "holds"), ("c3", "holds")]);
    let mut minor = three();
    minor[0] = claim(4, 2, "Division by zero", "half raises for zero");
    for (edited, expected) in [
        (edit(&[("c2", ""), ("c1", "")]), vec![7, 4, 1]),
        (edit(&[("c2", ""), ("c1", "c2")]), vec![7, 1]),
        (edit(&[("c9", ""), ("x", "c1")]), vec![4, 7, 1]),
        (says("no JSON"), vec![4, 7, 1]),
    ] {
        let run =
            Stage::new(Profile::Standard).run(flow(minor.clone(), outcomes.clone(), edited)).await;
        let lines: Vec<u32> = run.report.issues.iter().map(|it| it.line_start).collect();
        assert_eq!(lines, expected);
    }
}

#[tokio::test]
async fn with_one_call_left_the_stronger_model_checks() {
    let mut stage = Stage::new(Profile::Lean);
    let opus = Arc::new(Scripted::steps(vec![checks(&[("c1", "holds")])]));
    stage.escalation = Some(opus.clone());
    let run = stage.run(Scripted::steps(vec![review(&[finding(1, 0.5)])])).await;
    assert_eq!((opus.asks.lock().unwrap().len(), run.usage.llm_calls), (1, 2));
    assert_eq!(run.report.issues[0].verification.outcome, VerificationOutcome::Verified);
    let said = run.report.warnings.join("\n");
    assert!(said.contains("1 doubtful claim escalated to claude-opus-5-5"), "{said}");
}
