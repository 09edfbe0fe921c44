//! The ports for reviewers and verifiers.

use super::BoxFuture;
use crate::finding::{Finding, Verification};
use crate::review::edit::FindingEdit;
use crate::review::{Opinion, ReviewContext, Usage};
use std::time::Duration;
use thiserror::Error;

/// A model, an agent or another tool that reviews a change. One call is one opinion.
pub trait Reviewer: Send + Sync {
    /// The name in reports.
    fn name(&self) -> &str;

    /// Whether it reviews even where reviews are turned off.
    fn overrides_disabled_setting(&self) -> bool {
        false
    }

    /// Whether it needs what is around the change: functions, uses elsewhere, the project's rules.
    fn needs_surroundings(&self) -> bool {
        true
    }

    /// Whether it looks at the whole change in every round; others are given what is new.
    fn reviews_whole_change(&self) -> bool {
        false
    }

    /// Whether it also runs the built-in rules on what it is given, and reports what they find.
    fn runs_rules(&self) -> bool {
        false
    }

    /// Reviews the change, or says why it cannot.
    fn review<'a>(
        &'a self,
        context: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>>;
}

/// Checks findings of other reviewers, or its own in a fresh context.
pub trait Verifier: Send + Sync {
    /// The name in reports.
    fn name(&self) -> &str;

    /// Whether it is to check this finding.
    fn wants(&self, finding: &Finding) -> bool;

    /// Checks these findings within this time.
    fn check<'a>(
        &'a self,
        context: &'a ReviewContext,
        findings: &'a [Finding],
        time: Duration,
    ) -> BoxFuture<'a, VerifierResult>;
}

/// The result of a check.
#[derive(Debug, Clone, Default)]
pub struct VerifierResult {
    /// What it says of each finding, in their order.
    pub verifications: Vec<Verification>,
    /// What it changes in each finding, in their order; empty if it changes nothing.
    pub edits: Vec<FindingEdit>,
    /// The model behind it, as far as it was asked.
    pub model: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// What went wrong.
    pub warnings: Vec<String>,
    /// Whether a check that was wanted was not made.
    pub cut_short: bool,
    /// Whether it gave no answer, so that it is not asked again.
    pub is_silent: bool,
}

/// The ways to fail that a caller treats differently.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReviewerFailure {
    /// It cannot be run: not installed, no key, not in this build.
    #[error("{0}")]
    Unavailable(String),
    /// It took too long.
    #[error("{0}")]
    TimedOut(String),
    /// It ran and failed.
    #[error("{0}")]
    Crashed(String),
    /// Its answer cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// An internal error: a retry does not help.
    #[error("{0}")]
    Broken(String),
}

impl ReviewerFailure {
    /// A timeout without details.
    pub fn timeout() -> Self {
        Self::TimedOut("timeout".to_owned())
    }
}
