//! Containers that can change, and what changes them.

use super::code::{callee, last_name};
use crate::rules::native::code::parts;
use crate::rules::walk::walk;
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

/// Where a class changes what an attribute holds.
pub(super) fn change_of<'t>(
    source: &Source,
    class: Node<'t>,
    attribute: &str,
    shape: Shape,
) -> Option<Node<'t>> {
    let mut change = None;
    walk(class, None, |node| {
        if change.is_some() {
            return;
        }
        let is_it = |it: Option<Node<'_>>| it.is_some_and(|it| source.slice(it) == attribute);
        let is_part =
            |it: Node<'_>| it.kind() == "subscript" && is_it(it.child_by_field_name("value"));
        let changes = match node.kind() {
            "call" => node.child_by_field_name("function").is_some_and(|target| {
                let method = target.child_by_field_name("attribute").map(|it| source.slice(it));
                target.kind() == "attribute"
                    && is_it(target.child_by_field_name("object"))
                    && method.is_some_and(|it| shape.is_changed_by(it))
            }),
            "assignment" | "augmented_assignment" => {
                let left = node.child_by_field_name("left");
                left.is_some_and(is_part) || (node.kind() == "augmented_assignment" && is_it(left))
            }
            "delete_statement" => parts(node).into_iter().any(is_part),
            _ => false,
        };
        if changes {
            change = Some(node);
        }
    });
    change
}
