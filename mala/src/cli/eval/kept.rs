//! Kept runs: found by name, and scored from their records.

use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use anyhow::Context;
use mala_eval::scores::{Scorer, ScorerOptions};
use mala_eval::store::runs::{EvalRunFolder, EvalStore, EvalStoreError, RecordWriter};
use mala_eval::{CaseRecord, EvalResult, MatchMode, MatchRule, RunHeader};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the lock of a run is tried.
const RETRY_INTERVAL: Duration = Duration::from_millis(25);

/// The run with this name or prefix of a name; `latest` is the newest.
pub(super) fn pick(evals: &EvalStore, name: &str) -> anyhow::Result<EvalRunFolder> {
    let names = evals.names().context("listing runs")?;
    let hint = "run `mala eval list` to list the runs";
    if name == "latest" {
        let newest = names.first().ok_or_else(|| {
            Failure::new(FailureKind::CouldNotReview, "no runs found")
                .hint("run `mala eval run` to start one")
        })?;
        return Ok(evals.run(newest));
    }
    let found: Vec<&String> = match names.iter().find(|known| *known == name) {
        Some(exact) => vec![exact],
        None => names.iter().filter(|known| known.starts_with(name)).collect(),
    };
    match found.as_slice() {
        [only] => Ok(evals.run(only)),
        [] => Err(Failure::usage(format!("no run `{name}`")).hint(hint).into()),
        several => {
            let what = format!("`{name}` matches {} runs", several.len());
            Err(Failure::usage(what).hint(hint).into())
        }
    }
}

/// The runs of this work tree.
pub(super) fn here(here: &Environment) -> EvalStore {
    EvalStore::of_work_tree(here.root())
}

/// Locks a run for writing. Waits for a process that still stores the answers to its last calls.
pub(super) async fn writer(run: &EvalRunFolder, timeout: Duration) -> anyhow::Result<RecordWriter> {
    let deadline = Instant::now() + timeout;
    let mut is_announced = false;
    loop {
        match run.writer() {
            Err(EvalStoreError::Busy { .. }) if Instant::now() < deadline => {}
            opened => return Ok(opened?),
        }
        if !is_announced {
            let seconds = timeout.as_secs();
            console::say(&format!(
                "waiting up to {seconds} s for another mala process that works on this run"
            ));
            is_announced = true;
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

/// The result of a run, from its records as they are.
pub(super) fn scored(run: &EvalRunFolder) -> anyhow::Result<EvalResult> {
    let header = run.header()?;
    let mut scorer = Scorer::new(options(&header));
    run.records()?.each(|record| scorer.add(&record))?;
    Ok(EvalResult::of(header, scorer.finish()))
}

/// The match rule of a run in a mode. The semantic mode needs a run with a judge.
pub(super) fn rule(header: &RunHeader, mode: MatchMode) -> Result<MatchRule, Failure> {
    if mode == MatchMode::Semantic && header.judge.is_none() {
        return Err(Failure::usage(format!("{} has no judge", header.run_id))
            .hint("run `mala eval run --match semantic` to use a judge"));
    }
    Ok(MatchRule { max_span: header.max_span, ..MatchRule::of(mode) })
}

pub(super) fn options(header: &RunHeader) -> ScorerOptions {
    ScorerOptions {
        max_span: header.max_span,
        seed: header.seed,
        is_judged: header.judge.is_some(),
        ..ScorerOptions::default()
    }
}

/// The result of a run, by its name or from a `result.json`.
pub(super) fn result(evals: &EvalStore, name: &str, folder: &Path) -> anyhow::Result<EvalResult> {
    let file = folder.join(name);
    if file.is_file() {
        let text = std::fs::read(&file).with_context(|| format!("reading {name}"))?;
        let parsed = serde_json::from_slice(&text);
        return parsed.map_err(|error| Failure::usage(format!("{name}: {error}")).into());
    }
    scored(&pick(evals, name)?)
}

/// The records of a case in a run.
pub(super) fn records_of(run: &EvalRunFolder, case: &str) -> anyhow::Result<Vec<CaseRecord>> {
    let mut found = Vec::new();
    let mut ids = Vec::new();
    run.records()?.each(|record| {
        if record.case == case {
            found.push(record);
        } else if record.case.contains(case) {
            ids.push(record.case);
        }
    })?;
    if !found.is_empty() {
        return Ok(found);
    }
    ids.dedup();
    let failure = Failure::usage(format!("case '{case}' not found in the run"));
    Err(match ids.as_slice() {
        [] => failure,
        ids => failure.hint(format!("did you mean {}?", ids.get(..5).unwrap_or(ids).join(", "))),
    }
    .into())
}
