//! Slips of the pen: one character or one word away from what was meant.

use super::{found, short};
use crate::rules::ecmascript::binding::Declared;
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const TURNED_OPERATOR: ProgramCheck = ProgramCheck {
    name: "turned-assignment-operator",
    captures: &["TARGET", "SIGN"],
    run: turned_operators,
};

pub(in crate::rules::ecmascript) const REGEX_IN_QUOTES: ProgramCheck =
    ProgramCheck { name: "regex-in-quotes", captures: &["PATTERN"], run: regexes_in_quotes };

pub(in crate::rules::ecmascript) const RETURNED_ASSIGNMENT: ProgramCheck =
    ProgramCheck { name: "returned-assignment", captures: &["NAME"], run: returned_assignments };

pub(in crate::rules::ecmascript) const LOST_EXPORT: ProgramCheck =
    ProgramCheck { name: "lost-export", captures: &[], run: lost_exports };

pub(in crate::rules::ecmascript) const DELETED_ELEMENT: ProgramCheck =
    ProgramCheck { name: "deleted-array-element", captures: &["LIST"], run: deleted_elements };

pub(in crate::rules::ecmascript) const LOST_RETURN: ProgramCheck =
    ProgramCheck { name: "return-from-for-each", captures: &["VALUE"], run: returns_from_for_each };

pub(in crate::rules::ecmascript) const SECOND_ANSWER: ProgramCheck = ProgramCheck {
    name: "second-answer-to-request",
    captures: &["FIRST", "LINE"],
    run: second_answers,
};

fn turned_operators(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("assignment_expression") {
        let (Some(left), Some(right)) =
            (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            continue;
        };
        let sign = match program.operator(right) {
            sign @ ("+" | "-") if right.kind() == "unary_expression" => sign,
            _ => continue,
        };
        let text = program.source().text();
        let before = text.get(left.end_byte()..right.start_byte()).unwrap_or_default();
        let behind = text.get(right.start_byte() + 1..).unwrap_or_default();
        if before.ends_with('=') && before.starts_with(' ') && behind.starts_with(' ') {
            let captures = vec![("TARGET", short(program.text(left))), ("SIGN", sign.to_owned())];
            matches.push(found(*node, captures));
        }
    }
    matches
}

fn regexes_in_quotes(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let property = callee(*call).and_then(|it| it.child_by_field_name("property"));
        let takes_pattern = property.is_some_and(|it| {
            matches!(program.text(it), "replace" | "replaceAll" | "match" | "search" | "split")
        });
        let pattern = arguments(*call).first().copied().filter(|_| takes_pattern);
        let Some(pattern) = pattern.filter(|it| it.kind() == "string") else { continue };
        let Some(text) = program.constant_text(pattern) else { continue };
        let flags = text.rsplit('/').next().unwrap_or_default();
        let is_regex = text.starts_with('/')
            && text.matches('/').count() >= 2
            && !flags.is_empty()
            && flags.len() <= 3
            && flags.chars().all(|c| "gimsuy".contains(c))
            && text.contains(['\\', '[', '^', '$', '+', '*', '(', '.']);
        if is_regex {
            matches.push(found(pattern, vec![("PATTERN", text.into_owned())]));
        }
    }
    matches
}

fn returned_assignments(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for statement in program.of_kind("return_statement") {
        let value = statement.named_child(0).filter(|it| it.kind() == "assignment_expression");
        let Some(name) = value.and_then(|it| it.child_by_field_name("left")) else { continue };
        let Some(variable) = program.variable(name).filter(|_| name.kind() == "identifier") else {
            continue;
        };
        let is_local = matches!(
            variable.declared,
            Declared::Var | Declared::Let | Declared::Const | Declared::Parameter
        );
        let function = program.function_around(*statement);
        let is_own = function.is_some_and(|function| {
            variable.scope.is_some_and(|scope| program.contains(function, scope))
        });
        // A variable that a function inside reads is kept on purpose.
        let is_captured = variable.reads.iter().any(|read| {
            program.function_around(*read).map(|it| it.id()) != function.map(|it| it.id())
        });
        if is_local && is_own && !is_captured {
            matches.push(found(*statement, vec![("NAME", variable.name.to_owned())]));
        }
    }
    matches
}

fn lost_exports(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for assignment in program.of_kind("assignment_expression") {
        let target = assignment.child_by_field_name("left");
        let Some(target) = target.filter(|it| program.text(*it) == "exports") else { continue };
        let is_outside =
            program.variable(target).is_some_and(|it| it.declared == Declared::Nowhere);
        let mentions_module = |node: Node<'_>| program.text(node).contains("module.exports");
        let around = program.parent(*assignment);
        let is_joined = around.is_some_and(mentions_module) || mentions_module(*assignment);
        let is_statement = around.is_some_and(|it| it.kind() == "expression_statement");
        let is_set_elsewhere = program.source().text().contains("module.exports");
        if is_outside && is_statement && !is_joined && !is_set_elsewhere {
            matches.push(found(*assignment, Vec::new()));
        }
    }
    matches
}

fn deleted_elements(program: &Program<'_>) -> Vec<NativeMatch> {
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
fn is_used_as_map<'t>(program: &Program<'t>, list: Node<'t>) -> bool {
    program.of_kind("assignment_expression").iter().any(|it| {
        let left = it.child_by_field_name("left").filter(|it| it.kind() == "subscript_expression");
        let field = |name| left.and_then(|it| it.child_by_field_name(name));
        field("object").is_some_and(|it| program.text(it) == program.text(list))
            && field("index").is_some_and(|it| it.kind() != "number")
    })
}

fn returns_from_for_each(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let property = callee(*call).and_then(|it| it.child_by_field_name("property"));
        let is_loop = property.is_some_and(|it| program.text(it) == "forEach");
        let callback = arguments(*call).first().copied().filter(|it| is_loop && is_function(*it));
        for statement in callback.map(|it| program.returns(it)).unwrap_or_default() {
            let Some(value) = statement.named_child(0) else { continue };
            let is_answer =
                matches!(value.kind(), "true" | "false" | "object" | "number" | "string");
            if is_answer && !is_last_of(program, statement, callback) {
                let text = short(program.text(value));
                matches.push(found(statement, vec![("VALUE", text)]));
            }
        }
    }
    matches
}

/// Whether a statement ends the function anyway.
fn is_last_of<'t>(program: &Program<'t>, statement: Node<'t>, function: Option<Node<'t>>) -> bool {
    let body = function.and_then(|it| it.child_by_field_name("body"));
    let around = program.parent(statement);
    matches!((body, around), (Some(body), Some(around)) if body.id() == around.id())
}

/// What sends an answer and ends it.
const ANSWERS: [&str; 8] =
    ["send", "json", "end", "render", "redirect", "sendStatus", "sendFile", "jsonp"];

fn second_answers(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for condition in program.of_kind("if_statement") {
        if condition.child_by_field_name("alternative").is_some() {
            continue;
        }
        let Some(then) = condition.child_by_field_name("consequence") else { continue };
        let Some(first) = last_answer(program, then) else { continue };
        let object = response(program, first).unwrap_or_default();
        let mut next = condition.next_named_sibling();
        while let Some(statement) = next {
            if let Some(second) = answer(program, statement)
                && response(program, second) == Some(object)
            {
                matches.push(found(
                    second,
                    vec![
                        ("FIRST", short(program.text(first))),
                        ("LINE", (first.start_position().row + 1).to_string()),
                    ],
                ));
                break;
            }
            if matches!(
                statement.kind(),
                "return_statement" | "throw_statement" | "break_statement"
            ) {
                break;
            }
            next = statement.next_named_sibling();
        }
    }
    matches
}

/// The answer that a branch sends as its last step, without leaving.
fn last_answer<'t>(program: &Program<'t>, branch: Node<'t>) -> Option<Node<'t>> {
    let statement = match branch.kind() {
        "statement_block" => {
            let mut cursor = branch.walk();
            branch.named_children(&mut cursor).filter(|it| it.kind() != "comment").last()?
        }
        _ => branch,
    };
    (statement.kind() == "expression_statement").then(|| answer(program, statement))?
}

/// The call that answers in a statement: `res.status(400).send()`, `return res.end()`.
fn answer<'t>(program: &Program<'t>, statement: Node<'t>) -> Option<Node<'t>> {
    if !matches!(statement.kind(), "expression_statement" | "return_statement") {
        return None;
    }
    let call = statement.named_child(0).filter(|it| it.kind() == "call_expression")?;
    let property = callee(call)?.child_by_field_name("property")?;
    let ends = ANSWERS.contains(&program.text(property));
    (ends && response(program, call).is_some()).then_some(call)
}

/// The parameter that a chain of calls starts from, when it is a response.
fn response<'t>(program: &Program<'t>, call: Node<'t>) -> Option<&'t str> {
    let mut node = call;
    loop {
        node = match node.kind() {
            "call_expression" => callee(node)?,
            "member_expression" => node.child_by_field_name("object")?,
            "identifier" => {
                let name = program.text(node);
                let is_parameter =
                    program.variable(node).is_some_and(|it| it.declared == Declared::Parameter);
                return (is_parameter && matches!(name, "res" | "response")).then_some(name);
            }
            _ => return None,
        };
    }
}
