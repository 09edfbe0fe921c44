//! C and C++.

use super::{BareMembers, NameAt, Opens, Place, Shape, Table, named, shape};
use crate::symbols::definition::Kind;

const FUNCTION: Shape =
    shape("function_definition", Kind::Function, NameAt::Declarator, Opens::Function);
const DECLARATION: Shape = shape("declaration", Kind::Variable, NameAt::Declarator, Opens::Nothing);
const FIELD: Shape = shape("field_declaration", Kind::Variable, NameAt::Declarator, Opens::Nothing);
const TYPEDEF: Shape = shape("type_definition", Kind::Type, NameAt::Declarator, Opens::Nothing);
const STRUCT: Shape = named("struct_specifier", Kind::Struct, Opens::Type);
const UNION: Shape = named("union_specifier", Kind::Struct, Opens::Type);
const ENUM: Shape = named("enum_specifier", Kind::Enum, Opens::Nothing);
const DEFINE: Shape = named("preproc_def", Kind::Macro, Opens::Nothing);
const DEFINE_FUNCTION: Shape = named("preproc_function_def", Kind::Macro, Opens::Nothing);

const BINDERS: &[Place] = &[
    ("init_declarator", "declarator"),
    ("declaration", "declarator"),
    ("parameter_declaration", "declarator"),
    ("function_declarator", "declarator"),
    ("pointer_declarator", "declarator"),
    ("array_declarator", "declarator"),
    ("parenthesized_declarator", ""),
    ("type_definition", "declarator"),
    ("preproc_def", "name"),
    ("preproc_function_def", "name"),
    ("enumerator", "name"),
    ("preproc_params", ""),
];

pub(super) const C: Table = Table {
    shapes: &[FUNCTION, DECLARATION, FIELD, TYPEDEF, STRUCT, UNION, ENUM, DEFINE, DEFINE_FUNCTION],
    names: &["identifier", "field_identifier", "type_identifier"],
    patterns: &[],
    binders: BINDERS,
    writers: &[("assignment_expression", "left"), ("update_expression", "argument")],
    blocks: &[],
    outside: &[],
    ignored: &[
        ("field_declaration", "declarator"),
        ("labeled_statement", "label"),
        ("goto_statement", "label"),
        ("field_designator", ""),
    ],
    members: &[("field_expression", "argument", "field")],
    paths: &[],
    calls: &[("call_expression", "function", "arguments")],
    wrappers: &["parenthesized_expression"],
    imports: &["preproc_include"],
    closures: &[],
    bare_members: BareMembers::OutOfScope,
};

pub(super) const CPP: Table = Table {
    shapes: &[
        FUNCTION,
        DECLARATION,
        FIELD,
        TYPEDEF,
        STRUCT,
        UNION,
        ENUM,
        DEFINE,
        DEFINE_FUNCTION,
        named("class_specifier", Kind::Class, Opens::Type),
        named("namespace_definition", Kind::Module, Opens::Nothing),
        named("alias_declaration", Kind::Type, Opens::Nothing),
        named("concept_definition", Kind::Type, Opens::Nothing),
    ],
    names: &["identifier", "field_identifier", "type_identifier", "namespace_identifier"],
    patterns: &[],
    binders: &[
        ("init_declarator", "declarator"),
        ("declaration", "declarator"),
        ("parameter_declaration", "declarator"),
        ("optional_parameter_declaration", "declarator"),
        ("function_declarator", "declarator"),
        ("pointer_declarator", "declarator"),
        ("reference_declarator", ""),
        ("array_declarator", "declarator"),
        ("parenthesized_declarator", ""),
        ("type_definition", "declarator"),
        ("alias_declaration", "name"),
        ("preproc_def", "name"),
        ("preproc_function_def", "name"),
        ("enumerator", "name"),
        ("preproc_params", ""),
        ("for_range_loop", "declarator"),
        ("structured_binding_declarator", ""),
        ("type_parameter_declaration", ""),
    ],
    writers: &[("assignment_expression", "left"), ("update_expression", "argument")],
    blocks: &[],
    outside: &[],
    ignored: &[
        ("labeled_statement", "label"),
        ("goto_statement", "label"),
        ("field_designator", ""),
    ],
    members: &[
        ("field_expression", "argument", "field"),
        ("qualified_identifier", "scope", "name"),
    ],
    paths: &[],
    calls: &[("call_expression", "function", "arguments"), ("new_expression", "type", "arguments")],
    wrappers: &["parenthesized_expression", "template_function", "template_method"],
    imports: &["preproc_include"],
    closures: &["lambda_expression"],
    bare_members: BareMembers::InScope,
};
