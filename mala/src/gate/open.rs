//! Opens a session: who sits in the panel, the session written down, its supervisor started.

use super::clean::remove_older_than;
use crate::console;
use crate::settings::Settings;
use crate::surroundings::Surroundings;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use anyhow::Context;
use mala_domain::config::{Origin, ReviewPolicy};
use mala_domain::gate::SCHEMA_VERSION;
use mala_domain::gate::output::{Consensus, PanelVerdict, Spawned, Status, Waited};
use mala_domain::gate::session::{Checker, LeftOut, Pinned, Seat, Session};
use mala_domain::ports::Scoped;
use mala_domain::review::Coverage;
use mala_domain::scope::{Head, Scope};
use mala_domain::verdict::Obstacle;
use mala_pipeline::gate::{Choice, Look, PanelProblem, choose};
use std::path::Path;
use std::time::{Duration, Instant};

/// Sessions that were started longer ago than this are removed when another one starts.
const OLD: Duration = Duration::from_secs(30 * 86_400);

/// How long lanes may take to start. What is not started then is not named as started.
const START: Duration = Duration::from_secs(60);

/// A change, and where its throw-away copy is.
pub(crate) struct Work<'w> {
    /// The folder of the copy.
    pub(crate) scratch: &'w Path,
    /// The change by commits.
    pub(crate) pinned: &'w Pinned,
    /// The change itself.
    pub(crate) scoped: &'w Scoped,
    /// What it is, in words.
    pub(crate) words: String,
}

/// Who is asked, and what they are told.
pub(crate) struct Brief {
    /// The panel.
    pub(crate) seats: Vec<Seat>,
    /// Texts about the task.
    pub(crate) tasks: Vec<(String, String)>,
    /// How hard codex thinks.
    pub(crate) reasoning: &'static str,
    /// What to say with the result.
    pub(crate) warnings: Vec<String>,
}

/// The panel, and what to say about it.
pub(crate) fn panel(
    named: &[String],
    settings: &Settings,
    here: &Surroundings,
) -> Result<(Vec<Seat>, Vec<String>), PanelProblem> {
    let (seats, warnings) = choose(&Choice {
        named,
        policy: &settings.gate,
        missing: &|lane| {
            let presence = world::presence(lane, here);
            presence.program.is_none().then(|| presence.why_not(lane)).flatten()
        },
        useless: &|lane| world::presence(lane, here).why_not(lane),
    })?;
    // Which settings hold explains the rest.
    Ok((seats, settings.notice.iter().cloned().chain(warnings).collect()))
}

/// A session that is not written down yet.
pub(crate) fn session(
    work: &Work<'_>,
    brief: Brief,
    settings: &Settings,
) -> anyhow::Result<Session> {
    let (key, secret) = world::fresh_names()?;
    Ok(Session {
        schema_version: SCHEMA_VERSION,
        key,
        stamp: String::new(),
        created: String::new(),
        scope: Scope { target: work.words.clone(), ..work.scoped.scope.clone() },
        pinned: work.pinned.clone(),
        left_out: left_out(settings),
        scratch: work.scratch.display().to_string(),
        secret,
        rule: settings.gate.consensus.value,
        timeout_seconds: settings.gate.timeout.value.duration().as_secs(),
        reasoning: brief.reasoning.to_owned(),
        seats: brief.seats,
        tasks: brief.tasks,
        warnings: brief.warnings,
        checker: settings.gate.agent_checks.value.then(|| checker(&settings.policy)),
        canaries: settings.gate.canaries(),
    })
}

/// What the settings leave out.
pub(crate) fn left_out(settings: &Settings) -> LeftOut {
    let policy = &settings.policy;
    let (ignore, generated) = (policy.ignore.value.clone(), policy.generated.value.clone());
    LeftOut { ignore, generated }
}

/// How the agent checks, by the settings that are trusted.
fn checker(policy: &ReviewPolicy) -> Checker {
    let model = &policy.agent_model;
    Checker {
        model: (model.origin != Origin::Default).then(|| model.value.clone()),
        budget: policy.budget.as_written(),
    }
}

/// Writes the session down and starts its supervisor; a session that nobody needs to review is over.
pub(crate) async fn start(
    gate: &Gate,
    session: &Session,
    scoped: &Scoped,
    here: &Surroundings,
) -> anyhow::Result<(SessionFolder, Spawned)> {
    world::sweep_dead(gate.sessions.all());
    world::sweep_scratch(gate);
    if let Err(error) = remove_older_than(OLD, &gate.sessions) {
        console::say(&format!("warning: old sessions stay: {error:#}"));
    }
    let session = &Session { created: gate.next_time().await?, ..session.clone() };
    let folder = gate.sessions.create(session).context("writing the session down")?;
    let over = if scoped.change.is_empty() {
        Some(nothing_changed(session))
    } else if session.seats.iter().all(|seat| seat.absent.is_some()) {
        Some(nobody_there(session))
    } else {
        nothing_to_see(session, Coverage::over(&scoped.change, &[]))
    };
    for warning in &session.warnings {
        console::say(&format!("note: {}", console::harmless(warning)));
    }
    let started = match over {
        Some(result) => {
            folder.conclude(&result)?;
            world::remove_scratch(Path::new(&session.scratch));
            Vec::new()
        }
        None => {
            world::start_supervisor(here, &folder, &session.key)?;
            until_started(session, &folder).await?
        }
    };
    let spawned = spawned(session, &folder, started);
    Ok((folder, spawned))
}

/// Waits until every lane that can be started is.
async fn until_started(session: &Session, folder: &SessionFolder) -> anyhow::Result<Vec<String>> {
    let deadline = Instant::now() + START;
    let expected: Vec<&Seat> = session.seats.iter().filter(|seat| seat.absent.is_none()).collect();
    loop {
        let progress = folder.progress()?;
        let is_known = |seat: &&Seat| {
            let name = &seat.lane.name;
            progress.started.contains(name) || progress.ended.contains(name)
        };
        let is_over = folder.result()?.is_some();
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

fn spawned(session: &Session, folder: &SessionFolder, started: Vec<String>) -> Spawned {
    let missing = session.seats.iter().filter(|seat| !started.contains(&seat.lane.name));
    let missing = missing.map(|seat| {
        let why = match session.has_nothing_to_review() {
            true => "nothing changed",
            false => "not started",
        };
        let why = seat.absent.clone().unwrap_or_else(|| why.to_owned());
        (seat.lane.name.clone(), why)
    });
    Spawned {
        schema_version: SCHEMA_VERSION,
        session_key: session.key.clone(),
        reviewers_missing: missing.collect(),
        reviewers_spawned: started,
        session_dir: folder.path().display().to_string(),
        head: match &session.scope.head {
            Head::Commit(sha) => Some(sha.clone()),
            _ => None,
        },
    }
}

/// An empty change passes without any call.
fn nothing_changed(session: &Session) -> Waited {
    let nothing = Waited::undecided(Obstacle::Internal, "");
    let mut votes = nothing.consensus.verified.clone();
    votes.verdict = PanelVerdict::Pass;
    Waited {
        status: Status::Resolved,
        consensus: Consensus {
            verdict: PanelVerdict::Pass,
            rule: session.rule,
            raw: votes.clone(),
            verified: votes,
            ..nothing.consensus
        },
        parse_errors: Vec::new(),
        session_key: Some(session.key.clone()),
        scope: Some(session.scope.clone()),
        warnings: vec!["nothing changed: nobody was asked".to_owned()],
        obstacle: None,
        ..nothing
    }
}

/// A change of which nobody can look at anything is not reviewed, and nobody needs to be asked for that.
fn nothing_to_see(session: &Session, coverage: Coverage) -> Option<Waited> {
    if !coverage.is_blind() {
        return None;
    }
    let why = "nothing in this change can be reviewed";
    let undecided = Waited::undecided(Obstacle::Incomplete, why);
    let left_out = coverage.left_out();
    Some(Waited {
        parse_errors: undecided.parse_errors.into_iter().chain(left_out).collect(),
        session_key: Some(session.key.clone()),
        scope: Some(session.scope.clone()),
        consensus: Consensus { rule: session.rule, ..undecided.consensus },
        warnings: session.warnings.clone(),
        coverage,
        ..undecided
    })
}

fn nobody_there(session: &Session) -> Waited {
    let missing: Vec<String> = session
        .seats
        .iter()
        .filter_map(|seat| Some(format!("{}: {}", seat.lane.name, seat.absent.as_ref()?)))
        .chain(session.warnings.iter().cloned())
        .collect();
    let nobody = Waited::undecided(Obstacle::NoReviewers, "no reviewers");
    Waited {
        parse_errors: if missing.is_empty() { nobody.parse_errors.clone() } else { missing },
        session_key: Some(session.key.clone()),
        scope: Some(session.scope.clone()),
        consensus: Consensus { rule: session.rule, ..nobody.consensus.clone() },
        ..nobody
    }
}
