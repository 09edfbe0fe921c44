//! Runs that are kept: found by name, and scored from their records.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::console;
use crate::surroundings::Surroundings;
use anyhow::Context;
use mala_eval::scores::{Scorer, ScorerOptions};
use mala_eval::store::runs::{EvalRunFolder, EvalStore, EvalStoreError, RecordWriter};
use mala_eval::{CaseRecord, EvalResult, MatchMode, MatchRule, RunHeader};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often is looked whether a run is free.
const LOOK: Duration = Duration::from_millis(25);

/// The run that a name means: its own, the start of it, or `latest`.
pub(super) fn pick(evals: &EvalStore, name: &str) -> anyhow::Result<EvalRunFolder> {
    let names = evals.names().context("listing evals")?;
    let hint = "'mala eval list' lists the runs";
    if name == "latest" {
        let newest = names.first().ok_or_else(|| {
            Failure::new(Exit::CouldNotReview, "no evals are kept here yet")
                .hint("'mala eval run' runs one")
        })?;
        return Ok(evals.run(newest));
    }
    let found: Vec<&String> = match names.iter().find(|known| *known == name) {
        Some(exact) => vec![exact],
        None => names.iter().filter(|known| known.starts_with(name)).collect(),
    };
    match found.as_slice() {
        [only] => Ok(evals.run(only)),
        [] => Err(Failure::usage(format!("no run '{name}'")).hint(hint).into()),
        several => {
            let what = format!("{} runs start with '{name}'", several.len());
            Err(Failure::usage(what).hint(hint).into())
        }
    }
}

/// The evals of this work tree.
pub(super) fn here(here: &Surroundings) -> EvalStore {
    EvalStore::of_work_tree(here.root())
}

/// The right to add to a run. Whoever has it may be about to keep the answers to its last calls: that
/// is waited for, as long as a call may take.
pub(super) async fn writer(
    run: &EvalRunFolder,
    patience: Duration,
) -> anyhow::Result<RecordWriter> {
    let deadline = Instant::now() + patience;
    let mut is_told = false;
    loop {
        match run.writer() {
            Err(EvalStoreError::Busy { .. }) if Instant::now() < deadline => {}
            opened => return Ok(opened?),
        }
        if !is_told {
            let seconds = patience.as_secs();
            console::say(&format!(
                "another mala is working on this run; waiting for its end, {seconds} s at most"
            ));
            is_told = true;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The result of a run, from its records as they are.
pub(super) fn scored(run: &EvalRunFolder) -> anyhow::Result<EvalResult> {
    let header = run.header()?;
    let mut scorer = Scorer::new(options(&header));
    run.records()?.each(|record| scorer.add(&record))?;
    Ok(EvalResult::of(header, scorer.finish()))
}

/// The rule of a run in a mode. Without a judge, nobody knows what one would say.
pub(super) fn rule(header: &RunHeader, mode: MatchMode) -> Result<MatchRule, Failure> {
    if mode == MatchMode::Semantic && header.judge.is_none() {
        return Err(Failure::usage(format!("{} had no judge", header.run_id))
            .hint("'mala eval run --match semantic' has one"));
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

/// The result of a run by its name, or the one in a `result.json`.
pub(super) fn result(evals: &EvalStore, name: &str, folder: &Path) -> anyhow::Result<EvalResult> {
    let file = folder.join(name);
    if file.is_file() {
        let text = std::fs::read(&file).with_context(|| format!("reading {name}"))?;
        let parsed = serde_json::from_slice(&text);
        return parsed.map_err(|error| Failure::usage(format!("{name}: {error}")).into());
    }
    scored(&pick(evals, name)?)
}

/// The records of a run that are of this case.
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
    let failure = Failure::usage(format!("the run has no case '{case}'"));
    Err(match ids.as_slice() {
        [] => failure,
        ids => failure.hint(format!("did you mean {}?", ids.get(..5).unwrap_or(ids).join(", "))),
    }
    .into())
}
