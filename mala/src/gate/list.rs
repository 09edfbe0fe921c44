//! `review-gate list`: all sessions of this repository, whatever its work tree.

use super::status;
use crate::cli::exit::Exit;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::environment::Environment;
use crate::wiring::gate::{self as world, Gate};
use clap::Args;

/// List the sessions, the most recent one first
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ListArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        let all = gate.everywhere().await?.all();
        let lines: Vec<status::Line> =
            all.iter().map(|(folder, session)| status::line(folder, session, &gate)).collect();
        world::sweep_dead(all);
        let text = match args.json {
            true => format!("{}\n", serde_json::to_string_pretty(&lines)?),
            false => lines.iter().map(status::Line::shown).collect(),
        };
        console::data(&text)?;
        Ok(Exit::Passed)
    })
}
