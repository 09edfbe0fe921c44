//! One Python file for the checks. Shared facts are computed once, on demand.

use super::calls::{self, Reached};
use super::code::Function;
use super::names::PythonNames;
use super::signature::Classes;
use crate::rules::native::NativeMatch;
use crate::rules::walk::walk;
use crate::source::Source;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

/// One Python file.
pub(super) struct Module<'t> {
    pub(super) source: &'t Source,
    by_kind: HashMap<&'t str, Vec<Node<'t>>>,
    names: OnceCell<PythonNames<'t>>,
    classes: OnceCell<Classes<'t>>,
    functions: OnceCell<Vec<Function<'t>>>,
    assigned: OnceCell<HashSet<&'t str>>,
    reached: OnceCell<Vec<Reached<'t>>>,
}

impl<'t> Module<'t> {
    pub(super) fn of(source: &'t Source) -> Self {
        let mut by_kind: HashMap<_, Vec<_>> = HashMap::new();
        walk(source.tree().root_node(), None, |node| {
            if node.is_named() {
                by_kind.entry(node.kind()).or_default().push(node);
            }
        });
        Self {
            source,
            by_kind,
            names: OnceCell::new(),
            classes: OnceCell::new(),
            functions: OnceCell::new(),
            assigned: OnceCell::new(),
            reached: OnceCell::new(),
        }
    }

    /// The root of its tree.
    pub(super) fn root(&self) -> Node<'t> {
        self.source.tree().root_node()
    }

    /// All nodes of some kinds in their order.
    pub(super) fn nodes(&self, kinds: &[&str]) -> Vec<Node<'t>> {
        let of_kind = |kind: &&str| self.by_kind.get(*kind).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<_> = kinds.iter().flat_map(of_kind).copied().collect();
        if kinds.len() > 1 {
            found.sort_by_key(|node| (node.start_byte(), std::cmp::Reverse(node.end_byte())));
        }
        found
    }

    /// Its names and their values.
    pub(super) fn names(&self) -> &PythonNames<'t> {
        self.names.get_or_init(|| PythonNames::of(self.source))
    }

    /// Its classes.
    pub(super) fn classes(&self) -> &Classes<'t> {
        let nodes = || self.nodes(&["class_definition"]);
        self.classes.get_or_init(|| Classes::of(self.source, nodes()))
    }

    /// All functions and methods, outermost first.
    pub(super) fn functions(&self) -> &[Function<'t>] {
        self.functions.get_or_init(|| {
            let nodes = self.nodes(&["function_definition"]).into_iter();
            nodes.filter_map(|node| Function::of(self.source, node)).collect()
        })
    }

    /// The attributes that it assigns, on any object.
    pub(super) fn assigned_attributes(&self) -> &HashSet<&'t str> {
        self.assigned.get_or_init(|| {
            let mut found = HashSet::new();
            for node in self.nodes(&["assignment", "augmented_assignment"]) {
                let Some(left) = node.child_by_field_name("left") else { continue };
                walk(left, None, |it| {
                    let name = it.child_by_field_name("attribute");
                    found.extend(name.map(|name| self.source.slice(name)));
                });
            }
            found
        })
    }

    /// The calls that surely reach a function of the file.
    pub(super) fn reached(&self) -> &[Reached<'t>] {
        self.reached.get_or_init(|| calls::reached(self))
    }
}

/// A match of a node, with the values for the texts.
pub(super) fn found(node: Node<'_>, captures: Vec<(&'static str, String)>) -> NativeMatch {
    NativeMatch { bytes: node.byte_range(), because: None, captures }
}

/// A match that another place makes wrong.
pub(super) fn found_because(
    node: Node<'_>,
    because: Node<'_>,
    captures: Vec<(&'static str, String)>,
) -> NativeMatch {
    NativeMatch { because: Some(because.byte_range()), ..found(node, captures) }
}
