//! Files generated from the command line: the reference, manual pages and shell completions.

use crate::console;
use crate::exit::Exit;
use anyhow::Context;
use clap::Args;
use clap_complete::Shell;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Print a shell completion script
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

/// Print the manual page, or write one page per command
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write one page per command into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run_completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "mala", &mut script);
    console::bytes(&script)?;
    Ok(Exit::Passed)
}

pub(super) fn run_man(args: &ManArgs) -> anyhow::Result<Exit> {
    match &args.dir {
        Some(folder) => write_pages(folder)?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(super::command()).render(&mut page)?;
            console::bytes(&page)?;
        }
    }
    Ok(Exit::Passed)
}

fn write_pages(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    clap_mangen::generate_to(super::command(), folder)
        .with_context(|| format!("writing into {}", folder.display()))?;
    console::say(&format!("wrote the manual pages into {}", folder.display()));
    Ok(())
}

const INTRODUCTION: &str = "\
# Command line

<!-- Generated from the command line; a test compares it. -->

Data goes to stdout, messages to stderr.

## Exit codes

";

/// The reference as Markdown.
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    text.push_str("| code | meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        text.push_str(&format!("| {} | {} |\n", exit.code(), exit.meaning()));
    }
    let mut command = super::command();
    command.build();
    section(&command, &mut text).unwrap_or_default();
    let mut gate = crate::gate::command();
    gate.build();
    section(&gate, &mut text).unwrap_or_default();
    text
}

/// A command and its subcommands.
fn section(command: &clap::Command, text: &mut String) -> std::fmt::Result {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    writeln!(text, "\n## `{name}`\n")?;
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        // clap removes the period of a single paragraph.
        writeln!(text, "{}.\n", about.to_string().trim_end_matches('.'))?;
    }
    let usage = command.clone().render_usage().to_string();
    writeln!(text, "```text\n{}\n```", usage.trim_start_matches("Usage: "))?;
    let shown = |arg: &&clap::Arg| !arg.is_hide_set() && !is_everywhere(arg, name);
    if command.get_arguments().any(|arg| shown(&arg)) {
        writeln!(text, "\n| argument | meaning |\n|---|---|")?;
        for arg in command.get_arguments().filter(shown) {
            writeln!(text, "| `{}` | {} |", spelling(arg), meaning(arg))?;
        }
    }
    for below in
        command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
    {
        section(below, text)?;
    }
    Ok(())
}

/// Global arguments are described once, at the top.
fn is_everywhere(arg: &clap::Arg, command: &str) -> bool {
    (arg.is_global_set() || arg.get_id() == "help") && !matches!(command, "mala" | "review-gate")
}

fn spelling(arg: &clap::Arg) -> String {
    let values: Vec<String> = match arg.get_value_names() {
        Some(names) if arg.get_action().takes_values() => {
            names.iter().map(|name| format!("<{name}>")).collect()
        }
        _ => Vec::new(),
    };
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = [short, long].into_iter().flatten().collect();
    let names = (!names.is_empty()).then(|| names.join(", "));
    names.into_iter().chain(values).collect::<Vec<_>>().join(" ")
}

fn meaning(arg: &clap::Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| arg.get_action().takes_values())
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() {
        text.push_str(&format!(": {}", values.join(", ")));
    }
    if let Some(default) =
        arg.get_default_values().first().filter(|_| arg.get_action().takes_values())
    {
        text.push_str(&format!(" (default: `{}`)", default.to_string_lossy()));
    }
    text.replace('|', "\\|")
}
