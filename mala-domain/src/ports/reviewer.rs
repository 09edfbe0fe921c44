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

    /// Whether it needs the surroundings of the change: functions, uses elsewhere, the project's
    /// rules.
    fn needs_surroundings(&self) -> bool {
        true
    }

    /// Whether it reviews the whole change in every round; other reviewers get only what is new.
    fn reviews_whole_change(&self) -> bool {
        false
    }

    /// Whether it also runs the built-in rules and reports their findings.
    fn runs_rules(&self) -> bool {
        false
    }

    /// Reviews the change; the error says why it cannot.
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
    /// The verification of each finding, in their order.
    pub verifications: Vec<Verification>,
    /// The edit of each finding, in their order; empty if nothing changes.
    pub edits: Vec<FindingEdit>,
    /// The model, if one was called.
    pub model: Option<String>,
    /// The usage.
    pub usage: Usage,
    /// Problems that did not stop it.
    pub warnings: Vec<String>,
    /// Whether a check that was wanted was not made.
    pub cut_short: bool,
    /// Whether it gave no answer, so that it is not called again.
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
