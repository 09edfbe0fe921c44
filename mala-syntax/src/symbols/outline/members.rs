//! The members of enums and of unions of literals.

use super::build::line_of;
use crate::source::{Source, lines_of};
use crate::symbols::definition::{Definition, Kind, Role};
use crate::symbols::walk::{Descend, child_of_kind, named_children, walk};
use mala_domain::language::Language;
use std::collections::HashMap;
use tree_sitter::Node;

/// Members beyond this many are left out.
const MAX_MEMBERS: usize = 2_000;

/// The members that a definition lists, as definitions of their own.
pub(super) fn members_of(source: &Source, node: Node<'_>, owner: &Definition) -> Vec<Definition> {
    let leaves = match (owner.kind, node.kind()) {
        (Kind::Enum, _) => enum_names(node),
        (Kind::Type, "type_alias_declaration") => literals(source, node),
        _ => Vec::new(),
    };
    leaves.into_iter().take(MAX_MEMBERS).map(|leaf| member(source, owner, leaf)).collect()
}

fn member(source: &Source, owner: &Definition, leaf: Node<'_>) -> Definition {
    let is_global = source.language() == Language::C;
    let container = owner.qualified();
    Definition {
        name: source.slice(leaf).to_owned(),
        container: (!is_global).then_some(container),
        kind: Kind::Constant,
        span: lines_of(leaf),
        name_line: line_of(leaf),
        parameters: None,
        visibility: owner.visibility,
        role: Role::Defines,
        members: Vec::new(),
        bases: Vec::new(),
        decorators: Vec::new(),
        fingerprint: 0,
    }
}

fn enum_names(node: Node<'_>) -> Vec<Node<'_>> {
    let Some(body) = node.child_by_field_name("body") else { return Vec::new() };
    named_children(body)
        .into_iter()
        .filter_map(|step| match step.node.kind() {
            "property_identifier" => Some(step.node),
            "enum_assignment"
            | "enum_variant"
            | "enum_constant"
            | "enumerator"
            | "enum_member_declaration"
            | "enum_case" => step.node.child_by_field_name("name"),
            _ => None,
        })
        .collect()
}

/// The string literals of a union, or those by which its objects are told apart; empty unless the
/// union has only such.
fn literals<'t>(source: &Source, node: Node<'t>) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut objects = Vec::new();
    let mut open: Vec<Node<'_>> = node.child_by_field_name("value").into_iter().collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "union_type" => open.extend(named_children(node).into_iter().map(|step| step.node)),
            "literal_type" => match text_of_literal(node) {
                Some(text) => found.push(text),
                None => return Vec::new(),
            },
            "object_type" => objects.push(literal_properties(source, node)),
            _ => return Vec::new(),
        }
    }
    if !objects.is_empty() {
        found = if found.is_empty() { tags(&objects) } else { Vec::new() };
    }
    found.sort_by_key(Node::start_byte);
    if found.len() > 1 { found } else { Vec::new() }
}

fn text_of_literal(node: Node<'_>) -> Option<Node<'_>> {
    child_of_kind(node, &["string"]).and_then(|string| child_of_kind(string, &["string_fragment"]))
}

/// The properties of an object type whose type is one string, with that string.
fn literal_properties<'t>(source: &Source, object: Node<'t>) -> Vec<(String, Node<'t>)> {
    let signatures = named_children(object).into_iter().map(|step| step.node);
    signatures
        .filter(|node| node.kind() == "property_signature")
        .filter_map(|node| {
            let name = source.slice(node.child_by_field_name("name")?).to_owned();
            let written = node.child_by_field_name("type")?;
            let literal = child_of_kind(written, &["literal_type"])?;
            Some((name, text_of_literal(literal)?))
        })
        .collect()
}

/// The strings of the first property that every object has.
fn tags<'t>(objects: &[Vec<(String, Node<'t>)>]) -> Vec<Node<'t>> {
    let tag = |object: &[(String, Node<'t>)], name: &str| {
        object.iter().find(|(own, _)| own == name).map(|(_, text)| *text)
    };
    objects
        .first()
        .into_iter()
        .flatten()
        .find_map(|(name, _)| objects.iter().map(|object| tag(object, name)).collect())
        .unwrap_or_default()
}

/// Go has no enums: the constants of a named type are its members.
pub(super) fn give_consts_to_types(source: &Source, definitions: &mut [Definition]) {
    let by_type = typed_consts(source);
    for definition in definitions {
        if definition.kind != Kind::Type || definition.container.is_some() {
            continue;
        }
        if let Some(consts) = by_type.get(&definition.name) {
            definition.members.clone_from(consts);
        }
    }
}

fn typed_consts(source: &Source) -> HashMap<String, Vec<String>> {
    let mut by_type: HashMap<String, Vec<String>> = HashMap::new();
    walk(source.tree(), |_, step| match step.node.kind() {
        "source_file" => Descend::Into,
        "const_declaration" => {
            collect_consts(source, step.node, &mut by_type);
            Descend::Past
        }
        _ => Descend::Past,
    });
    by_type
}

/// A const without a type and a value repeats the one before it.
fn collect_consts(
    source: &Source,
    declaration: Node<'_>,
    by_type: &mut HashMap<String, Vec<String>>,
) {
    let mut current: Option<String> = None;
    for step in named_children(declaration) {
        let spec = step.node;
        let typed = spec.child_by_field_name("type").map(|node| source.slice(node).to_owned());
        let repeats = spec.child_by_field_name("value").is_none();
        if typed.is_some() || !repeats {
            current = typed;
        }
        let (Some(of), Some(name)) = (&current, spec.child_by_field_name("name")) else { continue };
        let name = source.slice(name);
        if name != "_" {
            by_type.entry(of.clone()).or_default().push(name.to_owned());
        }
    }
}
