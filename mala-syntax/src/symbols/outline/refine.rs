//! Details of a definition that the tables leave open: its exact kind, its visibility, its
//! decorators.

use super::build::in_type;
use super::{FileOutline, Openness};
use crate::source::Source;
use crate::symbols::definition::{
    DefinitionKind, DefinitionRole, FunctionParameter, ParameterPassing, ParameterPresence,
    Visibility,
};
use crate::symbols::enclosing_scopes::{Defining, EnclosingScopes};
use crate::symbols::names::{Named, type_name};
use crate::symbols::table::NameAt;
use crate::symbols::walk::{AncestorTrail, child_of_kind, named_children};
use mala_domain::language::Language;
use tree_sitter::Node;

/// The exact kind; `None` if the node defines nothing.
pub(super) fn kind_of(
    source: &Source,
    scopes: &EnclosingScopes,
    (node, defining): (Node<'_>, Defining<'_>),
    named: &Named<'_>,
) -> Option<DefinitionKind> {
    let name = source.slice(named.node);
    let shape = defining.shape;
    let in_type = in_type(scopes) || named.qualifier.is_some();
    Some(match (shape.node, defining.kind) {
        ("pair", _) if !in_type => return None,
        ("assignment_expression", DefinitionKind::Variable) if scopes.in_function() => return None,
        ("struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier", kind) => {
            node.child_by_field_name("body").map(|_| kind)?
        }
        ("type_spec", _) => type_spec_kind(node),
        ("declaration" | "field_declaration", _) if shape.name == NameAt::Declarator => {
            declared_kind(named, in_type)
        }
        (_, DefinitionKind::Function) if in_type => DefinitionKind::Method,
        ("method", DefinitionKind::Method) if !in_type => DefinitionKind::Function,
        (_, DefinitionKind::Variable) if is_shouted(name) => DefinitionKind::Constant,
        (_, kind) => kind,
    })
}

fn type_spec_kind(spec: Node<'_>) -> DefinitionKind {
    match spec.child_by_field_name("type").map(|node| node.kind()) {
        Some("struct_type") => DefinitionKind::Struct,
        Some("interface_type") => DefinitionKind::Interface,
        _ => DefinitionKind::Type,
    }
}

/// The kind of a C declaration: a function if its name is directly in a function declarator.
fn declared_kind(named: &Named<'_>, in_type: bool) -> DefinitionKind {
    match (named.declarator, in_type) {
        ("function_declarator", true) => DefinitionKind::Method,
        ("function_declarator", false) => DefinitionKind::Function,
        _ => DefinitionKind::Variable,
    }
}

fn is_shouted(name: &str) -> bool {
    name.len() > 1
        && name.chars().any(|c| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether this is a method of an anonymous object.
pub(super) fn is_loose_member(scopes: &EnclosingScopes, node: Node<'_>) -> bool {
    matches!(node.kind(), "method_definition" | "method_signature" | "property_signature")
        && !in_type(scopes)
}

/// The node that includes the decorators and the `export` of a definition.
pub(super) fn outer_node<'t>(trail: &AncestorTrail<'t>, node: Node<'t>) -> Node<'t> {
    match trail.parent() {
        Some(parent) if parent.node.kind() == "decorated_definition" => parent.node,
        Some(parent)
            if matches!(parent.node.kind(), "lexical_declaration" | "variable_declaration")
                && parent.node.named_child_count() == 1 =>
        {
            parent.node
        }
        _ => node,
    }
}

/// Whether a definition of this kind is called.
pub(super) fn takes_parameters(kind: DefinitionKind, node: Node<'_>) -> bool {
    kind.is_callable() || matches!(node.kind(), "record_declaration")
}

/// The parameter list.
pub(super) fn parameter_list<'t>(node: Node<'t>, value: Option<Node<'t>>) -> Option<Node<'t>> {
    let node = value.unwrap_or(node);
    node.child_by_field_name("parameters")
        .or_else(|| node.child_by_field_name("parameter"))
        .or_else(|| declarator_parameters(node))
}

fn declarator_parameters(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node.child_by_field_name("declarator")?;
    for _ in 0..16 {
        if node.kind() == "function_declarator" {
            return node.child_by_field_name("parameters");
        }
        node = node.child_by_field_name("declarator")?;
    }
    None
}

/// Handles Python's explicit receiver: the first parameter of a method; a static method has none.
pub(super) fn with_receiver(
    source: &Source,
    kind: DefinitionKind,
    outer: Node<'_>,
    parameters: Option<Vec<FunctionParameter>>,
) -> Option<Vec<FunctionParameter>> {
    let language = source.language();
    let mut parameters = parameters.or_else(|| {
        let bare = kind.is_callable() && language == Language::Ruby;
        (bare && outer.child_by_field_name("name").is_some()).then(Vec::new)
    })?;
    if language == Language::Python && kind == DefinitionKind::Method {
        match decorator_of(source, outer) {
            Some("staticmethod") => {}
            // The first parameter of a class method is never passed.
            Some("classmethod") if !parameters.is_empty() => {
                parameters.remove(0);
            }
            _ => parameters.first_mut().into_iter().for_each(receives),
        }
    }
    Some(parameters)
}

fn receives(first: &mut FunctionParameter) {
    if matches!(first.kind, ParameterPassing::Positional | ParameterPassing::PositionalOnly) {
        first.kind = ParameterPassing::Receiver;
        first.presence = ParameterPresence::Required;
    }
}

/// The decorator that determines how a method is bound.
fn decorator_of<'s>(source: &'s Source, outer: Node<'_>) -> Option<&'s str> {
    named_children(outer)
        .iter()
        .filter(|step| step.node.kind() == "decorator")
        .filter_map(|step| step.node.named_child(0))
        .map(|node| source.slice(node))
        .find(|name| matches!(*name, "staticmethod" | "classmethod"))
}

/// The code that can refer to it.
pub(super) fn visibility(
    source: &Source,
    trail: &AncestorTrail<'_>,
    node: Node<'_>,
    name: &str,
) -> Visibility {
    let exported = match source.language() {
        Language::Python | Language::Ruby => true,
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            trail.up().take(2).any(|step| {
                matches!(
                    step.node.kind(),
                    "export_statement" | "class_body" | "interface_body" | "object_type"
                )
            })
        }
        Language::Go => name.starts_with(char::is_uppercase),
        Language::Rust => is_public_rust(trail, node),
        Language::C | Language::Cpp => !is_file_local(source, trail, node),
        Language::Java | Language::CSharp => !is_private(source, modified(trail, node)),
        Language::Php => !is_private(source, node),
    };
    if exported { Visibility::Exported } else { Visibility::Internal }
}

fn is_file_local(source: &Source, trail: &AncestorTrail<'_>, node: Node<'_>) -> bool {
    let in_class =
        trail.parent().is_some_and(|parent| parent.node.kind() == "field_declaration_list");
    !in_class
        && named_children(node)
            .iter()
            .filter(|step| step.node.kind() == "storage_class_specifier")
            .any(|step| source.slice(step.node) == "static")
}

/// The node with the modifiers of a field, which are before all its declarators.
fn modified<'t>(trail: &AncestorTrail<'t>, node: Node<'t>) -> Node<'t> {
    let field = trail.up().take(2).find(|step| step.node.kind() == "field_declaration");
    field.filter(|_| node.kind() == "variable_declarator").map_or(node, |step| step.node)
}

fn is_public_rust(trail: &AncestorTrail<'_>, node: Node<'_>) -> bool {
    child_of_kind(node, &["visibility_modifier"]).is_some()
        || trail.up().take(2).any(|step| step.node.kind() == "trait_item")
        || node.kind() == "macro_definition"
}

fn is_private(source: &Source, node: Node<'_>) -> bool {
    named_children(node)
        .iter()
        .filter(|step| matches!(step.node.kind(), "modifiers" | "modifier" | "visibility_modifier"))
        .any(|step| source.slice(step.node).split_whitespace().any(|word| word == "private"))
}

/// Whether it is a full definition.
pub(super) fn role(source: &Source, trail: &AncestorTrail<'_>, node: Node<'_>) -> DefinitionRole {
    let implements = match source.language() {
        Language::Rust => {
            trail.up().take(2).any(|step| step.node.child_by_field_name("trait").is_some())
        }
        Language::Java | Language::CSharp | Language::TypeScript | Language::Tsx => {
            named_children(node)
                .iter()
                .filter(|step| {
                    matches!(step.node.kind(), "modifiers" | "modifier" | "override_modifier")
                })
                .any(|step| {
                    let text = source.slice(step.node);
                    text.contains("@Override") || text.contains("override")
                })
        }
        _ => false,
    };
    let prototype = node.kind() == "declaration" && is_prototype(node);
    match node.kind() {
        _ if implements => DefinitionRole::Implements,
        "function_signature" => DefinitionRole::Declares,
        "declaration" if prototype => DefinitionRole::Declares,
        _ => DefinitionRole::Defines,
    }
}

fn is_prototype(node: Node<'_>) -> bool {
    declarator_parameters(node).is_some()
        || named_children(node).iter().any(|step| {
            step.node.kind() == "storage_class_specifier" && step.node.byte_range().len() == 6
        })
}

/// The base classes and interfaces of a class.
pub(super) fn bases(source: &Source, node: Node<'_>, value: Option<Node<'_>>) -> Vec<String> {
    let node = value.unwrap_or(node);
    if node.kind() == "object" {
        let spreads = child_of_kind(node, &["spread_element"]);
        return spreads.into_iter().map(|spread| source.slice(spread).to_owned()).collect();
    }
    let lists = ["superclasses", "superclass", "interfaces", "bounds"]
        .iter()
        .filter_map(|field| node.child_by_field_name(field))
        .chain(child_of_kind(
            node,
            &[
                "class_heritage",
                "base_list",
                "base_clause",
                "base_class_clause",
                "extends_type_clause",
                "extends_interfaces",
            ],
        ))
        .chain(child_of_kind(node, &["class_interface_clause"]));
    let mut found = Vec::new();
    for list in lists {
        collect_bases(source, list, &mut found);
    }
    found.extend(embedded(source, node));
    found
}

fn collect_bases(source: &Source, list: Node<'_>, found: &mut Vec<String>) {
    let mut open = vec![(list, 0)];
    while let Some((node, depth)) = open.pop() {
        for step in named_children(node) {
            match step.node.kind() {
                "extends_clause" | "implements_clause" | "type_list" | "super_interfaces"
                    if depth < 4 =>
                {
                    open.push((step.node, depth + 1));
                }
                "type_arguments" | "access_specifier" | "keyword_argument" => {}
                _ => found.push(base_name(source, step.node)),
            }
        }
    }
}

/// `Base` of `pkg.Base<T>`; for a computed base, its whole text.
fn base_name(source: &Source, node: Node<'_>) -> String {
    let text = source.slice(node);
    let plain = text.split(['<', '[', '(']).next().unwrap_or_default().trim();
    let plain = plain.replace("::", ".").replace('\\', ".");
    plain.rsplit('.').next().unwrap_or_default().to_owned()
}

/// The types that a Go struct or interface embeds.
fn embedded(source: &Source, node: Node<'_>) -> Vec<String> {
    if node.kind() != "type_spec" {
        return Vec::new();
    }
    let Some(body) = node.child_by_field_name("type") else { return Vec::new() };
    let list = child_of_kind(body, &["field_declaration_list"]).unwrap_or(body);
    named_children(list)
        .iter()
        .filter(|step| matches!(step.node.kind(), "field_declaration" | "type_elem"))
        .filter(|step| step.node.child_by_field_name("name").is_none())
        .filter_map(|step| type_name(step.node))
        .map(|name| source.slice(name).to_owned())
        .collect()
}

/// The decorators, annotations and attributes on it, without their arguments.
pub(super) fn decorators(source: &Source, outer: Node<'_>, node: Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for holder in [outer, node] {
        for step in named_children(holder) {
            match step.node.kind() {
                "decorator" => found.push(decorator_name(source.slice(step.node))),
                "modifiers" => found.extend(
                    named_children(step.node)
                        .iter()
                        .filter(|inner| inner.node.kind().ends_with("annotation"))
                        .map(|inner| decorator_name(source.slice(inner.node))),
                ),
                "attribute_list" => found.push(decorator_name(source.slice(step.node))),
                _ => {}
            }
        }
        if outer == node {
            break;
        }
    }
    found
}

fn decorator_name(text: &str) -> String {
    let text = text.trim_start_matches(['@', '#', '[', ' ']);
    text.split(['(', '\n', ']']).next().unwrap_or_default().trim().to_owned()
}

/// A Rust attribute with its arguments, cut when it is long.
pub(super) fn attribute_name(source: &Source, node: Node<'_>) -> String {
    const MAX_CHARS: usize = 120;
    let text = source.slice(node).trim_start_matches(['#', '!', '[', ' ']);
    text.trim_end_matches([']', ' ']).chars().take(MAX_CHARS).collect()
}

/// Whether a file creates names that its text does not show: Python's module-level `__getattr__`,
/// and writes into the module itself.
pub(super) fn computes_names(source: &Source, outline: &FileOutline) -> bool {
    const WRITES: [&str; 5] =
        ["globals()[", "globals().update", "sys.modules[__name__]", "vars()[", "__path__"];
    let writes = || WRITES.iter().any(|way| source.text().contains(way));
    outline.openness == Openness::Open
        || outline.language == Language::Python && writes()
        || outline
            .definitions
            .iter()
            .any(|definition| definition.name == "__getattr__" && definition.container.is_none())
}
