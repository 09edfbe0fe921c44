//! Asks every reviewer, side by side, each within its time. One reviewer's failure never cancels
//! another.

use crate::events::{EventSink, ReviewEvent};
use futures_util::future::join_all;
use mala_domain::ports::{Reviewer, ReviewerFailure};
use mala_domain::review::{Opinions, ReviewContext, ReviewPlan, ReviewerOpinion};
use std::sync::Arc;

pub(super) async fn ask_all(
    plan: &ReviewPlan,
    context: &ReviewContext,
    reviewers: &[Arc<dyn Reviewer>],
    events: EventSink<'_>,
) -> Opinions {
    tracing::info!("Starting review for {} with {}", context.scope.target, plan.reviewer_type);
    let opinions = reviewers.iter().map(|reviewer| ask(reviewer.as_ref(), context, events));
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
