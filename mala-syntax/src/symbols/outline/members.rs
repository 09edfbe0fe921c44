//! The members of enums.

use super::build::line_of;
use crate::source::{Source, lines_of};
use crate::symbols::definition::{Definition, DefinitionKind, DefinitionRole};
use crate::symbols::walk::named_children;
use mala_domain::language::Language;
use tree_sitter::Node;

/// Members beyond this many are left out.
const MAX_MEMBERS: usize = 2_000;

/// The members that a definition lists, as definitions of their own.
pub(super) fn members_of(source: &Source, node: Node<'_>, owner: &Definition) -> Vec<Definition> {
    let leaves = if owner.kind == DefinitionKind::Enum { enum_names(node) } else { Vec::new() };
    leaves.into_iter().take(MAX_MEMBERS).map(|leaf| member(source, owner, leaf)).collect()
}

fn member(source: &Source, owner: &Definition, leaf: Node<'_>) -> Definition {
    let is_global = source.language() == Language::C;
    let container = owner.qualified();
    Definition {
        name: source.slice(leaf).to_owned(),
        container: (!is_global).then_some(container),
        kind: DefinitionKind::Constant,
        span: lines_of(leaf),
        name_line: line_of(leaf),
        parameters: None,
        visibility: owner.visibility,
        role: DefinitionRole::Defines,
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
