//! Metadata of checks that are written in Rust instead of rule files.

use mala_domain::finding::{Category, Priority};

/// The metadata of a check that is written in Rust.
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
