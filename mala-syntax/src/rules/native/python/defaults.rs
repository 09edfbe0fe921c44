//! Mutable default arguments: a call changes them for all later calls.

use super::code::{
    Function, Parameter, ancestors, are_alternatives, arguments, callee, is_inside, last_name,
    own_nodes,
};
use super::module::{Module, found_because};
use crate::rules::native::code::{bare, line, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use crate::symbols::WrittenValue;
use tree_sitter::Node;

pub(super) const MODIFIED_DEFAULT: NativeCheck =
    NativeCheck { name: "python-modified-default", captures: &["NAME", "FUNCTION", "LINE"] };

/// Methods that change a list, a dictionary or a set.
const CHANGES: [&str; 18] = [
    "add",
    "append",
    "appendleft",
    "clear",
    "difference_update",
    "discard",
    "extend",
    "extendleft",
    "insert",
    "intersection_update",
    "pop",
    "popitem",
    "popleft",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
];

pub(super) fn modified_defaults(module: &Module<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for function in module.functions() {
        // An inner function gets a fresh default whenever the outer one runs.
        if ancestors(function.node).any(|it| it.kind() == "function_definition") {
            continue;
        }
        for parameter in function.parameters.iter().filter(|it| !is_cache(it.name)) {
            if let Some(change) = first_change(module, function, parameter) {
                let captures = vec![
                    ("NAME", parameter.name.to_owned()),
                    ("FUNCTION", function.name.to_owned()),
                    ("LINE", line(parameter.node)),
                ];
                matches.push(found_because(change, parameter.node, captures));
            }
        }
    }
    matches
}

/// The first place where a function changes the default of a parameter.
fn first_change<'t>(
    module: &Module<'t>,
    function: &Function<'t>,
    parameter: &Parameter<'t>,
) -> Option<Node<'t>> {
    let source = module.source;
    let default = parameter.default.filter(|it| is_container(source, *it))?;
    let is_empty =
        parts(default).is_empty() || arguments(default).is_empty() && default.kind() == "call";
    let mut change = None;
    own_nodes(function.body, |node| {
        if change.is_none()
            && changes(source, node, parameter.name)
            && !(is_empty && is_known_full(source, node, parameter.name))
        {
            change = Some(node);
        }
    });
    change.filter(|it| !is_replaced(module, function, parameter.name, *it))
}

/// Whether a value is a list, a dictionary or a set that is made in place.
fn is_container(source: &Source, value: Node<'_>) -> bool {
    match value.kind() {
        "call" => matches!(
            last_name(callee(source, value)),
            "list" | "deque" | "dict" | "defaultdict" | "OrderedDict" | "Counter" | "set"
        ),
        kind => matches!(
            kind,
            "list"
                | "list_comprehension"
                | "dictionary"
                | "dictionary_comprehension"
                | "set"
                | "set_comprehension"
        ),
    }
}

/// Whether a node mutates the value of the name.
fn changes(source: &Source, node: Node<'_>, name: &str) -> bool {
    let is_it = |node: Node<'_>| node.kind() == "identifier" && source.slice(node) == name;
    let is_part = |node: Node<'_>| {
        node.kind() == "subscript" && node.child_by_field_name("value").is_some_and(is_it)
    };
    let left = node.child_by_field_name("left");
    match node.kind() {
        "call" => {
            let target = node.child_by_field_name("function").filter(|it| it.kind() == "attribute");
            let field = |name| target.and_then(|it| it.child_by_field_name(name));
            field("object").is_some_and(is_it)
                && field("attribute").is_some_and(|it| CHANGES.contains(&source.slice(it)))
        }
        "assignment" => left.is_some_and(is_part),
        "augmented_assignment" => left.is_some_and(|it| is_it(it) || is_part(it)),
        "delete_statement" => parts(node).into_iter().any(is_part),
        _ => false,
    }
}

/// Whether the name gets another value before a place.
fn is_replaced<'t>(
    module: &Module<'t>,
    function: &Function<'t>,
    name: &str,
    place: Node<'t>,
) -> bool {
    let variable = module.names().scopes.resolve_at(function.body, name);
    variable.is_some_and(|variable| {
        variable.writes.iter().any(|it| {
            is_inside(it.target, function.body)
                && it.target.start_byte() < place.start_byte()
                && !matches!(it.value, WrittenValue::Updated(_))
                && !are_alternatives(it.target, place)
        })
    })
}

/// Whether a place is under `if name:`, where the name cannot be an empty default.
fn is_known_full(source: &Source, place: Node<'_>, name: &str) -> bool {
    ancestors(place).filter(|it| it.kind() == "if_statement").any(|outer| {
        let condition = outer.child_by_field_name("condition").map(bare);
        let consequence = outer.child_by_field_name("consequence");
        condition.is_some_and(|it| it.kind() == "identifier" && source.slice(it) == name)
            && consequence.is_some_and(|it| is_inside(place, it))
    })
}

/// Whether the name indicates that the value is intended to persist.
fn is_cache(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with('_') || ["cache", "memo"].iter().any(|word| name.contains(word))
}
