//! The decision: pure, over data. A change passes only when every hunk that was to be reviewed is
//! accounted for and no finding reaches the threshold.

use crate::finding::Finding;
use crate::ports::ReviewerFailure;
use crate::review::Coverage;
use crate::verdict::{Obstacle, Outcome, Threshold};

/// How the review ended.
pub fn decide(
    findings: &[Finding],
    coverage: &Coverage,
    failures: &[ReviewerFailure],
    fail_on: Threshold,
) -> Outcome {
    if let Some(obstacle) = worst_obstacle(failures) {
        return Outcome::CouldNotReview(obstacle);
    }
    if findings.iter().any(|finding| fail_on.blocks(finding)) {
        return Outcome::Blocked;
    }
    if !coverage.is_complete() {
        return Outcome::CouldNotReview(Obstacle::Incomplete);
    }
    Outcome::Passed
}

fn worst_obstacle(failures: &[ReviewerFailure]) -> Option<Obstacle> {
    failures.iter().map(obstacle).max_by_key(|obstacle| match obstacle {
        Obstacle::TimedOut => 0,
        Obstacle::Incomplete => 1,
        Obstacle::NoReviewers => 2,
        Obstacle::Internal => 3,
    })
}

fn obstacle(failure: &ReviewerFailure) -> Obstacle {
    match failure {
        ReviewerFailure::Unavailable(_) => Obstacle::NoReviewers,
        ReviewerFailure::TimedOut => Obstacle::TimedOut,
        ReviewerFailure::Crashed(_) | ReviewerFailure::Unreadable(_) => Obstacle::Incomplete,
        ReviewerFailure::Broken(_) => Obstacle::Internal,
    }
}
