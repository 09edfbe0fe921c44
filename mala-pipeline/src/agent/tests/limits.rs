//! No limit is exceeded, whatever the model wants.

use super::scripted::*;
use crate::events::ReviewEvent;
use mala_domain::agent::budget::{Dollars, Profile};
use mala_domain::conversation::{ChatTurn, ToolChoice, TurnPart};
use mala_domain::ports::{BillingStatus, ModelFailure, ModelFailureKind, ReviewerFailure};
use mala_domain::report::ReviewStatus;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn tools_are_answered_as_far_as_the_budget_goes() {
    let greedy = json!({"path": "app.py"});
    let five: Vec<(&str, serde_json::Value)> =
        (0..5).map(|_| ("read_file", greedy.clone())).collect();
    let run = Stage::new(Profile::Lean).run(Scripted::steps(vec![calls(&five), says(PASS)])).await;
    assert_eq!(run.usage.tool_calls, 3);
    assert_eq!(run.usage.llm_calls, 2);
    assert_eq!(run.opinion.failure, None);
    let Some(ChatTurn::User(parts)) = run.asks[1].turns.last() else { panic!("our turn") };
    let refused = parts.iter().filter(|part| match part {
        TurnPart::ToolResult(result) => result.is_error && result.text.contains("all 3 tool calls"),
        _ => false,
    });
    assert_eq!(refused.count(), 2);
    assert!(sent(&run.asks[1]).contains("No more tools can be called"));
    let after = |(index, event): (usize, &ReviewEvent)| {
        matches!(event, ReviewEvent::ToolCalled { .. }).then(|| run.events.get(index + 1)).flatten()
    };
    let counts: Vec<u32> =
        run.events.iter().enumerate().filter_map(after).map(tool_calls).collect();
    assert!(!counts.is_empty() && counts.iter().all(|count| *count > 0), "{counts:?}");
    let tools = run.events.iter().filter(|event| matches!(event, ReviewEvent::ToolCalled { .. }));
    assert_eq!(tools.count(), 3);
}

/// 002-094
#[tokio::test]
async fn a_model_that_only_calls_tools_gets_nowhere() {
    for profile in Profile::ALL {
        let model = Scripted::new(|_, _| calls(&[("list_files", json!({}))]));
        let stage = Stage::new(profile);
        let run = stage.run(model).await;
        let usage = &run.usage;
        assert!(usage.llm_calls <= u64::from(stage.limits.max_llm_calls), "{profile}");
        assert!(usage.tool_calls <= u64::from(stage.limits.max_tool_calls), "{profile}");
        assert!(run.opinion.failure.is_some() && run.opinion.accounted.is_empty(), "{profile}");
    }
}

#[tokio::test]
async fn a_call_that_could_cost_too_much_is_not_made() {
    let mut stage = Stage::new(Profile::Lean);
    stage.limits.max_cost = Dollars::at_least(0.01);
    let run = stage.run(Scripted::steps(vec![says(PASS)])).await;
    assert_eq!(run.asks.len(), 0);
    let Some(ReviewerFailure::Crashed(why)) = run.opinion.failure else { panic!("a failure") };
    assert_eq!(why, "the call could exceed the budget of $0.01");
    assert_eq!(run.usage.cost_usd, Some(0.0));
}

#[tokio::test]
async fn a_model_without_a_price_is_asked_only_when_allowed() {
    let mut stage = Stage::new(Profile::Lean);
    stage.model = "own-model";
    let refused = stage.run(Scripted::steps(vec![says(PASS)])).await;
    assert_eq!(refused.asks.len(), 0);
    assert!(refused.opinion.failure.unwrap().to_string().contains("price of the model is unknown"));
    stage.limits = unpriced(stage.limits);
    let allowed = stage.run(Scripted::steps(vec![says(PASS)])).await;
    assert_eq!(allowed.opinion.failure, None);
    assert_eq!(allowed.usage.cost_usd, None);
}

#[tokio::test]
async fn time_runs_out_as_a_timeout() {
    for (limit, timeout) in [(60, 1), (1, 600)] {
        let mut stage = Stage::new(Profile::Lean);
        stage.limits.max_wall_time = Duration::from_secs(limit);
        stage.timeout = Duration::from_secs(timeout);
        let slow = Scripted::steps(vec![says(PASS)]).slow(Duration::from_secs(20));
        let started = tokio::time::Instant::now();
        let run = stage.run(slow).await;
        assert_eq!(run.opinion.failure, Some(ReviewerFailure::timeout()));
        let ended = if limit < timeout {
            "max_wall_time_seconds, 1 s"
        } else {
            "the timeout of the review, 1 s"
        };
        let said = run.report.warnings.join("\n");
        assert!(said.contains(&format!("ended by {ended}")), "{said}");
        assert!(started.elapsed() < Duration::from_secs(15));
        assert_eq!(run.usage.llm_calls, 1, "it was asked, and may have cost");
        assert_eq!(run.usage.cost_usd, None);
    }
}

#[tokio::test]
async fn no_call_starts_after_the_deadline() {
    let mut stage = Stage::new(Profile::Lean);
    stage.timeout = Duration::from_millis(1_500);
    let slow = Scripted::steps(vec![says("no JSON"), says(PASS)]).slow(Duration::from_millis(900));
    let run = stage.run(slow).await;
    // What was wrong with the answer that came is what there is to say.
    let failure = run.opinion.failure.unwrap().to_string();
    assert!(failure.contains("invalid json"), "{failure}");
    assert!(run.report.warnings.iter().any(|it| it.contains("asked again, no answer: ")));
    assert_eq!(run.asks.len(), 2);
}

#[tokio::test]
async fn all_findings_are_handed_on_with_how_many_are_wanted() {
    let many: Vec<_> = (0..20)
        .map(|n| {
            let mut one = finding(if n == 19 { 2 } else { 3 }, 0.9);
            one["title"] = json!(format!("about name{n}"));
            one["body"] = json!(format!("body{n}"));
            one
        })
        .collect();
    let mut stage = Stage::new(Profile::Lean);
    stage.limits.max_output_issues = 4;
    let run = stage.run(Scripted::steps(vec![review(&many)])).await;
    assert_eq!(run.opinion.claims.len(), 20);
    assert_eq!((run.report.issues.len(), run.report.status), (4, ReviewStatus::Truncated));
    assert_eq!(run.report.issues[0].title, "[P2] about name19");
    assert_eq!(run.opinion.max_findings, Some(4));
}

/// 002-092
#[tokio::test]
async fn what_does_not_fit_is_said_and_not_accounted_for() {
    let mut stage = Stage::new(Profile::Lean);
    let big: String = (0..20_000).map(|n| format!("x{n} = {n}\n")).collect();
    let added: String = big.lines().map(|line| format!("+{line}\n")).collect();
    stage.diff.push_str(&format!(
        "diff --git a/big.py b/big.py\nnew file mode 100644\n--- /dev/null\n+++ b/big.py\n@@ -0,0 +1,20000 @@\n{added}"
    ));
    stage.files.insert("big.py".into(), big);
    let run = stage.run(Scripted::steps(vec![says(PASS)])).await;
    assert_eq!(run.opinion.accounted, [("app.py".into(), vec![0])]);
    assert_eq!(run.report.warnings, ["big.py: 1 hunk left out: over the prompt's budget"]);
}

fn failed(kind: ModelFailureKind, what: &str, billed: BillingStatus) -> ModelFailure {
    ModelFailure { kind, what: what.to_owned(), attempts: 1, billed }
}

/// 002-050
#[tokio::test]
async fn requests_that_are_made_again_use_no_call() {
    let busy = failed(ModelFailureKind::RateLimited, "429: slow down", BillingStatus::No);
    let broken =
        failed(ModelFailureKind::ProviderFailed, "529: overloaded", BillingStatus::Perhaps);
    let pass = || Scripted::steps(vec![says(PASS)]);
    let lean = Stage::new(Profile::Lean);

    let run = lean.run(pass().failing(vec![busy.clone()])).await;
    assert_eq!((run.opinion.failure, run.usage.llm_calls), (None, 1));
    assert_eq!(run.usage.tokens_used, Some(1_100), "what was turned away is free");
    assert!(run.usage.cost_usd > Some(0.0));

    let run = lean.run(pass().failing(vec![broken.clone()])).await;
    assert_eq!((run.opinion.failure, run.usage.llm_calls), (None, 1));
    assert_eq!(run.usage.cost_usd, None, "the cost of the first request is unknown");

    let run = lean.run(pass().failing(vec![busy.clone(), busy.clone(), busy])).await;
    let Some(ReviewerFailure::Crashed(why)) = run.opinion.failure else { panic!("a failure") };
    assert_eq!(why, "429: slow down; not retried: all 2 retries are spent");

    let mut stage = Stage::new(Profile::Lean);
    stage.limits.max_cost = Dollars::at_least(0.15);
    let run = stage.run(pass().failing(vec![broken])).await;
    let Some(ReviewerFailure::Crashed(why)) = run.opinion.failure else { panic!("a failure") };
    assert_eq!(why, "529: overloaded; not retried: the call could exceed the budget of $0.15");
    assert_eq!(run.usage.llm_calls, 1);
}

#[tokio::test]
async fn the_last_call_withholds_tools() {
    let look = || calls(&[("list_files", json!({}))]);
    let choices = async |stage: &Stage, steps| -> Vec<ToolChoice> {
        let run = stage.run(Scripted::steps(steps)).await;
        run.asks.iter().map(|ask| ask.tool_choice).collect()
    };
    let (free, none) = (ToolChoice::Free, ToolChoice::None);
    let mut stage = Stage::new(Profile::Lean);
    assert_eq!(choices(&stage, vec![look(), says(PASS)]).await, [free, none]);
    assert_eq!(choices(&stage, vec![says("no JSON"), says(PASS)]).await, [free, none]);
    stage.limits.max_llm_calls = 3;
    assert_eq!(choices(&stage, vec![look(), look(), says(PASS)]).await, [free, free, none]);
    stage.limits.max_tool_calls = 1;
    assert_eq!(choices(&stage, vec![look(), says(PASS)]).await, [free, none]);
    stage.limits.max_llm_calls = 1;
    let run = stage.run(Scripted::steps(vec![says(PASS)])).await;
    assert_eq!(run.asks[0].tools, [], "without a further call, tool results are of no use");
}

/// The tool calls that an event counts.
fn tool_calls(event: &ReviewEvent) -> u32 {
    match event {
        ReviewEvent::Spent { tool_calls, .. } => *tool_calls,
        _ => 0,
    }
}
