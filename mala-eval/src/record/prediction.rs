//! A finding of the reviewer in a case.

use crate::matching::ProblemLocation;
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{Category, Finding, Severity, VerificationOutcome};
use mala_domain::secrets;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A claim of a reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// The file.
    pub file: FilePath,
    /// First line at head.
    pub line_start: u32,
    /// Last line at head.
    pub line_end: u32,
    /// The kind of problem.
    pub category: Category,
    /// The severity.
    pub severity: Severity,
    /// The confidence of the reviewer, 0 to 1.
    pub confidence: f64,
    /// One line.
    pub title: String,
    /// The problem.
    pub body: String,
    /// The reviewer that reported it.
    pub reviewer: String,
    /// The rule or check behind it, when there is one.
    #[serde(default)]
    pub rule: Option<String>,
    /// The outcome of its verification. A refuted claim does not count.
    #[serde(default)]
    pub verification: VerificationOutcome,
}

impl Prediction {
    /// Its lines.
    pub fn span(&self) -> LineSpan {
        LineSpan::between(self.line_start, self.line_end)
    }

    /// The location and the kind.
    pub fn location(&self) -> ProblemLocation<'_> {
        ProblemLocation { file: &self.file, span: self.span(), category: self.category }
    }

    /// Whether it is claimed: a refuted one is only kept.
    pub fn counts(&self) -> bool {
        self.verification != VerificationOutcome::Refuted
    }

    /// The rule or the reviewer that it is counted under.
    pub fn origin(&self) -> &str {
        self.rule.as_deref().unwrap_or(&self.reviewer)
    }
}

impl From<&Finding> for Prediction {
    fn from(finding: &Finding) -> Self {
        Self {
            file: finding.file.clone(),
            line_start: finding.line_start,
            line_end: finding.line_end,
            category: finding.category,
            severity: finding.severity,
            confidence: finding.confidence.clamp(0.0, 1.0),
            title: secrets::redact(&finding.title).into_owned(),
            body: secrets::redact(&finding.body).into_owned(),
            reviewer: finding.reviewer.clone(),
            rule: finding.rule.clone(),
            verification: finding.verification.outcome,
        }
    }
}
