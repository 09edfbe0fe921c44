//! One walk over a tree, outermost nodes first, that skips nodes outside of the requested lines.

use mala_domain::change::LineSpan;
use tree_sitter::Node;

/// Deeper nodes are not visited: comparing two such trees would need as much stack.
const MAX_DEPTH: usize = 500;

/// Longer lists of siblings take too long to search.
const MAX_SIBLINGS: u32 = 200_000;

/// Calls `visit` for every node on one of the spans; without spans, for every node. Returns the
/// lines that are too deep or too long to search.
pub(super) fn walk<'t>(
    root: Node<'t>,
    only: Option<&[LineSpan]>,
    mut visit: impl FnMut(Node<'t>),
) -> Vec<LineSpan> {
    descend(root, |node, _| {
        let wanted = only.is_none_or(|spans| meets(node, spans));
        if wanted {
            visit(node);
        }
        if wanted { TreeStep::Into } else { TreeStep::Over }
    })
}

/// How a walk continues from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeStep {
    /// To its children.
    Into,
    /// Past its children.
    Over,
}

/// Calls `visit` with every node and its depth, and continues as it returns. Returns the lines that
/// are too deep or too long to search.
pub(super) fn descend<'t>(
    root: Node<'t>,
    mut visit: impl FnMut(Node<'t>, usize) -> TreeStep,
) -> Vec<LineSpan> {
    let mut cursor = root.walk();
    let mut depth = 0;
    let mut closed = Vec::new();
    loop {
        let node = cursor.node();
        let step = visit(node, depth);
        let within = depth < MAX_DEPTH && node.child_count() <= MAX_SIBLINGS;
        if step == TreeStep::Into && !within && node.child_count() > 0 {
            closed.push(crate::source::lines_of(node));
        }
        if step == TreeStep::Into && within && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return closed;
            }
            depth -= 1;
        }
    }
}

fn meets(node: Node<'_>, spans: &[LineSpan]) -> bool {
    let lines = crate::source::lines_of(node);
    spans.iter().any(|span| span.overlaps(lines))
}
