//! Expressions that do not mean what they seem to.

use super::{found, short};
use crate::rules::ecmascript::binding::Declared;
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const BITS_AND_COMPARISON: ProgramCheck = ProgramCheck {
    name: "bitwise-and-comparison",
    captures: &["LEFT", "OPERATOR", "RIGHT"],
    run: bits_and_comparisons,
};

pub(in crate::rules::ecmascript) const EVAL: ProgramCheck =
    ProgramCheck { name: "eval-of-value", captures: &["CALL"], run: evals };

pub(in crate::rules::ecmascript) const MISSING_KEY: ProgramCheck =
    ProgramCheck { name: "missing-key-in-list", captures: &[], run: missing_keys };

fn bits_and_comparisons(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let operator = program.operator(*node);
        let (Some(left), Some(right)) =
            (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            continue;
        };
        let compares = |side: Node<'_>| {
            side.kind() == "binary_expression"
                && matches!(program.operator(side), "==" | "!=" | "===" | "!==")
        };
        // Two comparisons that are joined by bits are meant as they stand.
        let is_mixed = compares(left) != compares(right);
        if matches!(operator, "&" | "|" | "^") && is_mixed {
            matches.push(found(
                *node,
                vec![
                    ("LEFT", short(program.text(left))),
                    ("OPERATOR", operator.to_owned()),
                    ("RIGHT", short(program.text(right))),
                ],
            ));
        }
    }
    matches
}

fn evals(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kinds(&["call_expression", "new_expression"]) {
        let Some(callee) = callee(call) else { continue };
        let is_global = program.variable(callee).is_some_and(|it| it.declared == Declared::Nowhere);
        let runs = match program.text(callee) {
            "eval" => call.kind() == "call_expression" && is_global,
            "window.eval" | "globalThis.eval" => true,
            "Function" => is_global,
            _ => false,
        };
        let given = arguments(call);
        let is_open = given.iter().any(|it| program.constant_text(*it).is_none());
        if runs && is_open {
            matches.push(found(call, vec![("CALL", program.text(callee).to_owned())]));
        }
    }
    matches
}

fn missing_keys(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let method = callee(*call).and_then(|it| it.child_by_field_name("property"));
        let is_map = method.is_some_and(|it| program.text(it) == "map");
        let shown = program.parent(*call).is_some_and(|it| it.kind() == "jsx_expression")
            && program
                .parent(*call)
                .and_then(|it| program.parent(it))
                .is_some_and(|it| matches!(it.kind(), "jsx_element" | "jsx_fragment"));
        let Some(callback) = arguments(*call).first().copied().filter(|_| is_map && shown) else {
            continue;
        };
        if !is_function(callback) {
            continue;
        }
        for element in given_elements(program, callback) {
            if !has_key(program, element) {
                matches.push(found(element, Vec::new()));
            }
        }
    }
    matches
}

/// The JSX elements that a callback gives.
fn given_elements<'t>(program: &Program<'t>, callback: Node<'t>) -> Vec<Node<'t>> {
    let Some(body) = callback.child_by_field_name("body") else { return Vec::new() };
    let values = if body.kind() == "statement_block" {
        program.returns(callback).into_iter().filter_map(|it| it.named_child(0)).collect()
    } else {
        vec![body]
    };
    values
        .into_iter()
        .map(|value| match value.kind() {
            "parenthesized_expression" => value.named_child(0).unwrap_or(value),
            _ => value,
        })
        .filter(|it| matches!(it.kind(), "jsx_element" | "jsx_self_closing_element"))
        // `<></>` stands for nothing.
        .filter(|it| program.text(*it) != "<></>")
        .collect()
}

/// Whether an element has a key, or may get one from what is spread into it.
fn has_key<'t>(program: &Program<'t>, element: Node<'t>) -> bool {
    let opening = element.child_by_field_name("open_tag").unwrap_or(element);
    let mut cursor = opening.walk();
    opening.named_children(&mut cursor).any(|it| match it.kind() {
        "jsx_attribute" => it.named_child(0).is_some_and(|name| program.text(name) == "key"),
        "jsx_expression" => true,
        _ => false,
    })
}
