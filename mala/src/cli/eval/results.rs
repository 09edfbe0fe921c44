//! The commands that show kept runs: `report`, `show`, `compare`, `leaderboard` and `list`.

use super::kept;
use super::output::{EvalFormat, ModeName, ResultOutput};
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use anyhow::Context;
use clap::Args;
use mala_eval::compare::{self, ComparedRun};
use mala_eval::random::SeededRandom;
use mala_eval::render::{self, Document, DocumentBlock, LeaderboardRow, TextTable};
use mala_eval::store::runs::EvalRunFolder;
use mala_eval::view::CaseView;
use mala_eval::{MatchMode, RunHeader};
use serde::Serialize;

/// Show the results of kept runs
///
/// An HTML page is about the first run and compares it with the others; with one run, it compares it with
/// all kept runs over the same cases.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Runs: names, prefixes of names, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    runs: Vec<String>,

    #[command(flatten)]
    output: ResultOutput,
}

pub(super) fn report(args: &ReportArgs, here: &Environment) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let picked = args.runs.iter().map(|name| kept::pick(&evals, name));
    let runs: Vec<EvalRunFolder> = picked.collect::<anyhow::Result<_>>()?;
    args.output.show(&evals, &runs, here)?;
    Ok(Exit::Passed)
}

/// Show a case of a run: every hit and miss with both texts and the reason, and the change
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Id of the case
    case: String,

    /// Run: its name, a prefix of it, or `latest`
    #[arg(long, value_name = "RUN", default_value = "latest")]
    run: String,

    /// Match mode
    #[arg(long, value_name = "MODE", default_value = "strict")]
    mode: ModeName,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

pub(super) fn show(args: &ShowArgs, here: &Environment) -> anyhow::Result<Exit> {
    let run = kept::pick(&kept::here(here), &args.run)?;
    let rule = kept::rule(&run.header()?, args.mode.into())?;
    let records = kept::records_of(&run, &args.case)?;
    let views: Vec<CaseView> = records.iter().map(|record| CaseView::of(&rule, record)).collect();
    args.format.print(here, &views, || Document {
        blocks: views.iter().flat_map(|view| render::case(view).blocks).collect(),
    })?;
    Ok(Exit::Passed)
}

/// Compare two runs over the cases that both reviewed
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// First run: its name, a prefix of it, or `latest`
    before: String,

    /// Second run
    after: String,

    /// Match mode
    #[arg(long, value_name = "MODE", default_value = "strict")]
    mode: ModeName,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

pub(super) fn compare(args: &CompareArgs, here: &Environment) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let side = |name: &str| side(&kept::pick(&evals, name)?, args.mode.into());
    let found =
        compare::compare(side(&args.before)?, side(&args.after)?, &mut SeededRandom::new(0));
    args.format.print(here, &found, || render::comparison(&found))?;
    Ok(Exit::Passed)
}

fn side(run: &EvalRunFolder, mode: MatchMode) -> anyhow::Result<ComparedRun> {
    let header = run.header()?;
    let rule = kept::rule(&header, mode)?;
    let mut side = ComparedRun::new(&header.run_id, rule);
    run.records()?.each(|record| side.add(&record))?;
    Ok(side)
}

/// Rank the kept runs, the best first
#[derive(Debug, Args)]
pub(super) struct LeaderboardArgs {
    /// Only runs over this set; repeatable
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,

    /// Match mode
    #[arg(long, value_name = "MODE", default_value = "strict")]
    mode: ModeName,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: EvalFormat,
}

pub(super) fn leaderboard(args: &LeaderboardArgs, here: &Environment) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let mut rows: Vec<LeaderboardRow> = Vec::new();
    for name in evals.names().context("listing runs")? {
        match kept::scored(&evals.run(&name)) {
            Ok(result) => rows.push(result.into()),
            Err(error) => console::say(&format!("warning: skipping {name}: {error:#}")),
        }
    }
    rows.retain(|row| {
        args.set.is_empty() || row.run.sets.iter().any(|set| args.set.contains(&set.name))
    });
    args.format.print(here, &rows, || render::board(rows.clone(), args.mode.into()))?;
    Ok(Exit::Passed)
}

/// List the kept runs, newest first
#[derive(Debug, Args)]
pub(super) struct EvalListArgs {
    /// Output format
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

pub(super) fn list(args: &EvalListArgs, here: &Environment) -> anyhow::Result<Exit> {
    let evals = kept::here(here);
    let names = evals.names().context("listing runs")?;
    let entries: Vec<RunEntry> = names.iter().map(|name| entry(name, &evals.run(name))).collect();
    if entries.is_empty() && args.format == EvalFormat::Text {
        console::say("no runs");
        return Ok(Exit::Passed);
    }
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
