//! `review-gate spawn-code-review`: creates a session and starts its supervisor.

use super::pin;
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::until_interrupted;
use crate::settings::UserSettings;
use crate::wiring::gate::{self as world, Gate, SessionChange, SessionRequest};
use crate::wiring::trusted_settings;
use clap::{Args, ValueEnum};
use mala_domain::config::Seconds;
use mala_domain::gate::session::ExcludedFiles;
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

    /// Review the changes of HEAD since its merge base with this branch
    #[arg(long, value_name = "BRANCH")]
    pub(super) base: Option<String>,

    /// Review the working tree against HEAD: staged, unstaged and untracked files
    #[arg(long)]
    pub(super) uncommitted: bool,

    /// A file that describes the purpose of the change
    #[arg(long, value_name = "FILE")]
    context_file: Option<PathBuf>,

    /// Codex reasoning effort
    #[arg(long, value_name = "LEVEL", default_value = "high")]
    codex_reasoning: Reasoning,

    /// The reviewers of the panel [default: all that are installed]
    #[arg(long, value_name = "LANE,...", value_delimiter = ',')]
    lanes: Vec<String>,

    /// How many reviewers must pass the change: unanimous, majority, any or quorum:N
    #[arg(long, value_name = "RULE")]
    pub(super) consensus: Option<ConsensusRule>,

    /// Time limit of a reviewer, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<Seconds>,
}

/// Reasoning effort
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
        return Err(Failure::new(FailureKind::SpawnFailed, "cannot run inside a review of a gate")
            .hint("run `review-gate` outside of a reviewer")
            .into());
    }
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        spawn(args, &gate, here).await
    })
}

async fn spawn(args: &SpawnArgs, gate: &Gate, here: &Environment) -> anyhow::Result<Exit> {
    let target = pin::target(args)?;
    let tasks = pin::tasks(args.context_file.as_deref())?;
    let (scratch, pinned) = gate.pin(&target).await?;
    let (_, scoped) = gate.scope(scratch.path(), &pinned).await?;
    // Uncommitted settings are part of the change under review and are not used.
    let settings = {
        let user = UserSettings::load(here)?;
        trusted_settings::of_change(&user, &scoped, pin::flags(args)).await?
    };
    let scoped = world::narrowed(scoped, &ExcludedFiles::of(&settings.policy))?;
    let (members, mut warnings) = world::session_panel_members(&args.lanes, &settings, here)?;
    if scoped.change.is_empty() && gate.has_uncommitted_changes().await? {
        let what = "uncommitted changes are not included: review them with --uncommitted";
        warnings.push(what.to_owned());
    }
    let reasoning = args.codex_reasoning.name();
    let brief = SessionRequest { members, tasks, reasoning, warnings, is_of_hook: false };
    let words = pin::words(args);
    let work = SessionChange { scratch: scratch.path(), pinned: &pinned, scoped: &scoped, words };
    let mut session = world::new_session(&work, brief, &settings)?;
    if let Some(named) = here.text(CALL).filter(|key| is_key(key)) {
        named.clone_into(&mut session.key);
    }
    if let Some(seconds) = here.text(TIME).and_then(|seconds| seconds.parse::<u64>().ok()) {
        session.timeout_seconds = session.timeout_seconds.min(seconds.max(1));
    }
    // The supervisor removes the folder from here on.
    let scratch = scratch.keep();
    let started = world::start_session(gate, &session, &scoped, here).await;
    let (folder, spawned) = started.inspect_err(|_| world::remove_scratch(&scratch))?;
    let printed = console::data(&format!("{}\n", serde_json::to_string_pretty(&spawned)?));
    if printed.is_err() {
        // The caller did not get the key and could not stop the session.
        world::stop(&folder, &session)?;
    }
    printed?;
    Ok(Exit::Passed)
}

/// Whether a key that a caller chose has the form of a UUID.
fn is_key(key: &str) -> bool {
    let lengths: Vec<usize> = key.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && key.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}
