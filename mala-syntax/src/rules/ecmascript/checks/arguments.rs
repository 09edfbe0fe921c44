//! Calls whose arguments or results do not fit the function that is called.

use super::{found, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::{is_class, is_function};
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use crate::symbols::DeclarationKind;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const SPURIOUS_ARGUMENTS: ScriptCheck = ScriptCheck {
    name: "spurious-arguments",
    captures: &["CALLEE", "TAKES", "ARGUMENT"],
    run: spurious_arguments,
};

/// The number of arguments of built-in functions.
const KNOWN: &[(&str, usize)] = &[
    ("parseFloat", 1),
    ("parseInt", 2),
    ("isNaN", 1),
    ("isFinite", 1),
    ("Number", 1),
    ("Boolean", 1),
    ("String", 1),
    ("encodeURIComponent", 1),
    ("decodeURIComponent", 1),
    ("JSON.parse", 2),
    ("JSON.stringify", 3),
    ("Math.random", 0),
    ("Math.round", 1),
    ("Math.floor", 1),
    ("Math.ceil", 1),
    ("Math.trunc", 1),
    ("Math.abs", 1),
    ("Math.sqrt", 1),
    ("Math.pow", 2),
    ("Date.now", 0),
    ("Array.isArray", 1),
    ("Object.keys", 1),
    ("Object.values", 1),
    ("Object.entries", 1),
    ("Object.freeze", 1),
    ("TransformStream", 3),
];

fn spurious_arguments(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kinds(&["call_expression", "new_expression"]) {
        let Some(callee) = callee(call) else { continue };
        let given: Vec<_> = arguments(call);
        if let Some((takes, skipped)) = takes(program, callee)
            && let Some(first) = first_spurious(&given, takes + skipped)
        {
            matches.push(found(
                first,
                vec![
                    ("CALLEE", short(program.text(callee))),
                    ("TAKES", counted(takes)),
                    ("ARGUMENT", short(program.text(first))),
                ],
            ));
        }
    }
    matches
}

fn counted(takes: usize) -> String {
    match takes {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        many => format!("{many} arguments"),
    }
}

/// The first argument that the function does not read; a spread argument may be empty.
fn first_spurious<'t>(given: &[Node<'t>], takes: usize) -> Option<Node<'t>> {
    let n_certain = given.iter().filter(|it| it.kind() != "spread_element").count();
    (n_certain > takes).then(|| given.get(takes).copied())?
}

/// How many arguments a callee reads, and how many of the call are not for it.
fn takes<'t>(program: &ScriptFile<'t>, callee: Node<'t>) -> Option<(usize, usize)> {
    if callee.kind() == "member_expression" {
        let property = callee.child_by_field_name("property")?;
        let object = callee.child_by_field_name("object")?;
        if program.text(property) == "call" {
            let function = program.value_of(object).filter(|it| is_function(*it))?;
            return takes_of_function(program, function).map(|takes| (takes, 1));
        }
    }
    if let Some(path) = program.origin(callee)
        && let Some((_, takes)) = KNOWN.iter().find(|(name, _)| *name == path)
    {
        return Some((*takes, 0));
    }
    let target = if callee.kind() == "identifier" {
        program.function_named(callee)?
    } else {
        return None;
    };
    if program.is_shadowed_elsewhere(callee) {
        return None;
    }
    let takes = if is_class(target) {
        takes_of_class(program, target)?
    } else {
        takes_of_function(program, target)?
    };
    Some((takes, 0))
}

fn takes_of_class<'t>(program: &ScriptFile<'t>, class: Node<'t>) -> Option<usize> {
    let constructor = program
        .class_members(class)
        .into_iter()
        .find(|member| program.member_name(*member) == Some("constructor"));
    match constructor {
        Some(constructor) => parameter_count(program, constructor),
        None if program.parent_class(class).is_some() => None,
        None => Some(0),
    }
}

fn takes_of_function<'t>(program: &ScriptFile<'t>, function: Node<'t>) -> Option<usize> {
    let body = function.child_by_field_name("body")?;
    if body.kind() == "statement_block" && is_stub(program, body) {
        return None;
    }
    parameter_count(program, function)
}

/// `None` when the function reads more than its parameters.
fn parameter_count<'t>(program: &ScriptFile<'t>, function: Node<'t>) -> Option<usize> {
    let parameters = program.parameters(function);
    let has_rest = parameters.iter().any(|parameter| {
        let pattern = parameter.child_by_field_name("pattern").unwrap_or(*parameter);
        pattern.kind() == "rest_pattern"
    });
    let body = function.child_by_field_name("body")?;
    let reads_arguments = program.inside(body).iter().any(|inner| {
        matches!(inner.kind(), "identifier" | "property_identifier")
            && program.text(*inner) == "arguments"
    });
    (!has_rest && !reads_arguments).then_some(parameters.len())
}

/// Whether a function is a placeholder: it does nothing, or only throws.
fn is_stub<'t>(program: &ScriptFile<'t>, body: Node<'t>) -> bool {
    let mut cursor = body.walk();
    let statements: Vec<_> =
        body.named_children(&mut cursor).filter(|it| it.kind() != "comment").collect();
    match statements.as_slice() {
        [] => true,
        [only] if only.kind() == "throw_statement" => {
            // A message made of the arguments shows that they are intended.
            !program.inside(*only).iter().any(|inner| {
                program.variable(*inner).is_some_and(|it| it.declared == DeclarationKind::Parameter)
            })
        }
        [only] if only.kind() == "expression_statement" => only
            .named_child(0)
            .filter(|it| it.kind() == "call_expression")
            .and_then(callee)
            .and_then(|callee| program.value_of(callee))
            .filter(|it| is_function(*it) && it.kind() != "function_declaration")
            .and_then(|inner| inner.child_by_field_name("body"))
            .is_some_and(|inner| {
                program.inside(inner).iter().all(|it| it.kind() != "return_statement")
                    && program.inside(inner).iter().any(|it| it.kind() == "throw_statement")
                    && program.inside(inner).iter().all(|it| it.kind() != "if_statement")
            }),
        _ => false,
    }
}

impl<'t> ScriptFile<'t> {
    /// Whether a top-level function may be another one: scripts put functions into the window.
    fn is_shadowed_elsewhere(&self, name: Node<'t>) -> bool {
        let text = self.text(name);
        self.of_kind("assignment_expression").iter().any(|assignment| {
            let target = assignment.child_by_field_name("left");
            target.filter(|it| it.kind() == "member_expression").is_some_and(|target| {
                let property = target.child_by_field_name("property");
                let object = target.child_by_field_name("object");
                property.is_some_and(|it| self.text(it) == text)
                    && object.is_some_and(|it| {
                        matches!(
                            self.text(it),
                            "window" | "global" | "globalThis" | "self" | "this"
                        )
                    })
            })
        })
    }
}

pub(in crate::rules::ecmascript) const CALLBACK_WITHOUT_RETURN: ScriptCheck = ScriptCheck {
    name: "callback-without-return",
    captures: &["METHOD"],
    run: callbacks_without_return,
};

const ASKING: [&str; 9] =
    ["filter", "find", "findIndex", "findLast", "findLastIndex", "some", "every", "sort", "reduce"];

fn callbacks_without_return(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some((method, callback)) = asked_callback(program, *call) else { continue };
        let Some(body) = callback.child_by_field_name("body") else { continue };
        let own = program.own(body);
        let returns = own.iter().any(|it| {
            it.kind() == "return_statement" && it.named_child(0).is_some()
                || it.kind() == "throw_statement"
        });
        let does_something = body.named_child_count() > 0;
        if body.kind() == "statement_block" && !returns && does_something {
            matches.push(found(callback, vec![("METHOD", method.to_owned())]));
        }
    }
    matches
}

/// The method, and the callback that it calls for every element.
fn asked_callback<'t>(program: &ScriptFile<'t>, call: Node<'t>) -> Option<(&'t str, Node<'t>)> {
    let callee = callee(call)?;
    let arguments = arguments(call);
    let (method, callback) = match callee.kind() {
        "member_expression" => {
            let method = program.text(callee.child_by_field_name("property")?);
            let object = callee.child_by_field_name("object")?;
            let takes_list_first = matches!(program.text(object), "_" | "lodash" | "R");
            (method, arguments.get(usize::from(takes_list_first)).copied()?)
        }
        "identifier" => {
            let path = program.origin(callee)?;
            path.starts_with("lodash").then_some(())?;
            (program.text(callee), arguments.get(1).copied()?)
        }
        _ => return None,
    };
    let is_callback = is_function(callback)
        && !super::super::function::is_generator(callback)
        && !program.is_async(callback);
    // `find` and `reduce` of query libraries have callbacks with other parameters.
    let n_parameters = program.parameters(callback).len();
    let fits = match method {
        "reduce" | "sort" => n_parameters >= 2,
        _ => (1..=3).contains(&n_parameters),
    };
    let is_last = match method {
        "reduce" => arguments.len() <= 2,
        _ => arguments.len() <= 2 && arguments.last().is_some_and(|it| it.id() == callback.id()),
    };
    (ASKING.contains(&method) && is_callback && fits && is_last).then_some((method, callback))
}
