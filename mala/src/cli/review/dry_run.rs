//! `mala review --dry-run`: the data that a review would send, and its maximum cost. No model is
//! called.

use crate::console;
use crate::exit::Exit;
use crate::wiring::changes;
use crate::wiring::reviewers::ChosenReviewers;
use mala_domain::ports::ReviewScope;
use mala_domain::review::ReviewPlan;
use mala_pipeline::agent::{ForecastPart, ReviewForecast};
use mala_pipeline::review::gather;
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) async fn show(
    is_json: bool,
    plan: &ReviewPlan,
    chosen: &ChosenReviewers,
    scoped: ReviewScope,
) -> anyhow::Result<Exit> {
    let Some(agent) = &chosen.agent else {
        let free = match chosen.kinds.iter().any(|kind| kind.runs_programs()) {
            true => "External programs review the change; their cost is unknown.\n",
            false => "Built-in analyzers only: no model is called, at no cost.\n",
        };
        let plain = json!({"schema_version": 1, "reviewer": chosen.label(), "looks": []});
        console::data(&if is_json { format!("{plain:#}\n") } else { free.to_owned() })?;
        return Ok(Exit::Passed);
    };
    let context = gather(plan, scoped, &chosen.reviewers).await.map_err(changes::failure)?;
    let mut forecast = agent.forecast(&context).await?;
    let refused = chosen.refusal.iter().filter(|_| !context.change.is_empty());
    forecast.warnings.extend(refused.map(|why| format!("the review would be refused: {why}")));
    let text = if is_json { format!("{:#}\n", as_json(&forecast)) } else { as_text(&forecast) };
    console::data(&console::harmless(&text))?;
    Ok(Exit::Passed)
}

fn as_text(forecast: &ReviewForecast) -> String {
    let limits = &forecast.limits;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |name: &str, words: String| {
        writeln!(text, "{name:<10} {words}").unwrap_or_default();
    };
    line("model", forecast.model.clone());
    if let Some(stronger) = &forecast.escalation {
        line("escalation", stronger.clone());
    }
    line("profile", forecast.profile.to_string());
    let looks = match forecast.looks.as_slice() {
        [] => "none".to_owned(),
        looks => looks.join(", "),
    };
    line("looks", looks);
    let (sent, all) = forecast.hunks;
    line("hunks", format!("{sent} of {all} would be sent, with {} hints", forecast.hints));
    let bytes = n_bytes(forecast);
    let n_parts = console::counted(forecast.parts.len(), "part");
    line("prompt", format!("{bytes} bytes in {n_parts}, about {} tokens", forecast.prompt_tokens));
    for (index, part) in forecast.parts.iter().enumerate().filter(|_| forecast.parts.len() > 1) {
        let names: Vec<String> =
            part.files.iter().take(MAX_NAMED).map(|(file, _)| file.to_string()).collect();
        let more = match part.files.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let words = format!("{}: {} bytes: {}{more}", index + 1, part.bytes, names.join(", "));
        line("part", words);
    }
    let reserved = forecast.reserved.map_or("unknown".to_owned(), |dollars| dollars.to_string());
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
    for warning in &forecast.warnings {
        line("warning", warning.clone());
    }
    line("", "No model was called.".to_owned());
    text
}

/// The most files of a part that are named.
const MAX_NAMED: usize = 8;

fn n_bytes(forecast: &ReviewForecast) -> usize {
    forecast.parts.iter().map(|part| part.bytes).sum()
}

fn as_json(forecast: &ReviewForecast) -> Value {
    let limits = &forecast.limits;
    let part = |part: &ForecastPart| {
        let files: Vec<String> = part.files.iter().map(|(file, _)| file.to_string()).collect();
        let hunks: usize = part.files.iter().map(|(_, hunks)| hunks).sum();
        json!({"files": files, "hunks": hunks, "prompt_bytes": part.bytes})
    };
    json!({
        "schema_version": 1,
        "reviewer": "agent_sdk",
        "model": forecast.model,
        "escalation_model": forecast.escalation,
        "profile": forecast.profile,
        "looks": forecast.looks,
        "hunks_sent": forecast.hunks.0,
        "hunks": forecast.hunks.1,
        "hints": forecast.hints,
        "parts": forecast.parts.iter().map(part).collect::<Vec<_>>(),
        "instruction_bytes": forecast.instruction_bytes,
        "prompt_bytes": n_bytes(forecast),
        "prompt_tokens": forecast.prompt_tokens,
        "reserved_usd": forecast.reserved.map(|dollars| dollars.as_f64()),
        "limits": {
            "max_llm_calls": limits.max_llm_calls,
            "max_tool_calls": limits.max_tool_calls,
            "max_verify_candidates": limits.max_verify_candidates,
            "max_output_issues": limits.max_output_issues,
            "max_wall_time_seconds": limits.max_wall_time.as_secs(),
            "max_cost_usd": limits.max_cost.as_f64(),
            "max_tokens": limits.max_tokens,
        },
        "warnings": forecast.warnings,
    })
}
