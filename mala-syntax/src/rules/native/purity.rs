//! Decides whether evaluating an expression twice gives the same value, by its syntax.

use crate::rules::walk::walk;
use crate::source::Source;
use tree_sitter::Node;

/// Nodes with side effects besides calls: assignments, waiting, and functions.
const EFFECTS: [&str; 21] = [
    "new_expression",
    "await",
    "await_expression",
    "yield",
    "yield_expression",
    "assignment_expression",
    "augmented_assignment_expression",
    "named_expression",
    "update_expression",
    "try_expression",
    "let_condition",
    "let_chain",
    "compound_assignment_expr",
    "arrow_function",
    "function_expression",
    "closure_expression",
    "lambda",
    "lambda_expression",
    "func_literal",
    "template_substitution",
    "ERROR",
];

/// Calls that answer the same for the same arguments, by the last part of their name.
const QUESTIONS: &[&str] = &[
    "Contains",
    "ContainsKey",
    "EndsWith",
    "EqualFold",
    "Equals",
    "HasPrefix",
    "HasSuffix",
    "IsNullOrEmpty",
    "IsNullOrWhiteSpace",
    "StartsWith",
    "array_key_exists",
    "callable",
    "contains",
    "containsKey",
    "contains_key",
    "count",
    "empty",
    "endsWith",
    "ends_with",
    "endswith",
    "equals",
    "equalsIgnoreCase",
    "hasOwnProperty",
    "hasattr",
    "in_array",
    "includes",
    "indexOf",
    "isArray",
    "isEmpty",
    "isNaN",
    "isPresent",
    "is_array",
    "is_bool",
    "is_callable",
    "is_empty",
    "is_err",
    "is_int",
    "is_none",
    "is_null",
    "is_numeric",
    "is_object",
    "is_ok",
    "is_some",
    "is_string",
    "isalpha",
    "isdigit",
    "isinstance",
    "isset",
    "issubclass",
    "len",
    "lower",
    "memcmp",
    "startsWith",
    "starts_with",
    "startswith",
    "str_contains",
    "str_starts_with",
    "strcasecmp",
    "strcmp",
    "strip",
    "strlen",
    "strncasecmp",
    "strncmp",
    "strpos",
    "toLowerCase",
    "toUpperCase",
    "trim",
    "upper",
];

/// Whether an expression has the same value when it is evaluated again at once.
pub(super) fn is_pure(source: &Source, node: Node<'_>) -> bool {
    let mut pure = true;
    walk(node, None, |part| pure &= !is_call(part.kind()) && !has_effect(source, part));
    pure
}

/// The same, but allows calls without side effects.
pub(super) fn is_question(source: &Source, node: Node<'_>) -> bool {
    let mut pure = true;
    walk(node, None, |part| {
        pure &= if is_call(part.kind()) {
            called_name(source, part).is_some_and(|name| QUESTIONS.contains(&name))
        } else {
            !has_effect(source, part)
        };
    });
    pure
}

fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "call"
            | "call_expression"
            | "method_invocation"
            | "macro_invocation"
            | "invocation_expression"
            | "object_creation_expression"
            | "implicit_object_creation_expression"
            | "function_call_expression"
            | "member_call_expression"
            | "nullsafe_member_call_expression"
            | "scoped_call_expression"
    )
}

fn has_effect(source: &Source, part: Node<'_>) -> bool {
    match part.kind() {
        // Go: receiving from a channel.
        "unary_expression" => source.slice(part).starts_with("<-"),
        "prefix_unary_expression" | "postfix_unary_expression" => {
            let text = source.slice(part);
            [text.get(..2), text.get(text.len().saturating_sub(2)..)]
                .iter()
                .any(|end| matches!(end, Some("++" | "--")))
        }
        kind => EFFECTS.contains(&kind),
    }
}

/// The last part of the name that a call calls.
fn called_name<'t>(source: &'t Source, call: Node<'_>) -> Option<&'t str> {
    let callee =
        call.child_by_field_name("function").or_else(|| call.child_by_field_name("name"))?;
    let text = source.slice(callee);
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let start = text.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
    text.get(start..).filter(|name| !name.is_empty())
}
