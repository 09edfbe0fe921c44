//! `review-gate lanes`: each lane, and why it can be used or not.

use crate::cli::exit::Exit;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::settings;
use crate::surroundings::Surroundings;
use crate::wiring::gate::{self as world, Gate};
use crate::wiring::probe::Probe;
use clap::Args;
use mala_domain::gate::SCHEMA_VERSION;
use mala_domain::gate::canary::Measured;
use mala_domain::gate::lane::{Lane, Table};
use serde::Serialize;
use std::fmt::Write;

/// Show the lanes, and why each can be used or not
#[derive(Debug, Args)]
pub(super) struct LanesArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is known of a lane on this machine.
#[derive(Debug, Serialize)]
pub(crate) struct LaneLine {
    /// The version of this form.
    pub(crate) schema_version: u32,
    /// Its name.
    pub(crate) name: String,
    /// Whether it can be used.
    pub(crate) usable: bool,
    /// Where its program is.
    pub(crate) program: Option<String>,
    /// Its version.
    pub(crate) version: Option<String>,
    /// What shows that somebody is signed in.
    pub(crate) signed_in: Option<String>,
    /// Why it cannot be used.
    pub(crate) why_not: Option<String>,
    /// How to install it.
    pub(crate) install: Option<String>,
    /// What it finds of planted defects, when that was measured.
    pub(crate) measured: Option<Measured>,
}

pub(super) fn run(args: &LanesArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let probe = Probe::new(here, here.root())?;
    let settings = settings::of_working_tree(here, &probe)?;
    let table = Table::with(&settings.gate.lanes)?;
    until_interrupted(async {
        let gate = Gate::open(here).await.ok();
        let book = gate.map(|gate| gate.sessions.canaries().book()).unwrap_or_default();
        let mut lines = Vec::new();
        for lane in table.lanes() {
            lines.push(LaneLine { measured: book.measured(&lane.name), ..look(lane, here).await });
        }
        let text = match args.json {
            true => format!("{}\n", serde_json::to_string_pretty(&lines)?),
            false => lines.iter().map(shown).collect(),
        };
        console::data(&text)?;
        Ok(Exit::Passed)
    })
}

/// Looks for a lane on this machine.
pub(crate) async fn look(lane: &Lane, here: &Surroundings) -> LaneLine {
    let presence = world::presence(lane, here);
    let version = match &presence.program {
        Some(program) => world::version(lane, program, here).await,
        None => None,
    };
    let why_not = presence.why_not(lane);
    LaneLine {
        schema_version: SCHEMA_VERSION,
        name: lane.name.clone(),
        usable: why_not.is_none(),
        version,
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
