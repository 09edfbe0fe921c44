//! The `mala.yaml` that `init` writes: the defaults with explanations.

use super::DetectedProject;
use mala_domain::config::LinterName;
use std::fmt::Write;

/// The file for this project.
pub(super) fn render(project: &DetectedProject) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    write_all(project, &mut text).unwrap_or_default();
    text
}

fn write_all(project: &DetectedProject, text: &mut String) -> std::fmt::Result {
    text.push_str(
        "# How mala reviews this repository. Values of `review` are defaults, except `base`.\n\
         # `mala config check` checks this file; `mala config show` shows the effective settings.\n\n\
         # Reviewer: builtin (analyzers, no model), agent_sdk, cerberus or command. The default is\n\
         # agent_sdk, or builtin if no model key is set.\n\
         # reviewer_type: builtin\n\n\
         review:\n\
         \x20 # Lowest priority of findings that fail the review: P0, P1, P2, P3 or none.\n\
         \x20 fail_on: P1\n\n\
         \x20 # Default branch of `mala review --base`.\n",
    );
    match project.default_branch.as_deref().filter(|branch| !branch.starts_with('-')) {
        Some(branch) => writeln!(text, "  base: {}", quoted(branch))?,
        None => writeln!(text, "  # base: main")?,
    }
    text.push_str(
        "\n\x20 # Files to skip, as patterns of a .gitignore.\n\
         \x20 ignore: []\n\n\
         \x20 # More generated files, which are skipped too.\n\
         \x20 generated: []\n\n\
         \x20 # Rules to turn off or on, or to give another priority; see `mala rules list`.\n\
         \x20 # rules:\n\
         \x20 #   python/mutable-default: off\n\
         \x20 #   javascript/*: {use: P3, paths: [scripts]}\n\n",
    );
    write_linters(project, text)?;
    write_commands(project, text)?;
    write_run(project, text)
}

fn write_linters(project: &DetectedProject, text: &mut String) -> std::fmt::Result {
    text.push_str("  # Linters: runs those that are installed and configured in the project.\n");
    let names = |installed: bool| -> Vec<&str> {
        let chosen = project.linters.iter().filter(|(_, is)| *is == installed);
        chosen.map(|(name, _): &(LinterName, bool)| name.name()).collect()
    };
    for (what, linters) in [("Found here", names(true)), ("Not installed", names(false))] {
        if !linters.is_empty() {
            writeln!(text, "  # {what}: {}.", linters.join(", "))?;
        }
    }
    let slow = project.linters.iter().filter(|(name, _)| name.is_slow());
    let slow: Vec<&str> = slow.map(|(name, _)| name.name()).collect();
    text.push_str(
        "  linters:\n\
         \x20   enabled: auto\n\
         \x20   # Time limit of one linter, in seconds.\n\
         \x20   timeout: 60\n\
         \x20   # off: [eslint]\n",
    );
    if !slow.is_empty() {
        writeln!(
            text,
            "    # Slow linters run only if they are listed.\n    # also: [{}]",
            slow.join(", ")
        )?;
    }
    Ok(())
}

fn write_commands(project: &DetectedProject, text: &mut String) -> std::fmt::Result {
    if project.commands.is_empty() {
        return Ok(());
    }
    text.push_str("\n# The project's commands, for triggers.\ncommands:\n");
    for command in &project.commands {
        writeln!(text, "  {}: {}  # {}", command.name, quoted(&command.text), command.from)?;
    }
    Ok(())
}

/// A start for `mala run`: every issue is tested and reviewed, and the whole run once more.
fn write_run(project: &DetectedProject, text: &mut String) -> std::fmt::Result {
    text.push_str(
        "\n# What `mala run` checks before it merges the work of a coding agent.\n\
         validation_triggers:\n\
         \x20 session_end:\n",
    );
    if project.commands.iter().any(|command| command.name == "test") {
        text.push_str(
            "\x20   commands:\n\
             \x20     - ref: test\n\
             \x20   # Failed commands go back to the coder.\n\
             \x20   failure_mode: remediate\n\
             \x20   max_retries: 2\n",
        );
    }
    text.push_str(
        "\x20   code_review:\n\
         \x20     enabled: true\n\
         \x20     # P0 and P1 go back to the coder; others are filed as issues.\n\
         \x20     finding_threshold: P1\n\
         \x20     failure_mode: remediate\n\
         \x20     max_retries: 3\n\
         \x20 run_end:\n\
         \x20   code_review:\n\
         \x20     enabled: true\n\
         \x20     baseline: since_run_start\n\n\
         run:\n\
         \x20 # claude, codex, gemini, or an entry of `coders`.\n",
    );
    writeln!(text, "  coder: {}", project.coder.unwrap_or("claude"))?;
    text.push_str("\x20 max_agents: 2\n\x20 # max_cost_usd: 20\n");
    Ok(())
}

/// A string as YAML. Names and commands come from untrusted files.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | ' ');
    let starts = |c: char| c.is_ascii_alphabetic() || c == '.';
    match word.starts_with(starts) && word.chars().all(plain) && word.trim() == word {
        true => word.to_owned(),
        false => serde_json::Value::from(word).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::init::commands::ProjectCommand;
    use mala_domain::config::Config;
    use mala_domain::language::Language;

    #[test]
    fn the_file_is_valid_without_warnings() {
        let command = |name: &str, text: &str| ProjectCommand {
            name: name.to_owned(),
            text: text.to_owned(),
            from: "package.json",
        };
        let projects = [
            DetectedProject::default(),
            DetectedProject {
                languages: vec![(Language::Python, 3)],
                commands: vec![command("test", "cargo test"), command("lint", "a: \"b\" # c\n- d")],
                linters: vec![(LinterName::Ruff, true), (LinterName::Tsc, false)],
                default_branch: Some("feature/x: #y".to_owned()),
                coder: Some("codex"),
            },
        ];
        for project in projects {
            let text = render(&project);
            let (config, warnings) = Config::parse("mala.yaml", &text).unwrap();
            assert_eq!(warnings, []);
            assert_eq!(config.review.base, project.default_branch);
            // Commented examples are valid too.
            let all: String = text.lines().map(|line| uncommented(line) + "\n").collect();
            let (config, _) = Config::parse("mala.yaml", &all).unwrap();
            assert_eq!(config.review.rules.len(), 2);
        }
    }

    /// A line with its example uncommented.
    fn uncommented(line: &str) -> String {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        match rest.strip_prefix("# ").or_else(|| rest.strip_prefix('#')) {
            Some(example) if is_example(example) => format!("{indent}{example}"),
            _ => line.to_owned(),
        }
    }

    fn is_example(text: &str) -> bool {
        text.starts_with("  ")
            || ["rules:", "reviewer_type:", "off:", "max_cost_usd:"]
                .iter()
                .any(|key| text.starts_with(key))
    }
}
