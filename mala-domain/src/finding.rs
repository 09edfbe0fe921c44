//! A claimed problem, before and after admission. A reviewer makes a `Candidate`; only `admit` makes
//! a `Finding`, and only findings are reported.

mod candidate;
mod identity;
mod scale;
mod wording;

pub use candidate::Candidate;
pub use identity::{DedupeKey, identity};
pub use scale::{Category, Priority, Severity};
pub use wording::Wording;

use crate::change::{FilePath, LineSpan};
use crate::language::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An admitted problem: it is anchored in the tree at head and quotes its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Where it is.
    #[serde(alias = "file_path")]
    pub file: FilePath,
    /// First line at head, 1-based.
    pub line_start: u32,
    /// Last line at head.
    #[serde(alias = "line")]
    pub line_end: u32,
    /// 0 to 3, or null when the reviewer gave none (counts as 2).
    pub priority: Option<Priority>,
    /// The priority in words: one to one with it.
    pub severity: Severity,
    /// What kind of problem it is.
    pub category: Category,
    /// One line.
    pub title: String,
    /// What goes wrong, and when.
    #[serde(alias = "description")]
    pub body: String,
    /// What to do about it.
    #[serde(default)]
    pub suggestion: Option<String>,
    /// The lines that show it, as they are at head.
    pub evidence_snippet: String,
    /// How sure the reviewer is, 0 to 1.
    pub confidence: f64,
    /// The language of the file, when it is one that mala knows.
    #[serde(default)]
    pub language: Option<Language>,
    /// Who says so.
    pub reviewer: String,
    /// The rule or check behind it, when there is one.
    #[serde(default)]
    pub rule: Option<String>,
    /// What makes it the same finding after the next edit.
    pub dedupe_key: DedupeKey,
    /// The enclosing function or class.
    #[serde(default)]
    pub symbol: Option<String>,
    /// Whether it was checked, and how.
    #[serde(default)]
    pub verification: Verification,
    /// What became of it.
    #[serde(default)]
    pub state: FindingState,
    /// The review that reported it first.
    #[serde(default)]
    pub first_seen: Option<String>,
    /// The others who reported the same.
    #[serde(default)]
    pub also_reported_by: Vec<String>,
    /// Whether it is on lines that the change added; the others are broken by the change elsewhere.
    #[serde(default)]
    pub on_changed_lines: bool,
}

impl Finding {
    /// Its lines.
    pub fn span(&self) -> LineSpan {
        LineSpan::between(self.line_start, self.line_end)
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

    /// The priority that thresholds use: none counts as P2.
    pub fn effective_priority(&self) -> Priority {
        self.priority.unwrap_or(Priority::P2)
    }
}

/// Whether a finding was checked before it may block.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// What the check said.
    pub outcome: VerificationOutcome,
    /// Who or what checked it.
    #[serde(default)]
    pub how: Option<String>,
}

impl Verification {
    /// It holds, as this shows.
    pub fn verified(how: impl Into<String>) -> Self {
        Self { outcome: VerificationOutcome::Verified, how: Some(how.into()) }
    }

    /// It does not hold, as this shows.
    pub fn refuted(how: impl Into<String>) -> Self {
        Self { outcome: VerificationOutcome::Refuted, how: Some(how.into()) }
    }

    /// The check could not tell, for this reason.
    pub fn unsure(how: impl Into<String>) -> Self {
        Self { outcome: VerificationOutcome::Unsure, how: Some(how.into()) }
    }

    /// A check was due and was not made, for this reason.
    pub fn not_checked(why: impl std::fmt::Display) -> Self {
        Self { outcome: VerificationOutcome::NotChecked, how: Some(format!("not checked: {why}")) }
    }

    /// Whether a check has confirmed or refuted the finding.
    pub fn is_settled(&self) -> bool {
        matches!(self.outcome, VerificationOutcome::Verified | VerificationOutcome::Refuted)
    }

    /// Whether no check has looked at the finding.
    pub fn is_unasked(&self) -> bool {
        matches!(self.outcome, VerificationOutcome::Unverified | VerificationOutcome::NotChecked)
    }
}

/// What a check of a finding said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationOutcome {
    /// It holds.
    Verified,
    /// It does not hold: kept, shown, and it does not block.
    Refuted,
    /// A check looked at it and could not tell.
    Unsure,
    /// A check was due and was not made.
    NotChecked,
    /// No check was due.
    #[default]
    Unverified,
}

/// What became of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// It stands.
    #[default]
    Open,
    /// It is gone.
    Fixed,
    /// It was gone and is back.
    Regressed,
    /// A person decided to live with it.
    Waived,
    /// Somebody says that it is wrong.
    Disputed,
    /// Another finding says the same.
    Duplicate,
}
