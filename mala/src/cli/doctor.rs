//! `mala doctor`: what is installed, configured and missing, and what each would add.

mod checks;
mod lanes;
mod linters;
mod show;

use super::exit::Exit;
use crate::console;
use crate::surroundings::Surroundings;
use crate::wiring::probe::Probe;
use clap::{Args, ValueEnum};
use mala_domain::models::ModelProvider;
use std::path::Path;

/// Show what is installed, configured and missing, and what each would add
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: DoctorFormat,
}

/// How to print the result
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DoctorFormat {
    Text,
    Json,
}

/// Everything that was found.
#[derive(Debug)]
struct Health {
    checks: Vec<Check>,
    keys: Vec<Key>,
    linters: Vec<Linter>,
    lanes: Vec<lanes::LaneState>,
}

/// Something that a review needs, or works better with.
#[derive(Debug, PartialEq, Eq)]
struct Check {
    name: &'static str,
    state: State,
    detail: String,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// As it should be.
    Fine,
    /// Worth knowing.
    Note,
    /// A review cannot be done.
    Broken,
    /// The configuration cannot be used.
    Misconfigured,
}

/// A variable with a model's key. Its value is never looked at.
#[derive(Debug)]
struct Key {
    name: &'static str,
    adds: String,
    is_set: bool,
}

/// A linter and whether it is here.
#[derive(Debug)]
struct Linter {
    name: &'static str,
    adds: &'static str,
    /// Whether it runs only when the configuration lists it.
    is_slow: bool,
    /// Its version, or where it is when it does not tell; `None` when it is not on the path.
    found: Option<String>,
}

pub(super) fn run(args: &DoctorArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let health = examine(here)?;
    console::data(&match args.format {
        DoctorFormat::Text => show::text(&health),
        DoctorFormat::Json => show::json(&health),
    })?;
    Ok(health.exit())
}

fn examine(here: &Surroundings) -> anyhow::Result<Health> {
    let inside = Probe::new(here, here.root())?;
    // Versions are asked for outside of the repository, whose files must not decide what runs.
    let outside = Probe::new(here, Path::new("/"))?;
    Ok(Health {
        checks: checks::all(here, &inside),
        keys: keys(here),
        linters: linters::look(&outside),
        lanes: lanes::look(here, &inside),
    })
}

/// The API keys of all providers.
fn keys(here: &Surroundings) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for spec in ModelProvider::ALL.map(ModelProvider::spec) {
        let name = spec.key_variable;
        if !keys.iter().any(|key| key.name == name) {
            let adds = format!("review by an agent with {}", spec.models);
            keys.push(Key { name, adds, is_set: here.variable(name).is_some() });
        }
    }
    keys
}

impl Health {
    /// What is broken decides before what is misconfigured.
    fn exit(&self) -> Exit {
        let any = |state| self.checks.iter().any(|check| check.state == state);
        match (any(State::Broken), any(State::Misconfigured)) {
            (true, _) => Exit::CouldNotReview,
            (false, true) => Exit::Configuration,
            (false, false) => Exit::Passed,
        }
    }
}
