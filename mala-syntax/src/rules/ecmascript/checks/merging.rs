//! Functions that copy members from one object into another and let `__proto__` through.

use super::found;
use crate::rules::ecmascript::binding::{Assigned, Declared};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const DEEP_MERGE: ProgramCheck = ProgramCheck {
    name: "deep-merge-of-prototype",
    captures: &["FUNCTION", "KEY"],
    run: deep_merges,
};

fn deep_merges(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for assignment in program.of_kind("assignment_expression") {
        let Some(target) =
            assignment.child_by_field_name("left").filter(|it| it.kind() == "subscript_expression")
        else {
            continue;
        };
        let (Some(object), Some(key)) =
            (target.child_by_field_name("object"), target.child_by_field_name("index"))
        else {
            continue;
        };
        let Some(function) = recursive_function(program, *assignment) else { continue };
        if is_key_of_parameter(program, key)
            && is_parameter(program, object)
            && recurses_into(program, function, key)
            && !is_guarded(program, function, object)
        {
            let name = program.function_name(function).unwrap_or("the function").to_owned();
            let captures = vec![("FUNCTION", name), ("KEY", program.text(key).to_owned())];
            matches.push(found(*assignment, captures));
        }
    }
    matches
}

/// The function around that calls itself.
fn recursive_function<'t>(program: &Program<'t>, node: Node<'t>) -> Option<Node<'t>> {
    program.ancestors(node).find(|around| {
        crate::rules::ecmascript::program::is_function(*around)
            && program.function_name(*around).is_some_and(|name| {
                program.inside(*around).iter().any(|it| {
                    it.kind() == "call_expression"
                        && callee(*it).is_some_and(|it| program.text(it) == name)
                })
            })
    })
}

/// Whether a name runs over the keys of a parameter: `for (k in src)`, `Object.keys(src).forEach(k => …)`.
fn is_key_of_parameter<'t>(program: &Program<'t>, key: Node<'t>) -> bool {
    let Some(variable) = program.variable(key).filter(|_| key.kind() == "identifier") else {
        return false;
    };
    let [write] = variable.writes.as_slice() else { return false };
    match write.value {
        Assigned::Iterated(node) => node
            .child_by_field_name("right")
            .is_some_and(|it| is_parameter(program, it) || is_keys_of_parameter(program, it)),
        Assigned::Unknown if variable.declared == Declared::Parameter => {
            let function = program.function_around(write.target);
            let call = function.and_then(|it| program.parent(it)).and_then(|it| program.parent(it));
            let object = call.and_then(callee).and_then(|it| it.child_by_field_name("object"));
            object.is_some_and(|it| is_keys_of_parameter(program, it))
        }
        _ => false,
    }
}

/// `Object.keys(parameter)`
fn is_keys_of_parameter<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    let Some(value) = program.value_of(node).filter(|it| it.kind() == "call_expression") else {
        return false;
    };
    let is_keys = program
        .callee_origin(value)
        .is_some_and(|path| matches!(path.as_str(), "Object.keys" | "Reflect.ownKeys"));
    is_keys && arguments(value).first().is_some_and(|it| is_parameter(program, *it))
}

fn is_parameter<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    node.kind() == "identifier"
        && program.variable(node).is_some_and(|it| it.declared == Declared::Parameter)
}

/// Whether the function calls itself with the member of the target: `merge(dst[key], …)`.
fn recurses_into<'t>(program: &Program<'t>, function: Node<'t>, key: Node<'t>) -> bool {
    let name = program.function_name(function).unwrap_or_default();
    program.inside(function).iter().filter(|it| it.kind() == "call_expression").any(|call| {
        callee(*call).is_some_and(|it| program.text(it) == name)
            && arguments(*call).len() > 1
            && arguments(*call).first().is_some_and(|first| {
                first.kind() == "subscript_expression"
                    && first
                        .child_by_field_name("index")
                        .is_some_and(|it| program.text(it) == program.text(key))
                    && first
                        .child_by_field_name("object")
                        .is_some_and(|it| is_parameter(program, it))
            })
    })
}

/// Whether dangerous keys, or keys that the target does not have itself, are left out.
fn is_guarded<'t>(program: &Program<'t>, function: Node<'t>, target: Node<'t>) -> bool {
    let text = program.text(function);
    let target = program.text(target);
    text.contains("__proto__")
        || text.contains("prototype")
        || text.contains(&format!("{target}.hasOwnProperty"))
        || text.contains(&format!("hasOwn({target}"))
        || text.contains(&format!("hasOwnProperty.call({target}"))
        || program.inside(function).iter().any(|it| {
            it.kind() == "call_expression"
                && callee(*it).is_some_and(|it| {
                    let name = program.text(it).to_lowercase();
                    name.contains("isprototype")
                        || name.contains("unsafe")
                        || name.contains("issafe")
                })
        })
}
