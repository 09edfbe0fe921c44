//! Reviews the cases of a run: each is checked out as a repository and reviewed like any other change.

use super::git::{CaseCheckout, CaseRepositories};
use super::judge::JudgeSetup;
use crate::environment::Environment;
use crate::settings::UserModels;
use crate::wiring::changes::{self, Changes};
use crate::wiring::models::Connections;
use crate::wiring::reviewers::{self, ReviewerOptions};
use crate::wiring::rules::ProjectRules;
use mala_adapters::models::call_tracker::{CallTracker, CaseCallTracker};
use mala_domain::change::{Change, FilePath};
use mala_domain::config::{FILE_NAME, GatePolicy, ReviewPolicy, ReviewerType};
use mala_domain::ports::{BoxFuture, ReviewScope};
use mala_eval::case_review::{PartialTree, PreparedReview, review_case};
use mala_eval::dummy::DummyReviewer;
use mala_eval::ports::CaseRunner;
use mala_eval::random::SeededRandom;
use mala_eval::store::runs::EvalRunFolder;
use mala_eval::trees::CaseTrees;
use mala_eval::{CaseRecord, CaseUsage, EvalCase};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Reviews the cases of one run.
pub struct CaseReviewer {
    /// The reviewer.
    pub reviewer: EvalReviewer,
    /// The environment of the program.
    pub here: Environment,
    /// The repositories that have the commits of cases.
    pub repositories: CaseRepositories,
    /// The folder for checkouts of cases.
    pub work: PathBuf,
    /// The folder of the run, with the recorded model traffic.
    pub run: EvalRunFolder,
    /// The run whose model traffic is replayed, if any.
    pub replay: Option<EvalRunFolder>,
    /// The judge of semantic matching, if any.
    pub judge: Option<JudgeSetup>,
    /// The model calls in progress.
    pub calls: CallTracker,
    /// The seed of random choices.
    pub seed: u64,
}

/// The reviewer of a run.
pub enum EvalReviewer {
    /// A dummy that tests the scoring.
    Dummy(DummyReviewer),
    /// A real reviewer.
    Configured(Box<ConfiguredReviewer>),
}

/// A real reviewer with its settings.
pub struct ConfiguredReviewer {
    /// The review policy.
    pub policy: ReviewPolicy,
    /// The policy of a panel.
    pub gate: GatePolicy,
    /// The settings of models.
    pub models: UserModels,
    /// The project's own rules.
    pub rules: ProjectRules,
    /// Connections that all cases share.
    pub connections: Option<Connections>,
    /// The project's `mala.yaml`, for a gate, which reads its own settings where it runs.
    pub file: Option<Vec<u8>>,
}

impl EvalReviewer {
    /// The time limit of one review; zero for a dummy.
    pub fn timeout(&self) -> Duration {
        match self {
            Self::Dummy(_) => Duration::ZERO,
            Self::Configured(real) => real.policy.timeout_for(real.kind()),
        }
    }

    /// Whether every paid call is recorded on its own. Dummies make no calls.
    fn records_each_call(&self) -> bool {
        match self {
            Self::Dummy(_) => true,
            Self::Configured(real) => real.kind() == ReviewerType::AgentSdk,
        }
    }
}

impl ConfiguredReviewer {
    fn kind(&self) -> ReviewerType {
        self.policy.reviewer.value.unwrap_or(ReviewerType::AgentSdk)
    }

    /// Adds this project's settings to a case: a gate reads the settings of the repository it runs
    /// in, which would be those of the case.
    fn put_settings(&self, trees: &mut CaseTrees) {
        if self.kind() != ReviewerType::Cerberus {
            return;
        }
        let settings = self.file.clone().unwrap_or_else(|| b"{}\n".to_vec());
        for side in [&mut trees.base, &mut trees.head] {
            side.insert(FilePath::from(FILE_NAME), settings.clone());
        }
    }
}

impl CaseRunner for CaseReviewer {
    fn run<'a>(
        &'a self,
        set: &'a str,
        case: &'a EvalCase,
        trial: u32,
    ) -> BoxFuture<'a, CaseRecord> {
        Box::pin(async move {
            let calls = self.calls.of_case();
            let in_progress = calls.begin().await;
            // If single calls are not recorded, the whole review counts as one call.
            let (_whole, calls) = match self.reviewer.records_each_call() {
                true => {
                    drop(in_progress);
                    (None, Some(calls))
                }
                false => (Some(in_progress), None),
            };
            let started = Instant::now();
            let done = match &self.reviewer {
                EvalReviewer::Dummy(dummy) => self.run_dummy(*dummy, set, case, trial).await,
                EvalReviewer::Configured(real) => {
                    self.review(real, calls.clone(), (set, case, trial)).await
                }
            };
            let mut record = done.unwrap_or_else(|error| {
                let change = case.own_change().unwrap_or_default();
                let mut record = CaseRecord::open(set, case, trial, &change);
                record.could_not_review = Some(format!("{error:#}"));
                record.spent = CaseUsage::nothing();
                record
            });
            record.spent.seconds = started.elapsed().as_secs_f64();
            if let (Some(judge), None) = (&self.judge, &record.could_not_review) {
                record.judgement = Some(self.judge(judge, &record, calls.clone()).await);
            }
            // An interrupted review never ends: it must not leave a record.
            match calls.is_some_and(|calls| calls.is_interrupted()) {
                true => std::future::pending().await,
                false => record,
            }
        })
    }
}

impl CaseReviewer {
    async fn run_dummy(
        &self,
        dummy: DummyReviewer,
        set: &str,
        case: &EvalCase,
        trial: u32,
    ) -> anyhow::Result<CaseRecord> {
        let change = match case.own_change() {
            Some(change) => change,
            None => {
                let (_checkout, _, scoped) = self.check_out(case, &CaseTrees::of(case)).await?;
                Change::clone(&scoped.change)
            }
        };
        let mut record = CaseRecord::open(set, case, trial, &change);
        let mut random = SeededRandom::named(self.seed, &format!("{set}\0{}\0{trial}", case.id));
        record.predictions = dummy.review(case, &change, &mut random);
        record.spent = CaseUsage::nothing();
        Ok(record)
    }

    async fn review(
        &self,
        real: &ConfiguredReviewer,
        calls: Option<CaseCallTracker>,
        (set, case, trial): (&str, &EvalCase, u32),
    ) -> anyhow::Result<CaseRecord> {
        let mut trees = CaseTrees::of(case);
        real.put_settings(&mut trees);
        let (checkout, inside, scope) = self.check_out(case, &trees).await?;
        let target = checkout.target();
        let options = ReviewerOptions { target, calls, ..self.options(real, set, case, trial) };
        let chosen = reviewers::choose(&real.policy, &inside, real.rules.clone(), options).await?;
        let chosen = chosen.all_available()?;
        let plan = chosen.plan(&real.policy, task_texts(case), Vec::new())?;
        let CaseTrees { origin: base, notes, .. } = trees;
        let prepared = PreparedReview { plan, scope, ports: chosen.ports(), base, notes };
        Ok(review_case(prepared, (set, case, trial)).await.map_err(changes::failure)?)
    }

    /// Checks a case out: in the tree of its commit if a repository has it, otherwise only its
    /// files.
    async fn check_out(
        &self,
        case: &EvalCase,
        trees: &CaseTrees,
    ) -> anyhow::Result<(CaseCheckout, Environment, ReviewScope)> {
        let (checkout, is_complete) =
            match self.repositories.check_out(case, trees, &self.work).await? {
                Some(checkout) => (checkout, true),
                None => {
                    let environment = changes::child_environment(&self.here);
                    let (base, head) = (&trees.base, &trees.head);
                    let alone = CaseCheckout::of(base, head, &self.work, &environment).await?;
                    (alone, case.complete_tree)
                }
            };
        let mut inside = Environment { folder: checkout.root().to_owned(), ..self.here.clone() };
        inside.variables.remove(std::ffi::OsStr::new("GIT_INDEX_FILE"));
        let mut scoped = Changes::open(&inside).await.scope(&checkout.target(), &[]).await?;
        if !is_complete {
            scoped.tree = Arc::new(PartialTree(scoped.tree));
        }
        Ok((checkout, inside, scoped))
    }

    fn options(
        &self,
        real: &ConfiguredReviewer,
        set: &str,
        case: &EvalCase,
        trial: u32,
    ) -> ReviewerOptions {
        let replay = self.replay.as_ref().map(|run| run.traffic(set, &case.id, trial));
        let resume = match &replay {
            None => Some(self.run.traffic(set, &case.id, trial)),
            Some(_) => None,
        };
        let connections = real.connections.clone();
        let (gate, models) = (real.gate.clone(), real.models.clone());
        ReviewerOptions { gate, replay, resume, connections, ..ReviewerOptions::new(models) }
    }
}

/// The title and description of a case's pull request.
fn task_texts(case: &EvalCase) -> Vec<(String, String)> {
    let text = format!("{}\n\n{}", case.pr_title, case.pr_description);
    match text.trim() {
        "" => Vec::new(),
        text => vec![("pull request".to_owned(), text.to_owned())],
    }
}
