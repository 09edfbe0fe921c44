//! One JavaScript or TypeScript file, flattened: its nodes in the order of the text, with their
//! parents and the resolved names. Built once for all checks of a file.

use super::types::Types;
use crate::source::Source;
use crate::symbols::{DeclarationKind, FileScopes, ScopeVariable};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use tree_sitter::Node;

/// Larger files are generated data, which the checks skip.
const MAX_NODES: usize = 400_000;

/// Trees deeper than this are generated.
const MAX_DEPTH: usize = 1_000;

/// A file with its names resolved.
pub struct ScriptFile<'t> {
    source: &'t Source,
    tree: FlatTree<'t>,
    by_kind: HashMap<&'t str, Vec<Node<'t>>>,
    scopes: FileScopes<'t>,
    is_module: bool,
    pub(super) known_types: RefCell<HashMap<usize, Types>>,
}

/// The named nodes in the order of the text.
#[derive(Default)]
pub(super) struct FlatTree<'t> {
    pub(super) nodes: Vec<Node<'t>>,
    pub(super) parents: Vec<u32>,
    /// One past the last node inside.
    pub(super) ends: Vec<u32>,
    positions: HashMap<usize, u32>,
}

impl<'t> ScriptFile<'t> {
    /// Reads a file.
    pub fn of(source: &'t Source) -> Self {
        let tree = FlatTree::of(source.tree().root_node()).unwrap_or_default();
        let mut by_kind: HashMap<&'t str, Vec<Node<'t>>> = HashMap::new();
        for node in &tree.nodes {
            by_kind.entry(node.kind()).or_default().push(*node);
        }
        let scopes = FileScopes::of(source);
        let is_module = by_kind.contains_key("import_statement")
            || by_kind.contains_key("export_statement")
            || scopes.variables().iter().any(is_module_name);
        let known_types = RefCell::default();
        Self { source, tree, by_kind, scopes, is_module, known_types }
    }

    /// Whether the file keeps its names to itself.
    pub(super) fn is_module(&self) -> bool {
        self.is_module
    }

    /// The whole text.
    pub(super) fn source(&self) -> &'t Source {
        self.source
    }

    /// The text of a node.
    pub(super) fn text(&self, node: Node<'_>) -> &'t str {
        self.source.slice(node)
    }

    /// All nodes of a kind, in the order of the text.
    pub(super) fn of_kind(&self, kind: &str) -> &[Node<'t>] {
        self.by_kind.get(kind).map_or(&[], Vec::as_slice)
    }

    /// All nodes of some kinds.
    pub(super) fn of_kinds<'p>(&'p self, kinds: &'p [&str]) -> impl Iterator<Item = Node<'t>> + 'p {
        kinds.iter().flat_map(|kind| self.of_kind(kind).iter().copied())
    }

    /// The node around.
    pub(super) fn parent(&self, node: Node<'_>) -> Option<Node<'t>> {
        self.tree.parent(node)
    }

    /// The nodes around, the innermost first.
    pub(super) fn ancestors(&self, node: Node<'_>) -> impl Iterator<Item = Node<'t>> + '_ {
        std::iter::successors(self.parent(node), |around| self.parent(*around))
    }

    /// All nodes inside, in the order of the text.
    pub(super) fn inside(&self, node: Node<'_>) -> &[Node<'t>] {
        let range = self.tree.position(node).and_then(|position| {
            let end = *self.tree.ends.get(position)? as usize;
            self.tree.nodes.get(position + 1..end)
        });
        range.unwrap_or_default()
    }

    /// The nodes inside that no function or class inside encloses; those themselves are listed.
    pub(super) fn own(&self, node: Node<'_>) -> Vec<Node<'t>> {
        let all = self.inside(node);
        let mut own = Vec::new();
        let mut at = 0;
        while let Some(inner) = all.get(at) {
            own.push(*inner);
            at += 1;
            if is_function(*inner) || matches!(inner.kind(), "class_body") {
                at += self.inside(*inner).len();
            }
        }
        own
    }

    /// The innermost function around.
    pub(super) fn function_around(&self, node: Node<'_>) -> Option<Node<'t>> {
        self.ancestors(node).find(|around| is_function(*around))
    }

    /// Whether the statement around some bytes was read without an error.
    pub(super) fn parses_around(&self, bytes: &Range<usize>) -> bool {
        let root = self.source.tree().root_node();
        if !root.has_error() {
            return true;
        }
        let Some(inner) = root.named_descendant_for_byte_range(bytes.start, bytes.end) else {
            return false;
        };
        let mut around = std::iter::once(inner).chain(self.ancestors(inner));
        around
            .find(|it| it.kind().ends_with("_statement") || it.kind().ends_with("_declaration"))
            .is_some_and(|statement| !statement.has_error())
    }

    /// The variable that a name refers to at this place.
    pub(super) fn variable(&self, name: Node<'_>) -> Option<&ScopeVariable<'t>> {
        self.scopes.variable_at(name)
    }

    /// Everything that has a name.
    pub(super) fn variables(&self) -> &[ScopeVariable<'t>] {
        self.scopes.variables()
    }
}

impl<'t> FlatTree<'t> {
    /// `None` for trees that are too large or too deep.
    fn of(root: Node<'t>) -> Option<Self> {
        let mut flat = Self::default();
        let mut around: Vec<u32> = Vec::new();
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            let position = u32::try_from(flat.nodes.len()).ok()?;
            if flat.nodes.len() > MAX_NODES || around.len() > MAX_DEPTH {
                return None;
            }
            let listed = node.is_named() && !node.is_extra();
            if listed {
                flat.positions.insert(node.id(), position);
                flat.parents.push(around.last().copied().unwrap_or(position));
                flat.ends.push(position + 1);
                flat.nodes.push(node);
            }
            if listed && cursor.goto_first_child() {
                around.push(position);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Some(flat);
                }
                let position = around.pop()? as usize;
                let end = u32::try_from(flat.nodes.len()).ok()?;
                *flat.ends.get_mut(position)? = end;
            }
        }
    }

    pub(super) fn parent(&self, node: Node<'_>) -> Option<Node<'t>> {
        let parent = *self.parents.get(self.position(node)?)?;
        self.nodes.get(parent as usize).copied().filter(|found| found.id() != node.id())
    }

    pub(super) fn position(&self, node: Node<'_>) -> Option<usize> {
        self.positions.get(&node.id()).map(|position| *position as usize)
    }
}

fn is_module_name(variable: &ScopeVariable<'_>) -> bool {
    variable.declared == DeclarationKind::Undeclared
        && matches!(variable.name, "require" | "module" | "exports")
}

/// Whether a node is a function with a body of its own.
pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "function_declaration"
            | "function_expression"
            | "generator_function"
            | "generator_function_declaration"
            | "arrow_function"
            | "method_definition"
            | "class_static_block"
    )
}

/// Whether a node is a class.
pub(super) fn is_class(node: Node<'_>) -> bool {
    matches!(node.kind(), "class" | "class_declaration" | "abstract_class_declaration")
}
