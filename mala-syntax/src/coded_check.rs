//! What checks that are code, and not rule files, say of themselves.

use mala_domain::finding::{Category, Priority};

/// What a check that is code says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodedCheck {
    /// Its id.
    pub id: &'static str,
    /// One line.
    pub title: &'static str,
    /// What kind of problem it finds.
    pub category: Category,
    /// How urgent.
    pub priority: Priority,
    /// What happens, in general words.
    pub about: &'static str,
}
