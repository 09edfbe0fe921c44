//! Ruby.

use super::{BareMembers, DefinitionShape, LanguageTable, NameAt, ScopeOpening, named, shape};
use crate::symbols::definition::DefinitionKind;

const SHAPES: &[DefinitionShape] = &[
    named("method", DefinitionKind::Method, ScopeOpening::Function),
    named("singleton_method", DefinitionKind::Method, ScopeOpening::Function),
    named("class", DefinitionKind::Class, ScopeOpening::Type),
    named("module", DefinitionKind::Module, ScopeOpening::Type),
    shape("assignment", DefinitionKind::Variable, NameAt::Pattern("left"), ScopeOpening::Nothing),
];

pub(super) const TABLE: LanguageTable = LanguageTable {
    shapes: SHAPES,
    names: &["identifier", "constant"],
    patterns: &[
        ("left_assignment_list", ""),
        ("destructured_left_assignment", ""),
        ("destructured_parameter", ""),
        ("rest_assignment", ""),
    ],
    binders: &[
        ("assignment", "left"),
        ("operator_assignment", "left"),
        ("method_parameters", ""),
        ("block_parameters", ""),
        ("lambda_parameters", ""),
        ("optional_parameter", "name"),
        ("splat_parameter", "name"),
        ("keyword_parameter", "name"),
        ("hash_splat_parameter", "name"),
        ("block_parameter", "name"),
        ("for", "pattern"),
        ("exception_variable", ""),
        ("method", "name"),
        ("singleton_method", "name"),
        ("class", "name"),
        ("module", "name"),
        ("alias", "name"),
    ],
    writers: &[],
    blocks: &[],
    outside: &[],
    ignored: &[],
    members: &[("call", "receiver", "method"), ("scope_resolution", "scope", "name")],
    paths: &[],
    calls: &[("call", "method", "arguments")],
    wrappers: &[],
    imports: &[],
    closures: &["block", "do_block", "lambda"],
    bare_members: BareMembers::InScope,
};
