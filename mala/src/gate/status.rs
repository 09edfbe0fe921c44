//! `review-gate status`, `list` and `cancel`: the progress of sessions, and their cancellation.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::interrupt::until_interrupted;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use clap::Args;
use mala_domain::gate::SCHEMA_VERSION;
use mala_domain::gate::canary::Measured;
use mala_domain::gate::session::Session;
use mala_domain::render::gate::PanelVerdict;
use mala_pipeline::gate::WatchedSession as _;
use serde::Serialize;
use std::collections::BTreeMap;

/// Show how far a session is
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// The session; the most recent one if not given
    #[arg(long, value_name = "KEY")]
    session_key: Option<String>,
}

/// A session in one line.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    schema_version: u32,
    session_key: String,
    created: String,
    /// preparing, reviewing, checking, done, dead or broken
    pub(super) state: String,
    verdict: Option<PanelVerdict>,
    target: String,
    started: Vec<String>,
    ended: Vec<String>,
    session_dir: String,
    /// The work tree that it was started in.
    work_tree: String,
    /// Whether that is the current one.
    #[serde(skip)]
    is_here: bool,
    /// The measured recall of each lane on planted defects.
    measured: BTreeMap<String, Measured>,
}

/// Describes a session.
pub(super) fn line(folder: &SessionFolder, session: &Session, gate: &Gate) -> Line {
    let book = world::book_of(folder);
    let progress = folder.progress().unwrap_or_default();
    let is_dead = world::SessionProbe(folder).is_dead();
    // Read after the status of the supervisor, which may have ended with a result in the meantime.
    let end = folder.end();
    let state = match &end {
        Err(_) => "broken",
        Ok(Some(_)) => "done",
        Ok(None) if is_dead => "dead",
        Ok(None) => progress.phase.name(),
    };
    Line {
        schema_version: SCHEMA_VERSION,
        session_key: session.key.clone(),
        created: session.created.clone(),
        state: state.to_owned(),
        verdict: end.ok().flatten().map(|end| PanelVerdict::from(end.verdict())),
        target: session.scope.target.clone(),
        started: progress.started,
        ended: progress.ended,
        session_dir: folder.path().display().to_string(),
        work_tree: folder.work_tree().display().to_string(),
        is_here: gate.has(folder),
        measured: session
            .members
            .iter()
            .filter_map(|member| {
                Some((member.lane.name.clone(), book.measured(&member.lane.name)?))
            })
            .collect(),
    }
}

impl Line {
    /// The line of a session in the text output.
    pub(super) fn shown(&self) -> String {
        let verdict = self.verdict.map(|verdict| format!(", {}", verdict.name()));
        let verdict = verdict.unwrap_or_default();
        let (key, state, target) = (&self.session_key, &self.state, &self.target);
        let (over, all) = (self.ended.len(), self.started.len());
        let place = match self.is_here {
            true => String::new(),
            false => format!("  in {}", self.work_tree),
        };
        let text =
            format!("{key}  {state}{verdict}  {target}  {over} of {all} lanes over{place}\n");
        console::harmless(&text)
    }

    /// The state of the lanes in the text output.
    fn shown_measured(&self) -> String {
        let line = |(name, measured): (&String, &Measured)| {
            console::harmless(&format!("  {name}: {}\n", measured.shown()))
        };
        self.measured.iter().map(line).collect()
    }
}

pub(super) fn run(args: &StatusArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        let folder = gate.session(args.session_key.as_deref()).await?;
        let session = folder.session()?;
        let line = line(&folder, &session, &gate);
        let text = match args.json {
            true => format!("{}\n", serde_json::to_string_pretty(&line)?),
            false => line.shown() + &line.shown_measured(),
        };
        console::data(&text)?;
        if line.state == "dead" {
            world::sweep(&folder, &session);
            return Ok(Exit::Internal);
        }
        if line.state == "broken" {
            return Ok(Exit::Internal);
        }
        Ok(Exit::Passed)
    })
}

/// List the sessions, the most recent one first
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn list(args: &ListArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        let all = gate.everywhere().await?.all();
        let lines: Vec<Line> =
            all.iter().map(|(folder, session)| line(folder, session, &gate)).collect();
        world::sweep_dead(all);
        let text = match args.json {
            true => format!("{}\n", serde_json::to_string_pretty(&lines)?),
            false => lines.iter().map(Line::shown).collect(),
        };
        console::data(&text)?;
        Ok(Exit::Passed)
    })
}

/// Stop a session and all of its processes
#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// The session; the most recent one if not given
    #[arg(long, value_name = "KEY")]
    session_key: Option<String>,
}

pub(super) fn cancel(args: &CancelArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        let folder = gate.session(args.session_key.as_deref()).await?;
        let session = folder.session()?;
        let key = &session.key;
        match world::stop(&folder, &session)? {
            true => console::say(&format!("{key} is cancelled")),
            false => console::say(&format!("{key} was over already")),
        }
        Ok(Exit::Passed)
    })
}
