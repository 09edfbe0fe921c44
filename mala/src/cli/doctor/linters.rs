//! Finds linters and their versions.

use super::LinterState;
use crate::wiring::linter_program;
use crate::wiring::probe::Probe;
use mala_domain::config::LinterName;
use std::ffi::OsString;
use std::path::PathBuf;

/// All linters that mala supports.
pub(super) fn states(probe: &Probe) -> Vec<LinterState> {
    let places: Vec<(LinterName, Option<PathBuf>)> = LinterName::ALL
        .into_iter()
        .map(|linter| (linter, probe.find(linter_program(linter))))
        .collect();
    let questions: Vec<(OsString, Vec<&str>)> = places
        .iter()
        .filter_map(|(linter, place)| Some((place.clone()?.into(), version_args(*linter))))
        .collect();
    let mut answers = probe.ask_all(&questions).into_iter();
    places
        .into_iter()
        .map(|(linter, place)| {
            let found = place.map(|place| {
                let answer = answers.next().and_then(Result::ok).flatten();
                answer
                    .and_then(|text| version(&text))
                    .unwrap_or_else(|| place.display().to_string())
            });
            LinterState {
                name: linter.name(),
                adds: adds(linter),
                is_slow: linter.is_slow(),
                found,
            }
        })
        .collect()
}

fn version_args(linter: LinterName) -> Vec<&'static str> {
    match linter {
        // A subcommand of cargo is called with its own name.
        LinterName::Clippy => vec!["clippy", "--version"],
        _ => vec!["--version"],
    }
}

/// The first number with a dot in the output of a program.
fn version(answer: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(answer);
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+')))
        .map(|word| word.strip_prefix('v').unwrap_or(word))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .map(|word| word.chars().take(40).collect())
}

fn adds(linter: LinterName) -> &'static str {
    match linter {
        LinterName::Ruff => "Python: the project's ruff rules",
        LinterName::Eslint => "JavaScript and TypeScript: the project's eslint rules",
        LinterName::Biome => "JavaScript and TypeScript: the project's biome rules",
        LinterName::Oxlint => "JavaScript and TypeScript: correctness",
        LinterName::Tsc => "TypeScript: type errors",
        LinterName::Clippy => "Rust: clippy and compiler warnings",
        LinterName::GolangciLint => "Go: the project's linters",
        LinterName::Shellcheck => "shell scripts: quoting, portability, mistakes",
        LinterName::Semgrep => "many languages: the project's semgrep rules",
        LinterName::Hadolint => "Dockerfiles: mistakes and pinning",
        LinterName::Actionlint => "GitHub workflows: mistakes and injection",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_the_output_of_programs() {
        for (output, expected) in [
            ("ruff 0.6.9\n", Some("0.6.9")),
            ("v9.12.0\n", Some("9.12.0")),
            ("Version 5.6.2\n", Some("5.6.2")),
            ("clippy 0.1.95 (59807616 2026-04-14)", Some("0.1.95")),
            ("ShellCheck - shell script analysis tool\nversion: 0.9.0\n", Some("0.9.0")),
            ("golangci-lint has version 1.60.3 built with go1.23", Some("1.60.3")),
            ("nothing here", None),
            ("", None),
        ] {
            assert_eq!(version(output.as_bytes()).as_deref(), expected, "{output}");
        }
    }
}
