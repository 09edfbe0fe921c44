//! Cuts what is reported to the worst findings. It comes after admission, so that a claim that does not
//! hold takes nobody's place.

use crate::finding::{Finding, Priority};
use crate::verdict::{Threshold, counts};
use std::cmp::Reverse;

/// The worst findings, in their order, and how many are left out. What blocks stays, however many
/// that are; what is refuted goes first.
pub fn worst(findings: Vec<Finding>, max: usize, fail_on: Threshold) -> (Vec<Finding>, usize) {
    let n_blocking = findings.iter().filter(|finding| fail_on.blocks(finding)).count();
    let max = max.max(n_blocking);
    let left_out = findings.len().saturating_sub(max);
    let mut ranked: Vec<(usize, Finding)> = findings.into_iter().enumerate().collect();
    ranked.sort_by(|(_, a), (_, b)| {
        rank(a, fail_on).cmp(&rank(b, fail_on)).then(b.confidence.total_cmp(&a.confidence))
    });
    ranked.truncate(max);
    ranked.sort_by_key(|(index, _)| *index);
    (ranked.into_iter().map(|(_, finding)| finding).collect(), left_out)
}

fn rank(finding: &Finding, fail_on: Threshold) -> (Reverse<bool>, Reverse<bool>, Priority) {
    (Reverse(fail_on.blocks(finding)), Reverse(counts(finding)), finding.effective_priority())
}
