//! Findings. A reviewer returns claims; only `review::admit` turns them into findings, and only
//! findings are reported.

mod code_lines;
mod identity;
mod scale;
mod wording;

pub use code_lines::CodeLines;
pub use code_lines::places;
pub(crate) use code_lines::{squeezed, whole_places};
pub(crate) use identity::copy_number;
pub use identity::{DedupeKey, identity, occurrence};
pub use scale::{Category, Priority, Severity};
pub use wording::ClaimWording;

use crate::change::{FilePath, LineSpan};
use crate::language::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An admitted problem: its location exists at head, and it quotes evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The file.
    #[serde(alias = "file_path")]
    pub file: FilePath,
    /// First line at head, 1-based.
    pub line_start: u32,
    /// Last line at head, inclusive.
    #[serde(alias = "line")]
    pub line_end: u32,
    /// 0 to 3, or null if the reviewer gave none (counts as 2).
    pub priority: Option<Priority>,
    /// The priority as a word.
    pub severity: Severity,
    /// The kind of problem.
    pub category: Category,
    /// A one-line summary.
    pub title: String,
    /// What goes wrong, and when.
    #[serde(alias = "description")]
    pub body: String,
    /// How to fix it.
    #[serde(default)]
    pub suggestion: Option<String>,
    /// The lines at head that support the finding.
    pub evidence_snippet: String,
    /// The confidence of the reviewer, 0 to 1.
    pub confidence: f64,
    /// The language of the file, if known.
    #[serde(default)]
    pub language: Option<Language>,
    /// The name of the reviewer.
    pub reviewer: String,
    /// The rule that reported it, if any.
    #[serde(default)]
    pub rule: Option<String>,
    /// Identifies the same finding after further edits.
    pub dedupe_key: DedupeKey,
    /// The enclosing function or class.
    #[serde(default)]
    pub symbol: Option<String>,
    /// Whether and how it was verified.
    #[serde(default)]
    pub verification: Verification,
    /// The state in the ledger.
    #[serde(default)]
    pub state: FindingState,
    /// The id of the review that reported it first.
    #[serde(default)]
    pub first_seen: Option<String>,
    /// Other reviewers that reported the same finding.
    #[serde(default)]
    pub also_reported_by: Vec<String>,
    /// Whether it is on lines that the change added. Other findings are on code that the change
    /// breaks.
    #[serde(default)]
    pub on_changed_lines: bool,
    /// Other places with the same cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_at: Vec<FindingPlace>,
    /// Whether it is a note: minor or uncertain. Notes are listed separately, never block and are
    /// not posted on lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_note: bool,
}

/// Lines of a file at head.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FindingPlace {
    /// The file.
    pub file: FilePath,
    /// First line, 1-based.
    pub line_start: u32,
    /// Last line, inclusive.
    pub line_end: u32,
}

impl std::fmt::Display for FindingPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, LineSpan::between(self.line_start, self.line_end))
    }
}

impl Finding {
    /// The lines of the finding.
    pub fn span(&self) -> LineSpan {
        LineSpan::between(self.line_start, self.line_end)
    }

    /// Its place in the code.
    pub fn place(&self) -> FindingPlace {
        let (line_start, line_end) = (self.line_start, self.line_end);
        FindingPlace { file: self.file.clone(), line_start, line_end }
    }

    /// The reviewers that report it, each with its rule where it has one.
    pub fn reporters(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.reviewer).chain(&self.also_reported_by).map(String::as_str)
    }

    /// Whether this reviewer reports it.
    pub fn is_reported_by(&self, reviewer: &str) -> bool {
        self.reporters().any(|name| {
            name.strip_prefix(reviewer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
        })
    }

    /// The priority used for thresholds; null counts as P2.
    pub fn effective_priority(&self) -> Priority {
        self.priority.unwrap_or(Priority::P2)
    }
}

/// Whether a finding was verified.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// The result.
    pub outcome: VerificationOutcome,
    /// The verifier and its reason, or why it was not verified.
    #[serde(default)]
    pub how: Option<String>,
}

impl Verification {
    /// Verified, with the evidence.
    pub fn verified(how: impl Into<String>) -> Self {
        Self { outcome: VerificationOutcome::Verified, how: Some(how.into()) }
    }

    /// Refuted, with the evidence.
    pub fn refuted(how: impl Into<String>) -> Self {
        Self { outcome: VerificationOutcome::Refuted, how: Some(how.into()) }
    }

    /// The finding is real, but has another consequence.
    pub fn corrected(how: impl Into<String>) -> Self {
        Self { outcome: VerificationOutcome::Corrected, how: Some(how.into()) }
    }

    /// The check could not decide, for this reason.
    pub fn unsure(how: impl Into<String>) -> Self {
        Self { outcome: VerificationOutcome::Unsure, how: Some(how.into()) }
    }

    /// A check was due and was not made, for this reason.
    pub fn not_checked(why: impl std::fmt::Display) -> Self {
        Self { outcome: VerificationOutcome::NotChecked, how: Some(format!("not checked: {why}")) }
    }

    /// Whether a check has confirmed or refuted the finding.
    pub fn is_settled(&self) -> bool {
        self.is_confirmed() || self.outcome == VerificationOutcome::Refuted
    }

    /// Whether a check has confirmed the finding.
    pub fn is_confirmed(&self) -> bool {
        matches!(self.outcome, VerificationOutcome::Verified | VerificationOutcome::Corrected)
    }

    /// Whether no check has looked at the finding.
    pub fn is_unchecked(&self) -> bool {
        matches!(self.outcome, VerificationOutcome::Unverified | VerificationOutcome::NotChecked)
    }
}

/// The result of verifying a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationOutcome {
    /// The finding is correct.
    Verified,
    /// The finding is real, and a check corrected its consequence.
    Corrected,
    /// The finding is wrong. It is still shown but does not block.
    Refuted,
    /// A check could not decide.
    Unsure,
    /// A check was due and was not made.
    NotChecked,
    /// No check was due.
    #[default]
    Unverified,
}

/// The state of a finding in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// Present.
    #[default]
    Open,
    /// No longer present.
    Fixed,
    /// Was fixed and is present again.
    Regressed,
    /// A person decided to accept it.
    Waived,
    /// A person or an agent disputes it.
    Disputed,
    /// The same as another finding.
    Duplicate,
}

impl FindingState {
    /// All states, in the order in which they are listed.
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Regressed, Self::Fixed, Self::Waived, Self::Disputed, Self::Duplicate];

    /// The name in JSON and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Fixed => "fixed",
            Self::Regressed => "regressed",
            Self::Waived => "waived",
            Self::Disputed => "disputed",
            Self::Duplicate => "duplicate",
        }
    }
}

/// A problem that a reviewer claims.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewClaim {
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
