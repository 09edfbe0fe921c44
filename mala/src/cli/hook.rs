//! `mala hook`: the stop hook of coding agents, and the switch that turns it off.

use super::exit::Exit;
use crate::console;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::wiring::gate::work::hook_folder;
use anyhow::Context;
use clap::{Args, Subcommand};
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// Review the work of a coding agent before it stops
#[derive(Debug, Args)]
pub struct HookArgs {
    #[command(subcommand)]
    command: HookCommand,
}

/// The commands of `mala hook`
#[derive(Debug, Subcommand)]
enum HookCommand {
    /// Run the stop hook of Claude Code or Codex: reads JSON, prints JSON
    Stop {
        /// Time limit in seconds, which must be below the hook timeout of the host
        #[arg(long, value_name = "SECONDS", default_value_t = 540,
              value_parser = clap::value_parser!(u64).range(1..=86_400))]
        timeout: u64,
    },
    /// Run the session start hook of Claude Code or Codex: reads JSON, prints nothing
    Start,
    /// Turn the stop hook off in this work tree
    Off,
    /// Turn the stop hook on again
    On,
}

impl HookArgs {
    /// Runs a hook; `None` for the commands of users.
    pub(super) fn answered(&self) -> Option<Exit> {
        match self.command {
            HookCommand::Start => Some(crate::hook::start()),
            HookCommand::Stop { timeout } => {
                Some(crate::hook::stop(Ok(Duration::from_secs(timeout))))
            }
            HookCommand::Off | HookCommand::On => None,
        }
    }
}

/// Whether invalid arguments are for `stop`: its host expects JSON anyway.
pub(super) fn is_for_stop(words: impl Iterator<Item = OsString>) -> bool {
    // Options may be anywhere.
    let mut words = words.skip(1).skip_while(|word| word != OsStr::new("hook"));
    words.next().is_some() && words.any(|word| word == OsStr::new("stop"))
}

pub(super) fn run(args: &HookArgs, here: &Environment) -> anyhow::Result<Exit> {
    let Some(top) = here.work_tree() else {
        return Err(Failure::usage("not in a git repository").into());
    };
    let folder = hook_folder(top);
    let switch = folder.switch();
    match args.command {
        // Hooks run before the folder is checked.
        HookCommand::Start | HookCommand::Stop { .. } => {}
        HookCommand::Off => {
            folder.turn_off().with_context(|| format!("writing {}", switch.display()))?;
            console::say(&format!("wrote {}: the stop hook is off", switch.display()));
        }
        HookCommand::On => {
            let removing = || format!("removing {}", switch.display());
            match folder.turn_on().with_context(removing)? {
                true => console::say(&format!("removed {}", switch.display())),
                false => console::say("the stop hook is already on"),
            }
        }
    }
    Ok(Exit::Passed)
}
