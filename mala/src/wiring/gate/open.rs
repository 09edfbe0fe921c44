//! Opens a session: chooses the panel, writes the session down, and starts its supervisor.

use crate::console;
use crate::environment::Environment;
use crate::settings::Settings;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use anyhow::Context;
use mala_domain::gate::SCHEMA_VERSION;
use mala_domain::gate::session::{Checker, LeftOut, PanelMember, Pinned, Session, SessionEnd};
use mala_domain::ports::ReviewScope;
use mala_domain::render::gate::GateSpawnJson;
use mala_domain::review::Coverage;
use mala_domain::review::decide::needs_reviewers;
use mala_domain::scope::ScopeSummary;
use mala_pipeline::gate::{PanelProblem, WatchedSession as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// Sessions that were started longer ago than this are removed when another one starts.
const OLD: Duration = Duration::from_secs(30 * 86_400);

/// How long lanes may take to start. What is not started then is not named as started.
const START: Duration = Duration::from_secs(60);

/// A change, and where its throw-away copy is.
pub struct Work<'w> {
    /// The folder of the copy.
    pub scratch: &'w Path,
    /// The change by commits.
    pub pinned: &'w Pinned,
    /// The change itself.
    pub scoped: &'w ReviewScope,
    /// What it is, in words.
    pub words: String,
}

/// Who is asked, and what they are told.
pub struct SessionRequest {
    /// The panel.
    pub seats: Vec<PanelMember>,
    /// Texts about the task.
    pub tasks: Vec<(String, String)>,
    /// How hard codex thinks.
    pub reasoning: &'static str,
    /// What to say with the result.
    pub warnings: Vec<String>,
}

/// The panel, and what to say about it: which settings hold explains the rest.
pub fn panel(
    named: &[String],
    settings: &Settings,
    here: &Environment,
) -> Result<(Vec<PanelMember>, Vec<String>), PanelProblem> {
    let (seats, warnings) = world::panel(named, &settings.gate, here)?;
    Ok((seats, settings.notice.iter().cloned().chain(warnings).collect()))
}

/// A session that is not written down yet.
pub fn session(
    work: &Work<'_>,
    brief: SessionRequest,
    settings: &Settings,
) -> anyhow::Result<Session> {
    let (key, secret) = world::fresh_names()?;
    Ok(Session {
        schema_version: SCHEMA_VERSION,
        key,
        stamp: String::new(),
        created: String::new(),
        scope: ScopeSummary { target: work.words.clone(), ..work.scoped.scope.clone() },
        pinned: work.pinned.clone(),
        left_out: LeftOut::of(&settings.policy),
        scratch: work.scratch.display().to_string(),
        secret,
        rule: settings.gate.consensus.value,
        timeout_seconds: settings.gate.timeout.value.duration().as_secs(),
        reasoning: brief.reasoning.to_owned(),
        seats: brief.seats,
        tasks: brief.tasks,
        warnings: brief.warnings,
        checker: settings.gate.agent_checks.value.then(|| Checker::of(&settings.policy)),
        canaries: settings.gate.canaries(),
    })
}

/// Writes the session down and starts its supervisor; a session that nobody needs to review is over.
pub async fn start(
    gate: &Gate,
    session: &Session,
    scoped: &ReviewScope,
    here: &Environment,
) -> anyhow::Result<(SessionFolder, GateSpawnJson)> {
    world::sweep_dead(gate.sessions.all());
    world::sweep_scratch(gate);
    if let Err(error) = world::remove_older_than(OLD, &gate.sessions) {
        console::say(&format!("warning: old sessions stay: {error:#}"));
    }
    let session = &Session { created: gate.next_time().await?, ..session.clone() };
    let folder = gate.sessions.create(session).context("writing the session down")?;
    for warning in &session.warnings {
        console::say(&format!("note: {}", console::harmless(warning)));
    }
    let started = match asks_lanes(session, scoped) {
        false => {
            let report = world::review_session(session, scoped.clone(), None, here).await?;
            folder.conclude(SessionEnd::Reviewed(Box::new(report)))?;
            world::remove_scratch(Path::new(&session.scratch));
            Vec::new()
        }
        true => {
            world::start_supervisor(here, &folder, &session.key)?;
            until_started(session, &folder).await?
        }
    };
    let spawned = GateSpawnJson::of(session, folder.path().display().to_string(), started);
    Ok((folder, spawned))
}

/// Whether a lane has anything to do.
fn asks_lanes(session: &Session, scoped: &ReviewScope) -> bool {
    let coverage = Coverage::over(&scoped.change, &[]);
    needs_reviewers(scoped.change.is_empty(), &coverage)
        && session.seats.iter().any(|seat| seat.absent.is_none())
}

/// Waits until every lane that can be started is.
async fn until_started(session: &Session, folder: &SessionFolder) -> anyhow::Result<Vec<String>> {
    let deadline = Instant::now() + START;
    let expected: Vec<&PanelMember> =
        session.seats.iter().filter(|seat| seat.absent.is_none()).collect();
    loop {
        let progress = folder.progress()?;
        let is_known = |seat: &&PanelMember| {
            let name = &seat.lane.name;
            progress.started.contains(name) || progress.ended.contains(name)
        };
        let is_over = folder.end()?.is_some();
        if expected.iter().all(is_known) || is_over || Instant::now() > deadline {
            return Ok(folder.progress()?.started);
        }
        if world::Seen(folder).is_dead() {
            // Those who wait are told that it died; a session that never began is not worth a wait.
            if !progress.started.is_empty() {
                return Ok(progress.started);
            }
            let log = std::fs::read_to_string(folder.path().join("supervisor.err"));
            let words = log.unwrap_or_default();
            world::sweep(folder, session);
            anyhow::bail!("the supervisor died: {}", console::harmless(words.trim()));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
