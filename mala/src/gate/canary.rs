//! `review-gate canary`: measures the lanes on planted defects.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::settings::Settings;
use crate::wiring::eval::{EvalGit, plant_failure};
use crate::wiring::gate::{self as world, Gate};
use crate::wiring::trusted_settings::WorkingTreeSettings;
use anyhow::Context;
use clap::Args;
use mala_domain::config::{Config, Seconds};
use mala_domain::gate::canary::{CanaryBook, CanaryPlan, CanaryRun, LaneTally, Measured};
use mala_domain::gate::session::{PanelMember, Session};
use mala_domain::gate::{MARKER, SCHEMA_VERSION};
use mala_eval::canary::measure_lanes;
use mala_eval::plant::{DefectPlanter, PlantRequest, PlantTargets, PlantedDefects};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Measure the lanes on planted defects
///
/// The defects are planted into copies of the newest commits; the repository is not modified. The recall of
/// each lane is then shown beside its verdicts, and does not affect them. `gate.canaries` does the same on a
/// schedule. Exit codes: 0 done, 5 failed.
#[derive(Debug, Args)]
pub(crate) struct CanaryArgs {
    /// Lanes [default: the panel]
    #[arg(long, value_name = "LANE,...", value_delimiter = ',')]
    lanes: Vec<String>,

    /// Number of defects [default: `gate.canaries.count`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    count: Option<u32>,

    /// Seed of the choice of defects [default: the current time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Time limit of a lane for one defect, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Seconds>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Take the lanes and limits of this session
    #[arg(long, value_name = "KEY", hide = true, conflicts_with_all = ["lanes", "count", "timeout"])]
    of_session: Option<String>,
}

/// The lanes and limits of a canary run.
struct CanaryRequest {
    members: Vec<PanelMember>,
    plan: CanaryPlan,
    timeout_seconds: u64,
    reasoning: String,
}

/// The printed result.
#[derive(Debug, Serialize)]
struct CanaryOutput {
    schema_version: u32,
    run: CanaryRun,
    measured: BTreeMap<String, Measured>,
    canaries_dir: String,
}

pub(super) fn run(args: &CanaryArgs, here: &Environment) -> anyhow::Result<Exit> {
    if here.variable(MARKER).is_some() {
        return Err(
            Failure::new(FailureKind::Internal, "cannot run inside a review of a gate").into()
        );
    }
    // Loading settings needs a runtime of its own.
    let settings = match &args.of_session {
        Some(_) => None,
        None => Some(WorkingTreeSettings::read(here)?.settings(Config::default())?),
    };
    until_interrupted(give(args, settings.as_ref(), here))
}

async fn give(
    args: &CanaryArgs,
    settings: Option<&Settings>,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let gate = Gate::open(here).await?;
    let brief = match settings {
        Some(settings) => requested(args, settings, here)?,
        None => scheduled(args, &gate)?,
    };
    if brief.members.is_empty() {
        return Err(Failure::new(FailureKind::Internal, "no lane is available")
            .hint("run `review-gate lanes` to see why")
            .into());
    }
    let folder = gate.sessions.canaries();
    let Some(_turn) = folder.turn().context("keeping canaries")? else {
        return Err(Failure::new(FailureKind::Internal, "another canary run is in progress").into());
    };
    let now = jiff::Timestamp::now();
    let seed = args.seed.unwrap_or_else(|| now.as_second().unsigned_abs());
    let request = PlantRequest {
        targets: PlantTargets::Newest,
        count: brief.plan.count as usize,
        seed,
        kinds: Vec::new(),
    };
    let git = EvalGit::new(here);
    let repository = git.repository_around(&here.folder).await?;
    let planter = DefectPlanter { git: &git, repository: &repository };
    let planted = planter.plant(&request).await.map_err(plant_failure)?;
    if planted.defects.is_empty() {
        let what = "no defect can be planted into the newest commits";
        return Err(Failure::new(FailureKind::Internal, what).into());
    }
    let lanes = measured(&gate, &brief, &planted, here).await?;
    let run = CanaryRun { at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), seed, lanes };
    let book = CanaryBook { since: Some(now.as_second()), ..folder.book().with(run.clone()) };
    folder.keep(&CanaryBook { schema_version: SCHEMA_VERSION, ..book.clone() })?;
    let names = run.lanes.keys();
    let measured = names.filter_map(|name| Some((name.clone(), book.measured(name)?))).collect();
    let canaries_dir = folder.path().display().to_string();
    let done = CanaryOutput { schema_version: SCHEMA_VERSION, run, measured, canaries_dir };
    console::data(&match args.json {
        true => format!("{}\n", serde_json::to_string_pretty(&done)?),
        false => shown(&done),
    })?;
    Ok(Exit::Passed)
}

/// The run that the user requested.
fn requested(
    args: &CanaryArgs,
    settings: &Settings,
    here: &Environment,
) -> anyhow::Result<CanaryRequest> {
    let (members, warnings) = world::session_panel_members(&args.lanes, settings, here)?;
    for warning in &warnings {
        console::say(&format!("warning: {}", console::harmless(warning)));
    }
    let gate = &settings.gate;
    let plan = CanaryPlan {
        every_days: 0,
        count: args.count.unwrap_or(gate.canary_count.value),
        max_cost_usd: gate.canary_cost.value,
    };
    let timeout = args.timeout.unwrap_or(gate.timeout.value);
    let members = present(members);
    let timeout_seconds = timeout.duration().as_secs();
    Ok(CanaryRequest { members, plan, timeout_seconds, reasoning: "high".to_owned() })
}

/// A run after a session. Its settings come from the trusted side of the change.
fn scheduled(args: &CanaryArgs, gate: &Gate) -> anyhow::Result<CanaryRequest> {
    let key = args.of_session.as_deref().unwrap_or_default();
    let session = gate.own(key)?.session()?;
    let plan = session.canaries.context("the session has no canaries")?;
    let Session { members, timeout_seconds, reasoning, .. } = session;
    Ok(CanaryRequest { members: present(members), plan, timeout_seconds, reasoning })
}

fn present(members: Vec<PanelMember>) -> Vec<PanelMember> {
    let (there, absent): (Vec<PanelMember>, Vec<PanelMember>) =
        members.into_iter().partition(|member| member.absent.is_none());
    for member in absent {
        let why = member.absent.unwrap_or_default();
        console::say(&console::harmless(&format!("warning: {}: {why}", member.lane.name)));
    }
    there
}

/// Measures every lane, up to the cost limit.
async fn measured(
    gate: &Gate,
    brief: &CanaryRequest,
    planted: &PlantedDefects,
    here: &Environment,
) -> anyhow::Result<BTreeMap<String, LaneTally>> {
    let mut tallies = BTreeMap::new();
    for member in &brief.members {
        let program = world::presence(&member.lane, here).program;
        let version = match &program {
            Some(program) => world::version(&member.lane, program, here).await,
            None => None,
        };
        let tally = LaneTally { version, cost_usd: Some(0.0), ..LaneTally::default() };
        tallies.insert(member.lane.name.clone(), tally);
    }
    let lanes = world::CanaryLanes {
        gate,
        here,
        members: &brief.members,
        timeout_seconds: brief.timeout_seconds,
        reasoning: &brief.reasoning,
    };
    let warn = |text: &str| console::say(&console::harmless(&format!("warning: {text}")));
    let measured = measure_lanes(&lanes, planted, tallies, brief.plan.max_cost_usd, &warn).await;
    measured.map_err(anyhow::Error::msg)
}

fn shown(done: &CanaryOutput) -> String {
    let mut text = String::new();
    for (name, tally) in &done.run.lanes {
        let alone = CanaryBook { runs: vec![done.run.clone()], ..CanaryBook::default() };
        let Some(here) = alone.measured(name) else { continue };
        let cost = here.cost_usd.map_or("unknown".to_owned(), |cost| format!("${cost:.4}"));
        // Writing to a string cannot fail.
        writeln!(text, "{name}: {}, cost {cost}", here.shown()).unwrap_or_default();
        for (kind, hits) in &tally.by_kind {
            writeln!(text, "  {kind}: {} of {}", hits.found, hits.planted).unwrap_or_default();
        }
        let all = done.measured.get(name).filter(|all| all.planted > here.planted);
        if let Some(all) = all {
            writeln!(text, "  with earlier runs: {}", all.shown()).unwrap_or_default();
        }
    }
    console::harmless(&text)
}
