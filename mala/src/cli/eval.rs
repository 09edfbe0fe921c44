//! `mala eval`: has a reviewer look at cases with known problems, and says what it found of them.

mod amounts;
mod board;
mod capture;
mod compare;
mod format;
mod front;
mod gate;
mod import;
mod judge;
mod kept;
mod list;
mod output;
mod page;
mod plan;
mod plant;
mod progress;
mod report;
mod run;
mod show;
mod who;

pub(crate) use plant::plant_failure;

use super::exit::Exit;
use crate::surroundings::Surroundings;
use clap::{Args, Subcommand};

/// Measure a reviewer on cases with known problems
///
/// A case is a change whose problems are known. A finding hits a known problem when file and category are
/// the same and the lines overlap within three, one to one. Runs are kept under .mala/eval.
#[derive(Debug, Args)]
pub struct EvalArgs {
    #[command(subcommand)]
    command: EvalCommand,
}

/// What to do with evals
#[derive(Debug, Subcommand)]
enum EvalCommand {
    Run(Box<run::RunArgs>),
    Report(report::ReportArgs),
    Show(show::ShowArgs),
    Compare(compare::CompareArgs),
    Gate(gate::GateArgs),
    Leaderboard(board::BoardArgs),
    List(list::ListArgs),
    Plant(plant::PlantArgs),
    Import(import::ImportArgs),
    Capture(capture::CaptureArgs),
}

pub(super) fn run(args: &EvalArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    match &args.command {
        EvalCommand::Run(args) => run::run(args, here),
        EvalCommand::Report(args) => report::run(args, here),
        EvalCommand::Show(args) => show::run(args, here),
        EvalCommand::Compare(args) => compare::run(args, here),
        EvalCommand::Gate(args) => gate::run(args, here),
        EvalCommand::Leaderboard(args) => board::run(args, here),
        EvalCommand::List(args) => list::run(args, here),
        EvalCommand::Plant(args) => plant::run(args, here),
        EvalCommand::Import(args) => import::run(args, here),
        EvalCommand::Capture(args) => capture::run(args, here),
    }
}
