//! Python.

use super::{
    BareMembers, DefinitionShape, LanguageTable, NameAt, NodeField, ScopeOpening, named, shape,
};
use crate::symbols::definition::DefinitionKind;

const SHAPES: &[DefinitionShape] = &[
    named("function_definition", DefinitionKind::Function, ScopeOpening::Function),
    named("class_definition", DefinitionKind::Class, ScopeOpening::Type),
    shape("assignment", DefinitionKind::Variable, NameAt::Pattern("left"), ScopeOpening::Nothing),
    shape(
        "type_alias_statement",
        DefinitionKind::Type,
        NameAt::OfType("left"),
        ScopeOpening::Nothing,
    ),
];

/// Parts of a function or class that are evaluated in the outer scope.
const OUTSIDE: &[NodeField] = &[
    ("default_parameter", "value"),
    ("typed_default_parameter", "value"),
    ("typed_default_parameter", "type"),
    ("typed_parameter", "type"),
    ("function_definition", "return_type"),
    ("class_definition", "superclasses"),
];

pub(super) const TABLE: LanguageTable = LanguageTable {
    shapes: SHAPES,
    names: &["identifier"],
    patterns: &[
        ("pattern_list", ""),
        ("tuple_pattern", ""),
        ("list_pattern", ""),
        ("list_splat_pattern", ""),
        ("dictionary_splat_pattern", ""),
        ("as_pattern_target", ""),
        ("typed_parameter", ""),
        ("expression_list", ""),
        ("tuple", ""),
        ("parenthesized_expression", ""),
    ],
    binders: &[
        ("assignment", "left"),
        ("augmented_assignment", "left"),
        ("for_statement", "left"),
        ("for_in_clause", "left"),
        ("named_expression", "name"),
        ("as_pattern", "alias"),
        ("parameters", ""),
        ("lambda_parameters", ""),
        ("default_parameter", "name"),
        ("typed_default_parameter", "name"),
        ("function_definition", "name"),
        ("class_definition", "name"),
        ("case_pattern", ""),
        ("splat_pattern", ""),
        ("keyword_pattern", ""),
        ("delete_statement", ""),
    ],
    writers: &[],
    blocks: &[],
    outside: OUTSIDE,
    ignored: &[("keyword_argument", "name"), ("keyword_pattern", "")],
    members: &[("attribute", "object", "attribute")],
    paths: &["dotted_name"],
    calls: &[("call", "function", "arguments")],
    wrappers: &["parenthesized_expression"],
    imports: &["import_statement", "import_from_statement", "future_import_statement"],
    closures: &[
        "lambda",
        "list_comprehension",
        "set_comprehension",
        "dictionary_comprehension",
        "generator_expression",
    ],
    bare_members: BareMembers::OutOfScope,
};
