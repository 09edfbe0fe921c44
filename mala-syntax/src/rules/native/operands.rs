//! Operators whose two sides are the same code, and values assigned to themselves.

use super::code::{bare, canonical, found, is_literal, parts, same};
use super::purity::is_pure;
use super::{CheckFamily, CheckMatch, NativeCheck};
use crate::rules::walk::walk;
use crate::source::Source;
use mala_domain::language::Language;
use std::collections::HashMap;
use tree_sitter::Node;

pub(super) const OPERATORS: CheckFamily =
    CheckFamily { checks: &[IDENTICAL_OPERANDS], kinds: &OPERATIONS, run: identical_operands };

pub(super) const ASSIGNMENTS: CheckFamily = CheckFamily {
    checks: &[SELF_ASSIGNMENT],
    kinds: &["assignment", "assignment_expression", "assignment_statement"],
    run: self_assignments,
};

const IDENTICAL_OPERANDS: NativeCheck =
    NativeCheck { name: "identical-operands", captures: &["OPERAND", "OPERATOR"] };

const SELF_ASSIGNMENT: NativeCheck = NativeCheck { name: "self-assignment", captures: &["TARGET"] };

const OPERATIONS: [&str; 4] =
    ["binary_expression", "binary_operator", "boolean_operator", "comparison_operator"];
const LOGICAL: [&str; 4] = ["and", "or", "&&", "||"];
const ORDERED: [&str; 4] = ["<", ">", "<=", ">="];
const EQUALITY: [&str; 6] = ["==", "!=", "===", "!==", "is", "is not"];
const ARITHMETIC: [&str; 5] = ["-", "/", "%", "//", "^"];

fn identical_operands(source: &Source, nodes: &[Node<'_>]) -> Vec<CheckMatch> {
    nodes.iter().filter_map(|node| repeated(source, *node)).collect()
}

fn repeated(source: &Source, node: Node<'_>) -> Option<CheckMatch> {
    let (left, operator, right) = sides(source, node)?;
    if node.parent().is_some_and(|parent| is_harmless_place(source, parent)) {
        return None;
    }
    if LOGICAL.contains(&operator) {
        return repeated_in_chain(source, node, operator);
    }
    let (left, right) = (bare(left), bare(right));
    let applies = match operator {
        // A number that differs from itself is no number: comparing a name or an element is an idiom.
        _ if EQUALITY.contains(&operator) => is_member(left),
        // `x - x` compared with a constant tests whether x is finite.
        "-" if is_name(left) => !node.parent().is_some_and(|parent| is_comparison(source, parent)),
        _ => ORDERED.contains(&operator) || ARITHMETIC.contains(&operator),
    };
    let is_fault = applies
        && !is_literal(left)
        && same(source, left, right)
        && is_pure(source, left)
        && !is_constant_name(source, left);
    is_fault.then(|| {
        let operand = source.slice(left).to_owned();
        found(
            &IDENTICAL_OPERANDS,
            node,
            vec![("OPERAND", operand), ("OPERATOR", operator.to_owned())],
        )
    })
}

/// The TypeScript grammar reads `a && a!.b` as `(a && a)!.b`; and `{a && a}` shows `a` either way.
fn is_harmless_place(source: &Source, parent: Node<'_>) -> bool {
    match parent.kind() {
        "non_null_expression" => true,
        "jsx_expression" => parts(parent).first().is_some_and(|only| {
            sides(source, *only).is_some_and(|(left, _, _)| sides(source, bare(left)).is_none())
        }),
        _ => false,
    }
}

/// `a or b or a`: reported once, at the outermost operator of a chain.
fn repeated_in_chain(source: &Source, node: Node<'_>, operator: &str) -> Option<CheckMatch> {
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
    let may_give_value = matches!(operator, "and" | "&&") && !is_condition(node);
    if !operands.iter().all(|operand| is_pure(source, *operand)) {
        return None;
    }
    let n_operands = operands.len();
    let mut seen = HashMap::new();
    let again = operands.into_iter().enumerate().find_map(|(position, operand)| {
        let code = canonical(source, operand).filter(|_| !is_literal(operand))?;
        let first = seen.insert(code, position)?;
        // `x && x.ok && x` ends with the value that it has looked at.
        let gives_value = position + 1 == n_operands && first + 1 < position;
        (!(may_give_value && gives_value)).then_some(operand)
    })?;
    let operand = source.slice(again).to_owned();
    Some(found(
        &IDENTICAL_OPERANDS,
        again,
        vec![("OPERAND", operand), ("OPERATOR", operator.to_owned())],
    ))
}

/// Whether only the truth value of an expression is used.
fn is_condition(node: Node<'_>) -> bool {
    let mut parent = node.parent();
    while let Some(outer) = parent.filter(|it| it.kind() == "parenthesized_expression") {
        parent = outer.parent();
    }
    parent.is_some_and(|outer| {
        outer.kind() == "condition_clause" || outer.child_by_field_name("condition").is_some()
    })
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
    matches!(node.kind(), "identifier" | "variable_name")
}

fn is_member(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "attribute"
            | "member_expression"
            | "field_expression"
            | "selector_expression"
            | "field_access"
            | "member_access_expression"
    )
}

fn is_comparison(source: &Source, node: Node<'_>) -> bool {
    sides(source, node).is_some_and(|(_, it, _)| EQUALITY.contains(&it) || ORDERED.contains(&it))
}

/// `BITS - BITS` and the like come from generated tables and from code kept symmetric.
fn is_constant_name(source: &Source, node: Node<'_>) -> bool {
    let text = source.slice(node);
    text.chars().any(char::is_alphabetic) && !text.chars().any(char::is_lowercase)
}

fn self_assignments(source: &Source, nodes: &[Node<'_>]) -> Vec<CheckMatch> {
    nodes
        .iter()
        .copied()
        .filter(|node| is_plain_assignment(source, *node))
        .filter_map(|node| {
            let left = only_part(node.child_by_field_name("left")?);
            let right = bare(only_part(node.child_by_field_name("right")?));
            let is_fault = same(source, left, right)
                && is_pure(source, left)
                && !may_be_meant(source, node, left);
            is_fault.then(|| {
                found(&SELF_ASSIGNMENT, node, vec![("TARGET", source.slice(left).to_owned())])
            })
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

/// Whether a self-assignment has an effect, or is written for readers.
fn may_be_meant(source: &Source, node: Node<'_>, target: Node<'_>) -> bool {
    if is_in_branch(node) {
        return true;
    }
    let is_member = |field| {
        let member = target.child_by_field_name(field);
        member.is_some_and(|member| !has_parameter(source, node, source.slice(member)))
    };
    match source.language() {
        Language::Python => is_name(target) && !is_statement_of_function(node),
        // Properties may have setters; a parameter of the same name shows the intention.
        Language::JavaScript | Language::TypeScript | Language::Tsx => is_member("property"),
        // In `new Point { X = X }` the left side is a member of another object.
        Language::CSharp => is_initializer(node) || is_member("name"),
        Language::Php => is_member("name"),
        // Keeps a compiler from complaining about an unused name.
        Language::C | Language::Cpp => is_name(target),
        _ => false,
    }
}

fn is_initializer(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| parent.kind().ends_with("initializer_expression"))
}

/// Whether it is in a branch, where a self-assignment documents that nothing changes.
fn is_in_branch(node: Node<'_>) -> bool {
    let mut outer = node.parent();
    for _ in 0..4 {
        match outer.map(|it| (it, it.kind())) {
            Some((_, "else_clause" | "elif_clause" | "if_statement" | "if_expression")) => {
                return true;
            }
            Some((it, "expression_statement" | "block" | "statement_block" | "statement_list")) => {
                outer = it.parent();
            }
            _ => return false,
        }
    }
    false
}

/// In the body of a Python class `x = x` makes an outer name an attribute.
fn is_statement_of_function(node: Node<'_>) -> bool {
    let block = node.parent().and_then(|statement| statement.parent());
    block.and_then(|block| block.parent()).is_some_and(|it| it.kind() == "function_definition")
}

/// Whether the function around a node has a parameter of this name.
fn has_parameter(source: &Source, node: Node<'_>, name: &str) -> bool {
    let mut current = node.parent();
    while let Some(outer) = current {
        if let Some(parameters) = outer.child_by_field_name("parameters") {
            let mut found = false;
            walk(parameters, None, |part| {
                found |= is_name(part) && source.slice(part).trim_start_matches('$') == name;
            });
            return found;
        }
        current = outer.parent();
    }
    false
}
