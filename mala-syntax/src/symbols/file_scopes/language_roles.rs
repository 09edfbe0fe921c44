//! The roles of names in constructs of single languages: imports, Python's scopes, Flow's types.

use super::DeclarationKind;
use super::roles::{DeclaringScope, NameRole, WrittenValue};
use crate::source::Source;
use crate::symbols::walk::{AncestorTrail, WalkStep};
use tree_sitter::Node;

/// Roles that only JavaScript and TypeScript have.
pub(super) fn ecmascript<'t>(
    source: &Source,
    trail: &AncestorTrail<'t>,
    step: WalkStep<'t>,
) -> Option<NameRole<'t>> {
    flow_declaration(source, trail, step).or_else(|| import_role(trail, step))
}

/// Roles that only Python has.
pub(super) fn python<'t>(
    trail: &AncestorTrail<'t>,
    step: WalkStep<'t>,
    in_annotation: bool,
) -> Option<NameRole<'t>> {
    let mut up = trail.up();
    let (parent, outer) = (up.next()?, up.next());
    let declares = |kind, scope| NameRole::Declares {
        kind,
        scope,
        value: Some(WrittenValue::Unknown),
        is_read: false,
    };
    let import = declares(DeclarationKind::Import, DeclaringScope::Assignment);
    match parent.node.kind() {
        "global_statement" => return Some(NameRole::Global),
        "nonlocal_statement" => return Some(NameRole::Nonlocal),
        "aliased_import" if step.field == "alias" => return Some(import),
        "except_clause" if parent.node.named_child(0) != Some(step.node) => {
            // `except Error, e:` of Python 2.
            return Some(declares(DeclarationKind::Caught, DeclaringScope::Assignment));
        }
        "as_pattern" if is_case_capture(parent.node, step.node) => {
            return Some(declares(DeclarationKind::Let, DeclaringScope::Assignment));
        }
        "dotted_name" => {
            let outer = outer?.node.kind();
            let is_first = parent.node.named_child(0) == Some(step.node);
            if outer.starts_with("import") || outer.ends_with("import_statement") {
                let binds = is_first && parent.field == "name";
                return Some(if binds { import } else { NameRole::Ignored });
            }
            if matches!(outer, "aliased_import" | "relative_import") {
                return Some(NameRole::Ignored);
            }
        }
        _ => {}
    }
    if in_annotation { type_declaration(trail, step) } else { None }
}

/// The name in `case Point() as name`, which has no field of its own.
fn is_case_capture(pattern: Node<'_>, name: Node<'_>) -> bool {
    let first = pattern.named_child(0);
    first.is_some_and(|first| first.kind() == "case_pattern" && first != name)
}

/// `type Name = ...`, and the parameters of `class Name[T]`.
fn type_declaration<'t>(trail: &AncestorTrail<'t>, step: WalkStep<'t>) -> Option<NameRole<'t>> {
    let mut child = step;
    for (climbed, ancestor) in trail.up().enumerate() {
        let depth = trail.depth() - 1 - climbed;
        let scope = match (ancestor.node.kind(), child.field) {
            ("type_alias_statement", "left") => DeclaringScope::Assignment,
            // The parameters belong to the class or function around them.
            ("type_parameter", _) => {
                DeclaringScope::Around { depth: depth.saturating_sub(1), hoisted: false }
            }
            ("type", _) => {
                child = ancestor;
                continue;
            }
            _ => return None,
        };
        let kind = DeclarationKind::Type;
        return Some(NameRole::Declares { kind, scope, value: None, is_read: false });
    }
    None
}

/// Flow's `let x: A | B = value`, which the JavaScript grammar parses as the label `let`, an error
/// with the name, and an assignment to `B`.
fn flow_declaration<'t>(
    source: &Source,
    trail: &AncestorTrail<'t>,
    step: WalkStep<'t>,
) -> Option<NameRole<'t>> {
    let parent = trail.parent()?;
    let statement = trail.up().find(|it| it.node.kind() == "labeled_statement")?;
    let label = source.slice(statement.node.child_by_field_name("label")?);
    if !statement.node.has_error() || !matches!(label, "let" | "const" | "var") {
        return None;
    }
    match parent.node.kind() {
        "ERROR" => Some(NameRole::Declares {
            kind: DeclarationKind::Let,
            scope: DeclaringScope::Here,
            value: Some(WrittenValue::Unknown),
            is_read: false,
        }),
        "binary_expression" => Some(NameRole::Ignored),
        "assignment_expression" if step.field == "left" => Some(NameRole::Ignored),
        _ => None,
    }
}

/// The names of imports and exports.
fn import_role<'t>(trail: &AncestorTrail<'t>, step: WalkStep<'t>) -> Option<NameRole<'t>> {
    let parent = trail.parent()?;
    let import = NameRole::Declares {
        kind: DeclarationKind::Import,
        scope: DeclaringScope::Here,
        value: Some(WrittenValue::Unknown),
        is_read: false,
    };
    match parent.node.kind() {
        "import_clause" | "namespace_import" | "import_require_clause" => Some(import),
        "import_alias" => {
            let is_name = parent.node.named_child(0) == Some(step.node);
            Some(if is_name { import } else { NameRole::Reads })
        }
        "import_specifier" => {
            let is_outer =
                step.field == "name" && parent.node.child_by_field_name("alias").is_some();
            Some(if is_outer { NameRole::Ignored } else { import })
        }
        "namespace_export" => Some(NameRole::Ignored),
        _ => None,
    }
}
