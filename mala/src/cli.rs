//! The command line: parses it, runs one command and returns its exit code.

pub mod ci;
pub mod config;
pub mod context;
pub mod demo;
pub mod doctor;
pub mod eval;
pub mod events;
pub mod findings;
pub mod hook;
pub mod init;
pub mod issue;
pub mod models;
pub mod notify;
pub mod pr;
pub mod reference;
pub mod review;
pub mod rules;
pub mod run;
pub mod runs;
pub mod schema;
pub mod serve;
pub mod stats;
pub mod task;

use crate::console;
use crate::environment::Environment;
use crate::exit::{self, Exit, guarded, report_bug, show_answer};
use crate::gate::supervise;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// The review gate for code that agents and people write
#[derive(Debug, Parser)]
#[command(name = "mala", version, max_term_width = 100, propagate_version = false)]
pub struct Cli {
    /// When to color the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorWhen,

    #[command(subcommand)]
    command: Command,
}

/// When to color the output
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ColorWhen {
    Auto,
    Always,
    Never,
}

/// The commands of mala
#[derive(Debug, Subcommand)]
enum Command {
    Review(review::ReviewArgs),
    Pr(pr::PrArgs),
    Ci(ci::CiArgs),
    Context(context::ContextArgs),
    Demo(demo::DemoArgs),
    Init(init::InitArgs),
    Hook(hook::HookArgs),
    Doctor(doctor::DoctorArgs),
    Config(config::ConfigArgs),
    Models(models::ModelsArgs),
    Rules(rules::RulesArgs),
    Findings(findings::FindingsArgs),
    Stats(stats::StatsArgs),
    Runs(runs::RunsArgs),
    Run(run::RunCommandArgs),
    Issue(issue::IssueArgs),
    Task(task::TaskArgs),
    Events(events::EventsArgs),
    Notify(notify::NotifyArgs),
    Eval(eval::EvalArgs),
    Serve(serve::ServeArgs),
    Schema(schema::SchemaArgs),
    Completions(reference::CompletionsArgs),
    Man(reference::ManArgs),
    #[command(hide = true)]
    Supervise(supervise::SuperviseArgs),
}

impl Command {
    fn run(&self, here: &Environment) -> anyhow::Result<Exit> {
        match self {
            Self::Review(args) => review::run(args, here),
            Self::Pr(args) => pr::run(args, here),
            Self::Ci(args) => ci::run(args, here),
            Self::Context(args) => context::run(args, here),
            Self::Demo(args) => demo::run(args, here),
            Self::Init(args) => init::run(args, here),
            Self::Hook(args) => hook::run(args, here),
            Self::Doctor(args) => doctor::run(args, here),
            Self::Config(args) => config::run(args, here),
            Self::Models(args) => models::run(args, here),
            Self::Rules(args) => rules::run(args, here),
            Self::Findings(args) => findings::run(args, here),
            Self::Stats(args) => stats::run(args, here),
            Self::Runs(args) => runs::run(args, here),
            Self::Run(args) => run::run(args, here),
            Self::Issue(args) => issue::run(args, here),
            Self::Task(args) => task::run(args, here),
            Self::Events(args) => events::run(args, here),
            Self::Notify(args) => notify::run(args, here),
            Self::Eval(args) => eval::run(args, here),
            Self::Serve(args) => serve::run(args, here),
            Self::Schema(args) => schema::run(args),
            Self::Completions(args) => reference::run_completions(args),
            Self::Man(args) => reference::run_man(args),
            Self::Supervise(args) => supervise::run(args, here),
        }
    }
}

/// Runs `mala`.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_bug));
    guarded(run).into()
}

/// The command line as data, for the reference, completions and man pages.
pub fn command() -> clap::Command {
    Cli::command()
}

fn run() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) if answer.use_stderr() && hook::is_for_stop(std::env::args_os()) => {
            let why = answer.kind().to_string();
            return crate::hook::stop(Err(why));
        }
        Err(answer) => return show_answer(&answer),
    };
    if let Command::Hook(args) = &cli.command
        && let Some(exit) = args.answered()
    {
        return exit;
    }
    match cli.color {
        ColorWhen::Auto => {}
        ColorWhen::Always => anstream::ColorChoice::Always.write_global(),
        ColorWhen::Never => anstream::ColorChoice::Never.write_global(),
    }
    let done = Environment::of_process()
        .map_err(|error| anyhow::Error::new(error).context("finding the current folder"))
        .and_then(|here| {
            console::start_logging(&here);
            cli.command.run(&here)
        });
    done.unwrap_or_else(|error| exit::report(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(guarded(|| panic!("a bug")), Exit::Internal);
        assert_eq!(guarded(|| Exit::Blocked), Exit::Blocked);
    }

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
