//! Request parameters that may be lists, and strings that are taken for directives.

use super::{found, short};
use crate::rules::ecmascript::origin::{arguments, callee, unquoted};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const LIST_FOR_TEXT: ScriptCheck =
    ScriptCheck { name: "query-may-be-list", captures: &["VALUE", "METHOD"], run: lists_for_texts };

/// Members that lists and texts both have, with other results.
const SHARED: [&str; 6] = ["indexOf", "lastIndexOf", "includes", "concat", "slice", "length"];

fn lists_for_texts(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for member in program.of_kind("member_expression") {
        let (Some(object), Some(property)) =
            (member.child_by_field_name("object"), member.child_by_field_name("property"))
        else {
            continue;
        };
        let name = program.text(property);
        if !SHARED.contains(&name)
            || !is_query_value(program, object)
            || is_harmless(program, *member, name)
            || is_checked(program, object)
        {
            continue;
        }
        matches.push(found(
            *member,
            vec![("VALUE", short(program.text(object))), ("METHOD", name.to_owned())],
        ));
    }
    matches
}

/// `req.query.name`, or a variable that holds it.
fn is_query_value<'t>(program: &ScriptFile<'t>, node: Node<'t>) -> bool {
    let Some(value) = program.value_of(node) else { return false };
    if value.kind() != "member_expression" {
        return false;
    }
    let object = value.child_by_field_name("object").and_then(|it| program.value_of(it));
    object.is_some_and(|query| {
        matches!(
            program.text(query),
            "req.query" | "request.query" | "ctx.query" | "ctx.request.query"
        ) && program.function_around(query).is_some()
    })
}

/// Uses that also work for a list: tests for emptiness, and of how the value begins or ends.
fn is_harmless<'t>(program: &ScriptFile<'t>, member: Node<'t>, name: &str) -> bool {
    let Some(parent) = program.parent(member) else { return true };
    if name == "length" {
        return match parent.kind() {
            "binary_expression" => {
                let other = ["left", "right"]
                    .into_iter()
                    .filter_map(|side| parent.child_by_field_name(side))
                    .find(|side| side.id() != member.id());
                other.is_some_and(|it| matches!(program.text(it), "0" | "1"))
            }
            "expression_statement" => false,
            _ => true,
        };
    }
    if parent.kind() != "call_expression" {
        return true;
    }
    let compared = program.parent(parent).filter(|it| it.kind() == "binary_expression");
    let other = compared.and_then(|it| it.child_by_field_name("right"));
    let is_prefix = name == "indexOf" && other.is_some_and(|it| program.text(it) == "0");
    let first = arguments(parent).first().map_or("", |it| program.text(*it));
    is_prefix || (name == "slice" && first.starts_with('-'))
}

/// Whether the type of the value is checked before its use: in a condition around the use, or in
/// one that leaves the function.
fn is_checked<'t>(program: &ScriptFile<'t>, value: Node<'t>) -> bool {
    let Some(function) = outermost_function(program, value) else { return true };
    let text = program.text(value);
    program
        .inside(function)
        .iter()
        .filter(|it| asks_for_type(program, **it, text))
        .any(|question| guards(program, *question, value))
}

fn asks_for_type<'t>(program: &ScriptFile<'t>, node: Node<'t>, text: &str) -> bool {
    match node.kind() {
        "unary_expression" => {
            program.operator(node) == "typeof"
                && node.child_by_field_name("argument").is_some_and(|it| program.text(it) == text)
                && !program
                    .parent(node)
                    .is_some_and(|around| program.text(around).contains("undefined"))
        }
        "binary_expression" => {
            program.operator(node) == "instanceof"
                && node.child_by_field_name("left").is_some_and(|it| program.text(it) == text)
        }
        "call_expression" => {
            let name = callee(node).map_or("", |it| program.text(it));
            let asks = name.ends_with("isArray") || name.ends_with("isString") || name == "String";
            asks && arguments(node).first().is_some_and(|it| program.text(*it) == text)
        }
        _ => false,
    }
}

fn guards<'t>(program: &ScriptFile<'t>, question: Node<'t>, value: Node<'t>) -> bool {
    program.ancestors(question).any(|around| match around.kind() {
        "if_statement" => {
            let leaves = around.child_by_field_name("consequence").is_some_and(|then| {
                program.inside(then).iter().chain([&then]).any(|it| {
                    matches!(
                        it.kind(),
                        "return_statement" | "throw_statement" | "continue_statement"
                    )
                })
            });
            let comes_first = around.end_byte() <= value.start_byte();
            let same_block = program.parent(around).is_some_and(|it| program.contains(it, value));
            program.contains(around, value) || (leaves && comes_first && same_block)
        }
        "ternary_expression" | "binary_expression" | "while_statement" => {
            program.contains(around, value)
        }
        _ => false,
    })
}

fn outermost_function<'t>(program: &ScriptFile<'t>, node: Node<'t>) -> Option<Node<'t>> {
    program.ancestors(node).filter(|it| is_function(*it)).last()
}

pub(in crate::rules::ecmascript) const UNKNOWN_DIRECTIVE: ScriptCheck =
    ScriptCheck { name: "unknown-directive", captures: &["DIRECTIVE"], run: unknown_directives };

impl<'t> ScriptFile<'t> {}

const DIRECTIVES: [&str; 14] = [
    "use strict",
    "use asm",
    "use babel",
    "use 6to5",
    "format cjs",
    "format esm",
    "format global",
    "format register",
    "ngInject",
    "ngNoInject",
    "use client",
    "use server",
    "use cache",
    "use no memo",
];

fn unknown_directives(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    // A dialect of JavaScript may give such a text a meaning.
    if program.source().tree().root_node().has_error() {
        return matches;
    }
    for statement in program.of_kind("expression_statement") {
        let Some(text) = statement.named_child(0).filter(|it| it.kind() == "string") else {
            continue;
        };
        if !is_directive(program, *statement) {
            continue;
        }
        let directive = unquoted(program.text(text));
        if !is_known(directive) {
            matches.push(found(*statement, vec![("DIRECTIVE", directive.to_owned())]));
        }
    }
    matches
}

/// Whether a text is at the start of a file or function, where it is a directive.
fn is_directive<'t>(program: &ScriptFile<'t>, statement: Node<'t>) -> bool {
    let Some(block) = program.parent(statement) else { return false };
    let is_body = block.kind() == "program"
        || (block.kind() == "statement_block"
            && program.parent(block).is_some_and(crate::rules::ecmascript::program::is_function));
    let mut cursor = block.walk();
    let all_before_are_texts = block
        .named_children(&mut cursor)
        .take_while(|it| it.id() != statement.id())
        .all(|it| match it.kind() {
            "comment" | "hash_bang_line" => true,
            "expression_statement" => it.named_child(0).is_some_and(|it| it.kind() == "string"),
            _ => false,
        });
    is_body && all_before_are_texts
}

fn is_known(directive: &str) -> bool {
    let munged = || {
        let mut parts = directive.split(',').map(str::trim);
        parts.all(|part| {
            part.strip_suffix(":nomunge").is_some_and(|name| {
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            })
        })
    };
    DIRECTIVES.contains(&directive)
        || directive.starts_with("use cache: ")
        || directive.starts_with("use memo")
        || directive.starts_with("deps ")
        || directive.starts_with("worklet")
        || directive.starts_with("@babel/")
        || directive.starts_with("__")
        || munged()
}
