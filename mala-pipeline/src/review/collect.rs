//! Asks every reviewer, side by side, each within its time. One reviewer's failure never cancels
//! another.

use super::delta::DeltaContext;
use crate::events::{Event, EventSink};
use futures_util::future::join_all;
use mala_domain::ports::{Reviewer, ReviewerFailure};
use mala_domain::review::{GivenOpinion, Opinions, ReviewContext, ReviewPlan};
use std::sync::Arc;

pub(super) async fn ask_all(
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
) -> GivenOpinion {
    let name = reviewer.name().to_owned();
    events(Event::ReviewerStarted { reviewer: name.clone() });
    let opinion = tokio::time::timeout(context.timeout, reviewer.review(context))
        .await
        .unwrap_or_else(|_| Err(ReviewerFailure::timeout()));
    let given = GivenOpinion { reviewer: name.clone(), opinion };
    let claims = match (&given.opinion, given.failure()) {
        (Ok(opinion), None) => Some(opinion.claims.len()),
        _ => None,
    };
    events(Event::ReviewerEnded { reviewer: name, claims });
    given
}
