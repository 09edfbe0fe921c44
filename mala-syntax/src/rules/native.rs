//! Checks that need code: they compare parts of the tree, or inspect literals. Rule files name a
//! check and provide its texts. Checks with the same analysis of a file are a family, so that the
//! analysis runs once.

mod branches;
mod code;
mod keys;
mod operands;
mod purity;
mod python;
mod regexes;
mod unreachable;

use crate::source::Source;
use std::ops::Range;
use tree_sitter::Node;

/// A check written in Rust.
#[derive(Debug, PartialEq, Eq)]
pub struct NativeCheck {
    /// The name in rule files.
    pub name: &'static str,
    /// The names that its matches fill.
    pub captures: &'static [&'static str],
}

/// Checks that are made together.
pub struct CheckFamily {
    /// The checks.
    pub checks: &'static [NativeCheck],
    /// The kinds of nodes that it looks at, in any language.
    pub kinds: &'static [&'static str],
    /// Analyses a file and its nodes of those kinds, outermost first. If only some lines are
    /// requested, nodes outside of them are omitted.
    pub run: fn(&Source, &[Node<'_>]) -> Vec<CheckMatch>,
}

/// A match of one check of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckMatch {
    /// The name of the check.
    pub check: &'static str,
    /// The place.
    pub found: NativeMatch,
}

/// A place that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeMatch {
    /// The bytes to report.
    pub bytes: Range<usize>,
    /// Another place that makes it so: a change there is a reason to report, too.
    pub because: Option<Range<usize>>,
    /// The values for the texts.
    pub captures: Vec<(&'static str, String)>,
}

/// Every family.
pub const FAMILIES: &[CheckFamily] = &[
    branches::FAMILY,
    keys::CASES,
    keys::LITERALS,
    operands::ASSIGNMENTS,
    operands::OPERATORS,
    python::FAMILY,
    regexes::EXPONENTIAL,
    regexes::POLYNOMIAL,
    unreachable::FAMILY,
];

/// The check with this name, and the position of its family.
pub fn find(name: &str) -> Option<(usize, &'static NativeCheck)> {
    FAMILIES.iter().enumerate().find_map(|(position, family)| {
        Some((position, family.checks.iter().find(|check| check.name == name)?))
    })
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.checks).map(|check| check.name)
}
