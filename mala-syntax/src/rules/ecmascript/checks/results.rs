//! Results of functions that have none: `const a = log()`, `list.filter(x => { x.ok })`.

use super::{found, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const NO_RESULT: ProgramCheck =
    ProgramCheck { name: "use-of-no-result", captures: &["CALLEE"], run: uses_of_no_result };

pub(in crate::rules::ecmascript) const CALLBACK_WITHOUT_RETURN: ProgramCheck = ProgramCheck {
    name: "callback-without-return",
    captures: &["METHOD"],
    run: callbacks_without_return,
};

const ASKING: [&str; 9] =
    ["filter", "find", "findIndex", "findLast", "findLastIndex", "some", "every", "sort", "reduce"];

fn uses_of_no_result(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(callee) = callee(*call).filter(|it| it.kind() == "identifier") else { continue };
        if returns_nothing(program, callee) && is_used(program, *call) {
            matches.push(found(*call, vec![("CALLEE", short(program.text(callee)))]));
        }
    }
    matches
}

/// Whether a name stands for functions that return nothing.
fn returns_nothing<'t>(program: &Program<'t>, name: Node<'t>) -> bool {
    let Some(function) = program.value_of(name) else { return false };
    match function.kind() {
        "ternary_expression" => ["consequence", "alternative"].into_iter().all(|branch| {
            let branch = function.child_by_field_name(branch);
            branch.is_some_and(|it| it.kind() == "identifier" && returns_nothing(program, it))
        }),
        "function_signature" => {
            let result = function.child_by_field_name("return_type");
            result.is_some_and(|it| program.text(it).trim_start_matches(':').trim() == "void")
        }
        "function_declaration" | "function_expression" | "arrow_function" => {
            has_no_result(program, function)
        }
        _ => false,
    }
}

fn has_no_result<'t>(program: &Program<'t>, function: Node<'t>) -> bool {
    let Some(body) = function.child_by_field_name("body") else { return false };
    if body.kind() != "statement_block" || program.is_async(function) {
        return false;
    }
    let own = program.own(body);
    let does_something = body.named_child_count() > 0;
    let has_value =
        own.iter().any(|it| it.kind() == "return_statement" && it.named_child(0).is_some());
    let declared = function.child_by_field_name("return_type");
    let says_more = declared.is_some_and(|it| {
        !matches!(program.text(it).trim_start_matches(':').trim(), "void" | "undefined")
    });
    does_something && !has_value && !says_more && program.can_end(body)
}

/// Whether something is done with the result of a call.
fn is_used<'t>(program: &Program<'t>, call: Node<'t>) -> bool {
    let Some(parent) = program.parent(call) else { return false };
    match parent.kind() {
        "variable_declarator" => {
            let name = parent.child_by_field_name("name");
            let variable = name.and_then(|it| program.variable(it));
            variable.is_some_and(|it| !it.reads.is_empty())
        }
        "arguments" => program
            .parent(parent)
            .and_then(callee)
            .is_some_and(|outer| !takes_anything(program.text(outer))),
        "binary_expression" => {
            matches!(program.operator(parent), "+" | "-" | "*" | "/" | "%" | "<" | ">")
        }
        "sequence_expression" => {
            let last = parent.named_children(&mut parent.walk()).last();
            last.is_some_and(|it| it.id() == call.id())
                && program
                    .parent(parent)
                    .and_then(|it| program.parent(it))
                    .is_some_and(|it| it.kind() == "binary_expression")
        }
        _ => false,
    }
}

/// Functions that are called with a result only to mark a moment.
fn takes_anything(callee: &str) -> bool {
    let name = callee.rsplit('.').next().unwrap_or(callee).to_lowercase();
    ["resolve", "done", "next", "callback", "cb", "act", "expect", "all", "race", "then", "void"]
        .iter()
        .any(|word| name == *word)
        || name.starts_with("assert")
        || name.starts_with("use")
}

fn callbacks_without_return(program: &Program<'_>) -> Vec<NativeMatch> {
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

/// The method and the function that it asks about every element.
fn asked_callback<'t>(program: &Program<'t>, call: Node<'t>) -> Option<(&'t str, Node<'t>)> {
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
    // `find` and `reduce` of queries take other functions: theirs have other parameters.
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
