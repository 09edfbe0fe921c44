//! Operators whose two sides are the same code, and values assigned to themselves.

use super::code::{bare, canonical, found, is_literal, is_pure, nodes, parts, same};
use super::{NativeCheck, NativeMatch};
use crate::source::Source;
use mala_domain::language::Language;
use std::collections::HashSet;
use tree_sitter::Node;

pub(super) const IDENTICAL_OPERANDS: NativeCheck = NativeCheck {
    name: "identical-operands",
    captures: &["OPERAND", "OPERATOR"],
    run: identical_operands,
};

pub(super) const SELF_ASSIGNMENT: NativeCheck =
    NativeCheck { name: "self-assignment", captures: &["TARGET"], run: self_assignments };

const OPERATIONS: [&str; 4] =
    ["binary_expression", "binary_operator", "boolean_operator", "comparison_operator"];
const LOGICAL: [&str; 4] = ["and", "or", "&&", "||"];
const ORDERED: [&str; 4] = ["<", ">", "<=", ">="];
const EQUALITY: [&str; 6] = ["==", "!=", "===", "!==", "is", "is not"];
const ARITHMETIC: [&str; 5] = ["-", "/", "%", "//", "^"];

/// Assigning these runs code: the page loads again, the player starts again.
const ACTING_PROPERTIES: [&str; 12] = [
    "location",
    "href",
    "src",
    "srcObject",
    "innerHTML",
    "scrollTop",
    "scrollLeft",
    "className",
    "value",
    "selectedIndex",
    "width",
    "height",
];

fn identical_operands(source: &Source) -> Vec<NativeMatch> {
    nodes(source, &OPERATIONS).into_iter().filter_map(|node| repeated(source, node)).collect()
}

fn repeated(source: &Source, node: Node<'_>) -> Option<NativeMatch> {
    let (left, operator, right) = sides(source, node)?;
    if LOGICAL.contains(&operator) {
        return repeated_in_chain(source, node, operator);
    }
    let (left, right) = (bare(left), bare(right));
    let applies = if EQUALITY.contains(&operator) {
        // A number that differs from itself is no number: comparing a plain name is an idiom.
        !is_name(left)
    } else {
        ORDERED.contains(&operator) || ARITHMETIC.contains(&operator)
    };
    let is_fault = applies
        && !is_literal(left)
        && same(source, left, right)
        && is_pure(source, left)
        && !is_constant_name(source, left);
    is_fault.then(|| {
        let operand = source.slice(left).to_owned();
        found(node, vec![("OPERAND", operand), ("OPERATOR", operator.to_owned())])
    })
}

/// `a or b or a`: reported once, at the outermost operator of a chain.
fn repeated_in_chain(source: &Source, node: Node<'_>, operator: &str) -> Option<NativeMatch> {
    let continues = |other: Node<'_>| sides(source, other).is_some_and(|(_, it, _)| it == operator);
    if node.parent().is_some_and(continues) {
        return None;
    }
    let mut operands = Vec::new();
    let mut rest = vec![node];
    while let Some(part) = rest.pop() {
        match sides(source, part) {
            Some((left, it, right)) if it == operator => rest.extend([right, left]),
            _ => operands.push(bare(part)),
        }
    }
    if !operands.iter().all(|operand| is_pure(source, *operand)) {
        return None;
    }
    let mut seen = HashSet::new();
    let again = operands.into_iter().find(|operand| {
        !is_literal(*operand) && canonical(source, *operand).is_some_and(|code| !seen.insert(code))
    })?;
    let operand = source.slice(again).to_owned();
    Some(found(again, vec![("OPERAND", operand), ("OPERATOR", operator.to_owned())]))
}

/// Both sides and the operator, when there are exactly two sides.
fn sides<'t>(source: &'t Source, node: Node<'t>) -> Option<(Node<'t>, &'t str, Node<'t>)> {
    if !OPERATIONS.contains(&node.kind()) {
        return None;
    }
    if node.kind() == "comparison_operator" {
        let mut cursor = node.walk();
        let operators: Vec<_> = node.children_by_field_name("operators", &mut cursor).collect();
        return match (parts(node).as_slice(), operators.as_slice()) {
            ([left, right], [operator]) => Some((*left, source.slice(*operator), *right)),
            _ => None,
        };
    }
    let operator = node.child_by_field_name("operator")?;
    let left = node.child_by_field_name("left")?;
    let right = node.child_by_field_name("right")?;
    Some((left, source.slice(operator), right))
}

fn is_name(node: Node<'_>) -> bool {
    node.kind() == "identifier"
}

/// `BITS - BITS` and the like come from generated tables and from code kept symmetric.
fn is_constant_name(source: &Source, node: Node<'_>) -> bool {
    let text = source.slice(node);
    text.chars().any(char::is_alphabetic) && !text.chars().any(char::is_lowercase)
}

fn self_assignments(source: &Source) -> Vec<NativeMatch> {
    nodes(source, &["assignment", "assignment_expression", "assignment_statement"])
        .into_iter()
        .filter(|node| is_plain_assignment(source, *node))
        .filter_map(|node| {
            let left = only_part(node.child_by_field_name("left")?);
            let right = bare(only_part(node.child_by_field_name("right")?));
            let is_fault = same(source, left, right)
                && is_pure(source, left)
                && !binds_outer_name(source, node)
                && !acts_when_assigned(source, left);
            is_fault.then(|| found(node, vec![("TARGET", source.slice(left).to_owned())]))
        })
        .collect()
}

fn is_plain_assignment(source: &Source, node: Node<'_>) -> bool {
    let operator = node.child_by_field_name("operator");
    operator.is_none_or(|operator| source.slice(operator) == "=")
        && node.child_by_field_name("type").is_none()
}

/// The only entry of a list of one.
fn only_part(node: Node<'_>) -> Node<'_> {
    match parts(node).as_slice() {
        [only] if node.kind() == "expression_list" => *only,
        _ => node,
    }
}

/// In the body of a Python class, `x = x` makes an outer name an attribute.
fn binds_outer_name(source: &Source, node: Node<'_>) -> bool {
    let block = node.parent().and_then(|statement| statement.parent());
    source.language() == Language::Python
        && block
            .and_then(|block| block.parent())
            .is_none_or(|owner| owner.kind() != "function_definition" && outermost_is_class(owner))
}

fn outermost_is_class(node: Node<'_>) -> bool {
    let mut node = Some(node);
    while let Some(current) = node {
        match current.kind() {
            "function_definition" => return false,
            "class_definition" | "module" => return true,
            _ => node = current.parent(),
        }
    }
    true
}

fn acts_when_assigned(source: &Source, target: Node<'_>) -> bool {
    let is_script =
        matches!(source.language(), Language::JavaScript | Language::TypeScript | Language::Tsx);
    let text = source.slice(target);
    let last = text.rsplit('.').next().unwrap_or(text);
    is_script && ACTING_PROPERTIES.contains(&last)
}
