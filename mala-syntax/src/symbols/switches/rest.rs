//! Whether what stands around a switch handles what the switch does not list: code after arms that
//! all leave, or a value that is set before.

use crate::source::Source;
use crate::symbols::walk::{Descend, named_children, walk_from};
use mala_domain::language::Language;
use tree_sitter::Node;

/// Whether the code around handles the rest.
pub(super) fn handles(source: &Source, node: Node<'_>) -> bool {
    if source.language() == Language::Rust {
        return false;
    }
    let arms = arms(node);
    !arms.is_empty()
        && (has_next(node) && arms.iter().all(|arm| leaves(source, *arm))
            || arms.first().is_some_and(|arm| sets_what_is_set(source, node, *arm)))
}

/// The arms that do something.
fn arms(node: Node<'_>) -> Vec<Node<'_>> {
    let body = node.child_by_field_name("body").unwrap_or(node);
    let mut found: Vec<Node<'_>> = node.child_by_field_name("consequence").into_iter().collect();
    for step in named_children(body) {
        match step.node.kind() {
            "elif_clause" | "case_clause" => {
                found.extend(step.node.child_by_field_name("consequence"));
            }
            "switch_case"
            | "expression_case"
            | "case_statement"
            | "switch_section"
            | "switch_block_statement_group"
            | "switch_rule"
                if has_statement(step.node) =>
            {
                found.push(step.node);
            }
            _ => {}
        }
    }
    found
}

fn has_statement(arm: Node<'_>) -> bool {
    last_of(arm).is_some_and(|last| {
        let kind = last.kind();
        kind.contains("statement") || kind.contains("declaration") || kind == "block"
    })
}

fn last_of(node: Node<'_>) -> Option<Node<'_>> {
    named_children(node).last().map(|step| step.node)
}

/// Whether something follows in the same block.
fn has_next(node: Node<'_>) -> bool {
    let mut next = node.next_named_sibling();
    while let Some(sibling) = next {
        if !sibling.is_extra() {
            return !sibling.kind().contains("clause");
        }
        next = sibling.next_named_sibling();
    }
    false
}

/// Whether an arm ends by leaving.
fn leaves(source: &Source, arm: Node<'_>) -> bool {
    const MAX_DEPTH: usize = 8;
    let mut node = arm;
    for _ in 0..MAX_DEPTH {
        match node.kind() {
            "return_statement" | "raise_statement" | "throw_statement" | "continue_statement" => {
                return true;
            }
            "expression_statement" => {
                let text = source.slice(node);
                return ["panic(", "sys.exit(", "os.Exit(", "process.exit("]
                    .iter()
                    .any(|call| text.starts_with(call));
            }
            "if_statement" | "for_statement" | "while_statement" | "try_statement" => return false,
            _ => match last_of(node) {
                Some(last) => node = last,
                None => return false,
            },
        }
    }
    false
}

/// Whether an arm sets a variable that has a value before the switch.
fn sets_what_is_set(source: &Source, node: Node<'_>, arm: Node<'_>) -> bool {
    const MAX_BEFORE: usize = 6;
    let mut names = Vec::new();
    walk_from(arm, |_, step| {
        if matches!(
            step.node.kind(),
            "assignment" | "assignment_expression" | "assignment_statement"
        ) && let Some(left) = step.node.child_by_field_name("left")
        {
            names.push(source.slice(left));
        }
        Descend::Into
    });
    let before = std::iter::successors(node.prev_named_sibling(), Node::prev_named_sibling);
    before.take(MAX_BEFORE).any(|statement| {
        let is_value = !statement.is_extra() && !statement.kind().contains("if");
        is_value && names.iter().any(|name| sets(source.slice(statement), name))
    })
}

/// Whether a statement sets a variable.
fn sets(statement: &str, name: &str) -> bool {
    statement.split_once('=').is_some_and(|(left, _)| {
        let left = left.split(':').next().unwrap_or_default();
        left.trim_end()
            .strip_suffix(name)
            .is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}
