//! Go.

use super::{BareMembers, DefinitionShape, LanguageTable, ScopeOpening, named};
use crate::symbols::definition::DefinitionKind;

const SHAPES: &[DefinitionShape] = &[
    named("function_declaration", DefinitionKind::Function, ScopeOpening::Function),
    named("method_declaration", DefinitionKind::Method, ScopeOpening::Function),
    named("type_spec", DefinitionKind::Type, ScopeOpening::Type),
    named("type_alias", DefinitionKind::Type, ScopeOpening::Nothing),
    named("const_spec", DefinitionKind::Constant, ScopeOpening::Nothing),
    named("var_spec", DefinitionKind::Variable, ScopeOpening::Nothing),
    named("method_elem", DefinitionKind::Method, ScopeOpening::Nothing),
    named("field_declaration", DefinitionKind::Variable, ScopeOpening::Nothing),
];

pub(super) const TABLE: LanguageTable = LanguageTable {
    shapes: SHAPES,
    names: &["identifier", "field_identifier", "type_identifier", "package_identifier"],
    patterns: &[("expression_list", "")],
    binders: &[
        ("short_var_declaration", "left"),
        ("range_clause", "left"),
        ("receive_statement", "left"),
        ("type_switch_statement", "alias"),
        ("parameter_declaration", "name"),
        ("variadic_parameter_declaration", "name"),
        ("type_parameter_declaration", "name"),
        ("function_declaration", "name"),
        ("type_spec", "name"),
        ("type_alias", "name"),
        ("const_spec", "name"),
        ("var_spec", "name"),
    ],
    writers: &[("assignment_statement", "left"), ("inc_statement", ""), ("dec_statement", "")],
    blocks: &[],
    outside: &[],
    ignored: &[
        ("method_declaration", "name"),
        ("method_elem", "name"),
        ("field_declaration", "name"),
        ("package_clause", ""),
    ],
    members: &[("selector_expression", "operand", "field"), ("qualified_type", "package", "name")],
    paths: &[],
    calls: &[("call_expression", "function", "arguments")],
    wrappers: &["parenthesized_expression", "type_instantiation_expression"],
    imports: &["import_spec"],
    closures: &["func_literal"],
    bare_members: BareMembers::OutOfScope,
};
