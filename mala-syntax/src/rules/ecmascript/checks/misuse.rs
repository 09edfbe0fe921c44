//! Comparisons and conditions that always have the same result, whatever the values are.

use super::{found, is_filled_in, short};
use crate::rules::ecmascript::origin::{arguments, callee, unquoted};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::types::Types;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const UNKNOWN_TYPE_NAME: ProgramCheck =
    ProgramCheck { name: "typeof-unknown-name", captures: &["NAME"], run: unknown_type_names };

pub(in crate::rules::ecmascript) const POSITION_AS_TRUTH: ProgramCheck =
    ProgramCheck { name: "position-as-truth", captures: &["CALL"], run: positions_as_truth };

pub(in crate::rules::ecmascript) const FOUND_AS_POSITION: ProgramCheck = ProgramCheck {
    name: "element-compared-with-position",
    captures: &["NUMBER"],
    run: elements_as_positions,
};

pub(in crate::rules::ecmascript) const CHAINED_COMPARISON: ProgramCheck = ProgramCheck {
    name: "chained-comparison",
    captures: &["LEFT", "OPERATOR", "RIGHT"],
    run: chained_comparisons,
};

pub(in crate::rules::ecmascript) const FRESH_OBJECT: ProgramCheck = ProgramCheck {
    name: "comparison-with-fresh-object",
    captures: &["VALUE", "RESULT"],
    run: fresh_objects,
};

pub(in crate::rules::ecmascript) const CALLED_VALUE: ProgramCheck =
    ProgramCheck { name: "call-of-value", captures: &["NAME", "TYPES"], run: called_values };

pub(in crate::rules::ecmascript) const SUFFIX_TEST: ProgramCheck = ProgramCheck {
    name: "suffix-test-without-minus-one",
    captures: &["TEXT", "SUFFIX"],
    run: suffix_tests,
};

const TYPE_NAMES: [&str; 8] =
    ["undefined", "object", "boolean", "number", "string", "function", "symbol", "bigint"];

/// The two sides of a comparison.
fn sides<'t>(program: &Program<'t>, node: Node<'t>) -> Option<(Node<'t>, &'t str, Node<'t>)> {
    let left = node.child_by_field_name("left")?;
    let right = node.child_by_field_name("right")?;
    Some((left, program.operator(node), right))
}

fn is_equality(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "===" | "!==")
}

fn unknown_type_names(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let Some((left, operator, right)) = sides(program, *node) else { continue };
        if !is_equality(operator) {
            continue;
        }
        for (question, name) in [(left, right), (right, left)] {
            let asks =
                question.kind() == "unary_expression" && program.operator(question) == "typeof";
            let Some(text) = program.constant_text(name).filter(|_| asks) else { continue };
            // Old browsers have host objects of the type `unknown`.
            if !TYPE_NAMES.contains(&text.as_ref()) && text != "unknown" && text != "date" {
                matches.push(found(*node, vec![("NAME", text.into_owned())]));
            }
        }
    }
    matches
}

/// The method of a call on something.
fn method<'t>(program: &Program<'t>, call: Node<'t>) -> &'t str {
    let callee = callee(call).filter(|it| it.kind() == "member_expression");
    let property = callee.and_then(|it| it.child_by_field_name("property"));
    property.map_or("", |it| program.text(it))
}

fn positions_as_truth(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        if !matches!(method(program, *call), "indexOf" | "lastIndexOf" | "findIndex")
            || arguments(*call).is_empty()
        {
            continue;
        }
        let Some(parent) = program.parent(*call) else { continue };
        let is_condition = match parent.kind() {
            "parenthesized_expression" => program
                .parent(parent)
                .is_some_and(|around| matches!(around.kind(), "if_statement" | "while_statement")),
            "ternary_expression" => parent
                .child_by_field_name("condition")
                .is_some_and(|condition| condition.id() == call.id()),
            "binary_expression" => {
                matches!(program.operator(parent), "&&" | "||")
                    && program.parent(parent).is_some_and(|around| {
                        around.kind() == "parenthesized_expression"
                            && program.parent(around).is_some_and(|it| it.kind() == "if_statement")
                    })
            }
            _ => false,
        };
        if is_condition {
            matches.push(found(*call, vec![("CALL", short(program.text(*call)))]));
        }
    }
    matches
}

fn elements_as_positions(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let Some((left, operator, right)) = sides(program, *node) else { continue };
        let is_find = left.kind() == "call_expression"
            && matches!(method(program, left), "find" | "findLast")
            && arguments(left).first().is_some_and(|it| is_function(*it));
        let number = program.text(right);
        let is_position = match operator {
            ">" | "===" | "!==" | "==" | "!=" => number == "-1",
            ">=" => number == "0",
            _ => false,
        };
        if is_find && is_position {
            matches.push(found(*node, vec![("NUMBER", number.to_owned())]));
        }
    }
    matches
}

fn chained_comparisons(program: &Program<'_>) -> Vec<NativeMatch> {
    let orders = |operator: &str| matches!(operator, "<" | "<=" | ">" | ">=");
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let Some((left, operator, right)) = sides(program, *node) else { continue };
        if left.kind() != "binary_expression" {
            continue;
        }
        let inner = program.operator(left);
        // `f<a>(b)` reads as two comparisons where the grammar knows no type arguments.
        let is_generic = inner == "<" && operator == ">";
        let same_way = (inner.starts_with('<') && operator.starts_with('<'))
            || (inner.starts_with('>') && operator.starts_with('>'));
        if orders(inner) && orders(operator) && same_way && !is_generic {
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

fn fresh_objects(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let Some((left, operator, right)) = sides(program, *node) else { continue };
        let result = match operator {
            "===" => "false",
            "!==" => "true",
            _ => continue,
        };
        let is_fresh =
            |it: Node<'_>| matches!(it.kind(), "array" | "object" | "regex") || is_function(it);
        if is_fresh(left) || is_fresh(right) {
            let value = if is_fresh(right) { right } else { left };
            matches.push(found(
                *node,
                vec![("VALUE", short(program.text(value))), ("RESULT", result.to_owned())],
            ));
        }
    }
    matches
}

fn called_values(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kinds(&["call_expression", "new_expression"]) {
        let Some(callee) = callee(call).filter(|it| it.kind() == "identifier") else { continue };
        let is_optional = call.child_by_field_name("optional_chain").is_some();
        let types = program.types(callee);
        if !is_optional
            && !types.is_empty()
            && types.apart(Types::FUNCTION)
            && !is_placeholder(program, callee)
            && !program.is_tested_around(call, callee)
        {
            let name = program.text(callee).to_owned();
            matches.push(found(call, vec![("NAME", name), ("TYPES", types.describe())]));
        }
    }
    matches
}

/// A name that a build fills in: it is set to `undefined` on purpose.
fn is_placeholder<'t>(program: &Program<'t>, name: Node<'t>) -> bool {
    let value = program.variable(name).and_then(|it| it.only_value());
    value.is_some_and(|it| it.kind() == "undefined") || is_filled_in(program.text(name))
}

/// `text.lastIndexOf(end) === text.length - end.length` is true when `end` is one longer than
/// `text` and not in it.
fn suffix_tests(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let Some((left, operator, right)) = sides(program, *node) else { continue };
        let Some((object, suffix)) = index_call(program, left) else { continue };
        let expected = format!("{object}.length-{suffix}.length");
        let shown: String = program.text(right).split_whitespace().collect();
        let checks_first = program.ancestors(*node).take(4).any(|around| {
            around.kind() == "binary_expression" && matches!(program.operator(around), "&&" | "||")
        });
        if matches!(operator, "===" | "==") && shown == expected && !checks_first {
            let captures = vec![("TEXT", short(object)), ("SUFFIX", short(suffix))];
            matches.push(found(*node, captures));
        }
    }
    matches
}

/// The object and the argument of `object.lastIndexOf(argument)`.
fn index_call<'t>(program: &Program<'t>, call: Node<'t>) -> Option<(&'t str, &'t str)> {
    if call.kind() != "call_expression" || !method(program, call).ends_with("ndexOf") {
        return None;
    }
    let object = callee(call)?.child_by_field_name("object")?;
    let argument = *arguments(call).first()?;
    Some((program.text(object), unquoted(program.text(argument))))
}
