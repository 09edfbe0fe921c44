//! `mala eval list`: the kept runs, and how far they are.

use super::format::EvalFormat;
use super::kept;
use crate::cli::exit::Exit;
use crate::surroundings::Surroundings;
use anyhow::Context;
use clap::Args;
use mala_eval::RunHeader;
use mala_eval::render::{Document, DocumentBlock, TextTable};
use mala_eval::store::runs::EvalRunFolder;
use serde::Serialize;

/// List the runs that are kept, newest first
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// How to print them
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

/// A kept run
#[derive(Serialize)]
struct RunEntry {
    name: String,
    run: Option<RunHeader>,
    done: usize,
    wanted: usize,
    error: Option<String>,
}

pub(super) fn run(args: &ListArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let names = evals.names().context("listing evals")?;
    let entries: Vec<RunEntry> = names.iter().map(|name| entry(name, &evals.run(name))).collect();
    args.format.print(here, &entries, || document(&entries))?;
    Ok(Exit::Passed)
}

fn entry(name: &str, run: &EvalRunFolder) -> RunEntry {
    let read = || -> anyhow::Result<(RunHeader, usize)> {
        Ok((run.header()?, run.records()?.keys().count()))
    };
    let name = name.to_owned();
    match read() {
        Ok((header, done)) => {
            let cases: usize = header.sets.iter().map(|set| set.cases).sum();
            let wanted = cases.saturating_mul(header.trials as usize);
            RunEntry { name, run: Some(header), done, wanted, error: None }
        }
        Err(error) => {
            let error = Some(format!("{error:#}"));
            RunEntry { name, run: None, done: 0, wanted: 0, error }
        }
    }
}

fn document(entries: &[RunEntry]) -> Document {
    let mut table = TextTable::new(&["run", "done", "reviewer", "sets"]);
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
    Document { blocks: vec![DocumentBlock::TextTable(table)] }
}
