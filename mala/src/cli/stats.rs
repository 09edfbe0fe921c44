//! `mala stats`: rounds per change, findings per round, how findings end, and the cost per
//! confirmed finding.

use super::findings::FindingsFormat;
use crate::console::{self, counted, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::interrupt::until_interrupted;
use crate::wiring::ledger::{self, failure};
use clap::Args;
use mala_domain::ledger::stats::{LedgerStats, OutcomeShare, ledger_stats};
use mala_domain::ports::Ledger as _;

/// Changes and rules that are listed.
const MAX_ROWS: usize = 10;

/// Show statistics of all reviews and findings
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: FindingsFormat,
}

pub(super) fn run(args: &StatsArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let ledger = ledger::open(here).await?;
        let reviews = ledger.all_reviews().await.map_err(failure)?;
        let counts = ledger.counts().await.map_err(failure)?;
        let stats = ledger_stats(&reviews, &counts);
        console::data(&match args.format {
            FindingsFormat::Text => harmless(&text(&stats)),
            FindingsFormat::Json => format!("{}\n", serde_json::to_string_pretty(&stats)?),
        })?;
        Ok(Exit::Passed)
    })
}

fn text(stats: &LedgerStats) -> String {
    let reviews = counted(stats.n_reviews, "review");
    let findings = counted(stats.n_findings, "finding");
    let mut lines = vec![format!("{reviews}, {findings}, {} fixed", stats.n_confirmed)];
    let cost = stats.cost_usd;
    let each = stats.cost_per_confirmed_usd;
    let each = each.map(|each| format!(", ${each:.2} per fixed finding")).unwrap_or_default();
    lines.push(match stats.n_unknown_cost {
        0 => format!("cost ${cost:.2}{each}"),
        n if n == stats.n_reviews => "cost unknown".to_owned(),
        n => format!("cost at least ${cost:.2}: it is not known of {}", counted(n, "review")),
    });
    lines.push("\nrounds per change".to_owned());
    lines.push("  rounds  reviews".to_owned());
    for change in stats.changes.iter().take(MAX_ROWS) {
        let outcome = change.outcome.replace('_', " ");
        let (rounds, reviews) = (change.rounds, change.reviews);
        lines.push(format!("  {rounds:>6}  {reviews:>7}  {}  {outcome}", change.change));
    }
    lines.push("\nfindings per round".to_owned());
    lines.push("  round  reviews   new  fixed".to_owned());
    for round in &stats.new_by_round {
        let (number, reviews) = (round.round, round.reviews);
        lines.push(format!("  {number:>5}  {reviews:>7}  {:>4}  {:>5}", round.new, round.fixed));
    }
    for (title, shares) in [
        ("rule", &stats.by_rule),
        ("reviewer", &stats.by_reviewer),
        ("category", &stats.by_category),
    ] {
        if !shares.is_empty() {
            lines.push(format!("\n  total  fixed  waived  disputed  {title}"));
            lines.extend(shares.iter().take(MAX_ROWS).map(share));
        }
    }
    lines.join("\n") + "\n"
}

fn share(share: &OutcomeShare) -> String {
    let percent = |n: usize| format!("{} %", n * 100 / share.total.max(1));
    format!(
        "  {:>5}  {:>5}  {:>6}  {:>8}  {}",
        share.total,
        percent(share.fixed),
        percent(share.waived),
        percent(share.disputed),
        share.name
    )
}
