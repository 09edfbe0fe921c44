//! Values, positions and loops that are used in a way that does not work.

use super::{found, is_filled_in, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::types::Types;
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const UNKNOWN_TYPE_NAME: ScriptCheck =
    ScriptCheck { name: "typeof-unknown-name", captures: &["NAME"], run: unknown_type_names };

pub(in crate::rules::ecmascript) const POSITION_AS_TRUTH: ScriptCheck =
    ScriptCheck { name: "position-as-truth", captures: &["CALL"], run: positions_as_truth };

pub(in crate::rules::ecmascript) const CALLED_VALUE: ScriptCheck =
    ScriptCheck { name: "call-of-value", captures: &["NAME", "TYPES"], run: called_values };

const TYPE_NAMES: [&str; 8] =
    ["undefined", "object", "boolean", "number", "string", "function", "symbol", "bigint"];

/// The two sides of a comparison.
fn sides<'t>(program: &ScriptFile<'t>, node: Node<'t>) -> Option<(Node<'t>, &'t str, Node<'t>)> {
    let left = node.child_by_field_name("left")?;
    let right = node.child_by_field_name("right")?;
    Some((left, program.operator(node), right))
}

fn is_equality(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "===" | "!==")
}

fn unknown_type_names(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
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

/// The name of the method in a call.
fn method<'t>(program: &ScriptFile<'t>, call: Node<'t>) -> &'t str {
    let callee = callee(call).filter(|it| it.kind() == "member_expression");
    let property = callee.and_then(|it| it.child_by_field_name("property"));
    property.map_or("", |it| program.text(it))
}

fn positions_as_truth(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
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

fn called_values(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
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
fn is_placeholder<'t>(program: &ScriptFile<'t>, name: Node<'t>) -> bool {
    let value = program.variable(name).and_then(|it| it.only_value());
    value.is_some_and(|it| it.kind() == "undefined") || is_filled_in(program.text(name))
}

pub(in crate::rules::ecmascript) const DELETED_ELEMENT: ScriptCheck =
    ScriptCheck { name: "deleted-array-element", captures: &["LIST"], run: deleted_elements };

fn deleted_elements(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("unary_expression") {
        let target = node.child_by_field_name("argument").filter(|it| {
            program.operator(*node) == "delete" && it.kind() == "subscript_expression"
        });
        let Some(list) = target.and_then(|it| it.child_by_field_name("object")) else { continue };
        let is_list = program.value_of(list).is_some_and(|it| it.kind() == "array");
        if is_list && !is_used_as_map(program, list) {
            matches.push(found(*node, vec![("LIST", short(program.text(list)))]));
        }
    }
    matches
}

/// Whether elements are put in by some key, `list[key] = …`: texts as keys leave no hole.
fn is_used_as_map<'t>(program: &ScriptFile<'t>, list: Node<'t>) -> bool {
    program.of_kind("assignment_expression").iter().any(|it| {
        let left = it.child_by_field_name("left").filter(|it| it.kind() == "subscript_expression");
        let field = |name| left.and_then(|it| it.child_by_field_name(name));
        field("object").is_some_and(|it| program.text(it) == program.text(list))
            && field("index").is_some_and(|it| it.kind() != "number")
    })
}

pub(in crate::rules::ecmascript) const SKIPPED_ELEMENT: ScriptCheck = ScriptCheck {
    name: "element-skipped-after-removal",
    captures: &["LIST", "INDEX"],
    run: skipped_elements,
};

/// The variable that a loop counts with, and the list whose length ends it.
struct CountedLoop<'t> {
    index: &'t str,
    list: &'t str,
    body: Node<'t>,
}

fn counted<'t>(program: &ScriptFile<'t>, node: Node<'t>) -> Option<CountedLoop<'t>> {
    let condition = bare(node.child_by_field_name("condition")?);
    if condition.kind() != "binary_expression" {
        return None;
    }
    let mut left = condition.child_by_field_name("left")?;
    if left.kind() == "update_expression" {
        left = left.child_by_field_name("argument")?;
    }
    let right = condition.child_by_field_name("right")?;
    let list = right.child_by_field_name("object").filter(|_| {
        right.kind() == "member_expression" && program.text(right).ends_with(".length")
    })?;
    let is_less = matches!(program.operator(condition), "<" | "<=");
    (is_less && left.kind() == "identifier").then_some(())?;
    let body = node.child_by_field_name("body")?;
    Some(CountedLoop { index: program.text(left), list: program.text(list), body })
}

fn bare(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "parenthesized_expression" | "expression_statement" => node.named_child(0).unwrap_or(node),
        _ => node,
    }
}

fn of_list(node: Node<'_>, index: &str, list: &str) -> NativeMatch {
    found(node, vec![("INDEX", index.to_owned()), ("LIST", short(list))])
}

fn skipped_elements(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("for_statement") {
        let Some(CountedLoop { index, list, body }) = counted(program, *node) else { continue };
        let counts_up = node
            .child_by_field_name("increment")
            .is_some_and(|it| program.operator(it) == "++" && program.text(it).contains(index));
        if !counts_up {
            continue;
        }
        for call in program.own(body).into_iter().filter(|it| it.kind() == "call_expression") {
            if removes_at(program, call, list, index)
                && !leaves_after(program, call, body)
                && !sets_index(program, body, index)
            {
                matches.push(of_list(call, index, list));
            }
        }
    }
    matches
}

/// `list.splice(index, 1)`
fn removes_at<'t>(program: &ScriptFile<'t>, call: Node<'t>, list: &str, index: &str) -> bool {
    let Some(callee) = callee(call) else { return false };
    let object = callee.child_by_field_name("object").map_or("", |it| program.text(it));
    let method = callee.child_by_field_name("property").map_or("", |it| program.text(it));
    let given: Vec<&str> = arguments(call).iter().map(|it| program.text(*it)).collect();
    method == "splice" && object == list && given.as_slice() == [index, "1"]
}

/// Whether the loop is left right after a call.
fn leaves_after<'t>(program: &ScriptFile<'t>, call: Node<'t>, body: Node<'t>) -> bool {
    let mut statement = call;
    for around in program.ancestors(call) {
        if around.kind() == "statement_block" || around.kind() == "switch_case" {
            let mut cursor = around.walk();
            let leaves = around.named_children(&mut cursor).any(|it| {
                it.start_byte() >= statement.start_byte()
                    && matches!(
                        it.kind(),
                        "break_statement" | "return_statement" | "throw_statement"
                    )
            });
            if leaves {
                return true;
            }
        }
        if around.kind() == "return_statement" {
            return true;
        }
        if around.id() == body.id() {
            return false;
        }
        statement = around;
    }
    false
}

fn sets_index<'t>(program: &ScriptFile<'t>, body: Node<'t>, index: &str) -> bool {
    program.inside(body).iter().any(|it| {
        let target = match it.kind() {
            "update_expression" => it.child_by_field_name("argument"),
            "assignment_expression" | "augmented_assignment_expression" => {
                it.child_by_field_name("left")
            }
            _ => None,
        };
        target.is_some_and(|target| program.text(target) == index)
    })
}

pub(in crate::rules::ecmascript) const INDENTATION: ScriptCheck = ScriptCheck {
    name: "misleading-indentation",
    captures: &["KEYWORD"],
    run: misleading_indentation,
};

fn misleading_indentation(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in
        program.of_kinds(&["if_statement", "for_statement", "for_in_statement", "while_statement"])
    {
        let Some(controlled) = controlled(node) else { continue };
        let Some(next) = next_statement(node) else { continue };
        let indents = (indent(program, node), indent(program, controlled), indent(program, next));
        let (Some(outer), Some(inner), Some(following)) = indents else { continue };
        let own_line = controlled.start_position().row > node.start_position().row;
        if own_line && inner == following && inner.len() > outer.len() {
            let keyword = node.kind().split('_').next().unwrap_or_default().to_owned();
            matches.push(found(next, vec![("KEYWORD", keyword)]));
        }
    }
    matches
}

/// The single statement without braces that a head controls.
fn controlled(node: Node<'_>) -> Option<Node<'_>> {
    let body = match node.child_by_field_name("alternative") {
        Some(clause) => clause.named_child(0)?,
        None => {
            node.child_by_field_name("consequence").or_else(|| node.child_by_field_name("body"))?
        }
    };
    (!matches!(body.kind(), "statement_block" | "if_statement" | "empty_statement")).then_some(body)
}

fn next_statement(node: Node<'_>) -> Option<Node<'_>> {
    let next = node.next_named_sibling()?;
    let is_statement = next.kind().ends_with("_statement") || next.kind().ends_with("_declaration");
    (is_statement && next.start_position().row > node.end_position().row).then_some(next)
}

/// The white space before a node that starts its line.
fn indent<'t>(program: &ScriptFile<'t>, node: Node<'_>) -> Option<&'t str> {
    let start = node.start_byte();
    let line = start.checked_sub(node.start_position().column)?;
    let before = program.source().text().get(line..start)?;
    before.chars().all(|c| c == ' ' || c == '\t').then_some(before)
}
