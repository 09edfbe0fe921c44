//! `review-gate spawn-code-review`: writes a session down and starts its supervisor.

use super::pin;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::surroundings::Surroundings;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use anyhow::Context;
use clap::{Args, ValueEnum};
use mala_domain::gate::consensus::Rule;
use mala_domain::gate::output::{Consensus, PanelVerdict, Spawned, Status, Waited};
use mala_domain::gate::session::{Seat, Session};
use mala_domain::gate::{MARKER, SCHEMA_VERSION};
use mala_domain::ports::Scoped;
use mala_domain::scope::{Head, Scope};
use mala_domain::verdict::Obstacle;
use mala_pipeline::gate::{Choice, Look, choose};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long lanes may take to start. What is not started then is not named as started.
const START: Duration = Duration::from_secs(60);

/// Start the reviewers of a change
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true)
    .args(["diff", "commit", "base", "uncommitted"])))]
pub(super) struct SpawnArgs {
    /// The change, as BASELINE..HEAD
    #[arg(long, value_name = "RANGE")]
    pub(super) diff: Option<String>,

    /// Review these commits, each against its first parent
    #[arg(long, value_name = "SHA", num_args = 1..)]
    pub(super) commit: Vec<String>,

    /// Review what HEAD has since it left this branch
    #[arg(long, value_name = "BRANCH")]
    pub(super) base: Option<String>,

    /// Review the working tree against HEAD: staged, unstaged and untracked files
    #[arg(long)]
    pub(super) uncommitted: bool,

    /// What the change is for, as a file
    #[arg(long, value_name = "FILE")]
    context_file: Option<PathBuf>,

    /// How hard codex thinks
    #[arg(long, value_name = "LEVEL", default_value = "high")]
    codex_reasoning: Reasoning,

    /// The lanes of the panel; all that are installed if not given
    #[arg(long, value_name = "LANE,...", value_delimiter = ',')]
    lanes: Vec<String>,

    /// How many must pass the change: unanimous, majority, any or quorum:N
    #[arg(long, value_name = "RULE")]
    pub(super) consensus: Option<Rule>,

    /// How long a reviewer may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..=86_400))]
    pub(super) timeout: Option<i64>,
}

/// How hard a reviewer thinks
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Reasoning {
    Low,
    Medium,
    High,
}

impl Reasoning {
    fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

pub(super) fn run(args: &SpawnArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    if here.variable(MARKER).is_some() {
        return Err(Failure::new(Exit::SPAWN_FAILED, "this is a reviewer of another gate already")
            .hint("a gate inside of a gate would never end")
            .into());
    }
    until_interrupted(spawn(args, here))
}

async fn spawn(args: &SpawnArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let target = pin::target(args)?;
    let tasks = pin::tasks(args.context_file.as_deref())?;
    let gate = Gate::open(here).await?;
    let (scratch, pinned) = gate.pin(&target).await?;
    let started = async {
        let (_, scoped) = world::scope(here, &scratch, &pinned).await?;
        let settings = pin::settings(args, here, &target, &scoped).await?;
        let (seats, mut warnings) = choose(&Choice {
            named: &args.lanes,
            policy: &settings.gate,
            missing: &|lane| {
                let presence = world::presence(lane, here);
                presence.program.is_none().then(|| presence.why_not(lane)).flatten()
            },
            useless: &|lane| world::presence(lane, here).why_not(lane),
        })?;
        warnings.extend(settings.notice.clone());
        let (key, secret) = world::fresh_names()?;
        let session = Session {
            schema_version: SCHEMA_VERSION,
            key,
            created: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.9fZ").to_string(),
            scope: Scope { target: pin::words(args), ..scoped.scope.clone() },
            pinned: pinned.clone(),
            scratch: scratch.display().to_string(),
            secret,
            rule: settings.gate.consensus.value,
            timeout_seconds: settings.gate.timeout.value.duration().as_secs(),
            reasoning: args.codex_reasoning.name().to_owned(),
            seats,
            tasks,
            warnings,
        };
        start(&gate, session, &scoped, here).await
    };
    let spawned = started.await.inspect_err(|_| world::remove_scratch(&scratch))?;
    console::data(&format!("{}\n", serde_json::to_string_pretty(&spawned)?))?;
    Ok(Exit::Passed)
}

/// Writes the session down and starts its supervisor; a session that nobody needs to review is over.
async fn start(
    gate: &Gate,
    session: Session,
    scoped: &Scoped,
    here: &Surroundings,
) -> anyhow::Result<Spawned> {
    let folder = gate.sessions.create(&session).context("writing the session down")?;
    let over = if scoped.change.is_empty() {
        Some(nothing_changed(&session))
    } else if session.seats.iter().all(|seat| seat.absent.is_some()) {
        Some(nobody_there(&session))
    } else {
        None
    };
    for warning in &session.warnings {
        console::say(&format!("note: {}", console::harmless(warning)));
    }
    if let Some(result) = over {
        folder.conclude(&result)?;
        world::remove_scratch(Path::new(&session.scratch));
        return Ok(spawned(&session, &folder, Vec::new()));
    }
    world::start_supervisor(here, &folder, &session.key)?;
    let started = until_started(&session, &folder).await?;
    Ok(spawned(&session, &folder, started))
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
            world::sweep(session);
            anyhow::bail!("the supervisor died: {}", console::harmless(words.trim()));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn spawned(session: &Session, folder: &SessionFolder, started: Vec<String>) -> Spawned {
    let missing = session.seats.iter().filter(|seat| !started.contains(&seat.lane.name));
    let missing = missing.map(|seat| {
        let why = seat.absent.clone().unwrap_or_else(|| "not started".to_owned());
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
