//! `mala findings show`: one finding with everything that happened to it.

use super::FindingsFormat;
use crate::console::{self, harmless, to_the_second};
use crate::exit::Exit;
use crate::wiring::ledger::failure;
use mala_domain::ports::{FindingHistory, Ledger};
use mala_domain::render::{one_line, visible};
use serde_json::json;

pub(super) async fn show(
    id: &str,
    format: FindingsFormat,
    ledger: &dyn Ledger,
) -> anyhow::Result<Exit> {
    let history = ledger.finding(id).await.map_err(failure)?;
    console::data(&match format {
        FindingsFormat::Text => harmless(&text(&history)),
        FindingsFormat::Json => {
            let FindingHistory { finding, occurrences, state_changes, .. } = &history;
            let value = json!({
                "schema_version": 1,
                "finding": finding,
                "occurrences": occurrences,
                "state_changes": state_changes,
            });
            format!("{value:#}\n")
        }
    })?;
    Ok(Exit::Passed)
}

fn text(history: &FindingHistory) -> String {
    let it = &history.finding;
    let finding = &it.finding;
    let by = match &finding.rule {
        Some(rule) => format!("{} ({rule})", finding.reviewer),
        None => finding.reviewer.clone(),
    };
    let mut lines = vec![
        format!("{} {}", finding.effective_priority(), one_line(&finding.title)),
        format!("id        {}", it.id),
        format!("state     {}", it.state.name()),
        format!("file      {}:{}", one_line(&finding.file.to_string()), finding.span()),
        format!("reviewer  {}", one_line(&by)),
        format!("category  {}", finding.category),
        format!("change    {}", one_line(&it.subject)),
        format!(
            "reported  {}, first {}",
            times(it.n_occurrences),
            to_the_second(&it.first_seen_at)
        ),
    ];
    if let Some(symbol) = &finding.symbol {
        lines.insert(4, format!("symbol    {}", one_line(symbol)));
    }
    if let Some(waiver) = &it.waiver {
        let until = waiver.until.as_deref().map(|day| format!(", until {day}")).unwrap_or_default();
        lines.push(format!("waiver    {}{until}", one_line(&waiver.reason)));
    }
    lines.push(String::new());
    lines.extend(finding.evidence_snippet.lines().map(|line| format!("  | {}", visible(line))));
    lines.push(String::new());
    lines.extend(visible(&finding.body).lines().map(str::to_owned));
    lines.push(String::new());
    lines.extend(events(history));
    lines.join("\n") + "\n"
}

fn times(n: u32) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

/// The events, in order.
fn events(history: &FindingHistory) -> Vec<String> {
    let reported = history.occurrences.iter().map(|it| {
        let commit = it.commit.as_deref().map(|id| id.get(..12).unwrap_or(id));
        let head = commit.unwrap_or("the working tree");
        let line = format!(
            "{}  reported by {} in round {} on line {} of {head}: {}",
            to_the_second(&it.at),
            it.reviewer,
            it.round,
            it.line_start,
            it.matched
        );
        (it.at.clone(), line)
    });
    let changed = history.state_changes.iter().map(|it| {
        let at = to_the_second(&it.at);
        (it.at.clone(), format!("{at}  {} by {}: {}", it.state.name(), it.by, it.reason))
    });
    let (mut reported, mut changed) = (reported.peekable(), changed.peekable());
    let mut events = Vec::new();
    // Both are in the order in which they were stored, whatever the clock said.
    while let Some((_, line)) = match (reported.peek(), changed.peek()) {
        (Some(report), Some(change)) if change.0 < report.0 => changed.next(),
        (Some(_), _) => reported.next(),
        (None, _) => changed.next(),
    } {
        events.push(one_line(&line));
    }
    events
}
