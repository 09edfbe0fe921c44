//! Reviews cases in parallel within one budget. Each record is stored before it counts, and a case with a
//! record is not reviewed again.

#[cfg(test)]
mod tests;

use crate::budget::{BudgetExhausted, BudgetShare, EvalBudget};
use crate::ports::{CaseRunner, RecordSink};
use crate::{CaseError, CaseRecord, EvalCase};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use mala_domain::agent::budget::Dollars;
use mala_domain::ports::StoreError;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// A set, a case and a trial.
pub type TrialKey = (String, String, u32);

/// The cases to run, and the limits.
pub struct RunPlan {
    /// The number of reviews of each case.
    pub trials: u32,
    /// The number of cases that run at the same time.
    pub at_once: usize,
    /// The money.
    pub budget: EvalBudget,
    /// The trials that already have a record.
    pub done: BTreeSet<TrialKey>,
    /// The total number of trials, including finished ones.
    pub total: u64,
}

/// The progress of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunProgress {
    /// Reviews that are done, with those of earlier starts.
    pub done: u64,
    /// All of them.
    pub total: u64,
    /// The trials that could not be reviewed since this start.
    pub could_not_review: u64,
    /// The estimated remaining time, from the mean time so far.
    pub time_left: Option<Duration>,
    /// Dollars so far, including the reservations of running cases.
    pub spent: Dollars,
    /// Dollars that are left; `None` without a limit.
    pub money_left: Option<Dollars>,
    /// The case that ended last.
    pub last: String,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnding {
    /// Everything has its record.
    Complete,
    /// There is no money for another case.
    BudgetExhausted,
}

/// An error that stops a run.
#[derive(Debug, Error)]
pub enum EvalError {
    /// An invalid case.
    #[error(transparent)]
    EvalCase(#[from] CaseError),
    /// A record that cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Receives the progress.
pub type ProgressSink<'a> = &'a (dyn Fn(&RunProgress) + Send + Sync);

/// Runs all cases that have no record yet.
pub async fn run(
    plan: RunPlan,
    cases: impl Iterator<Item = Result<(String, EvalCase), CaseError>>,
    runner: &dyn CaseRunner,
    journal: &dyn RecordSink,
    tell: ProgressSink<'_>,
) -> Result<RunEnding, EvalError> {
    let mut ledger = ProgressCounter::new(&plan);
    let RunPlan { trials, at_once, mut budget, done, .. } = plan;
    let mut waiting = work(cases, trials, &done);
    let mut running = FuturesUnordered::new();
    let mut ending = RunEnding::Complete;
    loop {
        while running.len() < at_once.max(1) && ending == RunEnding::Complete {
            let share = match budget.take() {
                Ok(share) => share,
                Err(BudgetExhausted::ForNow) => break,
                // Only with work left is it a pity.
                Err(BudgetExhausted::ForGood) => {
                    if waiting.next().transpose()?.is_some() {
                        ending = RunEnding::BudgetExhausted;
                    }
                    break;
                }
            };
            match waiting.next().transpose()? {
                Some(work) => running.push(one(runner, work, share)),
                None => {
                    budget.settle(share, Some(Dollars::ZERO));
                    break;
                }
            }
        }
        let Some((record, share)) = running.next().await else { return Ok(ending) };
        journal.append(&record)?;
        budget.settle(share, record.cost_usd().map(Dollars::at_least));
        tell(&ledger.after(&record, &budget));
    }
}

/// One trial of a case.
struct CaseTrial {
    set: Arc<str>,
    case: Arc<EvalCase>,
    trial: u32,
}

fn work<'a>(
    cases: impl Iterator<Item = Result<(String, EvalCase), CaseError>> + 'a,
    trials: u32,
    done: &'a BTreeSet<TrialKey>,
) -> impl Iterator<Item = Result<CaseTrial, CaseError>> + 'a {
    let each = move |given: Result<(String, EvalCase), CaseError>| match given {
        Err(error) => vec![Err(error)],
        Ok((set, case)) => {
            let is_open = |trial: &u32| !done.contains(&(set.clone(), case.id.clone(), *trial));
            let open: Vec<u32> = (1..=trials).filter(is_open).collect();
            let (set, case) = (Arc::<str>::from(set), Arc::new(case));
            let work = open.into_iter().map(|trial| CaseTrial {
                set: Arc::clone(&set),
                case: Arc::clone(&case),
                trial,
            });
            work.map(Ok).collect()
        }
    };
    cases.flat_map(each)
}

async fn one(
    runner: &dyn CaseRunner,
    work: CaseTrial,
    share: BudgetShare,
) -> (CaseRecord, BudgetShare) {
    (runner.run(&work.set, &work.case, work.trial).await, share)
}

struct ProgressCounter {
    started: Instant,
    done: u64,
    done_before: u64,
    total: u64,
    could_not_review: u64,
}

impl ProgressCounter {
    fn new(plan: &RunPlan) -> Self {
        let done = plan.done.len() as u64;
        let started = Instant::now();
        Self { started, done, done_before: done, total: plan.total, could_not_review: 0 }
    }

    fn after(&mut self, record: &CaseRecord, budget: &EvalBudget) -> RunProgress {
        self.done += 1;
        self.could_not_review += u64::from(record.could_not_review.is_some());
        let ours = self.done - self.done_before;
        let each = self.started.elapsed().div_f64(ours as f64);
        let left = self.total.saturating_sub(self.done);
        RunProgress {
            done: self.done,
            total: self.total,
            could_not_review: self.could_not_review,
            time_left: u32::try_from(left).ok().map(|left| each.saturating_mul(left)),
            spent: budget.spent(),
            money_left: budget.left(),
            last: record.case.clone(),
        }
    }
}
