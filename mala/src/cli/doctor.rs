//! `mala doctor`: checks the installation and the configuration.

mod checks;
mod linters;
mod show;

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::wiring::probe::Probe;
use crate::wiring::{gate, trusted_settings};
use clap::{Args, ValueEnum};
use mala_domain::config::Config;
use mala_domain::gate::lane::LaneTable;
use mala_domain::models::ModelProvider;
use std::path::Path;

/// Check git, the repository, the configuration, model keys, linters and lanes
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: DoctorFormat,
}

/// The output format
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DoctorFormat {
    Text,
    Json,
}

/// The results of all checks.
#[derive(Debug)]
struct DoctorReport {
    checks: Vec<DoctorCheck>,
    keys: Vec<ModelKey>,
    linters: Vec<LinterState>,
    lanes: Vec<LaneState>,
}

/// Something that a review needs.
#[derive(Debug, PartialEq, Eq)]
struct DoctorCheck {
    name: &'static str,
    state: CheckState,
    detail: String,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckState {
    /// No problem.
    Ok,
    /// A limitation.
    Note,
    /// Reviews are not possible.
    Broken,
    /// The configuration is invalid.
    Misconfigured,
}

/// An environment variable for a model key. Its value is not checked.
#[derive(Debug)]
struct ModelKey {
    name: &'static str,
    adds: String,
    is_set: bool,
}

/// A linter and its version.
#[derive(Debug)]
struct LinterState {
    name: &'static str,
    adds: &'static str,
    /// Whether it runs only if the configuration lists it.
    is_slow: bool,
    /// The version, or the path if the version is unknown; `None` if it is not on PATH.
    found: Option<String>,
}

/// A lane and whether it can be used.
#[derive(Debug)]
struct LaneState {
    name: String,
    is_usable: bool,
    /// The path of its program, or why it cannot be used.
    detail: String,
}

pub(super) fn run(args: &DoctorArgs, here: &Environment) -> anyhow::Result<Exit> {
    let report = examine(here)?;
    console::data(&match args.format {
        DoctorFormat::Text => show::text(&report),
        DoctorFormat::Json => show::json(&report),
    })?;
    Ok(report.exit())
}

fn examine(here: &Environment) -> anyhow::Result<DoctorReport> {
    let inside = Probe::new(here, here.root())?;
    // Linters are run outside of the repository, whose files must not affect them.
    let outside = Probe::new(here, Path::new("/"))?;
    let settings = trusted_settings::of_working_tree(here, &inside, Config::default());
    Ok(DoctorReport {
        checks: checks::all(here, &inside, &settings),
        keys: keys(here),
        linters: linters::states(&outside),
        lanes: lane_states(here, settings.ok().as_ref()),
    })
}

/// The known lanes and those of the configuration.
fn lane_states(here: &Environment, settings: Option<&Settings>) -> Vec<LaneState> {
    let configured = settings.map(|settings| settings.gate.lanes.clone()).unwrap_or_default();
    let Ok(table) = LaneTable::with(&configured).or_else(|_| LaneTable::known()) else {
        return Vec::new();
    };
    let state = |lane| {
        let presence = gate::presence(lane, here);
        let why_not = presence.why_not(lane);
        let program = presence.program.map(|path| path.display().to_string());
        LaneState {
            name: lane.name.clone(),
            is_usable: why_not.is_none(),
            detail: why_not.or(program).unwrap_or_default(),
        }
    };
    table.lanes().map(state).collect()
}

/// The key variables of all providers.
fn keys(here: &Environment) -> Vec<ModelKey> {
    let mut keys: Vec<ModelKey> = Vec::new();
    for spec in ModelProvider::ALL.map(ModelProvider::spec) {
        let name = spec.key_variable;
        if !keys.iter().any(|key| key.name == name) {
            let adds = format!("review by an agent with {}", spec.models);
            keys.push(ModelKey { name, adds, is_set: here.variable(name).is_some() });
        }
    }
    keys
}

impl DoctorReport {
    /// A broken installation has precedence over a broken configuration.
    fn exit(&self) -> Exit {
        let any = |state| self.checks.iter().any(|check| check.state == state);
        match (any(CheckState::Broken), any(CheckState::Misconfigured)) {
            (true, _) => Exit::CouldNotReview,
            (false, true) => Exit::Configuration,
            (false, false) => Exit::Passed,
        }
    }
}
