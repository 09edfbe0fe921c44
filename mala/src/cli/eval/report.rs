//! `mala eval report`: the results of kept runs.

use super::kept;
use super::output::ResultOutput;
use crate::cli::exit::Exit;
use crate::surroundings::Surroundings;
use clap::Args;
use mala_eval::store::runs::EvalRunFolder;

/// Show the result of a run that is kept, or of several
///
/// A page (--format html) is about the first run and shows the others beside it; with one run, it shows
/// all kept runs over the same cases beside it.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The runs: their names, the starts of them, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    runs: Vec<String>,

    #[command(flatten)]
    output: ResultOutput,
}

pub(super) fn run(args: &ReportArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let picked = args.runs.iter().map(|name| kept::pick(&evals, name));
    let runs: Vec<EvalRunFolder> = picked.collect::<anyhow::Result<_>>()?;
    args.output.show(&evals, &runs, here)?;
    Ok(Exit::Passed)
}
