//! C#.

use super::{BareMembers, DefinitionShape, LanguageTable, NameAt, ScopeOpening, named, shape};
use crate::symbols::definition::DefinitionKind;

const SHAPES: &[DefinitionShape] = &[
    named("namespace_declaration", DefinitionKind::Module, ScopeOpening::Nothing),
    named("class_declaration", DefinitionKind::Class, ScopeOpening::Type),
    named("struct_declaration", DefinitionKind::Struct, ScopeOpening::Type),
    named("record_declaration", DefinitionKind::Struct, ScopeOpening::Type),
    named("interface_declaration", DefinitionKind::Interface, ScopeOpening::Type),
    named("enum_declaration", DefinitionKind::Enum, ScopeOpening::Nothing),
    named("method_declaration", DefinitionKind::Method, ScopeOpening::Function),
    named("constructor_declaration", DefinitionKind::Method, ScopeOpening::Function),
    named("local_function_statement", DefinitionKind::Function, ScopeOpening::Function),
    named("property_declaration", DefinitionKind::Variable, ScopeOpening::Nothing),
    named("event_declaration", DefinitionKind::Variable, ScopeOpening::Nothing),
    named("delegate_declaration", DefinitionKind::Type, ScopeOpening::Nothing),
    shape(
        "variable_declarator",
        DefinitionKind::Variable,
        NameAt::Field("name"),
        ScopeOpening::Nothing,
    ),
];

pub(super) const TABLE: LanguageTable = LanguageTable {
    shapes: SHAPES,
    names: &["identifier"],
    patterns: &[],
    binders: &[
        ("variable_declarator", "name"),
        ("parameter", "name"),
        ("foreach_statement", "left"),
        ("catch_declaration", "name"),
        ("declaration_pattern", "name"),
        ("declaration_expression", "name"),
        ("implicit_parameter", ""),
        ("lambda_expression", "parameters"),
        ("type_parameter", "name"),
        ("class_declaration", "name"),
        ("struct_declaration", "name"),
        ("record_declaration", "name"),
        ("interface_declaration", "name"),
        ("enum_declaration", "name"),
        ("method_declaration", "name"),
        ("local_function_statement", "name"),
        ("property_declaration", "name"),
        ("delegate_declaration", "name"),
        ("enum_member_declaration", "name"),
    ],
    writers: &[("assignment_expression", "left")],
    blocks: &[],
    outside: &[],
    ignored: &[
        ("argument", "name"),
        ("constructor_declaration", "name"),
        ("namespace_declaration", "name"),
        ("labeled_statement", ""),
        ("attribute_argument", "name"),
    ],
    members: &[
        ("member_access_expression", "expression", "name"),
        ("qualified_name", "qualifier", "name"),
        ("member_binding_expression", "", "name"),
    ],
    paths: &[],
    calls: &[
        ("invocation_expression", "function", "arguments"),
        ("object_creation_expression", "type", "arguments"),
    ],
    wrappers: &["generic_name", "parenthesized_expression"],
    imports: &["using_directive"],
    closures: &["lambda_expression", "anonymous_method_expression"],
    bare_members: BareMembers::InScope,
};
