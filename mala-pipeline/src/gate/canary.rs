//! Gives each lane of a panel one planted defect, and says which of them found it. Each lane reviews
//! alone, and no finding is checked by others: what one lane says on its own is what is measured.

use crate::review::{ReviewPorts, review};
use futures_util::future::try_join_all;
use mala_domain::eval::Truth;
use mala_domain::finding::Finding;
use mala_domain::gate::canary::Found;
use mala_domain::ports::{ReviewScope, Reviewer, ScopeError};
use mala_domain::review::ReviewPlan;
use std::sync::Arc;

/// What a lane made of a planted defect.
#[derive(Debug, Clone, PartialEq)]
pub struct CanaryTry {
    /// The lane.
    pub lane: String,
    /// Whether it found it; why it did not review, when it did not.
    pub found: Result<Found, String>,
    /// What it cost, when it says so.
    pub cost_usd: Option<f64>,
}

/// Has every lane review a change with a planted defect.
pub async fn measure(
    plan: &ReviewPlan,
    scope: &ReviewScope,
    lanes: &[Arc<dyn Reviewer>],
    truth: &Truth,
) -> Result<Vec<CanaryTry>, ScopeError> {
    let tries = lanes.iter().map(|lane| async {
        let reviewers = std::slice::from_ref(lane);
        let ports = ReviewPorts { reviewers, ..ReviewPorts::default() };
        let report = review(plan, scope.clone(), &ports, &|_| {}).await?.report;
        let own = report.reviewers.first();
        let error = own.and_then(|own| own.error.clone());
        let findings: Vec<Finding> = report.issues;
        Ok(CanaryTry {
            lane: lane.name().to_owned(),
            found: error.map_or_else(|| Ok(Found::among(&findings, truth)), Err),
            cost_usd: own.and_then(|own| own.usage.cost_usd),
        })
    });
    try_join_all(tries).await
}
