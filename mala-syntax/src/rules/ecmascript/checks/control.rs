//! Control flow and results that get lost.

use super::{found, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::{is_class, is_function};
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const JUMP_IN_FINALLY: ScriptCheck =
    ScriptCheck { name: "jump-in-finally", captures: &["JUMP"], run: jumps_in_finally };

pub(in crate::rules::ecmascript) const IGNORED_RESULT: ScriptCheck =
    ScriptCheck { name: "ignored-result", captures: &["METHOD", "OBJECT"], run: ignored_results };

pub(in crate::rules::ecmascript) const WRONG_ID: ScriptCheck =
    ScriptCheck { name: "jsx-wrong-id", captures: &["ID", "WHY"], run: wrong_ids };

fn jumps_in_finally(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for clause in program.of_kind("finally_clause") {
        if leaves_nothing(program, *clause) {
            continue;
        }
        for node in program.own(*clause) {
            let is_jump = match node.kind() {
                "return_statement" => true,
                "break_statement" | "continue_statement" => {
                    !program.ancestors(node).take_while(|it| it.id() != clause.id()).any(|it| {
                        it.kind().starts_with("for_")
                            || it.kind().starts_with("while_")
                            || it.kind().starts_with("do_")
                            || it.kind().starts_with("switch_")
                    })
                }
                _ => false,
            };
            if is_jump {
                let jump = node.kind().trim_end_matches("_statement").to_owned();
                matches.push(found(node, vec![("JUMP", jump)]));
            }
        }
    }
    matches
}

/// Whether the `try` before a `finally` passes on neither errors nor values: it catches everything,
/// and returns nothing.
fn leaves_nothing<'t>(program: &ScriptFile<'t>, clause: Node<'t>) -> bool {
    let Some(statement) = clause.parent() else { return false };
    let jumps = |part: Node<'t>| {
        program
            .own(part)
            .iter()
            .any(|it| matches!(it.kind(), "return_statement" | "throw_statement"))
    };
    let returns =
        |part: Node<'t>| program.own(part).iter().any(|it| it.kind() == "return_statement");
    let handler = statement.child_by_field_name("handler");
    handler.is_some_and(|it| !jumps(it))
        && statement.child_by_field_name("body").is_some_and(|it| !returns(it))
}

/// Methods without side effects.
const ANSWERING: [&str; 19] = [
    "concat",
    "slice",
    "trim",
    "trimStart",
    "trimEnd",
    "toUpperCase",
    "toLowerCase",
    "substring",
    "substr",
    "padStart",
    "padEnd",
    "repeat",
    "charAt",
    "toFixed",
    "toISOString",
    "flat",
    "toSorted",
    "toReversed",
    "replaceAll",
];

fn ignored_results(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for statement in program.of_kind("expression_statement") {
        let Some(call) = statement.named_child(0).filter(|it| it.kind() == "call_expression")
        else {
            continue;
        };
        let Some(callee) = callee(call).filter(|it| it.kind() == "member_expression") else {
            continue;
        };
        let method = callee.child_by_field_name("property").map_or("", |it| program.text(it));
        let Some(object) = callee.child_by_field_name("object") else { continue };
        if (ANSWERING.contains(&method) && fits(call, method) || replaces_text(call, method))
            && !has_own_method(program, object)
            && !is_tried(program, *statement)
        {
            matches.push(found(
                call,
                vec![("METHOD", method.to_owned()), ("OBJECT", short(program.text(object)))],
            ));
        }
    }
    matches
}

/// Whether a statement is alone in a `try`, to test whether it throws.
fn is_tried<'t>(program: &ScriptFile<'t>, statement: Node<'t>) -> bool {
    let block = program.parent(statement).filter(|it| it.named_child_count() == 1);
    let around = block.and_then(|block| program.parent(block));
    around.is_some_and(|it| {
        it.kind() == "try_statement" && it.child_by_field_name("handler").is_some()
    })
}

/// Whether the arguments are those of the method of texts and arrays.
fn fits(call: Node<'_>, method: &str) -> bool {
    let given = arguments(call);
    let has_callback = given.iter().any(|it| is_function(*it));
    let n_allowed = match method {
        "concat" => 1..=9,
        "slice" | "substring" | "substr" | "padStart" | "padEnd" => 0..=2,
        "charAt" | "repeat" => 1..=1,
        "replaceAll" => 2..=2,
        _ => 0..=1,
    };
    let is_object = given.first().is_some_and(|it| it.kind() == "object");
    n_allowed.contains(&given.len()) && !has_callback && !is_object
}

/// `text.replace(/a/, "b")`, in contrast to `location.replace(url)`.
fn replaces_text(call: Node<'_>, method: &str) -> bool {
    let given = arguments(call);
    method == "replace"
        && given.len() == 2
        && given.first().is_some_and(|it| it.kind() == "regex")
        && given.get(1).is_some_and(|it| !is_function(*it))
}

/// Whether objects of this file have a method of the same name, which may have side effects.
fn has_own_method<'t>(program: &ScriptFile<'t>, object: Node<'t>) -> bool {
    let value = program.value_of(object);
    object.kind() == "this"
        || object.kind() == "super"
        || value.is_some_and(|it| it.kind() == "object" || is_class(it))
}

/// The plain attributes of a JSX element.
fn attributes<'t>(program: &ScriptFile<'t>, element: Node<'t>) -> Vec<(&'t str, Node<'t>)> {
    let mut cursor = element.walk();
    element
        .named_children(&mut cursor)
        .filter(|it| it.kind() == "jsx_attribute")
        .filter_map(|it| Some((program.text(it.named_child(0)?), it)))
        .collect()
}

fn wrong_ids(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for element in program.of_kinds(&["jsx_opening_element", "jsx_self_closing_element"]) {
        let id = attributes(program, element).into_iter().find(|(name, _)| *name == "id");
        let Some((_, attribute)) = id else { continue };
        let Some(value) = attribute.named_child(1).filter(|it| it.kind() == "string") else {
            continue;
        };
        let text = crate::rules::ecmascript::origin::unquoted(program.text(value));
        let root = program
            .ancestors(element)
            .take_while(|it| {
                it.kind().starts_with("jsx_") || it.kind() == "parenthesized_expression"
            })
            .last()
            .map_or(element.id(), |it| it.id());
        let why = if text.is_empty() {
            "it is empty"
        } else if text.contains(char::is_whitespace) {
            "it has white space in it"
        } else if seen.contains(&(text, root)) {
            "another element has it, too"
        } else {
            seen.push((text, root));
            continue;
        };
        let captures = vec![("ID", text.to_owned()), ("WHY", why.to_owned())];
        matches.push(found(attribute, captures));
    }
    matches
}
