//! Where a change comes from.

use super::{BoxFuture, Repository};
use crate::change::Change;
use crate::scope::{ReviewTarget, ScopeSummary};
use std::sync::Arc;
use thiserror::Error;

/// A change, exactly what it is, and the tree it is in.
#[derive(Clone)]
pub struct ReviewScope {
    /// Exactly what is reviewed.
    pub scope: ScopeSummary,
    /// What changed.
    pub change: Arc<Change>,
    /// The tree at base and at head.
    pub tree: Arc<dyn Repository>,
}

/// Finds out what changed.
pub trait ChangeSource: Send + Sync {
    /// The change that `target` names, kept to these paths when there are any.
    fn scope<'a>(
        &'a self,
        target: &'a ReviewTarget,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<ReviewScope, ScopeError>>;
}

/// Why there is no change to review.
#[derive(Debug, Error)]
pub enum ScopeError {
    /// What was asked for makes no sense: no such revision, a path outside, a patch that is none.
    #[error("{what}")]
    Asked {
        /// What is wrong with it.
        what: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The repository or git itself fails.
    #[error("{what}")]
    Broken {
        /// What fails.
        what: String,
        /// What to do.
        hint: Option<String>,
    },
}
