//! `review-gate`: the command line of the panel of external reviewers.

mod canary;
mod clean;
mod lanes;
mod pin;
mod spawn;
mod status;
pub(crate) mod supervise;
mod wait;

use crate::environment::Environment;
use crate::exit::{self, Exit};
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Review a change with several reviewers and combine their verdicts
///
/// `spawn-code-review` starts the reviewers and returns at once; `wait` prints their joint verdict.
/// Exit codes of `wait`: 0 pass, 1 findings, 2 no usable answer, 3 timeout, 4 no reviewers, 5 internal
/// error. Invalid arguments: 1 for `spawn-code-review`, 5 for `wait`, 64 for other commands.
#[derive(Debug, Parser)]
#[command(name = "review-gate", version, max_term_width = 100)]
pub struct Gate {
    #[command(subcommand)]
    command: GateCommand,
}

/// The commands of `review-gate`
#[derive(Debug, Subcommand)]
enum GateCommand {
    /// Start the reviewers of a change
    SpawnCodeReview(spawn::SpawnArgs),
    /// Wait for the reviewers and print the verdict
    Wait(wait::WaitArgs),
    /// Show the progress of a session
    Status(status::StatusArgs),
    /// List sessions, newest first
    List(status::ListArgs),
    /// Stop a session and all of its processes
    Cancel(status::CancelArgs),
    /// Remove old sessions
    Clean(clean::CleanArgs),
    /// List the reviewers, and why each can be used or not
    Lanes(lanes::LanesArgs),
    Canary(canary::CanaryArgs),
    #[command(hide = true)]
    Supervise(supervise::SuperviseArgs),
}

/// The whole program.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(exit::report_bug));
    exit::guarded(run).into()
}

/// The command line as data, for the reference.
pub fn command() -> clap::Command {
    Gate::command()
}

fn run() -> Exit {
    let gate = match Gate::try_parse() {
        Ok(gate) => gate,
        Err(answer) => return invalid_arguments(&answer),
    };
    let done = environment().and_then(|here| gate.command.run(&here));
    match done {
        Ok(exit) => exit,
        Err(error) => {
            exit::report(&error);
            gate.command.failed()
        }
    }
}

fn environment() -> anyhow::Result<Environment> {
    Environment::of_process()
        .map_err(|error| anyhow::Error::new(error).context("finding the current folder"))
}

/// Shows invalid arguments, or the requested help. Callers of `spawn-code-review` and `wait` know only the
/// exit codes of these commands.
fn invalid_arguments(answer: &clap::Error) -> Exit {
    let shown = exit::show_answer(answer);
    if shown != Exit::Usage {
        return shown;
    }
    let command = std::env::args_os().nth(1).unwrap_or_default();
    match command.to_str() {
        Some("spawn-code-review") => Exit::SPAWN_FAILED,
        Some("wait") => Exit::Internal,
        _ => shown,
    }
}

impl GateCommand {
    fn run(&self, here: &Environment) -> anyhow::Result<Exit> {
        match self {
            Self::SpawnCodeReview(args) => spawn::run(args, here),
            Self::Wait(args) => wait::run(args, here),
            Self::Status(args) => status::run(args, here),
            Self::List(args) => status::list(args, here),
            Self::Cancel(args) => status::cancel(args, here),
            Self::Clean(args) => clean::run(args, here),
            Self::Lanes(args) => lanes::run(args, here),
            Self::Canary(args) => canary::run(args, here),
            Self::Supervise(args) => supervise::run(args, here),
        }
    }

    /// The exit code of a command that failed.
    fn failed(&self) -> Exit {
        match self {
            Self::SpawnCodeReview(_) => Exit::SPAWN_FAILED,
            _ => Exit::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
