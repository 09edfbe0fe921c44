//! Checks that need code: they compare parts of the tree with one another, or look into literals.
//! Each is a plain function; rule files name it and give it its words.

mod branches;
mod code;
mod keys;
mod loops;
mod operands;
mod unreachable;

use crate::source::Source;
use std::ops::Range;

/// A check written in Rust.
pub struct NativeCheck {
    /// The name in rule files.
    pub name: &'static str,
    /// The names that its matches fill.
    pub captures: &'static [&'static str],
    /// The check itself.
    pub run: fn(&Source) -> Vec<NativeMatch>,
}

/// A place that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeMatch {
    /// What is reported.
    pub bytes: Range<usize>,
    /// Another place that makes it so: a change there is a reason to report, too.
    pub because: Option<Range<usize>>,
    /// What to fill into the texts.
    pub captures: Vec<(&'static str, String)>,
}

const CHECKS: &[NativeCheck] = &[
    branches::DUPLICATE_CONDITION,
    branches::IDENTICAL_BRANCHES,
    keys::DUPLICATE_CASE,
    keys::DUPLICATE_KEY,
    keys::DUPLICATE_MAP_KEY,
    keys::DUPLICATE_METHOD,
    loops::REUSED_LOOP_VARIABLE,
    loops::WRONG_LOOP_VARIABLE,
    operands::IDENTICAL_OPERANDS,
    operands::SELF_ASSIGNMENT,
    unreachable::UNREACHABLE,
];

/// The check with this name.
pub fn find(name: &str) -> Option<&'static NativeCheck> {
    CHECKS.iter().find(|check| check.name == name)
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.name)
}
