//! `review-gate supervise`: the detached process that `spawn-code-review` starts. It runs one session.

use crate::environment::Environment;
use crate::exit::Exit;
use crate::settings::UserSettings;
use crate::wiring::gate::{self as world, Gate, SessionFolder, SessionLanes};
use anyhow::Context;
use clap::Args;
use mala_domain::gate::session::{Session, SessionEnd, SessionPhase, SessionProgress};
use mala_domain::report::Report;
use std::path::Path;

/// Run one session to its end
#[derive(Debug, Args)]
pub(crate) struct SuperviseArgs {
    /// The session
    #[arg(long, value_name = "KEY")]
    session: String,
}

pub(crate) fn run(args: &SuperviseArgs, here: &Environment) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let done = runtime.block_on(whole(args, here));
    // A thread that waits for a process group may never end, because processes can leave the group.
    runtime.shutdown_background();
    done
}

async fn whole(args: &SuperviseArgs, here: &Environment) -> anyhow::Result<Exit> {
    let gate = Gate::open(here).await?;
    let folder = gate.own(&args.session)?;
    let session = folder.session()?;
    world::become_supervisor(&folder)?;
    let result = tokio::select! {
        result = review(&gate, &session, &folder, here) => result,
        () = folder.keep_alive() => Err(anyhow::anyhow!("the heartbeat stopped")),
    };
    let end = match result {
        Ok(report) => SessionEnd::Reviewed(Box::new(report)),
        Err(error) => SessionEnd::Failed(format!("{error:#}")),
    };
    // All processes and copies are gone when the result can be read.
    world::kill_orphans();
    world::throw_away(&folder, &session);
    let progress = SessionProgress { phase: SessionPhase::Done, ..folder.progress()? };
    folder.set_progress(&progress)?;
    folder.conclude(end)?;
    // The verdict is written: canaries cannot delay or change it.
    if let Some(plan) = &session.canaries
        && let Err(error) = gate.start_if_due(&session, plan, here)
    {
        crate::console::say(&format!("warning: no canaries: {error:#}"));
    }
    Ok(Exit::Passed)
}

async fn review(
    gate: &Gate,
    session: &Session,
    folder: &SessionFolder,
    here: &Environment,
) -> anyhow::Result<Report> {
    world::hold_scratch(session)?;
    let (git, scoped) = gate.scope(Path::new(&session.scratch), &session.pinned).await?;
    if scoped.scope.diff_hash != session.scope.diff_hash {
        anyhow::bail!("the change is not the one that the session was started for");
    }
    let models = UserSettings::load(here)?.models;
    let lanes = SessionLanes { gate, git, folder, models };
    world::review_session(session, scoped, Some(lanes), here).await
}
