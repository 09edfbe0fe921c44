//! Loops that end at once, never, or skip elements.

use super::{found, short};
use crate::rules::ecmascript::binding::{Assigned, Declared, Variable};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const RUNS_ONCE: ProgramCheck =
    ProgramCheck { name: "loop-runs-once", captures: &["EXIT"], run: single_runs };

pub(in crate::rules::ecmascript) const UNUSED_INDEX: ProgramCheck =
    ProgramCheck { name: "unused-loop-index", captures: &["INDEX", "LIST"], run: unused_indexes };

pub(in crate::rules::ecmascript) const MISSING_LENGTH: ProgramCheck =
    ProgramCheck { name: "missing-length", captures: &["INDEX", "LIST"], run: missing_lengths };

pub(in crate::rules::ecmascript) const WRONG_WAY: ProgramCheck =
    ProgramCheck { name: "loop-runs-away", captures: &["INDEX", "CONDITION"], run: wrong_ways };

pub(in crate::rules::ecmascript) const SKIPPED_ELEMENT: ProgramCheck = ProgramCheck {
    name: "element-skipped-after-removal",
    captures: &["LIST", "INDEX"],
    run: skipped_elements,
};

pub(in crate::rules::ecmascript) const CAPTURED_VARIABLE: ProgramCheck =
    ProgramCheck { name: "captured-loop-variable", captures: &["NAME"], run: captured_variables };

pub(in crate::rules::ecmascript) const FOR_IN_ARRAY: ProgramCheck =
    ProgramCheck { name: "for-in-over-array", captures: &["LIST"], run: arrays_looped_by_key };

fn single_runs(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kinds(&["for_statement", "while_statement", "do_statement"]) {
        let Some(body) = node.child_by_field_name("body") else { continue };
        let mut cursor = body.walk();
        let last = body.named_children(&mut cursor).filter(|it| it.kind() != "comment").last();
        let Some(last) = last.filter(|_| body.kind() == "statement_block") else { continue };
        let is_exit = matches!(last.kind(), "break_statement" | "return_statement")
            && last.child_by_field_name("label").is_none();
        let goes_on = program.own(body).iter().any(|it| {
            matches!(it.kind(), "continue_statement" | "await_expression" | "yield_expression")
        });
        // `do { … break; } while (0)` is a block that can be left.
        let condition = node.child_by_field_name("condition").map_or("", |it| program.text(it));
        let is_block = matches!(condition.trim_matches(['(', ')']), "0" | "false" | "true" | "1");
        if is_exit && !goes_on && !is_block {
            let exit = last.kind().trim_end_matches("_statement").to_owned();
            matches.push(found(node, vec![("EXIT", exit)]));
        }
    }
    matches
}

/// The variable that a loop counts with, and the list whose length ends it.
struct Counted<'t> {
    index: &'t str,
    list: &'t str,
    body: Node<'t>,
}

fn counted<'t>(program: &Program<'t>, node: Node<'t>) -> Option<Counted<'t>> {
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
    Some(Counted { index: program.text(left), list: program.text(list), body })
}

fn bare(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "parenthesized_expression" | "expression_statement" => node.named_child(0).unwrap_or(node),
        _ => node,
    }
}

fn unused_indexes(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("for_statement") {
        let Some(Counted { index, list, body }) = counted(program, *node) else { continue };
        let mut inside = std::iter::once(&body).chain(program.inside(body));
        let reads_index = program
            .inside(*node)
            .iter()
            .any(|it| program.contains(body, *it) && program.text(*it) == index && is_name(*it));
        let reads_fixed = inside.any(|it| {
            it.kind() == "subscript_expression"
                && it.child_by_field_name("object").is_some_and(|it| program.text(it) == list)
                && it.child_by_field_name("index").is_some_and(|it| it.kind() == "number")
        });
        if !reads_index && reads_fixed {
            matches.push(of_list(*node, index, list));
        }
    }
    matches
}

fn is_name(node: Node<'_>) -> bool {
    matches!(node.kind(), "identifier" | "shorthand_property_identifier")
}

fn of_list(node: Node<'_>, index: &str, list: &str) -> NativeMatch {
    found(node, vec![("INDEX", index.to_owned()), ("LIST", short(list))])
}

fn missing_lengths(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("for_statement") {
        let Some(condition) = node.child_by_field_name("condition").map(bare) else { continue };
        let (Some(left), Some(right), Some(body)) = (
            condition.child_by_field_name("left"),
            condition.child_by_field_name("right"),
            node.child_by_field_name("body"),
        ) else {
            continue;
        };
        let (index, list) = (program.text(left), program.text(right));
        let both_names = left.kind() == "identifier" && right.kind() == "identifier";
        let compares = matches!(program.operator(condition), "<" | "<=");
        let takes_element = program.inside(body).iter().any(|it| {
            it.kind() == "subscript_expression"
                && it.child_by_field_name("object").is_some_and(|it| program.text(it) == list)
                && it.child_by_field_name("index").is_some_and(|it| program.text(it) == index)
        });
        if both_names && compares && takes_element {
            matches.push(of_list(condition, index, list));
        }
    }
    matches
}

fn wrong_ways(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("for_statement") {
        let condition = node.child_by_field_name("condition").map(bare);
        let (Some(condition), Some(increment)) = (condition, node.child_by_field_name("increment"))
        else {
            continue;
        };
        let Some(left) = condition.child_by_field_name("left") else { continue };
        let target = increment
            .child_by_field_name("argument")
            .or_else(|| increment.child_by_field_name("left"));
        if target.map(|it| program.text(it)) != Some(program.text(left)) {
            continue;
        }
        let goes = match program.operator(increment) {
            "++" | "+=" => "up",
            "--" | "-=" => "down",
            _ => continue,
        };
        let step = increment.child_by_field_name("right");
        let is_negative = step.is_some_and(|it| program.text(it).starts_with('-'));
        let ends = match program.operator(condition) {
            "<" | "<=" => "up",
            ">" | ">=" => "down",
            _ => continue,
        };
        let changes_itself = node.child_by_field_name("body").is_some_and(|body| {
            program.variable(left).is_some_and(|variable| {
                variable.writes.iter().any(|write| program.contains(body, write.target))
            })
        });
        if goes != ends && !is_negative && !changes_itself && left.kind() == "identifier" {
            matches.push(found(
                *node,
                vec![
                    ("INDEX", program.text(left).to_owned()),
                    ("CONDITION", short(program.text(condition))),
                ],
            ));
        }
    }
    matches
}

fn skipped_elements(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("for_statement") {
        let Some(Counted { index, list, body }) = counted(program, *node) else { continue };
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
fn removes_at<'t>(program: &Program<'t>, call: Node<'t>, list: &str, index: &str) -> bool {
    let Some(callee) = callee(call) else { return false };
    let object = callee.child_by_field_name("object").map_or("", |it| program.text(it));
    let method = callee.child_by_field_name("property").map_or("", |it| program.text(it));
    let given: Vec<&str> = arguments(call).iter().map(|it| program.text(*it)).collect();
    method == "splice" && object == list && given.as_slice() == [index, "1"]
}

/// Whether the loop is left right after a call.
fn leaves_after<'t>(program: &Program<'t>, call: Node<'t>, body: Node<'t>) -> bool {
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

fn sets_index<'t>(program: &Program<'t>, body: Node<'t>, index: &str) -> bool {
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

/// Functions that call back when the loop is over.
const LATER: [&str; 12] = [
    "setTimeout",
    "setInterval",
    "setImmediate",
    "requestAnimationFrame",
    "addEventListener",
    "on",
    "once",
    "then",
    "catch",
    "finally",
    "nextTick",
    "subscribe",
];

fn captured_variables(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for variable in program.variables().iter().filter(|it| it.declared == Declared::Var) {
        let Some(head) = loop_of(program, variable) else { continue };
        let Some(body) = head.child_by_field_name("body") else { continue };
        for read in variable.reads.iter().filter(|it| program.contains(body, **it)) {
            let Some(function) = program.function_around(*read) else { continue };
            if program.contains(body, function) && runs_later(program, function) {
                matches.push(found(*read, vec![("NAME", variable.name.to_owned())]));
                break;
            }
        }
    }
    matches
}

/// The loop whose head declares a variable and changes it.
fn loop_of<'t>(program: &Program<'t>, variable: &Variable<'t>) -> Option<Node<'t>> {
    let [declaration] = variable.declarations.as_slice() else { return None };
    let head = program
        .ancestors(*declaration)
        .take(4)
        .find(|it| matches!(it.kind(), "for_statement" | "for_in_statement"))?;
    let body = head.child_by_field_name("body")?;
    let changes = head.kind() == "for_in_statement"
        || variable.writes.iter().any(|it| matches!(it.value, Assigned::Updated(_)));
    (changes && !program.contains(body, *declaration)).then_some(head)
}

fn runs_later<'t>(program: &Program<'t>, function: Node<'t>) -> bool {
    let call = program.parent(function).and_then(|it| program.parent(it));
    call.filter(|it| it.kind() == "call_expression").and_then(callee).is_some_and(|callee| {
        let name = callee.child_by_field_name("property").unwrap_or(callee);
        LATER.contains(&program.text(name)) && is_function(function)
    })
}

fn arrays_looped_by_key(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("for_in_statement") {
        let Some(list) = node.child_by_field_name("right") else { continue };
        if program.is_for_in(*node) && is_array(program, list) && uses_as_element(program, *node) {
            matches.push(found(*node, vec![("LIST", short(program.text(list)))]));
        }
    }
    matches
}

fn is_array<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    program.value_of(node).is_some_and(|value| value.kind() == "array")
}

/// Whether the loop takes the key for an element: it never looks an element up by it.
fn uses_as_element<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    let name = node.child_by_field_name("left");
    let Some(variable) = name.and_then(|it| program.variable(it)) else { return false };
    !variable.reads.is_empty()
        && variable.reads.iter().all(|read| {
            program.parent(*read).is_some_and(|it| {
                it.kind() == "member_expression"
                    && it
                        .child_by_field_name("object")
                        .is_some_and(|object| object.id() == read.id())
            })
        })
}
