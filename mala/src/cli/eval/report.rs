//! `mala eval report`: the result of a kept run.

use super::format::Format;
use super::kept;
use crate::cli::exit::Exit;
use crate::surroundings::Surroundings;
use clap::Args;
use mala_domain::render::eval as render;

/// Show the result of a run that is kept
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The run: its name, the start of it, or `latest`
    #[arg(default_value = "latest")]
    run: String,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &ReportArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let result = kept::scored(&kept::pick(&kept::here(here), &args.run)?)?;
    args.format.print(&result, || render::result(&result))?;
    Ok(Exit::Passed)
}
