//! Why a conversation gave no answer that counts.

use mala_domain::agent::answer::ParseProblem;
use mala_domain::agent::budget::LimitReached;
use mala_domain::ports::{ModelFailure, ModelFailureKind, ReviewerFailure};
use thiserror::Error;

/// Why a conversation gave no answer that counts.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum StopReason {
    #[error("{0}")]
    LimitReached(#[from] LimitReached),
    #[error("timeout")]
    TimedOut,
    #[error("{0}")]
    Model(#[from] ModelFailure),
    #[error("the model refused to answer{}", reason(.0))]
    Refused(String),
    #[error("the provider's filter stopped the answer{}", reason(.0))]
    Filtered(String),
    #[error("the answer is cut: it reached the limit of {0} tokens")]
    Cut(u32),
    #[error("the model answered with zero output tokens")]
    Silent,
    #[error("{problem}")]
    Unreadable { problem: ParseProblem, text: String },
}

/// What a provider says of it, where it says something.
fn reason(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

impl StopReason {
    pub(super) fn failure(&self) -> ReviewerFailure {
        match self {
            Self::TimedOut => ReviewerFailure::timeout(),
            Self::Model(failure) if failure.kind == ModelFailureKind::TimedOut => {
                ReviewerFailure::timeout()
            }
            Self::Unreadable { problem, .. } => ReviewerFailure::Unreadable(problem.to_string()),
            other => ReviewerFailure::Crashed(other.to_string()),
        }
    }
}
