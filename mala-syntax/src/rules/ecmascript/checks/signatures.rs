//! Signatures in TypeScript that say something else than they seem to.

use super::found;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use std::collections::HashSet;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const KEYWORD_AS_NAME: ProgramCheck = ProgramCheck {
    name: "keyword-as-method-name",
    captures: &["NAME", "MEANT"],
    run: keywords_as_names,
};

pub(in crate::rules::ecmascript) const TYPE_AS_PARAMETER: ProgramCheck =
    ProgramCheck { name: "type-as-parameter-name", captures: &["NAME"], run: types_as_parameters };

fn keywords_as_names(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for method in program.of_kinds(&["method_signature", "abstract_method_signature"]) {
        let mut cursor = method.walk();
        if method.children(&mut cursor).any(|it| it.kind() == "static") {
            continue;
        }
        let Some(body) = program.parent(method) else { continue };
        let in_class = body.kind() == "class_body";
        let meant = match program.member_name(method) {
            Some("constructor") if !in_class => "`new (…)`, which declares what `new` gives",
            Some("function") if !has_call_signature(body) => "`(…)`, which declares a call",
            Some("new") if in_class => "`constructor(…)`",
            _ => continue,
        };
        // A class that gives the method a body means what it says.
        let has_body = in_class && implements(program, body, method);
        if !has_body {
            let name = program.member_name(method).unwrap_or_default().to_owned();
            matches.push(found(method, vec![("NAME", name), ("MEANT", meant.to_owned())]));
        }
    }
    matches
}

fn has_call_signature(body: Node<'_>) -> bool {
    let mut cursor = body.walk();
    body.named_children(&mut cursor).any(|it| it.kind() == "call_signature")
}

/// Whether an overload of the method has a body.
fn implements<'t>(program: &Program<'t>, body: Node<'t>, method: Node<'t>) -> bool {
    let name = program.member_name(method);
    let mut cursor = body.walk();
    body.named_children(&mut cursor)
        .any(|it| it.kind() == "method_definition" && program.member_name(it) == name)
}

const BASIC_TYPES: [&str; 9] =
    ["string", "number", "boolean", "any", "object", "unknown", "symbol", "bigint", "never"];

fn types_as_parameters(program: &Program<'_>) -> Vec<NativeMatch> {
    let types = declared_types(program);
    let mut matches = Vec::new();
    for signature in program.of_kinds(&[
        "function_type",
        "method_signature",
        "call_signature",
        "construct_signature",
    ]) {
        for parameter in program.parameters(signature) {
            if parameter.child_by_field_name("type").is_some() {
                continue;
            }
            let Some(name) =
                parameter.child_by_field_name("pattern").filter(|it| it.kind() == "identifier")
            else {
                continue;
            };
            let text = program.text(name);
            if BASIC_TYPES.contains(&text) || types.contains(text) {
                matches.push(found(parameter, vec![("NAME", text.to_owned())]));
            }
        }
    }
    matches
}

/// The types that a file declares or uses, by names that no parameter has.
fn declared_types<'t>(program: &Program<'t>) -> HashSet<&'t str> {
    let names = program.of_kind("type_identifier").iter().map(|it| program.text(*it));
    names.filter(|it| it.chars().next().is_some_and(char::is_uppercase)).collect()
}
