//! `review-gate cancel`: stops a session and everything that it started.

use crate::cli::exit::Exit;
use crate::cli::interrupt::until_interrupted;
use crate::console;
use crate::environment::Environment;
use crate::wiring::gate::{self as world, Gate};
use clap::Args;

/// Stop a session and everything that it started
#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// Which session; the most recent one if not given
    #[arg(long, value_name = "KEY")]
    session_key: Option<String>,
}

pub(super) fn run(args: &CancelArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let gate = Gate::open(here).await?;
        let folder = gate.session(args.session_key.as_deref()).await?;
        let session = folder.session()?;
        let key = &session.key;
        match world::stop(&folder, &session)? {
            true => console::say(&format!("{key} is cancelled")),
            false => console::say(&format!("{key} was over already")),
        }
        Ok(Exit::Passed)
    })
}
