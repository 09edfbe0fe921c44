//! `mala completions`: the script that completes mala's command line in a shell.

use super::exit::Exit;
use crate::console;
use clap::Args;
use clap_complete::Shell;

/// Print the script that completes this command line in your shell
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "mala", &mut script);
    console::bytes(&script)?;
    Ok(Exit::Passed)
}
