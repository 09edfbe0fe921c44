//! `review-gate supervise`: what `spawn-code-review` starts, detached. It runs one session to its end.

use crate::cli::exit::Exit;
use crate::surroundings::Surroundings;
use crate::wiring::gate::{self as world, Gate, SessionFolder};
use crate::wiring::reviewers;
use anyhow::Context;
use clap::Args;
use mala_domain::gate::output::Waited;
use mala_domain::gate::session::{Phase, Progress, Session};
use mala_domain::verdict::Obstacle;
use mala_pipeline::agent::Agent;
use mala_pipeline::gate::{Panel, supervise};
use std::path::Path;
use std::sync::Arc;

/// Run one session to its end
#[derive(Debug, Args)]
pub(crate) struct SuperviseArgs {
    /// The session
    #[arg(long, value_name = "KEY")]
    session: String,
}

pub(crate) fn run(args: &SuperviseArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let done = runtime.block_on(whole(args, here));
    // A thread that waits for a lane's group is never told when the last of it leaves the group.
    runtime.shutdown_background();
    done
}

async fn whole(args: &SuperviseArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let gate = Gate::open(here).await?;
    let folder = gate.own(&args.session)?;
    let session = folder.session()?;
    world::become_supervisor(&folder)?;
    let result = tokio::select! {
        result = review(&session, &folder, here) => result,
        () = folder.keep_alive() => Err(anyhow::anyhow!("the heartbeat stopped")),
    };
    let result = result.unwrap_or_else(|error| Waited {
        session_key: Some(session.key.clone()),
        scope: Some(session.scope.clone()),
        ..Waited::undecided(Obstacle::Internal, format!("{error:#}"))
    });
    // Whoever reads the result finds nothing left over.
    world::kill_orphans();
    world::throw_away(&folder, &session);
    let progress = Progress { phase: Phase::Done, ..folder.progress()? };
    folder.set_progress(&progress)?;
    folder.conclude(&gate.with_measured(result))?;
    // The verdict is there: nothing that follows can delay or change it.
    if let Some(plan) = &session.canaries
        && let Err(error) = gate.start_if_due(&session, plan, here)
    {
        crate::console::say(&format!("warning: no canaries: {error:#}"));
    }
    Ok(Exit::Passed)
}

async fn review(
    session: &Session,
    folder: &SessionFolder,
    here: &Surroundings,
) -> anyhow::Result<Waited> {
    world::hold_scratch(session)?;
    let (git, scoped) = world::scope(here, Path::new(&session.scratch), &session.pinned).await?;
    if scoped.scope.diff_hash != session.scope.diff_hash {
        anyhow::bail!("the change is not the one that the session was started for");
    }
    let scoped = world::narrowed(scoped, &session.left_out)?;
    let runner = world::runner(git, session, folder, here);
    let show = |progress: &Progress| {
        if let Err(error) = folder.set_progress(progress) {
            crate::console::say(&format!("warning: writing the progress: {error}"));
        }
    };
    let (checker, unusable) = checker(session, here).await;
    let panel = Panel { session, runner: &runner, checker: checker.as_deref(), show: &show };
    let waited = supervise(&panel, &scoped).await;
    let mut waited = waited.map_err(crate::wiring::changes::failure)?;
    waited.warnings.extend(unusable);
    Ok(waited)
}

/// The agent that checks, if the session wants it; without a model that can be asked, looking has to do.
async fn checker(session: &Session, here: &Surroundings) -> (Option<Arc<Agent>>, Option<String>) {
    let Some(plan) = &session.checker else { return (None, None) };
    match reviewers::checker(plan, here).await {
        Ok(agent) => (Some(agent), None),
        Err(error) => (None, Some(format!("the agent checks nothing: {error:#}"))),
    }
}
