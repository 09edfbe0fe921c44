//! The linters that a project has.

use super::BoxFuture;
use crate::change::FilePath;
use crate::config::LinterName;
use crate::review::ReviewContext;
use thiserror::Error;

/// What a linter says of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintMessage {
    /// The linter's name for it.
    pub rule: String,
    /// The 1-based line.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// How serious the linter finds it: `error`, `warning` or `note`.
    pub severity: &'static str,
}

/// Why a linter gives no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LintFailure(pub String);

/// Runs the project's linters over files of the reviewed tree.
pub trait Linters: Send + Sync {
    /// What one linter says of one file at head, in the order of its lines.
    fn lint<'a>(
        &'a self,
        request: &'a ReviewContext,
        linter: LinterName,
        file: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<LintMessage>, LintFailure>>;
}
