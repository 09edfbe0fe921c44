//! C and C++.

use super::{
    BareMembers, DefinitionShape, LanguageTable, NameAt, NodeField, ScopeOpening, named, shape,
};
use crate::symbols::definition::DefinitionKind;

const FUNCTION: DefinitionShape = shape(
    "function_definition",
    DefinitionKind::Function,
    NameAt::Declarator,
    ScopeOpening::Function,
);
const DECLARATION: DefinitionShape =
    shape("declaration", DefinitionKind::Variable, NameAt::Declarator, ScopeOpening::Nothing);
const FIELD: DefinitionShape =
    shape("field_declaration", DefinitionKind::Variable, NameAt::Declarator, ScopeOpening::Nothing);
const TYPEDEF: DefinitionShape =
    shape("type_definition", DefinitionKind::Type, NameAt::Declarator, ScopeOpening::Nothing);
const STRUCT: DefinitionShape =
    named("struct_specifier", DefinitionKind::Struct, ScopeOpening::Type);
const UNION: DefinitionShape = named("union_specifier", DefinitionKind::Struct, ScopeOpening::Type);
const ENUM: DefinitionShape = named("enum_specifier", DefinitionKind::Enum, ScopeOpening::Nothing);
const DEFINE: DefinitionShape = named("preproc_def", DefinitionKind::Macro, ScopeOpening::Nothing);
const DEFINE_FUNCTION: DefinitionShape =
    named("preproc_function_def", DefinitionKind::Macro, ScopeOpening::Nothing);

const BINDERS: &[NodeField] = &[
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

pub(super) const C: LanguageTable = LanguageTable {
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

pub(super) const CPP: LanguageTable = LanguageTable {
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
        named("class_specifier", DefinitionKind::Class, ScopeOpening::Type),
        named("namespace_definition", DefinitionKind::Module, ScopeOpening::Nothing),
        named("alias_declaration", DefinitionKind::Type, ScopeOpening::Nothing),
        named("concept_definition", DefinitionKind::Type, ScopeOpening::Nothing),
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
