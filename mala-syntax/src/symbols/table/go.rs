//! Go.

use super::{BareMembers, Opens, Shape, Table, named};
use crate::symbols::definition::Kind;

const SHAPES: &[Shape] = &[
    named("function_declaration", Kind::Function, Opens::Function),
    named("method_declaration", Kind::Method, Opens::Function),
    named("type_spec", Kind::Type, Opens::Type),
    named("type_alias", Kind::Type, Opens::Nothing),
    named("const_spec", Kind::Constant, Opens::Nothing),
    named("var_spec", Kind::Variable, Opens::Nothing),
    named("method_elem", Kind::Method, Opens::Nothing),
    named("field_declaration", Kind::Variable, Opens::Nothing),
];

pub(super) const TABLE: Table = Table {
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
