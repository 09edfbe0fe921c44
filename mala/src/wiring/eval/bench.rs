//! The bench: one case on it, reviewed, and off again.

use super::judge::JudgeDesk;
use crate::surroundings::Surroundings;
use crate::wiring::changes::{self, Changes};
use crate::wiring::models::Connections;
use crate::wiring::reviewers::{self, ReviewerOptions};
use crate::wiring::rules::ProjectRules;
use mala_adapters::cases::Checkout;
use mala_adapters::evals::RunFolder;
use mala_adapters::models::closing::{Calls, CaseCalls};
use mala_domain::change::{Change, FilePath, parse};
use mala_domain::config::{FILE_NAME, GatePolicy, ReviewPolicy, ReviewerType};
use mala_domain::eval::dummy::Dummy;
use mala_domain::eval::seeded::Seeded;
use mala_domain::eval::trees::Trees;
use mala_domain::eval::{Case, CaseRecord, CaseSpent, Prediction};
use mala_domain::ports::{BoxFuture, CaseRunner, ReviewScope};
use mala_domain::report::Report;
use mala_domain::scope::Target;
use mala_domain::verdict::Outcome;
use mala_pipeline::review::review;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs cases for one run.
pub struct Bench {
    /// Who reviews.
    pub who: Who,
    /// What is around the program.
    pub here: Surroundings,
    /// Where cases are laid out.
    pub work: PathBuf,
    /// Where model traffic is kept.
    pub run: RunFolder,
    /// Where model traffic is replayed from, when it is.
    pub replay: Option<RunFolder>,
    /// Who judges what was found, if anybody does.
    pub judge: Option<JudgeDesk>,
    /// The calls that are under way.
    pub calls: Calls,
    /// Where chance starts.
    pub seed: u64,
}

/// Who reviews.
pub enum Who {
    /// One that only pretends.
    Dummy(Dummy),
    /// A real one.
    Real(Box<Real>),
}

/// What a real reviewer needs for every case.
pub struct Real {
    /// How changes are reviewed here.
    pub policy: ReviewPolicy,
    /// How a panel is put together.
    pub gate: GatePolicy,
    /// The project's own rules.
    pub rules: ProjectRules,
    /// Connections that all cases share.
    pub connections: Option<Connections>,
    /// The project's `mala.yaml`, for a gate, which reads its own settings where it runs.
    pub file: Option<Vec<u8>>,
}

impl Who {
    /// How long one review may take; nothing for one that only pretends.
    pub fn patience(&self) -> Duration {
        match self {
            Self::Dummy(_) => Duration::ZERO,
            Self::Real(real) => real.policy.timeout_for(real.kind()),
        }
    }

    /// Whether all calls that are paid for are kept one by one. Who only pretends makes none.
    fn has_kept_calls(&self) -> bool {
        match self {
            Self::Dummy(_) => true,
            Self::Real(real) => real.kind() == ReviewerType::AgentSdk,
        }
    }
}

impl Real {
    fn kind(&self) -> ReviewerType {
        self.policy.reviewer.value.unwrap_or(ReviewerType::AgentSdk)
    }

    /// A case's own settings do not count; a gate is to find the project's in their place.
    fn settle(&self, trees: &mut Trees) {
        let path = FilePath::from(FILE_NAME);
        let is_gate = self.kind() == ReviewerType::Cerberus;
        for side in [&mut trees.base, &mut trees.head] {
            match &self.file {
                Some(bytes) if is_gate => side.insert(path.clone(), bytes.clone()),
                _ if is_gate => side.remove(&path),
                _ => None,
            };
        }
    }
}

impl CaseRunner for Bench {
    fn run<'a>(&'a self, set: &'a str, case: &'a Case, trial: u32) -> BoxFuture<'a, CaseRecord> {
        Box::pin(async move {
            let calls = self.calls.of_case();
            let under_way = calls.begin().await;
            // Of a reviewer whose calls are not kept one by one, nothing but the whole review is.
            let (_whole, calls) = match self.who.has_kept_calls() {
                true => {
                    drop(under_way);
                    (None, Some(calls))
                }
                false => (Some(under_way), None),
            };
            let started = Instant::now();
            let done = match &self.who {
                Who::Dummy(dummy) => self.pretend(*dummy, set, case, trial).await,
                Who::Real(real) => self.review(real, calls.clone(), (set, case, trial)).await,
            };
            let mut record = done.unwrap_or_else(|error| {
                let change = own_change(case).unwrap_or_default();
                let mut record = CaseRecord::open(set, case, trial, &change);
                record.could_not_review = Some(format!("{error:#}"));
                record.spent = CaseSpent::nothing();
                record
            });
            record.spent.seconds = started.elapsed().as_secs_f64();
            if let (Some(desk), None) = (&self.judge, &record.could_not_review) {
                record.judgement = Some(self.judge(desk, &record, calls.clone()).await);
            }
            // One that is cut short comes to no end: it has no record.
            match calls.is_some_and(|calls| calls.is_cut()) {
                true => std::future::pending().await,
                false => record,
            }
        })
    }
}

impl Bench {
    async fn pretend(
        &self,
        dummy: Dummy,
        set: &str,
        case: &Case,
        trial: u32,
    ) -> anyhow::Result<CaseRecord> {
        let change = match own_change(case) {
            Some(change) => change,
            None => {
                let trees = Trees::of(case);
                let (_checkout, _, scoped) = self.lay_out(&trees).await?;
                Change::clone(&scoped.change)
            }
        };
        let mut record = CaseRecord::open(set, case, trial, &change);
        let mut chance = Seeded::named(self.seed, &format!("{set}\0{}\0{trial}", case.id));
        record.predictions = dummy.review(case, &change, &mut chance);
        record.spent = CaseSpent::nothing();
        Ok(record)
    }

    async fn review(
        &self,
        real: &Real,
        calls: Option<CaseCalls>,
        (set, case, trial): (&str, &Case, u32),
    ) -> anyhow::Result<CaseRecord> {
        let mut trees = Trees::of(case);
        real.settle(&mut trees);
        let (checkout, inside, scoped) = self.lay_out(&trees).await?;
        let target = target_of(&checkout);
        let change = own_change(case).unwrap_or_else(|| Change::clone(&scoped.change));
        let options = ReviewerOptions { target, calls, ..self.options(real, set, case, trial) };
        let chosen = reviewers::choose(&real.policy, &inside, real.rules.clone(), options).await?;
        let plan = chosen.plan(&real.policy, tasks(case), Vec::new())?;
        let reviewed = review(&plan, scoped, &chosen.ports(), &|_| {}).await;
        let report = reviewed.map_err(changes::failure)?.report;
        let mut record = CaseRecord::open(set, case, trial, &change);
        record.base = trees.origin;
        record.notes = trees.notes;
        take(&mut record, &report);
        Ok(record)
    }

    /// Lays a case out, and finds out what changed.
    async fn lay_out(
        &self,
        trees: &Trees,
    ) -> anyhow::Result<(Checkout, Surroundings, ReviewScope)> {
        let checkout = Checkout::of(trees, &self.work, &changes::environment(&self.here)).await?;
        let mut inside = Surroundings { folder: checkout.root().to_owned(), ..self.here.clone() };
        inside.environment.remove(std::ffi::OsStr::new("GIT_INDEX_FILE"));
        let scoped = Changes::open(&inside).await.scope(&target_of(&checkout), &[]).await?;
        Ok((checkout, inside, scoped))
    }

    fn options(&self, real: &Real, set: &str, case: &Case, trial: u32) -> ReviewerOptions {
        let replay = self.replay.as_ref().map(|run| run.traffic(set, &case.id, trial));
        let go_on = match &replay {
            None => Some(self.run.traffic(set, &case.id, trial)),
            Some(_) => None,
        };
        let connections = real.connections.clone();
        let gate = real.gate.clone();
        ReviewerOptions { gate, replay, go_on, connections, ..ReviewerOptions::nothing() }
    }
}

/// What a case says of its change.
fn tasks(case: &Case) -> Vec<(String, String)> {
    let about = format!("{}\n\n{}", case.pr_title, case.pr_description);
    match about.trim() {
        "" => Vec::new(),
        text => vec![("pull request".to_owned(), text.to_owned())],
    }
}

fn target_of(checkout: &Checkout) -> Target {
    let commits = checkout.commits();
    Target::Range { base: commits.base.clone(), head: commits.head.clone() }
}

/// The change that a case's own diff shows.
fn own_change(case: &Case) -> Option<Change> {
    let files = parse(case.diff.as_bytes()).ok()?;
    (!files.is_empty()).then_some(Change { files })
}

/// What a report says, in a record.
fn take(record: &mut CaseRecord, report: &Report) {
    record.predictions = report.issues.iter().map(Prediction::from).collect();
    if let Outcome::CouldNotReview(_) = report.outcome {
        let why = report.trouble().unwrap_or(&report.summary).to_owned();
        record.could_not_review = Some(why);
    }
    record.notes.extend(report.warnings.iter().cloned());
    let stats = &report.stats;
    record.spent = CaseSpent {
        cost_usd: stats.cost_usd,
        tokens_used: stats.tokens_used,
        llm_calls: stats.llm_calls,
        tool_calls: stats.tool_calls,
        seconds: 0.0,
        seconds_llm: stats.latency_seconds_llm,
    };
}
