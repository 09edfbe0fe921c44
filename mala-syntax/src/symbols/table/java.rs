//! Java.

use super::{BareMembers, DefinitionShape, LanguageTable, ScopeOpening, named};
use crate::symbols::definition::DefinitionKind;

const SHAPES: &[DefinitionShape] = &[
    named("class_declaration", DefinitionKind::Class, ScopeOpening::Type),
    named("interface_declaration", DefinitionKind::Interface, ScopeOpening::Type),
    named("annotation_type_declaration", DefinitionKind::Interface, ScopeOpening::Type),
    named("enum_declaration", DefinitionKind::Enum, ScopeOpening::Type),
    named("record_declaration", DefinitionKind::Struct, ScopeOpening::Type),
    named("method_declaration", DefinitionKind::Method, ScopeOpening::Function),
    named("constructor_declaration", DefinitionKind::Method, ScopeOpening::Function),
    named("annotation_type_element_declaration", DefinitionKind::Method, ScopeOpening::Nothing),
    named("variable_declarator", DefinitionKind::Variable, ScopeOpening::Nothing),
];

pub(super) const TABLE: LanguageTable = LanguageTable {
    shapes: SHAPES,
    names: &["identifier", "type_identifier"],
    patterns: &[],
    binders: &[
        ("variable_declarator", "name"),
        ("formal_parameter", "name"),
        ("catch_formal_parameter", "name"),
        ("enhanced_for_statement", "name"),
        ("resource", "name"),
        ("inferred_parameters", ""),
        ("lambda_expression", "parameters"),
        ("instanceof_expression", "name"),
        ("type_parameter", ""),
        ("class_declaration", "name"),
        ("interface_declaration", "name"),
        ("enum_declaration", "name"),
        ("record_declaration", "name"),
        ("method_declaration", "name"),
        ("enum_constant", "name"),
    ],
    writers: &[("assignment_expression", "left"), ("update_expression", "")],
    blocks: &[],
    outside: &[],
    ignored: &[
        ("constructor_declaration", "name"),
        ("labeled_statement", ""),
        ("element_value_pair", "key"),
        ("annotation_type_element_declaration", "name"),
    ],
    members: &[
        ("method_invocation", "object", "name"),
        ("field_access", "object", "field"),
        ("scoped_identifier", "scope", "name"),
    ],
    paths: &["method_reference", "scoped_type_identifier"],
    calls: &[
        ("method_invocation", "name", "arguments"),
        ("object_creation_expression", "type", "arguments"),
    ],
    wrappers: &["generic_type", "parenthesized_expression"],
    imports: &["import_declaration", "package_declaration"],
    closures: &["lambda_expression"],
    bare_members: BareMembers::InScope,
};
