//! One review: context, opinions, admission, verification, decision, report. Each stage takes the value of
//! the previous stage and does not know the next one. The function prints nothing, never exits, and reaches
//! the outside only through ports.

mod admit;
pub mod context;
mod delta;
mod publish;
mod record;
mod round;
mod scope;
mod track;
mod verify;

pub use publish::{Published, StartTime, publish};
pub use scope::apply_path_settings;
pub use track::{ChangeTracking, not_known};
pub use verify::Verifiers;

use crate::events::{EventSink, ReviewEvent};
use delta::DeltaContext;
use futures_util::future::join_all;
use mala_domain::change::{Change, FilePath};
use mala_domain::ports::{ReviewScope, Reviewer, ReviewerFailure, RunStore, ScopeError};
use mala_domain::report::{Report, ReportParts, assemble};
use mala_domain::review::admit::Admission;
use mala_domain::review::decide::{DecisionFacts, decide, needs_reviewers, split, votes};
use mala_domain::review::{Coverage, Opinions, ReviewContext, ReviewPlan, ReviewerOpinion};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use track::Tracker;

/// The ports of a review.
#[derive(Clone, Copy, Default)]
pub struct ReviewPorts<'p> {
    /// The reviewers, which run concurrently.
    pub reviewers: &'p [Arc<dyn Reviewer>],
    /// The verifiers of their findings.
    pub verifiers: Verifiers<'p>,
    /// The store for the files of the review and its start time, if they are kept.
    pub store: Option<(&'p dyn RunStore, &'p StartTime)>,
    /// The ledger of the change; without one, every review is the first.
    pub tracking: Option<ChangeTracking<'p>>,
}

/// A report, with the data that outputs show beside it.
pub struct ReviewOutput {
    /// The result.
    pub report: Report,
    /// The texts at head of the files with findings.
    pub sources: BTreeMap<FilePath, String>,
}

/// Gathers the context of a review without running a reviewer.
pub async fn gather(
    plan: &ReviewPlan,
    scope: ReviewScope,
    reviewers: &[Arc<dyn Reviewer>],
) -> Result<ReviewContext, ScopeError> {
    let scope = apply_path_settings(scope, &plan.ignore, &plan.generated);
    let needs_surroundings = reviewers.iter().any(|reviewer| reviewer.needs_surroundings());
    context::gather(plan, scope, needs_surroundings).await
}

/// Reviews a change. An error means that its tree cannot be read; other failures, including those
/// of reviewers, are in the report.
pub async fn review(
    plan: &ReviewPlan,
    scope: ReviewScope,
    ports: &ReviewPorts<'_>,
    events: EventSink<'_>,
) -> Result<ReviewOutput, ScopeError> {
    let started = Instant::now();
    events(ReviewEvent::Scoped { files: scope.scope.files, hunks: scope.scope.hunks });
    let context = gather(plan, scope, ports.reviewers).await?;
    let is_empty = context.change.is_empty();
    let needs_reviewers = needs_reviewers(is_empty, &Coverage::over(&context.change, &[]));
    let tracking = ports.tracking.filter(|_| is_empty || needs_reviewers);
    let review_id = scope::review_id(plan, &context.scope, ports.reviewers);
    let mut tracker = Tracker::start(tracking, &context, plan, ports.reviewers).await;
    let delta = tracker.delta_context(&context);
    let opinions = match needs_reviewers {
        true => ask_all(plan, (&context, delta.as_ref()), ports.reviewers, events).await,
        false => Opinions::default(),
    };
    let change = opinions.without_unshown(&context.change);
    let given = Coverage::over(&change, &[]);
    let admitted = admit::admit(&opinions, &context, plan).await?;
    let admitted = tracker.with_open(admitted, &opinions).await?;
    events(ReviewEvent::Verifying { findings: admitted.admission.findings.len() });
    let verified = verify::verify(admitted, &opinions, ports.verifiers, plan).await;
    let verified = tracker.track(verified, &review_id);
    let votes = votes(&opinions, &verified.admission, &change, &plan.policy);
    let statuses = split(&opinions, votes.iter().map(|vote| vote.vote.status), &plan.policy);
    let fail_on = plan.policy.reported_threshold(&opinions, &votes);
    let facts = DecisionFacts {
        is_empty,
        is_retry: tracker.is_retry,
        has_unknown: tracker.has_unknown(fail_on),
        coverage: &given,
        votes: statuses,
    };
    let decision = decide(&facts, &plan.policy);
    let reported = verified.most_urgent(&opinions, fail_on);
    events(ReviewEvent::Decided { findings: reported.admission.findings.len() });
    let (log, unkept) = publish::prepare(ports.store, &review_id);
    let notices = [unkept, tracker.warning.take()].into_iter().flatten();
    let coverage = reached(&opinions, given, &change, &reported.admission);
    let parts = ReportParts {
        review_id,
        warnings: plan.warnings.iter().cloned().chain(reported.warnings).chain(notices).collect(),
        cut_short: opinions.is_cut_short() || reported.cut_short,
        votes,
        admission: reported.admission,
        suppressed: reported.suppressed,
        checks: reported.checks,
        checker: reported.checker,
        coverage,
        decision,
        policy: plan.policy.clone(),
        preface: plan.preface.clone(),
        log,
        seconds: started.elapsed().as_secs_f64(),
        scope: context.scope,
        opinions,
        tracking: None,
    };
    let report = assemble(tracker.record(parts).await);
    Ok(ReviewOutput { report, sources: reported.sources })
}

/// The coverage of the reviewers; without reviewers, that of the reviewable hunks.
fn reached(
    opinions: &Opinions,
    given: Coverage,
    change: &Change,
    admission: &Admission,
) -> Coverage {
    match opinions.0.is_empty() {
        true => given,
        false => opinions.coverage(change, admission),
    }
}

async fn ask_all(
    plan: &ReviewPlan,
    (context, delta): (&ReviewContext, Option<&DeltaContext>),
    reviewers: &[Arc<dyn Reviewer>],
    events: EventSink<'_>,
) -> Opinions {
    tracing::info!("Starting review for {} with {}", context.scope.target, plan.reviewer_type);
    let opinions = reviewers.iter().map(async |reviewer| {
        let delta = delta.filter(|_| !reviewer.reviews_whole_change());
        let own = delta.map_or(context, |delta| &delta.context);
        let mut given = ask(reviewer.as_ref(), own, events).await;
        if let Some(delta) = delta {
            given.opinion = given.opinion.map(|opinion| delta.restored(opinion));
        }
        given
    });
    Opinions(join_all(opinions).await)
}

async fn ask(
    reviewer: &dyn Reviewer,
    context: &ReviewContext,
    events: EventSink<'_>,
) -> ReviewerOpinion {
    let name = reviewer.name().to_owned();
    events(ReviewEvent::ReviewerStarted { reviewer: name.clone() });
    let opinion = tokio::time::timeout(context.timeout, reviewer.review(context))
        .await
        .unwrap_or_else(|_| Err(ReviewerFailure::timeout()));
    let given = ReviewerOpinion { reviewer: name.clone(), opinion };
    let claims = match (&given.opinion, given.failure()) {
        (Ok(opinion), None) => Some(opinion.claims.len()),
        _ => None,
    };
    events(ReviewEvent::ReviewerEnded { reviewer: name, claims });
    given
}

#[cfg(test)]
mod tests;
