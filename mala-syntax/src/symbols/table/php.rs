//! PHP.

use super::{BareMembers, DefinitionShape, LanguageTable, NameAt, ScopeOpening, named, shape};
use crate::symbols::definition::DefinitionKind;

const SHAPES: &[DefinitionShape] = &[
    named("function_definition", DefinitionKind::Function, ScopeOpening::Function),
    named("class_declaration", DefinitionKind::Class, ScopeOpening::Type),
    named("interface_declaration", DefinitionKind::Interface, ScopeOpening::Type),
    named("trait_declaration", DefinitionKind::Interface, ScopeOpening::Type),
    named("enum_declaration", DefinitionKind::Enum, ScopeOpening::Type),
    named("method_declaration", DefinitionKind::Method, ScopeOpening::Function),
    shape("const_element", DefinitionKind::Constant, NameAt::First, ScopeOpening::Nothing),
];

pub(super) const TABLE: LanguageTable = LanguageTable {
    shapes: SHAPES,
    names: &["name"],
    patterns: &[],
    binders: &[
        ("function_definition", "name"),
        ("class_declaration", "name"),
        ("interface_declaration", "name"),
        ("trait_declaration", "name"),
        ("enum_declaration", "name"),
        ("const_element", ""),
    ],
    writers: &[],
    blocks: &[],
    outside: &[],
    ignored: &[
        ("variable_name", ""),
        ("argument", "name"),
        ("method_declaration", "name"),
        ("namespace_name", ""),
        ("enum_case", "name"),
    ],
    members: &[
        ("member_call_expression", "object", "name"),
        ("nullsafe_member_call_expression", "object", "name"),
        ("scoped_call_expression", "scope", "name"),
        ("member_access_expression", "object", "name"),
        ("nullsafe_member_access_expression", "object", "name"),
    ],
    paths: &["class_constant_access_expression", "qualified_name"],
    calls: &[
        ("function_call_expression", "function", "arguments"),
        ("member_call_expression", "name", "arguments"),
        ("nullsafe_member_call_expression", "name", "arguments"),
        ("scoped_call_expression", "name", "arguments"),
    ],
    wrappers: &["parenthesized_expression"],
    imports: &["namespace_use_declaration"],
    closures: &["anonymous_function", "arrow_function"],
    bare_members: BareMembers::OutOfScope,
};
