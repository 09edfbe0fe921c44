//! What a reviewer claims, before anyone has looked whether it is so.

use super::{Category, Priority, Verification};
use crate::change::{FilePath, LineSpan};

/// A claimed problem, as a reviewer gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Where it is said to be, at head.
    pub file: FilePath,
    /// The lines at head.
    pub span: LineSpan,
    /// How urgent, if the reviewer says.
    pub priority: Option<Priority>,
    /// What kind.
    pub category: Category,
    /// One line.
    pub title: String,
    /// "When X, Y happens."
    pub body: String,
    /// What to do.
    pub suggestion: Option<String>,
    /// The text that shows it; when `None`, admission takes it from the cited lines.
    pub evidence: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// Who says so.
    pub reviewer: String,
    /// The rule or check behind it.
    pub rule: Option<String>,
    /// What a check of the reviewer's own says: a built-in check is a proof.
    pub verification: Verification,
}
