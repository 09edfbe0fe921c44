//! `review-gate canary`: gives the lanes planted defects, and keeps what each of them finds.

use super::open;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::settings::{self, Settings};
use crate::surroundings::Surroundings;
use crate::wiring::gate::{self as world, Gate};
use crate::wiring::plant::{Fields, Harvest, Nursery, Order};
use crate::wiring::probe::Probe;
use anyhow::Context;
use clap::Args;
use mala_domain::config::Seconds;
use mala_domain::gate::canary::{CanaryBook, CanaryPlan, CanaryRun, LaneTally, Measured};
use mala_domain::gate::session::{PanelMember, Session};
use mala_domain::gate::{MARKER, SCHEMA_VERSION};
use mala_pipeline::gate::CanaryTry;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Give the lanes planted defects, and keep what each of them finds
///
/// The defects are planted into copies of the newest commits; nothing in the repository is touched. What
/// the lanes find of them is shown beside their verdicts from then on, and is no part of any verdict.
/// `gate.canaries` does the same on a schedule. Exit codes: 0 done, 5 it could not be done.
#[derive(Debug, Args)]
pub(crate) struct CanaryArgs {
    /// The lanes; those of the panel if not given
    #[arg(long, value_name = "LANE,...", value_delimiter = ',')]
    lanes: Vec<String>,

    /// How many defects; `gate.canaries.count` if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    count: Option<u32>,

    /// Where chance starts; the time if not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// How long a lane may take for one defect, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Seconds>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// The lanes and limits of this session
    #[arg(long, value_name = "KEY", hide = true, conflicts_with_all = ["lanes", "count", "timeout"])]
    of_session: Option<String>,
}

/// Who is given what.
struct SessionRequest {
    seats: Vec<PanelMember>,
    plan: CanaryPlan,
    timeout_seconds: u64,
    reasoning: String,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Done {
    schema_version: u32,
    run: CanaryRun,
    measured: BTreeMap<String, Measured>,
    canaries_dir: String,
}

pub(super) fn run(args: &CanaryArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    if here.variable(MARKER).is_some() {
        return Err(Failure::new(Exit::Internal, "this is a reviewer of a gate already").into());
    }
    // Read before the runtime of the run begins: it has one of its own.
    let settings = match &args.of_session {
        Some(_) => None,
        None => Some(settings::of_working_tree(here, &Probe::new(here, here.root())?)?),
    };
    until_interrupted(give(args, settings.as_ref(), here))
}

async fn give(
    args: &CanaryArgs,
    settings: Option<&Settings>,
    here: &Surroundings,
) -> anyhow::Result<Exit> {
    let gate = Gate::open(here).await?;
    let brief = match settings {
        Some(settings) => asked(args, settings, here)?,
        None => scheduled(args, &gate)?,
    };
    if brief.seats.is_empty() {
        return Err(Failure::new(Exit::Internal, "no lane can be used")
            .hint("'review-gate lanes' says why")
            .into());
    }
    let folder = gate.sessions.canaries();
    let Some(_turn) = folder.turn().context("keeping canaries")? else {
        return Err(Failure::new(Exit::Internal, "canaries are being given already").into());
    };
    let now = jiff::Timestamp::now();
    let seed = args.seed.unwrap_or_else(|| now.as_second().unsigned_abs());
    let order =
        Order { fields: Fields::Newest, count: brief.plan.count as usize, seed, kinds: Vec::new() };
    let harvest = Nursery::open(here).await?.plant(&order).await?;
    if harvest.sprouts.is_empty() {
        let what = "there is no place for a defect in the newest commits";
        return Err(Failure::new(Exit::Internal, what).into());
    }
    let lanes = measured(&gate, &brief, &harvest, here).await?;
    let run = CanaryRun { at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), seed, lanes };
    let book = CanaryBook { since: Some(now.as_second()), ..folder.book().with(run.clone()) };
    folder.keep(&CanaryBook { schema_version: SCHEMA_VERSION, ..book.clone() })?;
    let names = run.lanes.keys();
    let measured = names.filter_map(|name| Some((name.clone(), book.measured(name)?))).collect();
    let canaries_dir = folder.path().display().to_string();
    let done = Done { schema_version: SCHEMA_VERSION, run, measured, canaries_dir };
    console::data(&match args.json {
        true => format!("{}\n", serde_json::to_string_pretty(&done)?),
        false => shown(&done),
    })?;
    Ok(Exit::Passed)
}

/// What a person asks for.
fn asked(
    args: &CanaryArgs,
    settings: &Settings,
    here: &Surroundings,
) -> anyhow::Result<SessionRequest> {
    let (seats, warnings) = open::panel(&args.lanes, settings, here)?;
    for warning in &warnings {
        console::say(&format!("note: {}", console::harmless(warning)));
    }
    let gate = &settings.gate;
    let plan = CanaryPlan {
        every_days: 0,
        count: args.count.unwrap_or(gate.canary_count.value),
        max_cost_usd: gate.canary_cost.value,
    };
    let timeout = args.timeout.unwrap_or(gate.timeout.value);
    let seats = present(seats);
    let timeout_seconds = timeout.duration().as_secs();
    Ok(SessionRequest { seats, plan, timeout_seconds, reasoning: "high".to_owned() })
}

/// What a session that is over asks for. Its settings come from the trusted side of its change.
fn scheduled(args: &CanaryArgs, gate: &Gate) -> anyhow::Result<SessionRequest> {
    let key = args.of_session.as_deref().unwrap_or_default();
    let session = gate.own(key)?.session()?;
    let plan = session.canaries.context("the session has no canaries")?;
    let Session { seats, timeout_seconds, reasoning, .. } = session;
    Ok(SessionRequest { seats: present(seats), plan, timeout_seconds, reasoning })
}

fn present(seats: Vec<PanelMember>) -> Vec<PanelMember> {
    let (there, absent): (Vec<PanelMember>, Vec<PanelMember>) =
        seats.into_iter().partition(|seat| seat.absent.is_none());
    for seat in absent {
        let why = seat.absent.unwrap_or_default();
        console::say(&console::harmless(&format!("note: {}: {why}", seat.lane.name)));
    }
    there
}

/// Gives every lane one defect after the other, until they say that it costs too much.
async fn measured(
    gate: &Gate,
    brief: &SessionRequest,
    harvest: &Harvest,
    here: &Surroundings,
) -> anyhow::Result<BTreeMap<String, LaneTally>> {
    let mut tallies = BTreeMap::new();
    for seat in &brief.seats {
        let program = world::presence(&seat.lane, here).program;
        let version = match &program {
            Some(program) => world::version(&seat.lane, program, here).await,
            None => None,
        };
        let tally = LaneTally { version, cost_usd: Some(0.0), ..LaneTally::default() };
        tallies.insert(seat.lane.name.clone(), tally);
    }
    let mut spent = 0.0;
    for (number, (change, sprout)) in harvest.sprouts.iter().enumerate() {
        let Some(ground) = harvest.grounds.get(*change) else { continue };
        if spent >= brief.plan.max_cost_usd {
            console::say("no further canary: the lanes say that these cost enough");
            break;
        }
        let about = world::Canary {
            number: number + 1,
            ground,
            sprout,
            seats: &brief.seats,
            timeout_seconds: brief.timeout_seconds,
            reasoning: &brief.reasoning,
        };
        for CanaryTry { lane, found, cost_usd } in gate.canary(&about, here).await? {
            spent += cost_usd.unwrap_or_default();
            let Some(tally) = tallies.get_mut(&lane) else { continue };
            tally.pay(cost_usd);
            match found {
                Ok(found) => tally.reviewed(sprout.kind, found),
                Err(why) => {
                    tally.could_not_review += 1;
                    console::say(&console::harmless(&format!("note: {lane}: {why}")));
                }
            }
        }
    }
    Ok(tallies)
}

fn shown(done: &Done) -> String {
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
