//! `review-gate lanes`: each lane, and why it can be used or not.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::interrupt::until_interrupted;
use crate::settings::{RepositoryFile, RepositoryFileChoice, Settings, UserSettings};
use crate::wiring::gate::work::base_branch;
use crate::wiring::gate::{self as world, Gate};
use crate::wiring::probe::Probe;
use crate::wiring::reviewers::member_missing;
use crate::wiring::trusted_settings::WorkingTreeSettings;
use clap::Args;
use futures_util::future::join_all;
use mala_domain::config::{Config, FILE_NAME};
use mala_domain::gate::SCHEMA_VERSION;
use mala_domain::gate::canary::Measured;
use mala_domain::gate::lane::{IN_PROCESS, Lane, LaneTable};
use serde::Serialize;
use std::fmt::Write;

/// List the reviewers, and why each can be used or not
#[derive(Debug, Args)]
pub(super) struct LanesArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The state of a lane on this machine.
#[derive(Debug, Serialize)]
pub(crate) struct LaneLine {
    /// The version of this form.
    pub(crate) schema_version: u32,
    /// Its name.
    pub(crate) name: String,
    /// Whether it can be used.
    pub(crate) usable: bool,
    /// The path of its program.
    pub(crate) program: Option<String>,
    /// Its version.
    pub(crate) version: Option<String>,
    /// Why its version is unknown although the program was run.
    pub(crate) version_unknown: Option<String>,
    /// Why the program was not run to print its version.
    pub(crate) version_unasked: Option<String>,
    /// The variable or file that shows that the user is signed in.
    pub(crate) signed_in: Option<String>,
    /// Why it cannot be used.
    pub(crate) why_not: Option<String>,
    /// How to install it.
    pub(crate) install: Option<String>,
    /// Its measured recall on planted defects, if any.
    pub(crate) measured: Option<Measured>,
}

pub(super) fn run(args: &LanesArgs, here: &Environment) -> anyhow::Result<Exit> {
    let probe = Probe::new(here, here.root())?;
    let tree = WorkingTreeSettings::read_with(here, &probe)?;
    let settings = tree.settings(Config::default())?;
    let table = LaneTable::with(&settings.gate.lanes)?;
    let trusted = trusted(here, tree.user(), &probe)?;
    let is_trusted = |lane: &Lane| trusted.get(&lane.name).is_ok_and(|known| known == lane);
    until_interrupted(async {
        let gate = Gate::open(here).await.ok();
        let book = gate.map(|gate| gate.sessions.canaries().book()).unwrap_or_default();
        let line = async |lane: &Lane| {
            let line = match is_trusted(lane) {
                true => look(lane, here).await,
                false => LaneLine { version_unasked: Some(UNASKED.to_owned()), ..seen(lane, here) },
            };
            LaneLine { measured: book.measured(&lane.name), ..line }
        };
        let mut lines = join_all(table.lanes().map(line)).await;
        let own = IN_PROCESS.into_iter().filter_map(|name| table.get(name).ok());
        let own = own.filter(|lane| lane.is_in_process());
        lines.extend(own.map(|lane| in_process(lane, &settings, here)));
        let text = match args.json {
            true => format!("{}\n", serde_json::to_string_pretty(&lines)?),
            false => lines.iter().map(shown).collect(),
        };
        console::data(&text)?;
        Ok(Exit::Passed)
    })
}

const UNKNOWN: &str = "no answer";
const UNASKED: &str =
    "mala.yaml says how, and is not committed, or not on the branch that work starts from";

/// The lanes in the trusted settings: those of the commit at which the current work starts, or of HEAD.
/// Programs that only a change names are not run.
fn trusted(here: &Environment, user: &UserSettings, probe: &Probe) -> anyhow::Result<LaneTable> {
    let mut revision = None;
    until_interrupted(async {
        if let Ok(gate) = Gate::open(here).await {
            let base = base_branch(here, user).await.ok().flatten();
            revision = gate.trusted_revision(base.as_deref()).await?;
        }
        Ok(Exit::Passed)
    })?;
    let bytes = revision.and_then(|revision| probe.committed(&revision, FILE_NAME).ok().flatten());
    let file = bytes.map(|bytes| RepositoryFile::committed("the base", bytes));
    let chosen = RepositoryFileChoice { file, notice: None };
    let settings = user.with_file(chosen, Config::default());
    Ok(LaneTable::with(&settings.map(|settings| settings.gate.lanes).unwrap_or_default())?)
}

/// Detects a lane on this machine, and its version.
async fn look(lane: &Lane, here: &Environment) -> LaneLine {
    let presence = world::presence(lane, here);
    let version = match &presence.program {
        Some(program) => world::version(lane, program, here).await,
        None => None,
    };
    let is_asked = presence.program.is_some() && lane.settings.version.is_some();
    let version_unknown = (is_asked && version.is_none()).then(|| UNKNOWN.to_owned());
    LaneLine { version, version_unknown, ..seen(lane, here) }
}

/// A reviewer of mala itself.
fn in_process(lane: &Lane, settings: &Settings, here: &Environment) -> LaneLine {
    let why_not = member_missing(&lane.name, &settings.policy, &settings.models, here);
    LaneLine { usable: why_not.is_none(), why_not, ..seen(lane, here) }
}

/// Looks for a lane on this machine. Nothing is run.
fn seen(lane: &Lane, here: &Environment) -> LaneLine {
    let presence = world::presence(lane, here);
    let why_not = presence.why_not(lane);
    LaneLine {
        schema_version: SCHEMA_VERSION,
        name: lane.name.clone(),
        usable: why_not.is_none(),
        version: None,
        version_unknown: None,
        version_unasked: None,
        install: lane.settings.install.clone().filter(|_| presence.program.is_none()),
        program: presence.program.map(|path| path.display().to_string()),
        signed_in: presence.signed_in,
        why_not,
        measured: None,
    }
}

fn shown(line: &LaneLine) -> String {
    let state = if line.usable { "usable" } else { "not usable" };
    let mut text = format!("{}: {state}\n", line.name);
    let measured = line.measured.as_ref().map(Measured::shown);
    let facts = [
        ("program", &line.program),
        ("version", &line.version),
        ("version", &line.version_unknown),
        ("version not asked", &line.version_unasked),
        ("signed in by", &line.signed_in),
        ("why not", &line.why_not),
        ("install", &line.install),
        ("measured", &measured),
    ];
    for (what, fact) in facts {
        if let Some(fact) = fact {
            // Writing to a string cannot fail.
            writeln!(text, "  {what}: {fact}").unwrap_or_default();
        }
    }
    console::harmless(&text)
}
