//! Starts a session: chooses the settings and the panel, writes the session, and starts its supervisor.

use super::{Gate, GateFolder, SessionFolder, SessionProbe};
use crate::console;
use crate::environment::Environment;
use crate::settings::Settings;
use anyhow::Context;
use mala_domain::gate::SCHEMA_VERSION;
use mala_domain::gate::session::{
    CheckerSettings, ExcludedFiles, PanelMember, PinnedChange, Session, SessionEnd,
};
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

/// The time in which lanes start. Later ones are not listed as started.
const START: Duration = Duration::from_secs(60);

/// A change and its temporary copy.
pub struct SessionChange<'w> {
    /// The folder of the copy.
    pub scratch: &'w Path,
    /// The change by commits.
    pub pinned: &'w PinnedChange,
    /// The change itself.
    pub scoped: &'w ReviewScope,
    /// A description of the change.
    pub words: String,
}

/// The reviewers of a session, and their input.
pub struct SessionRequest {
    /// The panel.
    pub members: Vec<PanelMember>,
    /// Texts about the task.
    pub tasks: Vec<(String, String)>,
    /// The reasoning effort of codex.
    pub reasoning: &'static str,
    /// Warnings that are shown with the result.
    pub warnings: Vec<String>,
    /// Whether a hook requests it.
    pub is_of_hook: bool,
}

/// The panel, with the notice about the settings and the warnings about its members.
pub fn session_panel_members(
    named: &[String],
    settings: &Settings,
    here: &Environment,
) -> Result<(Vec<PanelMember>, Vec<String>), PanelProblem> {
    let policies = (&settings.gate, &settings.policy, &settings.models);
    let (members, warnings) = super::panel(named, policies, here)?;
    Ok((members, settings.notice.iter().cloned().chain(warnings).collect()))
}

/// A session that is not stored yet.
pub fn new_session(
    work: &SessionChange<'_>,
    brief: SessionRequest,
    settings: &Settings,
) -> anyhow::Result<Session> {
    let (key, secret) = super::fresh_names()?;
    Ok(Session {
        schema_version: SCHEMA_VERSION,
        key,
        signature: String::new(),
        created: String::new(),
        scope: ScopeSummary { target: work.words.clone(), ..work.scoped.scope.clone() },
        pinned: work.pinned.clone(),
        excluded: ExcludedFiles::of(&settings.policy),
        scratch: work.scratch.display().to_string(),
        secret,
        rule: settings.gate.consensus.value,
        timeout_seconds: settings.gate.timeout.value.duration().as_secs(),
        reasoning: brief.reasoning.to_owned(),
        members: brief.members,
        tasks: brief.tasks,
        warnings: brief.warnings,
        checker: settings.gate.agent_checks.value.then(|| CheckerSettings::of(&settings.policy)),
        agent: CheckerSettings::of(&settings.policy),
        rounds: settings.policy.rounds(false),
        canaries: settings.gate.canaries(),
        is_of_hook: brief.is_of_hook,
    })
}

/// Writes the session and starts its supervisor. A session that needs no review ends at once.
pub async fn start_session(
    gate: &Gate,
    session: &Session,
    scoped: &ReviewScope,
    here: &Environment,
) -> anyhow::Result<(SessionFolder, GateSpawnJson)> {
    super::sweep_dead(gate.sessions.all());
    super::sweep_scratch(gate);
    if let Err(error) = remove_older_than(OLD, &gate.sessions) {
        console::say(&format!("warning: old sessions stay: {error:#}"));
    }
    let session = &Session { created: now(), ..session.clone() };
    let folder = gate.sessions.create(session).context("writing the session down")?;
    for warning in &session.warnings {
        console::say(&format!("note: {}", console::harmless(warning)));
    }
    let started = match asks_lanes(session, scoped) {
        false => {
            let report = super::review_session(session, scoped.clone(), None, here).await?;
            folder.conclude(SessionEnd::Reviewed(Box::new(report)))?;
            super::remove_scratch(Path::new(&session.scratch));
            Vec::new()
        }
        true => {
            super::start_supervisor(here, &folder, &session.key)?;
            until_started(session, &folder).await?
        }
    };
    let spawned = GateSpawnJson::of(session, folder.path().display().to_string(), started);
    Ok((folder, spawned))
}

/// The current time, as sessions are sorted by.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.9fZ").to_string()
}

/// Whether there is a change and a lane that can review it.
fn asks_lanes(session: &Session, scoped: &ReviewScope) -> bool {
    let coverage = Coverage::over(&scoped.change, &[]);
    needs_reviewers(scoped.change.is_empty(), &coverage)
        && session.members.iter().any(|member| member.absent.is_none())
}

/// Waits until all usable lanes are started, and returns their names.
async fn until_started(session: &Session, folder: &SessionFolder) -> anyhow::Result<Vec<String>> {
    let deadline = Instant::now() + START;
    let expected: Vec<&PanelMember> =
        session.members.iter().filter(|member| member.absent.is_none()).collect();
    loop {
        let progress = folder.progress()?;
        let is_known = |member: &&PanelMember| {
            let name = &member.lane.name;
            progress.started.contains(name) || progress.ended.contains(name)
        };
        let is_over = folder.end()?.is_some();
        if expected.iter().all(is_known) || is_over || Instant::now() > deadline {
            return Ok(folder.progress()?.started);
        }
        if SessionProbe(folder).is_dead() {
            // `wait` reports a session that died. One that never began is an error of `spawn-code-review`.
            if !progress.started.is_empty() {
                return Ok(progress.started);
            }
            let log = std::fs::read_to_string(folder.path().join("supervisor.err"));
            let words = log.unwrap_or_default();
            super::sweep(folder, session);
            anyhow::bail!("the supervisor died: {}", console::harmless(words.trim()));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Removes ended sessions that were started longer ago than this; returns how many.
pub fn remove_older_than(limit: Duration, sessions: &GateFolder) -> anyhow::Result<usize> {
    let now = jiff::Timestamp::now();
    let mut removed = 0;
    for (folder, session) in sessions.all() {
        let created: jiff::Timestamp = session.created.parse().unwrap_or_default();
        let age = Duration::try_from(now.duration_since(created)).unwrap_or_default();
        if age < limit {
            continue;
        }
        if is_over(&folder) {
            super::sweep(&folder, &session);
            let removing = || format!("removing {}", folder.path().display());
            folder.remove().with_context(removing)?;
            removed += 1;
        }
    }
    Ok(removed + remove_unreadable(limit, sessions)?)
}

/// Whether a session ended; an unreadable result counts as one.
fn is_over(folder: &SessionFolder) -> bool {
    !matches!(folder.end(), Ok(None)) || SessionProbe(folder).is_dead()
}

/// Removes ended sessions that cannot be read, by the date of the file; returns how many.
fn remove_unreadable(limit: Duration, sessions: &GateFolder) -> anyhow::Result<usize> {
    let mut removed = 0;
    for (folder, _) in sessions.unreadable() {
        let age = folder.date().and_then(|date| date.elapsed().ok()).unwrap_or_default();
        if age >= limit && is_over(&folder) {
            let removing = || format!("removing {}", folder.path().display());
            folder.remove().with_context(removing)?;
            removed += 1;
        }
    }
    Ok(removed)
}
