//! What the agent makes of each answer.

use super::scripted::*;
use mala_domain::agent::answer::ParseMethod;
use mala_domain::agent::budget::Profile;
use mala_domain::conversation::{ChatReply, FinishReason};
use mala_domain::ports::{BillingStatus, ModelFailure, ModelFailureKind, ReviewerFailure};
use std::collections::BTreeMap;

fn lean() -> Stage {
    Stage::new(Profile::Lean)
}

#[tokio::test]
async fn a_pass_accounts_for_what_was_sent() {
    let run = lean().run(Scripted::steps(vec![says(PASS)])).await;
    assert_eq!(run.asks.len(), 1);
    assert_eq!(run.opinion.accounted, [("app.py".into(), vec![0])]);
    assert_eq!(run.report.issues, []);
    assert_eq!(run.opinion.failure, None);
    assert_eq!(run.model.as_deref(), Some("claude-sonnet-5-5"));
    let usage = run.usage;
    assert_eq!((usage.llm_calls, usage.tokens_used), (1, Some(1_100)));
    assert_eq!(usage.cost_usd, Some(0.003));
    assert_eq!(usage.answers_read, BTreeMap::from([(ParseMethod::Strict, 1)]));
}

#[tokio::test]
async fn an_answer_that_is_none_is_a_failure_and_accounts_for_nothing() {
    let crashed = |what: &str| ReviewerFailure::Crashed(what.to_owned());
    let silent = says(PASS).map(|mut reply| {
        reply.tokens.output = Some(0);
        reply
    });
    let broken = |kind, what: &str| {
        Err(ModelFailure {
            kind,
            what: what.to_owned(),
            attempts: 1,
            billed: BillingStatus::Perhaps,
        })
    };
    let rows: Vec<(Answered, ReviewerFailure)> = vec![
        (
            ends(FinishReason::Refused("no".into()), PASS),
            crashed("the model refused to answer: no"),
        ),
        (ends(FinishReason::Refused(String::new()), PASS), crashed("the model refused to answer")),
        (
            ends(FinishReason::Filtered("x".into()), PASS),
            crashed("the provider's filter stopped the answer: x"),
        ),
        (
            ends(FinishReason::MaxTokens, PASS),
            crashed("the answer is cut: it reached the limit of 8000 tokens"),
        ),
        (silent, crashed("the model answered with zero output tokens")),
        (
            says("LGTM"),
            ReviewerFailure::Unreadable("invalid json: expected value at line 1 column 1".into()),
        ),
        (says("{}"), ReviewerFailure::Unreadable("missing field: verdict".into())),
        (broken(ModelFailureKind::Unauthorized, "401: bad key"), crashed("401: bad key")),
        (broken(ModelFailureKind::TimedOut, "late"), ReviewerFailure::timeout()),
    ];
    for (answer, failure) in rows {
        let run = lean().run(Scripted::steps(vec![answer])).await;
        assert_eq!(run.opinion.failure, Some(failure));
        assert_eq!(run.opinion.accounted, []);
        assert_eq!(run.report.issues, []);
    }
}

#[tokio::test]
async fn an_unreadable_answer_is_asked_for_once_more() {
    let run = lean().run(Scripted::steps(vec![says("Looks good!"), says(PASS)])).await;
    assert_eq!(run.opinion.failure, None);
    assert_eq!(run.asks.len(), 2);
    let again = sent(&run.asks[1]);
    assert!(again.contains("Return valid JSON") && again.contains("invalid json:"), "{again}");
    assert!(again.contains("Looks good!"), "its own words go back to it");
}

#[tokio::test]
async fn restructuring_brings_findings_into_form_and_never_passes() {
    let prose = "app.py line 4 is P1: Division by zero when n may be 0";
    let found = r#"{"verdict": "FAIL", "findings": [{"file_path": "app.py", "line_start": 4, "line_end": 4, "priority": 1, "title": "[P1] Division by zero", "body": "when n may be 0"}]}"#;
    for (restructured, claims) in [(found, 1), (PASS, 0), ("what?", 0)] {
        let answer = restructured.to_owned();
        let model = Scripted::new(move |_, ask| {
            if ask.system.starts_with("You bring a text") {
                says(answer.clone())
            } else if ask.system.starts_with("You check claims") {
                checks(&[("c1", "holds")])
            } else {
                says(prose)
            }
        });
        let mut stage = lean();
        stage.limits.max_llm_calls = 4;
        let run = stage.run(model).await;
        assert_eq!(run.report.issues.len(), claims, "{restructured}");
        assert_eq!(run.opinion.failure.is_none(), claims > 0, "{restructured}");
        assert_eq!(run.opinion.accounted, [], "it can block and never pass");
    }
}

#[tokio::test]
async fn the_plain_form_needs_no_evidence_of_its_own() {
    let plain = r#"{"verdict": "NEEDS_WORK", "findings": [{"file_path": "app.py", "line_start": 4, "line_end": 4, "priority": 2, "title": "[P2] Issue", "body": "Details"}]}"#;
    let run = lean().run(Scripted::steps(vec![says(plain)])).await;
    assert_eq!(run.report.issues.len(), 1);
    assert_eq!(run.opinion.claims[0].evidence, None);
}

#[tokio::test]
async fn a_model_without_usage_has_an_unknown_cost() {
    let silent = says(PASS).map(|reply| ChatReply { tokens: Default::default(), ..reply });
    let run = lean().run(Scripted::steps(vec![silent])).await;
    let usage = run.usage;
    assert_eq!((usage.tokens_used, usage.cost_usd, usage.llm_calls), (None, None, 1));
    assert_eq!(run.opinion.failure, None);
}
