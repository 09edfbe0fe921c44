//! The gate for the current work: the session that already has it, or a new one, and what it says.

use crate::cli::interrupt::stop_signal;
use crate::console;
use crate::environment::Environment;
use crate::settings::UserSettings;
use crate::wiring::gate::open::{self, SessionRequest};
use crate::wiring::gate::work::base_branch;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use crate::wiring::trusted_settings;
use anyhow::Context;
use mala_domain::config::Config;
use mala_domain::gate::hook::{
    ConversationMemory, HookFacts, HookWork, UnreviewedWork, WorkLocation, WorkStart,
};
use mala_domain::gate::session::{LeftOut, Session, SessionState};
use mala_domain::verdict::Outcome;
use mala_pipeline::gate::{WatchedSession as _, wait};
use std::time::{Duration, Instant};

/// What is found, and how often it may keep somebody.
pub(super) struct HookLook {
    pub(super) found: HookFacts,
    pub(super) max_blocks: u32,
}

/// Why nothing is known after this time.
pub(super) fn too_long(time: Duration) -> String {
    format!("no result within {} s", time.as_secs())
}

/// Looks at the current work, for so long.
pub(super) fn look(
    here: &Environment,
    memory: &ConversationMemory,
    time: Duration,
) -> anyhow::Result<HookLook> {
    let runtime = runtime()?;
    let deadline = Instant::now() + time;
    let looked = runtime.block_on(async {
        tokio::select! {
            looked = at_gate(here, memory, deadline) => looked,
            ended = stop_signal() => {
                ended.map(|()| HookLook { found: HookFacts::Interrupted, max_blocks: 0 })
            }
            () = tokio::time::sleep(time) => anyhow::bail!("{}", too_long(time)),
        }
    });
    // What does not end must not keep the program from ending.
    runtime.shutdown_background();
    looked
}

/// Where the work of a conversation starts that begins now.
pub(super) fn beginning(here: &Environment, time: Duration) -> anyhow::Result<WorkLocation> {
    let runtime = runtime()?;
    let place = runtime.block_on(async {
        tokio::select! {
            place = place_now(here) => place,
            () = tokio::time::sleep(time) => anyhow::bail!("{}", too_long(time)),
        }
    });
    runtime.shutdown_background();
    place
}

async fn place_now(here: &Environment) -> anyhow::Result<WorkLocation> {
    let gate = Gate::open(here).await?;
    gate.place_of_beginning(base_branch(here, &UserSettings::load(here)?).await?.as_deref()).await
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().context("starting the runtime")
}

async fn at_gate(
    here: &Environment,
    memory: &ConversationMemory,
    deadline: Instant,
) -> anyhow::Result<HookLook> {
    let gate = Gate::open(here).await?;
    let user = UserSettings::load(here)?;
    let base = base_branch(here, &user).await?;
    let work = gate.current_work(base.as_deref(), memory).await?;
    let (_, scoped) = world::scope(here, work.scratch.path(), &work.pinned).await?;
    // What an agent works on never says how it is reviewed: only the base does.
    let settings = trusted_settings::of_change(&user, &scoped, Config::default()).await?;
    let max_blocks = settings.gate.max_blocks.value.get();
    if scoped.change.is_empty() {
        if memory.accepted.is_empty() && work.is_on_base && gate.hook().baseline().is_none() {
            set_baseline(&gate, &work.place);
        }
        return Ok(HookLook { found: HookFacts::NothingChanged(work.place), max_blocks });
    }
    let scoped = world::narrowed(scoped, &LeftOut::of(&settings.policy))?;
    let (seats, warnings) = open::panel(&[], &settings, here)?;
    let brief = SessionRequest { seats, tasks: Vec::new(), reasoning: "high", warnings };
    let words = match &work.place.start {
        WorkStart::Commit(base) => format!("the work since {}", base.get(..12).unwrap_or(base)),
        WorkStart::Nothing | WorkStart::Unknown => "all work".to_owned(),
    };
    let scratch = work.scratch.path();
    let asked = open::Work { scratch, pinned: &work.pinned, scoped: &scoped, words };
    let session = open::session(&asked, brief, &settings)?;
    let (place, is_on_base) = (work.place.clone(), work.is_on_base);
    let hash = session.scope.diff_hash.clone();
    let is_released = memory.is_released && memory.work.as_ref() == Some(&hash);
    let folder = match at_work(&gate, &session) {
        Some(folder) => folder,
        None if is_released => {
            let why = "it was let go before, and is not tried again".to_owned();
            let unseen = UnreviewedWork { work: Some(HookWork { hash, place }), why, report: None };
            return Ok(HookLook { found: HookFacts::UnreviewedWork(unseen), max_blocks });
        }
        None => {
            // It is the supervisor's from here on, whether or not anybody waits for it.
            let scratch = work.scratch.keep();
            let started = open::start(&gate, &session, &scoped, here).await;
            started.inspect_err(|_| world::remove_scratch(&scratch))?.0
        }
    };
    let work = HookWork { hash, place };
    let found = said(&folder, &work, deadline).await?;
    if is_on_base && matches!(&found, HookFacts::JudgedWork(judged) if judged.passes) {
        set_baseline(&gate, &work.place);
    }
    Ok(HookLook { found, max_blocks })
}

/// The session that has the same work before the same panel, told the same, and came to a verdict or still
/// runs. One that objects goes before those that somebody asked for until they passed.
fn at_work(gate: &Gate, wanted: &Session) -> Option<SessionFolder> {
    let is_same = |session: &Session| {
        session.scope.diff_hash == wanted.scope.diff_hash
            && session.seats == wanted.seats
            && session.rule == wanted.rule
            && session.left_out == wanted.left_out
            && session.tasks == wanted.tasks
            && session.reasoning == wanted.reasoning
            && session.checker == wanted.checker
    };
    let mut first = None;
    for (folder, _) in gate.sessions.all().into_iter().filter(|(_, session)| is_same(session)) {
        let is_of_use = match folder.end() {
            Ok(Some(end)) => match end.outcome() {
                Outcome::Blocked => return Some(folder),
                Outcome::Passed => true,
                Outcome::CouldNotReview(_) => false,
            },
            Ok(None) => !world::Seen(&folder).is_dead(),
            Err(_) => false,
        };
        if is_of_use {
            first.get_or_insert(folder);
        }
    }
    first
}

async fn said(
    folder: &SessionFolder,
    work: &HookWork,
    deadline: Instant,
) -> anyhow::Result<HookFacts> {
    // A moment is kept for what comes after.
    let time = deadline.saturating_duration_since(Instant::now() + Duration::from_secs(1));
    let state = wait(&world::Seen(folder), time).await;
    if state == SessionState::Dead
        && let Ok(session) = folder.session()
    {
        world::sweep(folder, &session);
    }
    if let SessionState::Running(_) = state {
        return Ok(HookFacts::UnreviewedWork(UnreviewedWork {
            work: Some(work.clone()),
            why: "the review still runs".to_owned(),
            report: Some(folder.path().display().to_string()),
        }));
    }
    let report = folder.report(&state).context("writing the report")?;
    Ok(HookFacts::of_session(work, &state, report.display().to_string()))
}

/// Without it the work only seems longer than it is.
fn set_baseline(gate: &Gate, place: &WorkLocation) {
    let Some(accepted) = place.accepted_by_pass() else { return };
    if let Err(error) = gate.hook().set_baseline(&accepted) {
        console::say(&format!("warning: what passed is not remembered: {error}"));
    }
}
