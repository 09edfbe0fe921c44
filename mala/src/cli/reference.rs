//! The command-line reference, made from the command line itself.

use super::exit::Exit;
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Command line

<!-- Made from the command line itself; a test compares it. -->

Data goes to stdout, talk to stderr.

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

/// A command and the commands below it.
fn section(command: &clap::Command, text: &mut String) -> std::fmt::Result {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    writeln!(text, "\n## `{name}`\n")?;
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        // A doc comment of one paragraph comes without its last period.
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
