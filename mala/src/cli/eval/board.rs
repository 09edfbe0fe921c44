//! `mala eval leaderboard`: the kept runs side by side.

use super::format::{EvalFormat, ModeName};
use super::kept;
use crate::cli::exit::Exit;
use crate::console;
use crate::surroundings::Surroundings;
use anyhow::Context;
use clap::Args;
use mala_eval::render::{self as render, LeaderboardRow};

/// Show the kept runs side by side, the best first
#[derive(Debug, Args)]
pub(super) struct BoardArgs {
    /// Only runs over this set; may be given several times
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,

    /// By what rule
    #[arg(long, value_name = "MODE", default_value = "strict")]
    mode: ModeName,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

pub(super) fn run(args: &BoardArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let mut rows: Vec<LeaderboardRow> = Vec::new();
    for name in evals.names().context("listing evals")? {
        match kept::scored(&evals.run(&name)) {
            Ok(result) => rows.push(result.into()),
            Err(error) => console::say(&format!("{name} is left out: {error:#}")),
        }
    }
    rows.retain(|row| {
        args.set.is_empty() || row.run.sets.iter().any(|set| args.set.contains(&set.name))
    });
    args.format.print(here, &rows, || render::board(rows.clone(), args.mode.into()))?;
    Ok(Exit::Passed)
}
