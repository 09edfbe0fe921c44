//! Claims are checked before they count.

use super::scripted::*;
use mala_domain::agent::budget::Profile;
use mala_domain::finding::{ReviewClaim, Verification, VerificationOutcome};
use mala_domain::ports::{BoxFuture, Reviewer, ReviewerFailure};
use mala_domain::review::{Opinion, ReviewContext};
use serde_json::json;
use std::sync::Arc;

fn outcome(run: &Run) -> (VerificationOutcome, String) {
    let findings = run.report.issues.iter().chain(&run.report.refuted);
    let verification = &findings.map(|finding| &finding.verification).next().expect("a finding");
    (verification.outcome, verification.how.clone().unwrap_or_default())
}

#[tokio::test]
async fn a_fresh_context_checks_every_claim() {
    for (said, expected) in [
        ("holds", VerificationOutcome::Verified),
        ("refuted", VerificationOutcome::Refuted),
        ("unsure", VerificationOutcome::Unsure),
    ] {
        let steps = vec![review(&[finding(1, 0.9)]), checks(&[("c1", said)])];
        let run = Stage::new(Profile::Lean).run(Scripted::steps(steps)).await;
        assert_eq!(
            outcome(&run),
            (expected, "claude-sonnet-5-5, in a fresh context: a reason".to_owned())
        );
        assert_eq!(run.asks.len(), 2);
        let fresh = &run.asks[1];
        assert!(fresh.system.starts_with("You check claims") && fresh.turns.len() == 1);
        assert!(sent(fresh).contains("c1: app.py:4\n[P1] Division by zero"));
        assert!(sent(fresh).contains("4+    return 1 / n"), "with the code itself");
    }
}

#[tokio::test]
async fn a_minor_claim_that_is_sure_is_checked_too() {
    let steps = vec![review(&[finding(2, 0.9)]), checks(&[("c1", "holds")])];
    let run = Stage::new(Profile::Lean).run(Scripted::steps(steps)).await;
    assert_eq!(run.asks.len(), 2);
    assert_eq!(outcome(&run).0, VerificationOutcome::Verified);
}

#[tokio::test]
async fn without_budget_a_claim_stays_unverified_and_says_so() {
    let steps = vec![calls(&[("list_files", json!({}))]), review(&[finding(0, 0.9)])];
    let run = Stage::new(Profile::Lean).run(Scripted::steps(steps)).await;
    let unchecked = "not checked: all 2 model calls are spent".to_owned();
    assert_eq!(outcome(&run), (VerificationOutcome::NotChecked, unchecked));
    assert_eq!(run.opinion.failure, None);
}

#[tokio::test]
async fn a_check_that_fails_leaves_the_claim() {
    for answer in ["no JSON", r#"{"checks": []}"#] {
        let steps = vec![review(&[finding(0, 0.9)]), says(answer)];
        let run = Stage::new(Profile::Lean).run(Scripted::steps(steps)).await;
        let (outcome, how) = outcome(&run);
        assert_eq!(outcome, VerificationOutcome::NotChecked);
        assert!(how.starts_with("not checked: "), "{how}");
        assert_eq!(run.opinion.accounted.len(), 1);
    }
}

#[tokio::test]
async fn what_is_there_is_not_missing() {
    let mut claim = finding(1, 0.9);
    claim["title"] = json!("[P1] Missing import of `os`");
    let run = Stage::new(Profile::Lean).run(Scripted::steps(vec![review(&[claim])])).await;
    assert_eq!(run.asks.len(), 1, "a look settles it");
    let there = "`os` is there: line 1".to_owned();
    assert_eq!(outcome(&run), (VerificationOutcome::Refuted, there));
}

/// 002-060, 002-063
#[tokio::test]
async fn uncertain_urgent_claims_go_to_the_stronger_model() {
    let mut stage = Stage::new(Profile::Lean);
    stage.limits.max_llm_calls = 3;
    let mut stronger = checks(&[("c1", "refuted")]).unwrap();
    stronger.model = "claude-opus-5-5".to_owned();
    let opus = Arc::new(Scripted::steps(vec![Ok(stronger)]));
    stage.escalation = Some(opus.clone());
    let steps = vec![review(&[finding(1, 0.5)]), checks(&[("c1", "holds")])];
    let run = stage.run(Scripted::steps(steps)).await;
    assert_eq!(opus.asks.lock().unwrap().len(), 1);
    assert_eq!(opus.asks.lock().unwrap()[0].model, "claude-opus-5-5");
    assert_eq!(outcome(&run).0, VerificationOutcome::Refuted);
    assert_eq!(run.model.as_deref(), Some("claude-sonnet-5-5, claude-opus-5-5"));
    assert_eq!(run.usage.llm_calls, 3);
    let escalated = "1 doubtful claim escalated to claude-opus-5-5";
    assert!(run.report.warnings.iter().any(|said| said.ends_with(escalated)));
    let sure = Scripted::steps(vec![review(&[finding(1, 0.9)]), checks(&[("c1", "holds")])]);
    stage.run(sure).await;
    assert_eq!(opus.asks.lock().unwrap().len(), 1, "a sure claim is not escalated");
}

#[tokio::test]
async fn what_the_stronger_model_does_not_answer_is_not_called_escalated() {
    let mut stage = Stage::new(Profile::Lean);
    stage.limits.max_llm_calls = 4;
    stage.escalation = Some(Arc::new(Scripted::steps(vec![says("no idea"), says("none")])));
    let steps = vec![review(&[finding(1, 0.5)]), checks(&[("c1", "holds")])];
    let run = stage.run(Scripted::steps(steps)).await;
    assert_eq!(outcome(&run).0, VerificationOutcome::Verified, "the first check stands");
    let said = run.report.warnings.join("\n");
    assert!(said.contains("1 claim not checked: ") && !said.contains("escalated"), "{said}");
}

/// A built-in check that proves one finding and suspects another.
struct Hints;

impl Reviewer for Hints {
    fn name(&self) -> &str {
        "builtin"
    }

    fn review<'a>(
        &'a self,
        _: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        let hint = |line, verification| ReviewClaim {
            file: "app.py".into(),
            span: mala_domain::change::LineSpan::line(line),
            priority: Some(mala_domain::finding::Priority::P1),
            category: mala_domain::finding::Category::Security,
            title: format!("hint at {line}"),
            body: String::new(),
            suggestion: None,
            evidence: None,
            confidence: 0.9,
            reviewer: "builtin".to_owned(),
            rule: Some("a/rule".to_owned()),
            verification,
        };
        let claims =
            vec![hint(1, Verification::verified("a proof")), hint(4, Verification::default())];
        Box::pin(async { Ok(Opinion { claims, ..Opinion::default() }) })
    }
}

#[tokio::test]
async fn a_model_cannot_talk_away_what_a_check_has_proved() {
    let mut stage = Stage::new(Profile::Lean);
    stage.hints = Some(Arc::new(Hints));
    let hint = |id: &str| json!({"id": id, "stands": false, "why": "fine"});
    let answer = json!({"verdict": "PASS", "findings": [], "hints": [hint("h1"), hint("h2")]});
    let run = stage.run(Scripted::steps(vec![says(answer.to_string())])).await;
    assert!(sent(&run.asks[0]).contains("h1 P1 app.py:1 a/rule: hint at 1"));
    let found: Vec<(u32, VerificationOutcome)> = run
        .report
        .issues
        .iter()
        .chain(&run.report.refuted)
        .map(|finding| (finding.line_start, finding.verification.outcome))
        .collect();
    assert_eq!(found, [(1, VerificationOutcome::Verified), (4, VerificationOutcome::Refuted)]);
}
