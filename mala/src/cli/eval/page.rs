//! The HTML page of a run, with the kept runs over the same cases.

use super::kept;
use crate::console;
use crate::failure::Failure;
use anyhow::Context;
use mala_eval::render::LeaderboardRow;
use mala_eval::render::html::{self, MAX_RUNS, PageCases};
use mala_eval::scores::Scorer;
use mala_eval::store::runs::{EvalRunFolder, EvalStore};
use mala_eval::{EvalResult, RunHeader};

/// The page of the first run.
pub(super) fn page(evals: &EvalStore, runs: &[EvalRunFolder]) -> anyhow::Result<String> {
    let (this, named) = runs.split_first().context("no run given")?;
    let header = this.header()?;
    let mut gathered = PageCases::new(&header);
    let mut scorer = Scorer::new(kept::options(&header));
    this.records()?.each(|record| {
        gathered.add(&record);
        scorer.add(&record);
    })?;
    let mut rows =
        if named.is_empty() { of_same_cases(evals, &header)? } else { beside(&header, named)? };
    let result = EvalResult::of(header, scorer.finish());
    rows.push(result.clone().into());
    Ok(html::page(&result, gathered, &rows))
}

/// The newest kept runs over the same cases, without this one.
fn of_same_cases(evals: &EvalStore, this: &RunHeader) -> anyhow::Result<Vec<LeaderboardRow>> {
    let mut rows = Vec::new();
    for name in evals.names().context("listing runs")? {
        if rows.len() >= MAX_RUNS {
            break;
        }
        let run = evals.run(&name);
        let row = || -> anyhow::Result<Option<LeaderboardRow>> {
            let header = run.header()?;
            let is_other = header.run_id != this.run_id && header.has_cases_of(this);
            is_other.then(|| Ok(kept::scored(&run)?.into())).transpose()
        };
        match row() {
            Ok(row) => rows.extend(row),
            Err(error) => console::say(&format!("warning: skipping {name}: {error:#}")),
        }
    }
    Ok(rows)
}

/// The named runs, which must have the same cases.
fn beside(this: &RunHeader, named: &[EvalRunFolder]) -> anyhow::Result<Vec<LeaderboardRow>> {
    let mut rows: Vec<LeaderboardRow> = Vec::new();
    for run in named {
        let result = kept::scored(run)?;
        if !result.run.has_cases_of(this) {
            let what = format!("{} and {} have different cases", result.run.run_id, this.run_id);
            return Err(Failure::usage(what)
                .hint("choose runs over the same sets and selection")
                .into());
        }
        let is_known = result.run.run_id == this.run_id
            || rows.iter().any(|row| row.run.run_id == result.run.run_id);
        rows.extend((!is_known).then(|| result.into()));
    }
    Ok(rows)
}
