//! `mala eval`: measures reviewers on cases with known problems.

mod capture;
mod gate;
mod import;
mod kept;
mod output;
mod page;
mod plan;
mod plant;
mod results;
mod reviewer;
mod run;
mod worker;

use crate::environment::Environment;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// Measure a reviewer on cases with known problems
///
/// A case is a change whose problems are known. A finding hits a known problem when the file and the
/// category are the same and the lines overlap within three, one to one. Runs are kept in .mala/eval.
#[derive(Debug, Args)]
pub struct EvalArgs {
    #[command(subcommand)]
    command: EvalCommand,
}

/// The eval commands
#[derive(Debug, Subcommand)]
enum EvalCommand {
    Run(Box<run::RunArgs>),
    Report(results::ReportArgs),
    Show(results::ShowArgs),
    Compare(results::CompareArgs),
    Gate(gate::GateArgs),
    Leaderboard(results::LeaderboardArgs),
    List(results::EvalListArgs),
    Plant(plant::PlantArgs),
    Import(import::ImportArgs),
    Capture(capture::CaptureArgs),
}

pub(super) fn run(args: &EvalArgs, here: &Environment) -> anyhow::Result<Exit> {
    match &args.command {
        EvalCommand::Run(args) => run::run(args, here),
        EvalCommand::Report(args) => results::report(args, here),
        EvalCommand::Show(args) => results::show(args, here),
        EvalCommand::Compare(args) => results::compare(args, here),
        EvalCommand::Gate(args) => gate::run(args, here),
        EvalCommand::Leaderboard(args) => results::leaderboard(args, here),
        EvalCommand::List(args) => results::list(args, here),
        EvalCommand::Plant(args) => plant::run(args, here),
        EvalCommand::Import(args) => import::run(args, here),
        EvalCommand::Capture(args) => capture::run(args, here),
    }
}
