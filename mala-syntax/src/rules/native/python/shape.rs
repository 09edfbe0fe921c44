//! Containers that can change, and what changes them.

use super::code::{callee, last_name};
use crate::source::Source;
use tree_sitter::Node;

/// What a value is, as far as it matters for what changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    List,
    Dict,
    Set,
}

impl Shape {
    /// The shape of a container that is made in place.
    pub(super) fn of(source: &Source, value: Node<'_>) -> Option<Self> {
        match value.kind() {
            "list" | "list_comprehension" => Some(Self::List),
            "dictionary" | "dictionary_comprehension" => Some(Self::Dict),
            "set" | "set_comprehension" => Some(Self::Set),
            "call" => match last_name(callee(source, value)) {
                "list" | "deque" => Some(Self::List),
                "dict" | "defaultdict" | "OrderedDict" | "Counter" => Some(Self::Dict),
                "set" => Some(Self::Set),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a method changes the container.
    pub(super) fn is_changed_by(self, method: &str) -> bool {
        match self {
            Self::List => matches!(
                method,
                "append"
                    | "extend"
                    | "insert"
                    | "remove"
                    | "pop"
                    | "clear"
                    | "sort"
                    | "reverse"
                    | "appendleft"
                    | "popleft"
                    | "extendleft"
            ),
            Self::Dict => {
                matches!(method, "update" | "setdefault" | "pop" | "popitem" | "clear")
            }
            Self::Set => matches!(
                method,
                "add"
                    | "discard"
                    | "remove"
                    | "update"
                    | "pop"
                    | "clear"
                    | "difference_update"
                    | "intersection_update"
            ),
        }
    }
}
