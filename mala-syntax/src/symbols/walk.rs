//! A walk over a syntax tree without recursion: nesting in hostile input costs memory, not stack.

use tree_sitter::{Node, Tree};

/// A node with the field that its parent keeps it in.
#[derive(Debug, Clone, Copy)]
pub struct WalkStep<'t> {
    /// The node.
    pub node: Node<'t>,
    /// The field in the parent; empty if it has none.
    pub field: &'t str,
}

/// The ancestors of the visited node, the root first.
#[derive(Debug, Default)]
pub struct AncestorTrail<'t> {
    steps: Vec<WalkStep<'t>>,
}

/// Maximum distance to search for an ancestor.
const MAX_CLIMB: usize = 64;

impl<'t> AncestorTrail<'t> {
    /// How many ancestors there are.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// The parent.
    pub fn parent(&self) -> Option<WalkStep<'t>> {
        self.steps.last().copied()
    }

    /// The nearest ancestors, the parent first.
    pub fn up(&self) -> impl Iterator<Item = WalkStep<'t>> {
        self.steps.iter().rev().take(MAX_CLIMB).copied()
    }
}

/// Whether to descend into a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descend {
    /// Its children come next.
    Into,
    /// Its next sibling does.
    Past,
}

/// Visits every node, parents before children, in the order of the text.
pub fn walk<'t>(tree: &'t Tree, visit: impl FnMut(&AncestorTrail<'t>, WalkStep<'t>) -> Descend) {
    walk_from(tree.root_node(), visit);
}

/// Visits a node and every node inside it; the trail starts at the node.
pub fn walk_from<'t>(
    top: Node<'t>,
    mut visit: impl FnMut(&AncestorTrail<'t>, WalkStep<'t>) -> Descend,
) {
    let mut cursor = top.walk();
    let mut trail = AncestorTrail::default();
    loop {
        let node = cursor.node();
        // Only named nodes need their field, which is expensive to determine.
        let field = if node.is_named() { cursor.field_name() } else { None };
        let step = WalkStep { node, field: field.unwrap_or_default() };
        let descend = visit(&trail, step);
        if descend == Descend::Into && cursor.goto_first_child() {
            trail.steps.push(step);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            trail.steps.pop();
        }
    }
}

/// The named children of a node with their fields, comments left out.
pub fn named_children<'t>(node: Node<'t>) -> Vec<WalkStep<'t>> {
    let mut cursor = node.walk();
    let mut steps = Vec::new();
    if !cursor.goto_first_child() {
        return steps;
    }
    loop {
        let child = cursor.node();
        if child.is_named() && !child.is_extra() {
            steps.push(WalkStep { node: child, field: cursor.field_name().unwrap_or_default() });
        }
        if !cursor.goto_next_sibling() {
            return steps;
        }
    }
}

/// The first named child of one of these kinds.
pub fn child_of_kind<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    named_children(node).into_iter().map(|step| step.node).find(|n| kinds.contains(&n.kind()))
}
