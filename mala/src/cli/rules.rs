//! `mala rules`: lists, shows and tests the rules of the built-in reviewer.

mod catalogue;
mod files;
mod show;
mod test;

pub use catalogue::{CatalogueEntry, catalogue};

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use clap::{Args, Subcommand, ValueEnum};
use mala_domain::language::Language;
use std::path::{Path, PathBuf};

/// List, show and test the rules of the built-in reviewer
#[derive(Debug, Args)]
pub struct RulesArgs {
    #[command(subcommand)]
    command: RulesCommand,
}

/// The commands of `mala rules`
#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// List all rules, including those of the repository (`.mala/rules/`)
    List {
        /// Only rules for this language
        #[arg(long, value_name = "LANGUAGE", value_parser = language)]
        language: Option<Language>,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: RulesFormat,
    },
    /// Show a rule with its examples
    Show {
        /// Id of the rule
        id: String,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: RulesFormat,
    },
    /// Test rules with their examples
    Test {
        /// Rule file, or folder with rule files [default: the built-in rules and `.mala/rules/`]
        path: Option<PathBuf>,
    },
}

/// The output format of rules
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RulesFormat {
    Text,
    Json,
}

fn language(word: &str) -> Result<Language, String> {
    let names = || Language::ALL.map(Language::name).join(", ");
    let found = Language::ALL.into_iter().find(|language| language.name() == word);
    found.ok_or_else(|| format!("unknown language; expected one of {}", names()))
}

pub(super) fn run(args: &RulesArgs, here: &Environment) -> anyhow::Result<Exit> {
    let folder = here.root().join(files::FOLDER);
    match &args.command {
        RulesCommand::List { language, format } => {
            let mut entries = entries(here, &folder)?;
            entries.retain(|entry| entry.is_for(*language));
            console::data(&match format {
                RulesFormat::Text => show::list(&entries),
                RulesFormat::Json => show::list_json(&entries),
            })?;
            Ok(Exit::Passed)
        }
        RulesCommand::Show { id, format } => {
            let entries = entries(here, &folder)?;
            let entry = find(&entries, id)?;
            console::data(&match format {
                RulesFormat::Text => show::one(entry),
                RulesFormat::Json => show::one_json(entry),
            })?;
            Ok(Exit::Passed)
        }
        RulesCommand::Test { path } => test::run(here, path.as_deref(), &folder),
    }
}

/// All rules. An invalid rule file of the repository is a warning.
fn entries(here: &Environment, folder: &Path) -> anyhow::Result<Vec<CatalogueEntry>> {
    let mut own = Vec::new();
    for (name, rule) in files::read(&here.folder, folder)? {
        match rule {
            Ok(rule) => own.push((name, rule)),
            Err(error) => {
                console::say(&format!("warning: {}", console::harmless(&error.to_string())))
            }
        }
    }
    Ok(catalogue(own))
}

/// The ids of all rules, including those of the repository. Invalid rule files are skipped.
pub(super) fn rule_ids(here: &Environment) -> anyhow::Result<Vec<String>> {
    let files = files::read(&here.folder, &here.root().join(files::FOLDER))?;
    let own = files.into_iter().filter_map(|(name, rule)| Some((name, rule.ok()?))).collect();
    Ok(catalogue(own).into_iter().map(|entry| entry.id).collect())
}

/// The ids of the built-in rules, and these.
pub(super) fn catalogue_ids(own: &[String]) -> Vec<String> {
    let builtin = catalogue(Vec::new()).into_iter().map(|entry| entry.id);
    builtin.chain(own.iter().cloned()).collect()
}

fn find<'e>(entries: &'e [CatalogueEntry], id: &str) -> Result<&'e CatalogueEntry, Failure> {
    entries.iter().find(|entry| entry.id == id).ok_or_else(|| {
        let near = entries
            .iter()
            .map(|entry| (strsim::jaro_winkler(id, &entry.id), &entry.id))
            .filter(|(similarity, _)| *similarity >= 0.8)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        Failure::usage(format!("no rule `{id}`")).hint(match near {
            Some((_, near)) => format!("did you mean `{near}`?"),
            None => "run `mala rules list` to list the rules".to_owned(),
        })
    })
}
