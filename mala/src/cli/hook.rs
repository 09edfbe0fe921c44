//! `mala hook`: the commands that coding agents and git run as hooks, and the ways out for a person.

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wiring::gate::work::hook_folder;
use anyhow::Context;
use clap::{Args, Subcommand};
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// Review the work of a coding agent when it stops, or of a push
#[derive(Debug, Args)]
pub struct HookArgs {
    #[command(subcommand)]
    command: HookCommand,
}

/// The commands of `mala hook`
#[derive(Debug, Subcommand)]
enum HookCommand {
    /// Review the work of an agent that wants to stop; run by Claude Code and Codex
    Stop {
        /// Time limit in seconds; must be less than the limit of the host
        #[arg(long, value_name = "SECONDS", default_value_t = 540,
              value_parser = clap::value_parser!(u64).range(1..=86_400))]
        timeout: u64,
    },
    /// Record the state of the repository when a conversation starts; run by Claude Code and Codex
    Start,
    /// Review a push; run by git
    PrePush {
        /// Time limit in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 540,
              value_parser = clap::value_parser!(u64).range(1..=86_400))]
        timeout: u64,
        /// The name and address of the remote, from git
        #[arg(hide = true)]
        remote: Vec<String>,
    },
    /// Accept the current work as it is, without a review
    Accept,
    /// Turn the hooks off in this work tree
    Off,
    /// Turn the hooks on again
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
            _ => None,
        }
    }
}

/// Whether invalid arguments were meant for `stop`, whose host expects JSON in any case.
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
        // Hosts are answered before this.
        HookCommand::Start | HookCommand::Stop { .. } => {}
        HookCommand::PrePush { timeout, .. } => {
            return crate::hook::pre_push(Duration::from_secs(timeout));
        }
        HookCommand::Accept => return crate::hook::accept(top, here),
        HookCommand::Off => {
            folder.turn_off().with_context(|| format!("writing {}", switch.display()))?;
            console::say(&format!("wrote {}: the hooks are off", switch.display()));
        }
        HookCommand::On => {
            let removing = || format!("removing {}", switch.display());
            match folder.turn_on().with_context(removing)? {
                true => console::say(&format!("removed {}", switch.display())),
                false => console::say("the hooks were on already"),
            }
        }
    }
    Ok(Exit::Passed)
}
