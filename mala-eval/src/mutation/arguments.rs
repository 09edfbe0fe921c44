//! Two swapped arguments of a call. In typed languages, both must be parameters of the same declared type.

use super::Mutation;
use super::site::{MutationContext, MutationDraft};
use crate::plant::DefectKind;
use mala_syntax::symbols::{Descend, named_children, walk_from};
use tree_sitter::Node;

/// Calls in which the order of arguments does not matter, or in which a wrong order fails
/// immediately.
const EVEN: [&str; 27] = [
    "max",
    "min",
    "print",
    "println",
    "zip",
    "gcd",
    "hypot",
    "log",
    "debug",
    "info",
    "warn",
    "warning",
    "error",
    "trace",
    "isinstance",
    "issubclass",
    "getattr",
    "hasattr",
    "setattr",
    "Promise.all",
    "join",
    "format",
    "Printf",
    "Println",
    "set",
    "substring",
    "add",
];

/// Arguments with a well-known position.
const KNOWN: [&str; 18] = [
    "self",
    "cls",
    "this",
    "None",
    "True",
    "False",
    "null",
    "undefined",
    "true",
    "false",
    "ctx",
    "cb",
    "callback",
    "next",
    "done",
    "req",
    "res",
    "err",
];

/// Parameters whose type inside the function differs from the declared one.
const UNSURE: [&str; 2] = ["optional_parameter", "variadic_parameter_declaration"];

pub(super) fn swapped(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let arguments = node.child_by_field_name("arguments")?;
    let fields = ["function", "name", "constructor", "type"];
    let callee = fields.iter().find_map(|field| node.child_by_field_name(field))?;
    let name = site.text(callee);
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    if EVEN.contains(&last) || EVEN.contains(&name) || arguments.kind() == "template_string" {
        return None;
    }
    let given = named_children(arguments);
    let pair = given.windows(2).find_map(|pair| match pair {
        [a, b] if is_pair(site, node, a.node, b.node) => Some((a.node, b.node)),
        _ => None,
    })?;
    let (a, b) = pair;
    let between = site.slice(a.end_byte()..b.start_byte());
    let text = format!("{}{between}{}", site.text(b), site.text(a));
    let draft = MutationDraft {
        kind: DefectKind::SwappedArguments,
        title: "Two arguments have traded places",
    };
    let mutation = draft.replace(site, a.start_byte()..b.end_byte(), text);
    let description = format!("{} They are arguments of `{name}`.", mutation.description);
    Some(Mutation { description, ..mutation })
}

fn is_pair(site: &MutationContext<'_>, call: Node<'_>, a: Node<'_>, b: Node<'_>) -> bool {
    let (one, other) = (site.text(a), site.text(b));
    let is_alike = a.kind() == b.kind() && one != other;
    if !is_alike || KNOWN.contains(&one) || KNOWN.contains(&other) {
        return false;
    }
    if site.dialect.is_typed {
        let types = site
            .function(call)
            .map(|function| (declared(site, function, one), declared(site, function, other)));
        let is_same = matches!(types, Some((Some(one), Some(other))) if one == other);
        let is_asked = |name| {
            site.is_ecmascript()
                && site.function(call).is_some_and(|function| is_asked_for(site, function, name))
        };
        return a.kind() == "identifier" && is_same && !is_asked(one) && !is_asked(other);
    }
    let is_number = matches!(a.kind(), "integer" | "float" | "number");
    let is_plain = matches!(a.kind(), "identifier" | "attribute" | "member_expression");
    let is_class = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
    is_number || (is_plain && !is_class(one) && !is_class(other))
}

/// Whether the function checks the type of a parameter, so that it may narrow the declared type.
fn is_asked_for(site: &MutationContext<'_>, function: Node<'_>, name: &str) -> bool {
    let text = site.text(function);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        if before.ends_with(is_part) || after.starts_with(is_part) {
            return false;
        }
        let is_tested = before.trim_end().ends_with("typeof")
            || ["instanceof", "in "].iter().any(|word| after.trim_start().starts_with(word));
        let caller = before.strip_suffix('(').unwrap_or_default();
        let start = caller.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
        let caller = caller.get(start..).unwrap_or_default();
        is_tested || ["is", "has", "assert"].iter().any(|start| caller.starts_with(start))
    })
}

/// Whether a type is a union, which a check may narrow.
fn has_several(kind: &str) -> bool {
    kind.contains('|')
}

/// The declared type of a parameter, if the parameter has this type in the whole function.
fn declared<'s>(site: &MutationContext<'s>, function: Node<'_>, name: &str) -> Option<&'s str> {
    let parameters = function.child_by_field_name("parameters")?;
    let inside = function.byte_range();
    if site.bindings.as_ref().is_some_and(|bindings| bindings.has(name, &inside)) {
        return None;
    }
    let mut found = None;
    walk_from(parameters, |_, step| {
        let node = step.node;
        let Some(kind) = node.child_by_field_name("type") else { return Descend::Into };
        let mut cursor = node.walk();
        let is_named = ["name", "pattern"].iter().any(|field| {
            node.children_by_field_name(field, &mut cursor).any(|it| site.text(it) == name)
        });
        // An optional value is known to exist only behind a check.
        let kind = site.text(kind);
        let is_one = !UNSURE.contains(&node.kind()) && !has_several(kind);
        if is_named && is_one {
            found = Some(kind);
        }
        Descend::Past
    });
    found
}
