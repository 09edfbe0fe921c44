//! `mala issue import` and `export`: JSON Lines, and Markdown plans with checkboxes.

use crate::console::{self, harmless};
use crate::failure::Failure;
use crate::wiring::run::{BuiltinTracker, Git, open_builtin_tracker};
use anyhow::Context;
use clap::ValueEnum;
use mala_domain::ports::{TaskStore, Tracker};
use mala_domain::task::json::{parse_lines, print_lines};
use mala_domain::task::plan::{parse_plan, print_plan};
use std::io::Read;
use std::path::Path;

/// Formats of exported issues
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum IssueFormat {
    /// One JSON object per line, as `bd export` writes it
    Jsonl,
    /// A Markdown plan with checkboxes
    Markdown,
}

/// The store of the built-in tracker. Other trackers have an import of their own.
pub(super) fn store(tracker: &dyn Tracker, git: &Git) -> anyhow::Result<BuiltinTracker> {
    if tracker.name() != "builtin" {
        let what = format!("the tracker is {}: import and export need builtin", tracker.name());
        let failure = Failure::usage(what).hint("set `run.tracker: builtin` in mala.yaml");
        return Err(failure.into());
    }
    open_builtin_tracker(git)
}

/// Imports all issues of a file.
pub(super) async fn import(
    file: &Path,
    format: Option<IssueFormat>,
    store: &dyn TaskStore,
) -> anyhow::Result<()> {
    let mut text = String::new();
    let is_stdin = file.ends_with("-");
    let name = if is_stdin { "stdin".to_owned() } else { file.display().to_string() };
    let read = match is_stdin {
        true => std::io::stdin().read_to_string(&mut text),
        false => std::fs::File::open(file).and_then(|mut file| file.read_to_string(&mut text)),
    };
    read.with_context(|| format!("reading {name}"))?;
    let is_markdown = file.extension().is_some_and(|it| it == "md" || it == "markdown");
    let otherwise = if is_markdown { IssueFormat::Markdown } else { IssueFormat::Jsonl };
    let imported = match format.unwrap_or(otherwise) {
        IssueFormat::Jsonl => parse_lines(&text),
        IssueFormat::Markdown => parse_plan(&text),
    };
    for warning in &imported.warnings {
        console::say(&format!("warning: {}", harmless(warning)));
    }
    if imported.tasks.is_empty() && !imported.warnings.is_empty() {
        return Err(Failure::usage(format!("{name} has no issues")).into());
    }
    let count = store.import(&imported.tasks).await?;
    Ok(console::data(&format!("{} added, {} updated\n", count.added, count.updated))?)
}

/// Prints all issues.
pub(super) async fn export(format: IssueFormat, store: &dyn TaskStore) -> anyhow::Result<()> {
    let tasks = store.tasks().await?;
    let text = match format {
        IssueFormat::Jsonl => print_lines(&tasks),
        IssueFormat::Markdown => print_plan(&tasks),
    };
    Ok(console::bytes(text.as_bytes())?)
}
