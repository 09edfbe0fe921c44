//! Questions about syntax trees that have the same answer in all languages.

use std::ops::Range;

use tree_sitter::Node;

/// All named nodes of a tree, parents before children.
pub(super) fn preorder(root: Node<'_>) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    let mut cursor = root.walk();
    loop {
        if cursor.node().is_named() {
            nodes.push(cursor.node());
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return nodes;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// The target and the value of a node that gives a value to a name.
pub(super) fn assignment(node: Node<'_>) -> Option<(Node<'_>, Option<Node<'_>>)> {
    let (target, value) = match node.kind() {
        "variable_declarator" | "const_spec" | "var_spec" | "const_item" | "static_item" => {
            ("name", "value")
        }
        "assignment"
        | "assignment_expression"
        | "assignment_statement"
        | "short_var_declaration" => ("left", "right"),
        // The name has no one value after these.
        "augmented_assignment" | "augmented_assignment_expression" | "for_statement" => {
            ("left", "none")
        }
        "let_declaration" => ("pattern", "value"),
        _ => return None,
    };
    let mut target = node.child_by_field_name(target)?;
    if target.kind() == "expression_list" {
        // With several targets on the left, it is not known which value belongs to which.
        target = target.named_child(0).filter(|_| target.named_child_count() == 1)?;
    }
    Some((target, node.child_by_field_name(value)))
}

/// An expression without what does not change its value.
pub(super) fn unwrapped(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while is_wrapper(node.kind()) {
        match node.named_child(0) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

fn is_wrapper(kind: &str) -> bool {
    matches!(
        kind,
        "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "non_null_expression"
            | "reference_expression"
    )
}

/// Nodes between a pattern and the declaration that names it.
pub(super) fn is_transparent(kind: &str) -> bool {
    is_wrapper(kind)
        || matches!(
            kind,
            "expression_list"
                | "arguments"
                | "closure_expression"
                | "call_expression"
                | "field_expression"
                | "try_expression"
                | "block"
                | "expression_statement"
        )
}

/// The bytes of the function around a node, or of the file.
pub(super) fn scope_of(node: Node<'_>) -> Range<usize> {
    let mut node = node;
    while let Some(parent) = node.parent() {
        node = parent;
        let kind = node.kind();
        let function =
            kind.contains("function") || kind.contains("method") || kind.contains("lambda");
        if function || kind == "constructor_declaration" {
            break;
        }
    }
    node.byte_range()
}
