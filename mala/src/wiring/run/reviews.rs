//! Reviews for triggers: the same review as `mala review`, with the reviewer that the trigger names.

use crate::environment::Environment;
use crate::settings::Settings;
use crate::wiring::changes::Changes;
use crate::wiring::ledger::{LedgerPlace, ReviewLedger, TrackingRequest};
use crate::wiring::reviewers::{self, ReviewerOptions};
use crate::wiring::task::{TaskRepository, fresh_review_id};
use crate::wiring::{rules, start_time};
use mala_domain::config::{
    CerberusSettings, ConfigOrigin, ConfigValue, ReviewPolicy, ReviewerType, Seconds,
};
use mala_domain::ports::{BoxFuture, RunStore, ScopeError};
use mala_domain::report::Report;
use mala_domain::scope::ReviewTarget;
use mala_domain::task::conclusion::{TaskFacts, conclude_task};
use mala_domain::task::review::{ReviewConclusion, TaskReview};
use mala_pipeline::review::{Published, ReviewPorts, publish, review};
use mala_pipeline::run::{TriggerReviewRequest, TriggerReviews};
use mala_pipeline::task::{end_run_review, start_run_review};

/// Reviews ranges of the repository.
pub struct RangeReviews {
    pub(super) here: Environment,
    pub(super) settings: Settings,
    pub(super) changes: Changes,
    pub(super) timeout: Option<Seconds>,
    /// The tasks that issues are, with the built-in tracker.
    pub(super) tasks: Option<TaskRepository>,
}

impl TriggerReviews for RangeReviews {
    fn review<'a>(
        &'a self,
        request: &'a TriggerReviewRequest,
    ) -> BoxFuture<'a, Result<Report, ScopeError>> {
        Box::pin(async move {
            let recorded = self.start_record(request).await;
            let done = self.review_range(request).await;
            if let Some(review) = recorded {
                self.end_record(review, &done).await;
            }
            done.map_err(|error| ScopeError::Broken { what: format!("{error:#}"), hint: None })
        })
    }
}

impl RangeReviews {
    /// Records the review of an issue in its task. A record that fails never fails the review.
    async fn start_record(&self, request: &TriggerReviewRequest) -> Option<TaskReview> {
        let (tasks, (id, attempt)) = self.tasks.as_ref().zip(request.issue.as_ref())?;
        let reviewer = request.settings.reviewer_type.map_or("default", |it| it.name()).to_owned();
        let review_id = fresh_review_id().ok()?;
        if let Err(error) = tasks.hold_lock() {
            tracing::warn!("{error:#}");
        }
        let started =
            start_run_review(id, *attempt, (review_id, reviewer), &tasks.ports(&[])).await;
        started.unwrap_or_else(|error| {
            tracing::warn!(%error, "the review is not in the events of its task");
            None
        })
    }

    async fn end_record(&self, review: TaskReview, done: &anyhow::Result<Report>) {
        let Some(tasks) = &self.tasks else { return };
        let conclusion = match done {
            Ok(report) => conclude_task(report, None, &TaskFacts::default()).conclusion,
            Err(error) => ReviewConclusion::NotDone(format!("{error:#}")),
        };
        if let Err(error) = end_run_review(review, &conclusion, &tasks.ports(&[])).await {
            tracing::warn!(%error, "the end of the review is not in the events of its task");
        }
    }

    async fn review_range(&self, request: &TriggerReviewRequest) -> anyhow::Result<Report> {
        let (base, head) = (request.base.clone(), request.head.clone());
        let target = ReviewTarget::Range { base, head };
        let scoped = self.changes.scope(&target, &[]).await?;
        let mut notices = Vec::new();
        let rules = rules::project_rules(&scoped, &target, &mut notices).await?;
        let policy = self.policy(request);
        let options = ReviewerOptions {
            target,
            gate: self.settings.gate.clone(),
            ..ReviewerOptions::new(self.settings.models.clone())
        };
        let chosen = reviewers::choose(&policy, &self.here, rules, options).await?;
        if policy.reviewer.value.is_none() && chosen.kinds == [ReviewerType::Builtin] {
            notices.push(reviewers::NO_KEY.to_owned());
        }
        let started = start_time();
        // Reviews of the same work from the same base are rounds of one change.
        let (base, head) = (request.base.clone(), request.work.clone());
        let tracking = TrackingRequest {
            target: &ReviewTarget::Range { base, head },
            scope: &scoped,
            paths: &[],
            policy: policy.rounds(false).keeping(request.settings.finding_threshold),
            at: started.at.clone(),
            stores: true,
        };
        let ledger = match self.changes.git() {
            Some(git) => {
                ReviewLedger::open(&LedgerPlace::of(git).await, tracking, &mut notices).await
            }
            None => None,
        };
        let plan = chosen.plan(&policy, request.tasks.clone(), notices)?;
        let store = self.changes.store();
        let kept_in = store.as_ref().map(|store| (store as &dyn RunStore, &started));
        let tracking = ledger.as_ref().map(ReviewLedger::tracking);
        let ports = ReviewPorts { store: kept_in, tracking, ..chosen.ports() };
        let reviewed = review(&plan, scoped, &ports, &|_| {}).await;
        let reviewed = reviewed.map_err(crate::wiring::changes::failure)?;
        if let Some(store) = &store
            && let Published::Failed(error) = publish(&reviewed, &started, store, &[])
        {
            tracing::warn!("cannot save the review: {error}");
        }
        Ok(reviewed.report)
    }

    /// The settings of the project, with those of the trigger in place of its own reviewer.
    fn policy(&self, request: &TriggerReviewRequest) -> ReviewPolicy {
        let mut policy = self.settings.policy.clone();
        let settings = &request.settings;
        let origin = || ConfigOrigin::RepositoryFile("mala.yaml".to_owned());
        policy.reviewer = ConfigValue { value: settings.reviewer_type, origin: origin() };
        policy.fail_on = ConfigValue { value: settings.finding_threshold, origin: origin() };
        if let Some(own) = &settings.cerberus {
            // A trigger that names no gate program uses that of the project.
            let project = policy.cerberus.value.as_ref().and_then(|it| it.command.clone());
            let command = own.command.clone().or(project);
            let value = Some(CerberusSettings { command, ..own.clone() });
            policy.cerberus = ConfigValue { value, origin: origin() };
        }
        if self.timeout.is_some() {
            policy.timeout = ConfigValue { value: self.timeout, origin: ConfigOrigin::CommandLine };
        }
        policy
    }
}
