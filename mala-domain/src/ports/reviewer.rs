//! Anyone who can be asked for a review.

use super::BoxFuture;
use crate::review::{Hearing, ReviewRequest};
use thiserror::Error;

/// A model, an agent or another tool that reviews a change. One call is one opinion.
pub trait Reviewer: Send + Sync {
    /// The name in reports.
    fn name(&self) -> &str;

    /// Whether it reviews even where reviews are turned off.
    fn overrides_disabled_setting(&self) -> bool {
        false
    }

    /// Reviews the change, or says why it cannot.
    fn review<'a>(
        &'a self,
        request: &'a ReviewRequest,
    ) -> BoxFuture<'a, Result<Hearing, ReviewerFailure>>;
}

/// The ways to fail that a caller treats differently.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReviewerFailure {
    /// It cannot be asked: not installed, no key, not in this build.
    #[error("{0}")]
    Unavailable(String),
    /// It took too long.
    #[error("timeout")]
    TimedOut,
    /// It ran and failed.
    #[error("{0}")]
    Crashed(String),
    /// Its answer cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// It broke in itself: trying again is of no use.
    #[error("{0}")]
    Broken(String),
}
