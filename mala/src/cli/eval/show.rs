//! `mala eval show`: one case of a run, with every hit and miss.

use super::format::{EvalFormat, ModeName};
use super::kept;
use crate::cli::exit::Exit;
use crate::surroundings::Surroundings;
use clap::Args;
use mala_eval::render::{self as render, Document};
use mala_eval::view::CaseView;

/// Show a case of a run: every hit and miss with both texts, why, and the change
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The case
    case: String,

    /// The run: its name, the start of it, or `latest`
    #[arg(long, value_name = "RUN", default_value = "latest")]
    run: String,

    /// By what rule
    #[arg(long, value_name = "MODE", default_value = "strict")]
    mode: ModeName,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

pub(super) fn run(args: &ShowArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let run = kept::pick(&kept::here(here), &args.run)?;
    let rule = kept::rule(&run.header()?, args.mode.into())?;
    let records = kept::records_of(&run, &args.case)?;
    let views: Vec<CaseView> = records.iter().map(|record| CaseView::of(&rule, record)).collect();
    args.format.print(here, &views, || Document {
        blocks: views.iter().flat_map(|view| render::case(view).blocks).collect(),
    })?;
    Ok(Exit::Passed)
}
