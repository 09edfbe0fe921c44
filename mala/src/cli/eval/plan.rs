//! The plan of a run: its sets, checked before the first review, and its header.

use super::run::RunArgs;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::wiring::eval::{STARTER, find_set};
use mala_eval::record::ReviewerUsed;
use mala_eval::record::{SCHEMA_VERSION, Selection, SetUsed};
use mala_eval::store::runs::EvalStore;
use mala_eval::store::sets::{CaseSet, SetFingerprint};
use mala_eval::{CaseError, EvalCase, JudgeUsed, RunHeader};

/// The sets with these names; by default the one in the binary.
pub(super) fn sets(
    names: &[String],
    here: &Environment,
    evals: &EvalStore,
) -> Result<Vec<CaseSet>, Failure> {
    let starter = [STARTER.to_owned()];
    let names = if names.is_empty() { &starter } else { names };
    let mut sets: Vec<CaseSet> = Vec::new();
    for name in names {
        let set = find_set(name, &here.folder, evals).map_err(|what| {
            Failure::usage(what).hint(format!("--set {STARTER} is always available"))
        })?;
        if sets.iter().any(|known| known.name == set.name) {
            return Err(Failure::usage(format!("two sets have the name {}", set.name)));
        }
        sets.push(set);
    }
    Ok(sets)
}

/// Reads every case once, so that an error in a set is found before the first review.
pub(super) fn survey(sets: &[CaseSet], selection: &Selection) -> Result<Vec<SetUsed>, Failure> {
    let mut room = selection.limit.unwrap_or(usize::MAX);
    let mut used = Vec::new();
    for set in sets {
        let mut print = SetFingerprint::default();
        let (mut n_all, mut n_cases) = (0, 0);
        for case in set.cases() {
            let case = case.map_err(|error| Failure::usage(error.to_string()))?;
            n_all += 1;
            if selection.takes(&case) && n_cases < room {
                n_cases += 1;
                print.add(&case);
            }
        }
        if n_all == 0 {
            return Err(Failure::usage(format!("{} has no cases", set.source)));
        }
        room -= n_cases;
        let (name, source) = (set.name.clone(), set.source.clone());
        used.push(SetUsed { name, source, sha256: print.finish(), cases: n_cases });
    }
    match used.iter().map(|set| set.cases).sum::<usize>() {
        0 => Err(Failure::usage("no case matches the selection")),
        _ => Ok(used),
    }
}

/// The selected cases, with the names of their sets.
pub(super) fn selected(
    sets: Vec<CaseSet>,
    used: &[SetUsed],
    selection: Selection,
) -> impl Iterator<Item = Result<(String, EvalCase), CaseError>> + Send + use<> {
    let counts: Vec<usize> = used.iter().map(|set| set.cases).collect();
    sets.into_iter().zip(counts).flat_map(move |(set, n_cases)| {
        let (name, selection) = (set.name.clone(), selection.clone());
        let takes = move |case: &Result<EvalCase, CaseError>| {
            case.as_ref().map_or(true, |case| selection.takes(case))
        };
        let named = move |case: Result<EvalCase, CaseError>| Ok((name.clone(), case?));
        set.cases().filter(takes).take(n_cases).map(named)
    })
}

/// The header of a new run.
pub(super) fn header(
    args: &RunArgs,
    reviewer: ReviewerUsed,
    judge: Option<JudgeUsed>,
    sets: Vec<SetUsed>,
) -> RunHeader {
    let now = jiff::Timestamp::now();
    let stamp = now.strftime("%Y%m%dT%H%M%S%.3fZ").to_string();
    let name: String =
        reviewer.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    RunHeader {
        schema_version: SCHEMA_VERSION,
        run_id: format!("{stamp}-{name}"),
        started_at: now.to_string(),
        mala_version: env!("CARGO_PKG_VERSION").to_owned(),
        reviewer,
        sets,
        selection: args.selection(),
        trials: args.trials,
        seed: args.seed,
        max_span: args.max_span,
        max_cost_usd: args.max_cost,
        judge,
    }
}
