//! `mala hook`: the gate as a hook of coding agents, and the switch that lets a person out.

use super::exit::Exit;
use super::failure::Failure;
use crate::console;
use crate::surroundings::Surroundings;
use crate::wiring::gate::work::hook_folder;
use anyhow::Context;
use clap::{Args, Subcommand};
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// Gate the work of a coding agent when it wants to stop
#[derive(Debug, Args)]
pub struct HookArgs {
    #[command(subcommand)]
    command: HookCommand,
}

/// What to do
#[derive(Debug, Subcommand)]
enum HookCommand {
    /// Answer Claude Code or Codex, whose agent wants to stop: JSON in, JSON out
    Stop {
        /// How long it may take, in seconds; less than the host gives to the hook
        #[arg(long, value_name = "SECONDS", default_value_t = 540,
              value_parser = clap::value_parser!(u64).range(1..=86_400))]
        timeout: u64,
    },
    /// Remember where the work is when a conversation of Claude Code or Codex begins: JSON in, nothing out
    Start,
    /// Let agents stop in this work tree, whatever their work is like
    Off,
    /// Gate their work again
    On,
}

impl HookArgs {
    /// Answers a host, wherever it is run; `None` for what a person runs.
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

/// Whether a command line that makes no sense was meant for `stop`: its host expects JSON all the same.
pub(super) fn is_for_stop(words: impl Iterator<Item = OsString>) -> bool {
    // Options may stand anywhere.
    let mut words = words.skip(1).skip_while(|word| word != OsStr::new("hook"));
    words.next().is_some() && words.any(|word| word == OsStr::new("stop"))
}

pub(super) fn run(args: &HookArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let Some(top) = here.work_tree() else {
        return Err(Failure::usage("this is no git repository").into());
    };
    let folder = hook_folder(top);
    let switch = folder.switch();
    match args.command {
        // Hosts are answered before anybody looks where they are.
        HookCommand::Start | HookCommand::Stop { .. } => {}
        HookCommand::Off => {
            folder.turn_off().with_context(|| format!("writing {}", switch.display()))?;
            console::say(&format!("wrote {}: the stop hook lets everybody go", switch.display()));
        }
        HookCommand::On => {
            let removing = || format!("removing {}", switch.display());
            match folder.turn_on().with_context(removing)? {
                true => console::say(&format!("removed {}", switch.display())),
                false => console::say("the stop hook was on already"),
            }
        }
    }
    Ok(Exit::Passed)
}
