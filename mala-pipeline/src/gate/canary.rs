//! The findings of each lane of a panel by itself, without verification and without a decision.

use crate::review::{ReviewPorts, review};
use futures_util::future::try_join_all;
use mala_domain::finding::Finding;
use mala_domain::ports::{ReviewScope, Reviewer, ScopeError};
use mala_domain::review::ReviewPlan;
use std::sync::Arc;

/// The findings of one lane.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneFindings {
    /// The lane.
    pub lane: String,
    /// Its findings, or why it did not review.
    pub findings: Result<Vec<Finding>, String>,
    /// The cost, when the lane reports one.
    pub cost_usd: Option<f64>,
}

/// Has every lane review a change by itself.
pub async fn lane_findings(
    plan: &ReviewPlan,
    scope: &ReviewScope,
    lanes: &[Arc<dyn Reviewer>],
) -> Result<Vec<LaneFindings>, ScopeError> {
    let reviews = lanes.iter().map(|lane| async {
        let reviewers = std::slice::from_ref(lane);
        let ports = ReviewPorts { reviewers, ..ReviewPorts::default() };
        let report = review(plan, scope.clone(), &ports, &|_| {}).await?.report;
        let own = report.reviewers.first();
        let error = own.and_then(|own| own.error.clone());
        let cost_usd = own.and_then(|own| own.usage.cost_usd);
        let findings: Vec<Finding> = report.issues;
        let lane = lane.name().to_owned();
        Ok(LaneFindings { lane, findings: error.map_or(Ok(findings), Err), cost_usd })
    });
    try_join_all(reviews).await
}
