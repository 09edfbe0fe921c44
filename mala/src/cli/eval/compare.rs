//! `mala eval compare`: how two runs differ, and whether that could be chance.

use super::format::{EvalFormat, ModeName};
use super::kept;
use crate::cli::exit::Exit;
use crate::surroundings::Surroundings;
use clap::Args;
use mala_eval::MatchMode;
use mala_eval::compare::{ComparedRun, compare};
use mala_eval::random::SeededRandom;
use mala_eval::render;
use mala_eval::store::runs::EvalRunFolder;

/// Compare two runs over the cases that both reviewed
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The first run: its name, the start of it, or `latest`
    before: String,

    /// The second run
    after: String,

    /// By what rule
    #[arg(long, value_name = "MODE", default_value = "strict")]
    mode: ModeName,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

pub(super) fn run(args: &CompareArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let side = |name: &str| side(&kept::pick(&evals, name)?, args.mode.into());
    let found = compare(side(&args.before)?, side(&args.after)?, &mut SeededRandom::new(0));
    args.format.print(here, &found, || render::comparison(&found))?;
    Ok(Exit::Passed)
}

fn side(run: &EvalRunFolder, mode: MatchMode) -> anyhow::Result<ComparedRun> {
    let header = run.header()?;
    let rule = kept::rule(&header, mode)?;
    let mut side = ComparedRun::new(&header.run_id, rule);
    run.records()?.each(|record| side.add(&record))?;
    Ok(side)
}
