//! Levels of findings in formats with three levels.

use crate::finding::{Finding, Priority};
use crate::verdict;

/// The three levels that most formats have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// P0 and P1.
    Error,
    /// P2.
    Warning,
    /// P3, and refuted findings.
    Note,
}

impl Level {
    /// The level of a finding.
    pub(super) fn of(finding: &Finding) -> Self {
        if !verdict::counts(finding) {
            return Self::Note;
        }
        Self::of_priority(finding.effective_priority())
    }

    /// The level of a priority.
    pub(super) fn of_priority(priority: Priority) -> Self {
        match priority {
            Priority::P0 | Priority::P1 => Self::Error,
            Priority::P2 => Self::Warning,
            Priority::P3 => Self::Note,
        }
    }
}
