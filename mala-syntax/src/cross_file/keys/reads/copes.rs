//! Whether code has a way out when what it reads is not set.

use super::Effect;
use super::access::{Access, Way};
use crate::cross_file::words::has_word;
use crate::source::Source;
use crate::symbols::{Descend, Step, Trail, child_of_kind, named_children, walk_from};
use tree_sitter::Node;

/// What becomes of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing catches it.
    Fails,
    /// The code goes on with something else.
    Copes,
    /// The code looks whether there is something, and goes on when there is not.
    Tests,
}

/// What a read of `name` comes to when it has this effect.
pub(super) fn outcome(
    source: &Source,
    trail: &Trail<'_>,
    access: &Access<'_>,
    (effect, name): (Effect, &str),
) -> Outcome {
    let around: Vec<Step<'_>> = trail.up().skip(access.height.saturating_sub(1)).collect();
    if matches!(effect, Effect::Gives(_)) {
        if let Some(branch) = branch_of(&around) {
            let fails = asks_for_value(source, &around, branch) && stops(source, branch);
            return if fails { Outcome::Fails } else { Outcome::Tests };
        }
        if is_tested(source, &around) {
            return Outcome::Copes;
        }
    }
    let copes = match effect {
        Effect::Defaults => true,
        Effect::Raises(_) => is_guarded(source, &around, name),
        Effect::Gives(_) => {
            is_guarded(source, &around, name) || is_kept_and_tested(source, access, &around)
        }
        Effect::Result(_) => !is_unwrapped(source, &around),
    };
    if copes { Outcome::Copes } else { Outcome::Fails }
}

/// The pairs of a node and what is around it, up to the function.
fn pairs<'a, 't>(around: &'a [Step<'t>]) -> impl Iterator<Item = (Step<'t>, Step<'t>)> + 'a {
    around.iter().copied().zip(around.iter().copied().skip(1)).take_while(|(inner, _)| {
        let kind = inner.node.kind();
        !kind.contains("function_d") && !kind.contains("method_d") && kind != "lambda"
    })
}

/// Whether the read happens only when a condition about the same name holds, or where its failure is
/// caught.
fn is_guarded(source: &Source, around: &[Step<'_>], name: &str) -> bool {
    pairs(around).any(|(inner, outer)| {
        let kind = outer.node.kind();
        let catches = kind == "try_statement"
            && inner.field == "body"
            && child_of_kind(outer.node, &["except_clause", "catch_clause"]).is_some();
        let condition = condition_of(outer.node);
        let is_inside = condition.is_some_and(|it| it != inner.node && asks(source, it, name));
        catches || is_inside
    })
}

fn asks(source: &Source, condition: Node<'_>, name: &str) -> bool {
    has_word(source.slice(condition), name)
}

/// The condition of a branch.
fn condition_of(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "if_statement" | "elif_clause" | "while_statement" | "if_expression"
        | "ternary_expression" | "if" | "unless" | "if_modifier" | "unless_modifier" => {
            node.child_by_field_name("condition")
        }
        "conditional_expression" => {
            node.child_by_field_name("condition").or_else(|| node.named_child(1))
        }
        _ => None,
    }
}

/// The branch whose condition the read is part of.
fn branch_of<'t>(around: &[Step<'t>]) -> Option<Node<'t>> {
    let mut found =
        pairs(around).filter(|(inner, outer)| condition_of(outer.node) == Some(inner.node));
    found.next().map(|(_, outer)| outer.node)
}

/// Whether the condition of a branch asks for no more than that there is a value.
fn asks_for_value(source: &Source, around: &[Step<'_>], branch: Node<'_>) -> bool {
    const NOTHING: [&str; 6] = ["\"\"", "''", "null", "undefined", "None", "nil"];
    let inside = around.iter().map(|step| step.node).take_while(|node| *node != branch);
    inside.filter(|node| matches!(node.kind(), "comparison_operator" | "binary_expression")).all(
        |node| {
            let last = named_children(node).pop().map(|step| source.slice(step.node));
            let operator = node.child_by_field_name("operator").map(|it| source.slice(it));
            matches!(operator, Some("||" | "&&")) || last.is_some_and(|it| NOTHING.contains(&it))
        },
    )
}

/// Whether the value is looked at where it is read.
fn is_tested(source: &Source, around: &[Step<'_>]) -> bool {
    for (_, outer) in pairs(around) {
        let node = outer.node;
        match node.kind() {
            "boolean_operator" | "not_operator" | "comparison_operator" | "named_expression" => {
                return true;
            }
            "binary_expression" | "binary" | "unary_expression" | "unary" => {
                let operator = node.child_by_field_name("operator");
                let operator = operator.map(|it| source.slice(it)).unwrap_or_default();
                if is_test(operator) {
                    return true;
                }
            }
            "call" | "call_expression" | "new_expression" if turns_to_truth(source, node) => {
                return true;
            }
            _ if child_of_kind(node, &["optional_chain"]).is_some() => return true,
            "arguments"
            | "argument_list"
            | "parenthesized_expression"
            | "as_expression"
            | "member_expression"
            | "attribute"
            | "template_substitution" => {}
            kind if kind.contains("call") || kind.contains("expression") => {}
            _ => return false,
        }
    }
    false
}

fn is_test(operator: &str) -> bool {
    matches!(
        operator,
        "||" | "&&" | "??" | "?:" | "or" | "and" | "!" | "==" | "===" | "!=" | "!==" | "in"
    )
}

fn turns_to_truth(source: &Source, call: Node<'_>) -> bool {
    let function = call.child_by_field_name("function");
    function.is_some_and(|it| matches!(source.slice(it), "bool" | "Boolean" | "isset" | "empty"))
}

/// Whether a branch ends the work: then a missing value is not coped with.
fn stops(source: &Source, branch: Node<'_>) -> bool {
    const ENDS: [&str; 13] = [
        "raise", "throw", "panic", "exit", "Exit", "Fatal", "Fatalf", "fatal", "die", "abort",
        "reject", "Errorf", "fail",
    ];
    let body =
        branch.child_by_field_name("consequence").or_else(|| branch.child_by_field_name("body"));
    let text = body.map(|body| source.slice(body)).unwrap_or_default();
    ENDS.iter().any(|word| has_word(text, word))
}

/// Whether the value gets a name that is looked at afterwards.
fn is_kept_and_tested(source: &Source, access: &Access<'_>, around: &[Step<'_>]) -> bool {
    let keeper = pairs(around).map(|(_, outer)| outer.node).find(|node| {
        matches!(
            node.kind(),
            "assignment"
                | "variable_declarator"
                | "short_var_declaration"
                | "var_spec"
                | "assignment_expression"
        )
    });
    let keeper = if access.way == Way::Unpacking { Some(access.node) } else { keeper };
    let Some(keeper) = keeper else { return false };
    let left = keeper.child_by_field_name("left").or_else(|| keeper.child_by_field_name("name"));
    let Some(left) = left else { return false };
    let name = source.slice(left).rsplit(['.', ' ']).next().unwrap_or_default().to_owned();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name && has_test_of(source, scope_of(around, keeper), keeper, &name)
}

/// The function around, or the whole file.
fn scope_of<'t>(around: &[Step<'t>], keeper: Node<'t>) -> Node<'t> {
    let is_function = |node: Node<'_>| {
        let kind = node.kind();
        kind.contains("function") || kind.contains("method") || kind == "func_literal"
    };
    let function = around.iter().map(|step| step.node).find(|node| is_function(*node));
    function.or_else(|| around.last().map(|step| step.node)).unwrap_or(keeper)
}

/// Whether something after the keeper looks whether the name has a value.
fn has_test_of(source: &Source, scope: Node<'_>, keeper: Node<'_>, name: &str) -> bool {
    let mut is_found = false;
    walk_from(scope, |_, step| {
        let node = step.node;
        if is_found || node.end_byte() <= keeper.end_byte() {
            return Descend::Past;
        }
        let copes = match condition_of(node) {
            Some(condition) => asks(source, condition, name) && !stops(source, node),
            None => is_choice(source, node, name),
        };
        is_found |= copes;
        Descend::Into
    });
    is_found
}

/// `name or other`, `name?.x` and the like.
fn is_choice(source: &Source, node: Node<'_>, name: &str) -> bool {
    let starts = || source.slice(node).strip_prefix(name);
    match node.kind() {
        "boolean_operator" => starts().is_some(),
        "binary_expression" | "binary" => {
            let operator = node.child_by_field_name("operator");
            let operator = operator.map(|it| source.slice(it)).unwrap_or_default();
            matches!(operator, "||" | "&&" | "??" | "or" | "?:") && starts().is_some()
        }
        "member_expression" => starts().is_some_and(|rest| rest.starts_with("?.")),
        _ => false,
    }
}

/// Rust: whether a missing value ends the work.
fn is_unwrapped(source: &Source, around: &[Step<'_>]) -> bool {
    const PASSES: [&str; 8] = [
        "map_err",
        "context",
        "with_context",
        "wrap_err",
        "map",
        "and_then",
        "ok_or",
        "ok_or_else",
    ];
    for (_, outer) in pairs(around) {
        let node = outer.node;
        match node.kind() {
            "try_expression" => return true,
            "call_expression" | "await_expression" => {}
            "field_expression" => {
                let name = node.child_by_field_name("field").map(|it| source.slice(it));
                match name.unwrap_or_default() {
                    "unwrap" | "expect" => return true,
                    name if PASSES.contains(&name) => {}
                    _ => return false,
                }
            }
            _ => return false,
        }
    }
    false
}
