//! Nothing runs twice, nothing is lost, nothing costs more than it may.

use super::*;
use crate::{BaseOrigin, CaseUsage};
use mala_domain::change::LineCounts;
use mala_domain::ports::BoxFuture;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs cases that cost ten cents, and counts how many run at once.
#[derive(Default)]
struct CountingRunner {
    running: AtomicUsize,
    most: AtomicUsize,
    cost: Option<f64>,
}

impl CaseRunner for CountingRunner {
    fn run<'a>(
        &'a self,
        set: &'a str,
        case: &'a EvalCase,
        trial: u32,
    ) -> BoxFuture<'a, CaseRecord> {
        Box::pin(async move {
            let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::task::yield_now().await;
            self.running.fetch_sub(1, Ordering::SeqCst);
            record(set, &case.id, trial, self.cost)
        })
    }
}

#[derive(Default)]
struct KeptRecords(Mutex<Vec<TrialKey>>);

impl RecordSink for KeptRecords {
    fn append(&self, record: &CaseRecord) -> Result<(), StoreError> {
        let key = (record.set.clone(), record.case.clone(), record.trial);
        self.0.lock().unwrap().push(key);
        Ok(())
    }
}

fn record(set: &str, case: &str, trial: u32, cost_usd: Option<f64>) -> CaseRecord {
    CaseRecord {
        schema_version: 1,
        set: set.to_owned(),
        case: case.to_owned(),
        trial,
        language: String::new(),
        tags: Vec::new(),
        title: String::new(),
        diff: String::new(),
        could_not_review: None,
        predictions: Vec::new(),
        minor_predictions: Vec::new(),
        truths: Vec::new(),
        rejected: Vec::new(),
        hunks: Vec::new(),
        changed_lines: LineCounts::default(),
        base: BaseOrigin::Given,
        notes: Vec::new(),
        spent: CaseUsage { cost_usd, ..CaseUsage::default() },
        judgement: None,
    }
}

fn cases(n: usize) -> Vec<Result<(String, EvalCase), CaseError>> {
    let case = |at: usize| {
        let diff = "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+x\n";
        let text = serde_json::json!({"id": format!("c{at}"), "language": "x", "diff": diff});
        Ok(("s".to_owned(), EvalCase::parse("s", 1, &text.to_string())?))
    };
    (0..n).map(case).collect()
}

fn plan(trials: u32, limit_cents: Option<u64>, done: &[(&str, u32)]) -> RunPlan {
    let cents = |cents: u64| Dollars::millionths(cents * 10_000);
    RunPlan {
        trials,
        at_once: 4,
        budget: EvalBudget::new(limit_cents.map(cents), cents(25), Dollars::ZERO),
        done: done.iter().map(|(case, at)| ("s".to_owned(), (*case).to_owned(), *at)).collect(),
        total: 0,
    }
}

fn ran(
    plan: RunPlan,
    n: usize,
    cost: Option<f64>,
) -> (Result<RunEnding, EvalError>, Vec<TrialKey>, usize) {
    let (runner, kept) =
        (CountingRunner { cost, ..CountingRunner::default() }, KeptRecords::default());
    let told = AtomicUsize::new(0);
    let count = |_: &RunProgress| {
        told.fetch_add(1, Ordering::SeqCst);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let all = cases(n).into_iter();
    let ending = runtime.block_on(run(plan, all, &runner, &kept, &count));
    let mut kept = kept.0.into_inner().unwrap();
    kept.sort();
    assert_eq!(told.into_inner(), kept.len());
    (ending, kept, runner.most.into_inner())
}

#[test]
fn every_open_trial_runs_once_and_four_run_at_once() {
    let (ending, kept, most) = ran(plan(3, None, &[("c1", 2), ("c2", 1)]), 10, Some(0.1));
    assert_eq!((ending.unwrap(), kept.len(), most), (RunEnding::Complete, 28, 4));
    assert!(kept.windows(2).all(|two| two[0] < two[1]), "{kept:?}");
    assert!(!kept.contains(&("s".to_owned(), "c1".to_owned(), 2)));
}

#[test]
fn the_run_stops_before_it_could_cost_too_much() {
    // Each could cost 25 cents and costs 10: after 8 there are 20 cents left.
    let (ending, kept, most) = ran(plan(1, Some(100), &[]), 100, Some(0.1));
    assert_eq!((ending.unwrap(), kept.len(), most), (RunEnding::BudgetExhausted, 8, 4));
    // An unknown cost counts in full.
    let (ending, kept, _) = ran(plan(1, Some(100), &[]), 100, None);
    assert_eq!((ending.unwrap(), kept.len()), (RunEnding::BudgetExhausted, 4));
    // With nothing left to do, no money is no matter.
    let (ending, kept, _) = ran(plan(1, Some(100), &[]), 4, None);
    assert_eq!((ending.unwrap(), kept.len()), (RunEnding::Complete, 4));
}

#[test]
fn a_case_that_is_none_stops_the_run() {
    let (runner, kept) = (CountingRunner::default(), KeptRecords::default());
    let mut all = cases(2);
    all.insert(1, Err(CaseError::at_line("s.jsonl", 2, "no JSON")));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ended = runtime.block_on(run(plan(1, None, &[]), all.into_iter(), &runner, &kept, &|_| {}));
    assert_eq!(ended.unwrap_err().to_string(), "s.jsonl:2:1: no JSON");
}
