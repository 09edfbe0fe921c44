//! The checks over the facts of a file, by topic.

pub(super) mod arguments;
pub(super) mod asynchronous;
pub(super) mod comparison;
pub(super) mod control;
pub(super) mod exposure;
pub(super) mod misuse;
pub(super) mod naming;
pub(super) mod react;
pub(super) mod requests;
pub(super) mod sanitizing;

use crate::rules::native::NativeMatch;
use tree_sitter::Node;

/// A match of a node, with the values for the texts.
fn found(node: Node<'_>, captures: Vec<(&'static str, String)>) -> NativeMatch {
    NativeMatch { bytes: node.byte_range(), because: None, captures }
}

/// Names like `$hash$` and `__webpack_require__` are filled in by a build.
fn is_filled_in(name: &str) -> bool {
    (name.starts_with('$') && name.ends_with('$')) || name.starts_with("__")
}

/// The start of an expression, on one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 60 {
        return line;
    }
    line.chars().take(59).chain(['…']).collect()
}
