//! `mala config`: check the file, show what holds, print the schema.

mod check;
mod show;

use super::exit::Exit;
use super::schema::SchemaName;
use crate::console;
use crate::surroundings::Surroundings;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Check or show the configuration
#[derive(Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

/// What to do with the configuration
#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Check a configuration file
    Check {
        /// The file; `mala.yaml` at the root of the repository if not given
        file: Option<PathBuf>,
        /// How to print the result
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: CheckFormat,
    },
    /// Show what holds for a review of the working tree, and where each value comes from
    Show {
        /// How to print it
        #[arg(long, value_name = "FORMAT", default_value = "yaml")]
        format: ShowFormat,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
}

/// How to print the result of a check
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    Text,
    Json,
}

/// How to print settings
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    Yaml,
    Json,
}

pub(super) fn run(args: &ConfigArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    match &args.command {
        ConfigCommand::Check { file, format } => check::run(here, file.as_deref(), *format),
        ConfigCommand::Show { format } => show::run(here, *format),
        ConfigCommand::Schema => {
            console::data(&SchemaName::MalaConfig.text()?)?;
            Ok(Exit::Passed)
        }
    }
}
