//! The numbers of a review without its content: safe to collect.

use super::{Report, ReviewStatus, ReviewerReport};
use crate::review::Usage;
use crate::scope::ScopeSummary;
use crate::verdict::{Outcome, Verdict};
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
    pub status: ReviewStatus,
    /// Exactly what was reviewed.
    pub scope: ScopeSummary,
    /// Calls, tokens, cost and time.
    pub stats: super::ReportStats,
    /// The numbers of each reviewer.
    pub reviewers: Vec<ReviewerTelemetry>,
    /// How many findings each rule has.
    pub findings_by_rule: BTreeMap<String, usize>,
    /// How many findings comments set aside.
    pub suppressed: usize,
    /// How many warnings there are.
    pub warnings: usize,
}

/// The measurements of one reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerTelemetry {
    /// Its name.
    pub reviewer: String,
    /// The model behind it.
    pub model: Option<String>,
    /// Its verdict; null when it could not review.
    pub verdict: Option<Verdict>,
    /// How many of its findings were admitted.
    pub findings: usize,
    /// How many of its claims were dropped.
    pub dropped: usize,
    /// Why it could not review.
    pub error: Option<String>,
    /// Its usage.
    pub usage: Usage,
}

impl ReviewerTelemetry {
    fn of(report: &ReviewerReport) -> Self {
        Self {
            reviewer: report.reviewer.clone(),
            model: report.model.clone(),
            verdict: report.verdict,
            findings: report.findings,
            dropped: report.dropped,
            error: report.error.clone(),
            usage: report.usage.clone(),
        }
    }
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
            reviewers: report.reviewers.iter().map(ReviewerTelemetry::of).collect(),
            findings_by_rule,
            suppressed: report.suppressed.len(),
            warnings: report.warnings.len(),
        }
    }
}
