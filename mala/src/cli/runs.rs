//! `mala runs`: the reviews that are saved in `.mala/runs`.

use super::review::output_formats;
use crate::console::{self, counted, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::wiring::{self, StateFolder, StoredRunError};
use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use mala_domain::render::{ReportView, output, terminal};
use mala_domain::report::Report;
use mala_domain::verdict::Verdict;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// List and show saved reviews
#[derive(Debug, Args)]
pub struct RunsArgs {
    #[command(subcommand)]
    command: RunsCommand,
}

/// The commands of `mala runs`
#[derive(Debug, Subcommand)]
enum RunsCommand {
    /// List saved reviews, newest first
    List {
        /// Maximum number of reviews; 0 for all
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: ListFormat,
    },
    /// Show a saved review
    Show {
        /// Folder name or review id, a prefix of one, or `latest`
        #[arg(default_value = "latest")]
        id: String,
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = output_formats())]
        format: String,
    },
}

/// The output format of a list
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    Text,
    Json,
}

pub(super) fn run(args: &RunsArgs, here: &Environment) -> anyhow::Result<Exit> {
    let store = wiring::state_folder(here.root());
    let names = store.names().with_context(|| format!("listing {}", store.runs().display()))?;
    match &args.command {
        RunsCommand::List { limit, format } => {
            let shown = if *limit == 0 { names.len() } else { *limit };
            list(&store, names.get(..shown.min(names.len())).unwrap_or_default(), *format)
        }
        RunsCommand::Show { id, format } => show(&store, pick(&names, id)?, format, here),
    }
}

fn list(store: &StateFolder, names: &[String], format: ListFormat) -> anyhow::Result<Exit> {
    let runs = names.iter().map(|name| (name.as_str(), store.read(name)));
    let text = match format {
        ListFormat::Text if names.is_empty() => {
            console::say("no saved reviews");
            return Ok(Exit::Passed);
        }
        ListFormat::Text => runs.map(|(name, run)| line(name, &run)).collect(),
        ListFormat::Json => {
            let runs: Vec<Value> = runs.map(|(name, run)| entry(name, &run)).collect();
            format!("{:#}\n", json!({ "schema_version": 1, "runs": runs }))
        }
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

fn line(name: &str, run: &Result<Report, StoredRunError>) -> String {
    let name = harmless(name);
    match run {
        Ok(report) => {
            let verdict = report.verdict.map_or("COULD NOT REVIEW", Verdict::name);
            let findings = counted(report.issues.len(), "finding");
            let target = harmless(&report.scope.target);
            format!("{name}  {verdict:16}  {findings:>14}  {target}\n")
        }
        Err(error) => format!("{name}  unreadable: {}\n", harmless(&error.to_string())),
    }
}

fn entry(name: &str, run: &Result<Report, StoredRunError>) -> Value {
    match run {
        Ok(report) => json!({
            "name": name,
            "review_id": report.review_id,
            "passed": report.passed,
            "verdict": report.verdict,
            "findings": report.issues.len(),
            "target": report.scope.target,
        }),
        Err(error) => json!({ "name": name, "error": error.to_string() }),
    }
}

fn show(store: &StateFolder, name: &str, format: &str, here: &Environment) -> anyhow::Result<Exit> {
    let report = store
        .read(name)
        .map_err(|error| unreadable(&error))
        .with_context(|| format!("showing {}", harmless(name)))?;
    let view = ReportView { report: &report, sources: &BTreeMap::new() };
    let text = match output(format) {
        Some(_) if format == "text" => {
            terminal::render(&view, &terminal::TerminalOptions { verbose: true, ..here.terminal() })
        }
        Some(render) => render(&view),
        None => return Err(Failure::usage(format!("unknown format '{format}'")).into()),
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

pub(super) fn unreadable(error: &StoredRunError) -> Failure {
    let failure = Failure::new(FailureKind::CouldNotReview, error.to_string());
    match error {
        StoredRunError::Newer { .. } => failure.hint("update mala, or read its review.md"),
        _ => failure,
    }
}

/// The run with this id.
pub(super) fn pick<'n>(names: &'n [String], id: &str) -> Result<&'n str, Failure> {
    let hint = "run `mala runs list` to list the reviews";
    let newest = names.first().map(String::as_str);
    if id == "latest" {
        return newest.ok_or_else(|| {
            Failure::new(FailureKind::CouldNotReview, "no saved reviews")
                .hint("run `mala review` to review the working tree")
        });
    }
    // Reviews of the same change have the same review id: take the newest.
    let review_id = |name: &str| name.rsplit_once('_').map(|(_, id)| id.to_owned());
    let exact = names.iter().find(|name| *name == id || review_id(name).as_deref() == Some(id));
    if let Some(name) = exact {
        return Ok(name);
    }
    let starts = |name: &&String| {
        name.starts_with(id) || review_id(name).is_some_and(|review| review.starts_with(id))
    };
    let found: Vec<&String> = names.iter().filter(starts).collect();
    match found.as_slice() {
        [name] => Ok(name),
        [] => Err(Failure::usage(format!("no review `{id}`")).hint(hint)),
        several => {
            Err(Failure::usage(format!("{} reviews start with `{id}`", several.len())).hint(hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_finds_at_most_one_run() {
        let names: Vec<String> =
            ["20260103_bbbb", "20260102_abcd", "20260101_abcd"].map(str::to_owned).into();
        for (id, expected) in [
            ("latest", Ok("20260103_bbbb")),
            ("20260101_abcd", Ok("20260101_abcd")),
            ("abcd", Ok("20260102_abcd")),
            ("bb", Ok("20260103_bbbb")),
            ("2026", Err("3 reviews start with `2026`")),
            ("nope", Err("no review `nope`")),
        ] {
            let picked = pick(&names, id).map_err(|failure| failure.to_string());
            assert_eq!(picked.as_deref(), expected.map_err(str::to_owned).as_deref(), "{id}");
        }
        assert!(pick(&[], "latest").is_err());
    }
}
