//! Claims of reviewers, before admission.

use super::{Category, Priority, Verification};
use crate::change::{FilePath, LineSpan};

/// A problem that a reviewer claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The file at head.
    pub file: FilePath,
    /// The lines at head.
    pub span: LineSpan,
    /// The priority, if the reviewer gave one.
    pub priority: Option<Priority>,
    /// The kind of problem.
    pub category: Category,
    /// A one-line summary.
    pub title: String,
    /// What goes wrong, and when.
    pub body: String,
    /// How to fix it.
    pub suggestion: Option<String>,
    /// The supporting text; if `None`, admission uses the cited lines.
    pub evidence: Option<String>,
    /// The confidence, 0 to 1.
    pub confidence: f64,
    /// The name of the reviewer.
    pub reviewer: String,
    /// The rule that reported it, if any.
    pub rule: Option<String>,
    /// The reviewer's own verification; a built-in check verifies its findings.
    pub verification: Verification,
}
