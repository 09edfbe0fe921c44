//! `mala eval list`: the kept runs, and how far they are.

use super::format::Format;
use super::kept;
use crate::cli::exit::Exit;
use crate::surroundings::Surroundings;
use anyhow::Context;
use clap::Args;
use mala_eval::RunHeader;
use mala_eval::render::{Block, Document, Table};
use mala_eval::store::runs::RunFolder;
use serde::Serialize;

/// List the runs that are kept, newest first
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// How to print them
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// A kept run
#[derive(Serialize)]
struct Entry {
    name: String,
    run: Option<RunHeader>,
    done: usize,
    wanted: usize,
    error: Option<String>,
}

pub(super) fn run(args: &ListArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let names = evals.names().context("listing evals")?;
    let entries: Vec<Entry> = names.iter().map(|name| entry(name, &evals.run(name))).collect();
    args.format.print(here, &entries, || document(&entries))?;
    Ok(Exit::Passed)
}

fn entry(name: &str, run: &RunFolder) -> Entry {
    let read = || -> anyhow::Result<(RunHeader, usize)> {
        Ok((run.header()?, run.records()?.keys().count()))
    };
    let name = name.to_owned();
    match read() {
        Ok((header, done)) => {
            let cases: usize = header.sets.iter().map(|set| set.cases).sum();
            let wanted = cases.saturating_mul(header.trials as usize);
            Entry { name, run: Some(header), done, wanted, error: None }
        }
        Err(error) => {
            let error = Some(format!("{error:#}"));
            Entry { name, run: None, done: 0, wanted: 0, error }
        }
    }
}

fn document(entries: &[Entry]) -> Document {
    let mut table = Table::new(&["run", "done", "reviewer", "sets"]);
    for entry in entries {
        let (reviewer, sets) = match &entry.run {
            Some(run) => {
                let sets: Vec<&str> = run.sets.iter().map(|set| set.name.as_str()).collect();
                (run.reviewer.to_string(), sets.join(", "))
            }
            None => (entry.error.clone().unwrap_or_default(), String::new()),
        };
        table.row([entry.name.clone(), format!("{}/{}", entry.done, entry.wanted), reviewer, sets]);
    }
    Document { blocks: vec![Block::Table(table)] }
}
