//! Metadata of checks that are written in Rust instead of rule files.

use mala_domain::finding::{Category, Priority};

/// The metadata of a check that is written in Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodedCheck {
    /// Its id.
    pub id: &'static str,
    /// One line.
    pub title: &'static str,
    /// The kind of problem.
    pub category: Category,
    /// The priority.
    pub priority: Priority,
    /// A general description of the consequence.
    pub about: &'static str,
}
