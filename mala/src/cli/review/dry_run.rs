//! `mala review --dry-run`: what a review would send and could cost. No model is called.

use super::ReviewArgs;
use crate::cli::exit::Exit;
use crate::console;
use crate::wiring::changes;
use crate::wiring::reviewers::ChosenReviewers;
use mala_domain::config::ReviewerType;
use mala_domain::ports::ReviewScope;
use mala_domain::review::ReviewPlan;
use mala_pipeline::agent::Outlook;
use mala_pipeline::review::gather;
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) async fn show(
    args: &ReviewArgs,
    plan: &ReviewPlan,
    chosen: &ChosenReviewers,
    scoped: ReviewScope,
) -> anyhow::Result<Exit> {
    let Some(agent) = &chosen.agent else {
        let free = match chosen.kind {
            ReviewerType::Cerberus | ReviewerType::Command => {
                "External programs review the change; their cost is unknown.\n"
            }
            _ => "Built-in analyzers only: no model is called, at no cost.\n",
        };
        let plain = json!({"schema_version": 1, "reviewer": chosen.kind.name(), "passes": []});
        console::data(&if args.json { format!("{plain:#}\n") } else { free.to_owned() })?;
        return Ok(Exit::Passed);
    };
    let context = gather(plan, scoped, &chosen.reviewers).await.map_err(changes::failure)?;
    let mut outlook = agent.outlook(&context).await?;
    let refused = chosen.refusal.iter().filter(|_| !context.change.is_empty());
    outlook.warnings.extend(refused.map(|why| format!("the review would be refused: {why}")));
    let text = if args.json { format!("{:#}\n", as_json(&outlook)) } else { as_text(&outlook) };
    console::data(&console::harmless(&text))?;
    Ok(Exit::Passed)
}

fn as_text(outlook: &Outlook) -> String {
    let limits = &outlook.limits;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |name: &str, words: String| {
        writeln!(text, "{name:<10} {words}").unwrap_or_default();
    };
    line("model", outlook.model.clone());
    if let Some(stronger) = &outlook.escalation {
        line("escalation", stronger.clone());
    }
    line("profile", outlook.profile.to_string());
    let passes = match outlook.passes.as_slice() {
        [] => "none".to_owned(),
        passes => passes.join(", "),
    };
    line("passes", passes);
    let (sent, all) = outlook.hunks;
    line("hunks", format!("{sent} of {all} would be sent, with {} hints", outlook.hints));
    let bytes: usize = outlook.prompt_bytes.iter().sum();
    let parts = console::counted(outlook.briefs, "message");
    line("prompt", format!("{bytes} bytes in {parts}, about {} tokens", outlook.prompt_tokens));
    let reserved = outlook.reserved.map_or("unknown".to_owned(), |dollars| dollars.to_string());
    line("reserved", format!("{reserved} at most for the first calls"));
    line(
        "limits",
        format!(
            "{} model calls, {} tool calls, {} tokens, {}, {} s",
            limits.max_llm_calls,
            limits.max_tool_calls,
            limits.max_tokens,
            limits.max_cost,
            limits.max_wall_time.as_secs()
        ),
    );
    for warning in &outlook.warnings {
        line("warning", warning.clone());
    }
    line("", "No model was called.".to_owned());
    text
}

fn as_json(outlook: &Outlook) -> Value {
    let limits = &outlook.limits;
    json!({
        "schema_version": 1,
        "reviewer": "agent_sdk",
        "model": outlook.model,
        "escalation_model": outlook.escalation,
        "profile": outlook.profile,
        "passes": outlook.passes,
        "hunks_sent": outlook.hunks.0,
        "hunks": outlook.hunks.1,
        "hints": outlook.hints,
        "messages": outlook.briefs,
        "instruction_bytes": outlook.instruction_bytes,
        "prompt_bytes": outlook.prompt_bytes.iter().sum::<usize>(),
        "prompt_tokens": outlook.prompt_tokens,
        "reserved_usd": outlook.reserved.map(|dollars| dollars.as_f64()),
        "limits": {
            "max_llm_calls": limits.max_llm_calls,
            "max_tool_calls": limits.max_tool_calls,
            "max_verify_candidates": limits.max_verify_candidates,
            "max_output_issues": limits.max_output_issues,
            "max_wall_time_seconds": limits.max_wall_time.as_secs(),
            "max_cost_usd": limits.max_cost.as_f64(),
            "max_tokens": limits.max_tokens,
        },
        "warnings": outlook.warnings,
    })
}
