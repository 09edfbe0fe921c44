//! `mala findings`: the findings of reviews in this repository, and decisions about them.

mod decide;
mod list;
mod show;
mod transfer;

use crate::environment::Environment;
use crate::exit::Exit;
use crate::interrupt::until_interrupted;
use crate::wiring::ledger;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// List findings, and accept, dispute or reopen them
///
/// The ledger is in the git folder of the repository, shared by all its work trees. An ID is the start of a
/// finding's id, as long as it is unique. Exit codes: 0 done, 2 the ledger cannot be used, 64 usage, such as an
/// ambiguous id, 78 an invalid .mala/waivers.yaml.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct FindingsArgs {
    #[command(subcommand)]
    command: Option<FindingsCommand>,

    #[command(flatten)]
    list: list::FindingListArgs,
}

/// The commands of `mala findings`
#[derive(Debug, Subcommand)]
enum FindingsCommand {
    /// List findings, those reported last first
    List(list::FindingListArgs),
    /// Show a finding with its history
    Show {
        /// Its id
        id: String,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: FindingsFormat,
    },
    /// Accept a finding until its code changes
    Waive {
        #[command(flatten)]
        decision: decide::DecisionArgs,
        /// The last day on which the waiver applies, such as 2026-12-31
        #[arg(long, value_name = "DATE")]
        until: Option<String>,
        /// Write the waiver to .mala/waivers.yaml, for all clones; it applies once it is on the base branch
        #[arg(long)]
        shared: bool,
    },
    /// Reject a finding; reviewers cannot raise it again without new evidence on changed lines
    Dispute {
        #[command(flatten)]
        decision: decide::DecisionArgs,
    },
    /// Open a finding again
    Reopen {
        /// Its id
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "reopened")]
        reason: String,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: FindingsFormat,
    },
    /// Accept all existing findings: those of the built-in reviewer in HEAD, and the open ones of
    /// this branch
    Baseline {
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "known before mala was used")]
        reason: String,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: FindingsFormat,
    },
    /// Print all findings with their history, one JSON object per line
    Export,
    /// Read findings that `export` printed; known ids are replaced
    Import {
        /// The file; stdin with `-`
        file: PathBuf,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: FindingsFormat,
    },
}

/// Output format
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum FindingsFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

pub(super) fn run(args: &FindingsArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let ledger = ledger::open(here).await?;
        match args.command.as_ref() {
            None => list::list(&args.list, &ledger, here).await,
            Some(FindingsCommand::List(args)) => list::list(args, &ledger, here).await,
            Some(FindingsCommand::Show { id, format }) => show::show(id, *format, &ledger).await,
            Some(FindingsCommand::Waive { decision, until, shared }) => {
                let until = until.as_deref().map(decide::last_day).transpose()?;
                match shared {
                    true => decide::waive_shared(decision, until, &ledger, here).await,
                    false => decide::waive(decision, until, &ledger, here).await,
                }
            }
            Some(FindingsCommand::Dispute { decision }) => {
                decide::dispute(decision, &ledger, here).await
            }
            Some(FindingsCommand::Reopen { id, reason, format }) => {
                decide::reopen((id, reason), *format, &ledger, here).await
            }
            Some(FindingsCommand::Baseline { reason, format }) => {
                decide::baseline(reason, *format, &ledger, here).await
            }
            Some(FindingsCommand::Export) => transfer::export(&ledger).await,
            Some(FindingsCommand::Import { file, format }) => {
                transfer::import(&here.folder.join(file), *format, &ledger).await
            }
        }
    })
}
