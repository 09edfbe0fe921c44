//! JavaScript, TypeScript and TSX.

use super::{
    BareMembers, DefinitionShape, LanguageTable, NameAt, NodeField, ScopeOpening, named, shape,
};
use crate::symbols::definition::DefinitionKind;

const JAVASCRIPT_SHAPES: &[DefinitionShape] = &[
    named("function_declaration", DefinitionKind::Function, ScopeOpening::Function),
    named("generator_function_declaration", DefinitionKind::Function, ScopeOpening::Function),
    named("class_declaration", DefinitionKind::Class, ScopeOpening::Type),
    named("method_definition", DefinitionKind::Method, ScopeOpening::Function),
    shape(
        "field_definition",
        DefinitionKind::Variable,
        NameAt::Field("property"),
        ScopeOpening::Nothing,
    ),
    shape(
        "variable_declarator",
        DefinitionKind::Variable,
        NameAt::Pattern("name"),
        ScopeOpening::Nothing,
    ),
    shape(
        "assignment_expression",
        DefinitionKind::Variable,
        NameAt::Assigned,
        ScopeOpening::Nothing,
    ),
    shape("pair", DefinitionKind::Method, NameAt::Field("key"), ScopeOpening::Nothing),
];

const TYPESCRIPT_SHAPES: &[DefinitionShape] = &[
    named("function_declaration", DefinitionKind::Function, ScopeOpening::Function),
    named("generator_function_declaration", DefinitionKind::Function, ScopeOpening::Function),
    named("function_signature", DefinitionKind::Function, ScopeOpening::Nothing),
    named("class_declaration", DefinitionKind::Class, ScopeOpening::Type),
    named("abstract_class_declaration", DefinitionKind::Class, ScopeOpening::Type),
    named("interface_declaration", DefinitionKind::Interface, ScopeOpening::Type),
    named("enum_declaration", DefinitionKind::Enum, ScopeOpening::Type),
    named("type_alias_declaration", DefinitionKind::Type, ScopeOpening::Nothing),
    named("internal_module", DefinitionKind::Module, ScopeOpening::Module),
    named("module", DefinitionKind::Module, ScopeOpening::Module),
    named("method_definition", DefinitionKind::Method, ScopeOpening::Function),
    named("method_signature", DefinitionKind::Method, ScopeOpening::Nothing),
    named("abstract_method_signature", DefinitionKind::Method, ScopeOpening::Nothing),
    named("public_field_definition", DefinitionKind::Variable, ScopeOpening::Nothing),
    named("property_signature", DefinitionKind::Variable, ScopeOpening::Nothing),
    shape(
        "variable_declarator",
        DefinitionKind::Variable,
        NameAt::Pattern("name"),
        ScopeOpening::Nothing,
    ),
    shape(
        "assignment_expression",
        DefinitionKind::Variable,
        NameAt::Assigned,
        ScopeOpening::Nothing,
    ),
    shape("pair", DefinitionKind::Method, NameAt::Field("key"), ScopeOpening::Nothing),
];

const PATTERNS: &[NodeField] = &[
    ("object_pattern", ""),
    ("array_pattern", ""),
    ("pair_pattern", "value"),
    ("rest_pattern", ""),
    ("object_assignment_pattern", "left"),
    ("assignment_pattern", "left"),
    ("parenthesized_expression", ""),
];

const CALLS: &[(&str, &str, &str)] =
    &[("call_expression", "function", "arguments"), ("new_expression", "constructor", "arguments")];

const WRITERS: &[NodeField] =
    &[("augmented_assignment_expression", "left"), ("update_expression", "argument")];

const BLOCKS: &[&str] = &[
    "statement_block",
    "for_statement",
    "for_in_statement",
    "catch_clause",
    "switch_body",
    "class",
];

pub(super) const JAVASCRIPT: LanguageTable = LanguageTable {
    shapes: JAVASCRIPT_SHAPES,
    names: &[
        "identifier",
        "property_identifier",
        "private_property_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
    ],
    patterns: PATTERNS,
    binders: &[
        ("variable_declarator", "name"),
        ("assignment_expression", "left"),
        ("formal_parameters", ""),
        ("arrow_function", "parameter"),
        ("function_declaration", "name"),
        ("generator_function_declaration", "name"),
        ("function_expression", "name"),
        ("generator_function", "name"),
        ("class_declaration", "name"),
        ("class", "name"),
        ("catch_clause", "parameter"),
        ("for_in_statement", "left"),
    ],
    writers: WRITERS,
    blocks: BLOCKS,
    outside: &[],
    ignored: &[
        ("pair", "key"),
        ("pair_pattern", "key"),
        ("method_definition", "name"),
        ("field_definition", "property"),
        ("export_specifier", "alias"),
        ("jsx_attribute", ""),
    ],
    members: &[("member_expression", "object", "property")],
    paths: &[],
    calls: CALLS,
    wrappers: &["parenthesized_expression", "await_expression"],
    imports: &["import_statement"],
    closures: &[
        "arrow_function",
        "function_expression",
        "generator_function",
        "class_static_block",
    ],
    bare_members: BareMembers::OutOfScope,
};

pub(super) const TYPESCRIPT: LanguageTable = LanguageTable {
    shapes: TYPESCRIPT_SHAPES,
    names: &[
        "identifier",
        "property_identifier",
        "private_property_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "type_identifier",
    ],
    patterns: PATTERNS,
    binders: &[
        ("variable_declarator", "name"),
        ("assignment_expression", "left"),
        ("required_parameter", "pattern"),
        ("optional_parameter", "pattern"),
        ("arrow_function", "parameter"),
        ("function_declaration", "name"),
        ("generator_function_declaration", "name"),
        ("function_signature", "name"),
        ("function_expression", "name"),
        ("generator_function", "name"),
        ("class_declaration", "name"),
        ("abstract_class_declaration", "name"),
        ("class", "name"),
        ("interface_declaration", "name"),
        ("enum_declaration", "name"),
        ("type_alias_declaration", "name"),
        ("internal_module", "name"),
        ("module", "name"),
        ("type_parameter", "name"),
        ("catch_clause", "parameter"),
        ("for_in_statement", "left"),
    ],
    writers: WRITERS,
    blocks: BLOCKS,
    outside: &[],
    ignored: &[
        ("pair", "key"),
        ("pair_pattern", "key"),
        ("method_definition", "name"),
        ("method_signature", "name"),
        ("abstract_method_signature", "name"),
        ("public_field_definition", "name"),
        ("property_signature", "name"),
        ("enum_body", "name"),
        ("enum_assignment", "name"),
        ("export_specifier", "alias"),
    ],
    members: &[
        ("member_expression", "object", "property"),
        ("nested_type_identifier", "module", "name"),
        ("nested_identifier", "object", "property"),
    ],
    paths: &[],
    calls: CALLS,
    wrappers: &["parenthesized_expression", "await_expression", "non_null_expression"],
    imports: &["import_statement"],
    closures: &[
        "arrow_function",
        "function_expression",
        "generator_function",
        "class_static_block",
        "function_type",
        "constructor_type",
        "call_signature",
        "construct_signature",
        "method_signature",
        "abstract_method_signature",
        "function_signature",
        "index_signature",
        "mapped_type_clause",
    ],
    bare_members: BareMembers::OutOfScope,
};
