//! `review-gate spawn-code-review`: writes a session down and starts its supervisor.

use super::pin;
use crate::cli::exit::Exit;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::UserSettings;
use crate::wiring::gate::open::{self, SessionRequest, Work};
use crate::wiring::gate::{self as world, Gate};
use crate::wiring::trusted_settings;
use anyhow::Context;
use clap::{Args, ValueEnum};
use mala_domain::config::Seconds;
use mala_domain::gate::session::LeftOut;
use mala_domain::gate::{CALL, MARKER, TIME};
use mala_domain::review::consensus::ConsensusRule;
use std::path::PathBuf;

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
    pub(super) consensus: Option<ConsensusRule>,

    /// How long a reviewer may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<Seconds>,
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

pub(super) fn run(args: &SpawnArgs, here: &Environment) -> anyhow::Result<Exit> {
    if here.variable(MARKER).is_some() {
        return Err(Failure::new(
            FailureKind::SpawnFailed,
            "this is a reviewer of another gate already",
        )
        .hint("a gate inside of a gate would never end")
        .into());
    }
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        let time = gate.next_time().await?;
        gate.sessions.attempt(&time, None).context("writing the attempt down")?;
        let spawned = spawn(args, &gate, here).await;
        if let Err(error) = &spawned {
            note(&gate, &format!("{error:#}")).await;
        }
        spawned
    })
}

/// A command line that makes no sense starts nothing: whoever waits next is told so. A lane has nobody to
/// tell, and must not write.
pub(super) fn misunderstood(here: &Environment) -> anyhow::Result<Exit> {
    if here.variable(MARKER).is_some() {
        return Ok(Exit::Usage);
    }
    until_interrupted(async {
        note(&Gate::open(here).await?, "the command line was not understood").await;
        Ok(Exit::Usage)
    })
}

/// Writes down why no session was started.
async fn note(gate: &Gate, why: &str) {
    let noted = match gate.next_time().await {
        Ok(time) => gate.sessions.attempt(&time, Some(why)).map_err(anyhow::Error::from),
        Err(error) => Err(error),
    };
    if let Err(error) = noted {
        console::say(&format!("warning: why it was not started is not written down: {error:#}"));
    }
}

async fn spawn(args: &SpawnArgs, gate: &Gate, here: &Environment) -> anyhow::Result<Exit> {
    let target = pin::target(args)?;
    let tasks = pin::tasks(args.context_file.as_deref())?;
    let (scratch, pinned) = gate.pin(&target).await?;
    let (_, scoped) = world::scope(here, scratch.path(), &pinned).await?;
    // What is not committed is under review itself, and says nothing of how.
    let settings = {
        let user = UserSettings::load(here)?;
        trusted_settings::of_change(&user, &scoped, pin::flags(args)).await?
    };
    let scoped = world::narrowed(scoped, &LeftOut::of(&settings.policy))?;
    let (seats, warnings) = open::panel(&args.lanes, &settings, here)?;
    let reasoning = args.codex_reasoning.name();
    let brief = SessionRequest { seats, tasks, reasoning, warnings };
    let words = pin::words(args);
    let work = Work { scratch: scratch.path(), pinned: &pinned, scoped: &scoped, words };
    let mut session = open::session(&work, brief, &settings)?;
    if let Some(named) = here.text(CALL).filter(|key| is_key(key)) {
        named.clone_into(&mut session.key);
    }
    if let Some(seconds) = here.text(TIME).and_then(|seconds| seconds.parse::<u64>().ok()) {
        session.timeout_seconds = session.timeout_seconds.min(seconds.max(1));
    }
    // From here on the folder is the session's.
    let scratch = scratch.keep();
    let started = open::start(gate, &session, &scoped, here).await;
    let (folder, spawned) = started.inspect_err(|_| world::remove_scratch(&scratch))?;
    let printed = console::data(&format!("{}\n", serde_json::to_string_pretty(&spawned)?));
    if printed.is_err() {
        // Nobody knows its key.
        world::stop(&folder, &session)?;
    }
    printed?;
    Ok(Exit::Passed)
}

/// Whether a key that a caller names is as good as one of ours.
fn is_key(key: &str) -> bool {
    let lengths: Vec<usize> = key.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && key.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}
