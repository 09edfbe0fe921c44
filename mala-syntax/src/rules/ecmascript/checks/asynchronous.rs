//! Promises that are taken for values, and async callbacks that are not awaited.

use super::{found, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use crate::symbols::WrittenValue;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const PROMISE_AS_VALUE: ScriptCheck = ScriptCheck {
    name: "promise-as-value",
    captures: &["PROMISE", "USE"],
    run: promises_as_values,
};

pub(in crate::rules::ecmascript) const ASYNC_CALLBACK: ScriptCheck = ScriptCheck {
    name: "async-callback-not-awaited",
    captures: &["METHOD", "EFFECT"],
    run: async_callbacks,
};

fn promises_as_values(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        if !program.is_promise_call(*call) {
            continue;
        }
        if let Some(use_of) = use_as_value(program, *call) {
            matches.push(promise(program, *call, *call, use_of));
        }
        for read in reads_of_result(program, *call) {
            if let Some(use_of) = use_as_value(program, read) {
                matches.push(promise(program, read, *call, use_of));
            }
        }
    }
    matches
}

fn promise(program: &ScriptFile<'_>, at: Node<'_>, call: Node<'_>, use_of: &str) -> NativeMatch {
    let name = callee(call).map_or("", |callee| program.text(callee));
    found(at, vec![("PROMISE", short(name)), ("USE", use_of.to_owned())])
}

/// The reads of a variable that always holds the result of a call.
fn reads_of_result<'t>(program: &ScriptFile<'t>, call: Node<'t>) -> Vec<Node<'t>> {
    let declarator = program.parent(call).filter(|it| it.kind() == "variable_declarator");
    let name = declarator.and_then(|it| it.child_by_field_name("name"));
    let variable = name.filter(|it| it.kind() == "identifier").and_then(|it| program.variable(it));
    match variable {
        Some(variable)
            if matches!(variable.writes.as_slice(), [only]
            if matches!(only.value, WrittenValue::Exactly(value) if value.id() == call.id())) =>
        {
            variable.reads.clone()
        }
        _ => Vec::new(),
    }
}

/// A use of a promise that needs its value instead.
fn use_as_value<'t>(program: &ScriptFile<'t>, node: Node<'t>) -> Option<&'static str> {
    let parent = program.parent(node)?;
    let is_field = |name| parent.child_by_field_name(name).is_some_and(|it| it.id() == node.id());
    match parent.kind() {
        "binary_expression" => match program.operator(parent) {
            "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" => {
                compares_with_constant(parent, node).then_some("compared")
            }
            "+" | "-" | "*" | "/" | "%" => Some("used in a calculation"),
            "??" if is_field("left") => Some("tested for null"),
            "&&" | "||" if is_field("left") && is_discarded(program, parent) => {
                Some("tested for truth")
            }
            _ => None,
        },
        "parenthesized_expression" => {
            let around = program.parent(parent)?;
            let is_condition = around
                .child_by_field_name("condition")
                .is_some_and(|condition| condition.id() == parent.id());
            (is_condition
                && matches!(around.kind(), "if_statement" | "while_statement" | "do_statement"))
            .then_some("tested for truth")
        }
        "ternary_expression" if is_field("condition") => Some("tested for truth"),
        "unary_expression" if program.operator(parent) == "!" => Some("tested for truth"),
        "subscript_expression" if is_field("index") => Some("used as a key"),
        "for_in_statement" if is_field("right") => Some("looped over"),
        _ => None,
    }
}

/// Whether the other side is a literal: only then the comparison is certainly not between promises.
fn compares_with_constant(comparison: Node<'_>, node: Node<'_>) -> bool {
    ["left", "right"].into_iter().filter_map(|side| comparison.child_by_field_name(side)).any(
        |it| {
            it.id() != node.id()
                && matches!(
                    it.kind(),
                    "null"
                        | "undefined"
                        | "true"
                        | "false"
                        | "number"
                        | "string"
                        | "template_string"
                )
        },
    )
}

/// Whether the result of `a && b` is discarded.
fn is_discarded<'t>(program: &ScriptFile<'t>, node: Node<'t>) -> bool {
    program.parent(node).is_some_and(|it| {
        matches!(it.kind(), "parenthesized_expression") || it.kind() == "expression_statement"
    })
}

impl<'t> ScriptFile<'t> {
    /// The async function of this file that a call calls, also as `this.name()`.
    pub(super) fn async_function_called(&self, call: Node<'t>) -> Option<Node<'t>> {
        let callee = callee(call)?;
        let function = match callee.kind() {
            "identifier" => self.called(call)?,
            "member_expression" => {
                let object = callee.child_by_field_name("object")?;
                let property = callee.child_by_field_name("property")?;
                if object.kind() != "this" || callee.child_by_field_name("optional_chain").is_some()
                {
                    return None;
                }
                self.method_called(call, self.text(property))?
            }
            _ => return None,
        };
        self.is_async(function).then_some(function)
    }

    /// Whether a call certainly returns a promise.
    fn is_promise_call(&self, call: Node<'t>) -> bool {
        let is_optional = call.child_by_field_name("optional_chain").is_some();
        !is_optional
            && self
                .async_function_called(call)
                .is_some_and(|function| !super::super::function::is_generator(function))
    }

    /// The method that `this.name()` calls in its own class.
    fn method_called(&self, place: Node<'t>, name: &str) -> Option<Node<'t>> {
        let class = self.class_around(place)?;
        let mut named = self
            .class_members(class)
            .into_iter()
            .filter(|member| self.member_name(*member) == Some(name));
        let only = named.next().filter(|_| named.next().is_none())?;
        (only.kind() == "method_definition").then_some(only)
    }
}

/// Array methods that do not await their callback, and the effect.
const WITHOUT_WAITING: &[(&str, &str)] = &[
    (
        "forEach",
        "the loop ends before any of the callbacks has done its work, and their errors are lost",
    ),
    ("filter", "every promise counts as true, so nothing is filtered out"),
    ("some", "every promise counts as true, so the answer is always true"),
    ("every", "every promise counts as true, so the answer is always true"),
    ("find", "every promise counts as true, so the first element is always found"),
    ("findIndex", "every promise counts as true, so the answer is always 0"),
    ("sort", "a promise is no number, so the order is arbitrary"),
];

fn async_callbacks(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(callee) = callee(*call).filter(|it| it.kind() == "member_expression") else {
            continue;
        };
        let method = callee.child_by_field_name("property").map_or("", |it| program.text(it));
        let Some((_, effect)) = WITHOUT_WAITING.iter().find(|(name, _)| *name == method) else {
            continue;
        };
        let callback = arguments(*call).first().copied();
        let Some(callback) = callback.and_then(|it| program.value_of(it)) else { continue };
        if !is_function(callback) || !program.is_async(callback) || !waits(program, callback) {
            continue;
        }
        // Each callback handles its own failure, so not waiting is intended.
        if method == "forEach" && handles_failure(callback) {
            continue;
        }
        // Libraries that wait have methods of the same names.
        let object = callee.child_by_field_name("object").map_or("", |it| program.text(it));
        if matches!(object, "async" | "Promise" | "Bluebird" | "bluebird" | "pMap") {
            continue;
        }
        matches.push(found(
            *call,
            vec![("METHOD", method.to_owned()), ("EFFECT", (*effect).to_owned())],
        ));
    }
    matches
}

/// Whether all that a function does is in a `try` with a `catch`.
fn handles_failure(function: Node<'_>) -> bool {
    let body = function.child_by_field_name("body").filter(|it| it.named_child_count() == 1);
    let only = body.and_then(|body| body.named_child(0));
    only.is_some_and(|it| {
        it.kind() == "try_statement" && it.child_by_field_name("handler").is_some()
    })
}

/// Whether a function awaits anything.
fn waits<'t>(program: &ScriptFile<'t>, function: Node<'t>) -> bool {
    function.child_by_field_name("body").is_some_and(|body| {
        body.kind() == "await_expression"
            || program.own(body).iter().any(|it| it.kind() == "await_expression")
    })
}
