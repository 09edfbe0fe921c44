//! `review-gate`: the command line of the panel of external reviewers. This version has no panel,
//! so that every command fails closed, in the shapes and with the exit codes of the real thing.

use crate::cli::{self, exit::Exit, failure};
use crate::console;
use clap::{Parser, Subcommand, ValueEnum};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

const NOT_HERE: &str = "the panel of external reviewers is not in this version of review-gate";

/// Several external reviewers side by side (not in this version: every command fails)
#[derive(Debug, Parser)]
#[command(name = "review-gate", version, max_term_width = 100)]
struct Gate {
    #[command(subcommand)]
    command: GateCommand,
}

/// What to do
#[derive(Debug, Subcommand)]
enum GateCommand {
    /// Start the reviewers of a change
    SpawnCodeReview {
        /// The change, as BASELINE..HEAD
        #[arg(long, value_name = "RANGE")]
        diff: String,
        /// What the change is for, as a file
        #[arg(long, value_name = "FILE")]
        context_file: Option<PathBuf>,
        /// How hard codex thinks
        #[arg(long, value_name = "LEVEL", default_value = "high")]
        codex_reasoning: Reasoning,
    },
    /// Wait for the reviewers and print what they say
    Wait {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// How long to wait
        #[arg(long, value_name = "SECONDS", default_value_t = 300)]
        timeout: u64,
        /// Which session; the most recent one if not given
        #[arg(long, value_name = "KEY")]
        session_key: Option<String>,
    },
    /// Show a session
    Status,
    /// Stop a session
    Cancel,
    /// List the sessions
    List,
}

/// How hard a reviewer thinks
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Reasoning {
    Low,
    Medium,
    High,
}

/// The whole program.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(cli::admit_bug));
    cli::guarded(run).into()
}

fn run() -> Exit {
    match Gate::try_parse() {
        Ok(gate) => refuse(&gate.command).unwrap_or_else(|error| failure::report(&error)),
        Err(answer) => cli::show_answer(&answer),
    }
}

fn refuse(command: &GateCommand) -> anyhow::Result<Exit> {
    if let GateCommand::Wait { json: true, .. } = command {
        console::data(&format!("{}\n", unresolved()))?;
    }
    console::say(&format!(
        "error: {NOT_HERE}\nhint: 'mala review --reviewer builtin' reviews a change without it"
    ));
    Ok(match command {
        GateCommand::SpawnCodeReview { .. } => Exit::SPAWN_FAILED,
        _ => Exit::Internal,
    })
}

/// The answer of `wait --json` when nobody reviewed.
fn unresolved() -> serde_json::Value {
    json!({
        "schema_version": 1,
        "status": "error",
        "consensus": { "verdict": "no_reviewers", "iteration": 0 },
        "reviewers": {},
        "issues": [],
        "parse_errors": [NOT_HERE],
    })
}
