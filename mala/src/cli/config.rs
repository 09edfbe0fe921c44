//! `mala config`: checks the file, shows the effective settings, prints the schema.

mod check;
mod show;

use super::schema::SchemaName;
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Check or show the configuration
#[derive(Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

/// The commands of `mala config`
#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Check a configuration file
    Check {
        /// File to check [default: mala.yaml at the root of the repository]
        file: Option<PathBuf>,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: CheckFormat,
    },
    /// Show the settings for a review of the working tree, and the origin of each value
    Show {
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "yaml")]
        format: ShowFormat,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
}

/// The output format of a check
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    Text,
    Json,
}

/// The output format of settings
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    Yaml,
    Json,
}

pub(super) fn run(args: &ConfigArgs, here: &Environment) -> anyhow::Result<Exit> {
    match &args.command {
        ConfigCommand::Check { file, format } => check::run(here, file.as_deref(), *format),
        ConfigCommand::Show { format } => show::run(here, *format),
        ConfigCommand::Schema => {
            console::data(SchemaName::MalaConfig.text())?;
            Ok(Exit::Passed)
        }
    }
}
