//! What a review took, without what it says: safe to collect.

use super::{Report, ReviewerReport, Status};
use crate::scope::Scope;
use crate::verdict::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The measurements of one review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Telemetry {
    /// The version of this shape.
    pub schema_version: u32,
    /// The review.
    pub review_id: String,
    /// When it started, as UTC.
    pub started_at: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether all of the change was reviewed.
    pub status: Status,
    /// Exactly what was reviewed.
    pub scope: Scope,
    /// What it took.
    pub stats: super::Stats,
    /// What each reviewer took.
    pub reviewers: Vec<ReviewerReport>,
    /// How many findings each rule has.
    pub findings_by_rule: BTreeMap<String, usize>,
    /// How many findings comments set aside.
    pub suppressed: usize,
    /// How many warnings there are.
    pub warnings: usize,
}

impl Telemetry {
    /// The measurements of this report.
    pub fn of(report: &Report, started_at: &str) -> Self {
        let mut findings_by_rule = BTreeMap::new();
        for finding in &report.issues {
            let rule = finding.rule.clone().unwrap_or_else(|| finding.reviewer.clone());
            *findings_by_rule.entry(rule).or_default() += 1;
        }
        Self {
            schema_version: super::SCHEMA_VERSION,
            review_id: report.review_id.clone(),
            started_at: started_at.to_owned(),
            outcome: report.outcome,
            status: report.status,
            scope: report.scope.clone(),
            stats: report.stats.clone(),
            reviewers: report.reviewers.clone(),
            findings_by_rule,
            suppressed: report.suppressed.len(),
            warnings: report.warnings.len(),
        }
    }
}
