//! Imports of JavaScript and TypeScript: `import`, `require` and `import()`.

use super::{Import, ImportGuard, ImportedItem, text_of_string};
use crate::source::Source;
use crate::symbols::walk::{AncestorTrail, child_of_kind, named_children};
use tree_sitter::Node;

/// The names that a node brings.
pub(super) fn imports(source: &Source, trail: &AncestorTrail<'_>, node: Node<'_>) -> Vec<Import> {
    let found = match node.kind() {
        "import_statement" => statement(source, node),
        "call_expression" => required(source, trail, node),
        _ => return Vec::new(),
    };
    let guard = guard(trail);
    found.into_iter().map(|import| import.guarded(guard)).collect()
}

fn statement(source: &Source, node: Node<'_>) -> Vec<Import> {
    if let Some(clause) = child_of_kind(node, &["import_require_clause"]) {
        let module = clause.child_by_field_name("source").map(|s| text_of_string(source, s));
        let local = clause.named_child(0).map(|name| source.slice(name)).unwrap_or_default();
        return module
            .map(|module| Import::new(&module, ImportedItem::Module, local, node))
            .into_iter()
            .collect();
    }
    let Some(module) = node.child_by_field_name("source") else { return Vec::new() };
    let module = text_of_string(source, module);
    let Some(clause) = child_of_kind(node, &["import_clause"]) else {
        return vec![Import::new(&module, ImportedItem::Module, "", node)];
    };
    named_children(clause)
        .into_iter()
        .flat_map(|step| clause_part(source, &module, step.node))
        .collect()
}

fn clause_part(source: &Source, module: &str, node: Node<'_>) -> Vec<Import> {
    match node.kind() {
        "identifier" => vec![Import::new(module, ImportedItem::Default, source.slice(node), node)],
        "namespace_import" => {
            let local = node.named_child(0).map(|name| source.slice(name)).unwrap_or_default();
            vec![Import::new(module, ImportedItem::Module, local, node)]
        }
        "named_imports" => {
            let specifiers = named_children(node);
            if specifiers.is_empty() {
                return vec![Import::new(module, ImportedItem::Module, "", node)];
            }
            specifiers.into_iter().map(|step| specifier(source, module, step.node)).collect()
        }
        _ => Vec::new(),
    }
}

fn specifier(source: &Source, module: &str, node: Node<'_>) -> Import {
    let name = node.child_by_field_name("name").map(|name| source.slice(name));
    let name = name.unwrap_or_default().trim_matches(['"', '\'']);
    let alias = node.child_by_field_name("alias").map(|alias| source.slice(alias));
    let imported =
        if name == "default" { ImportedItem::Default } else { ImportedItem::Name(name.to_owned()) };
    Import::new(module, imported, alias.unwrap_or(name), node)
}

/// `require('m')` and `import('m')`, with the names that they are unpacked into.
fn required(source: &Source, trail: &AncestorTrail<'_>, node: Node<'_>) -> Vec<Import> {
    let called = node.child_by_field_name("function").map(|function| source.slice(function));
    if !matches!(called, Some("require" | "import")) {
        return Vec::new();
    }
    let arguments = node.child_by_field_name("arguments").map(named_children).unwrap_or_default();
    let [only] = arguments.as_slice() else { return Vec::new() };
    if only.node.kind() != "string" {
        return Vec::new();
    }
    let module = text_of_string(source, only.node);
    let mut member = None;
    // `import()` returns a promise: its members before `await` are not those of the module.
    let mut has_module = called == Some("require");
    for step in trail.up() {
        match step.node.kind() {
            "await_expression" => has_module = true,
            "parenthesized_expression" => {}
            _ if !has_module => break,
            "member_expression" if member.is_none() => {
                member = step.node.child_by_field_name("property").map(|name| source.slice(name));
            }
            "variable_declarator" => {
                let target = step.node.child_by_field_name("name");
                return target
                    .map(|target| bound(source, &module, member, target))
                    .unwrap_or_default();
            }
            _ => break,
        }
    }
    let imported = member.map_or(ImportedItem::Module, |name| ImportedItem::Name(name.to_owned()));
    vec![Import::new(&module, imported, "", node)]
}

fn bound(source: &Source, module: &str, member: Option<&str>, target: Node<'_>) -> Vec<Import> {
    match (target.kind(), member) {
        ("identifier", None) => {
            vec![Import::new(module, ImportedItem::Module, source.slice(target), target)]
        }
        ("identifier", Some(member)) => {
            let imported = ImportedItem::Name(member.to_owned());
            vec![Import::new(module, imported, source.slice(target), target)]
        }
        ("object_pattern", None) => {
            named_children(target).iter().filter_map(|s| unpacked(source, module, s.node)).collect()
        }
        _ => vec![Import::new(module, ImportedItem::Module, "", target)],
    }
}

fn unpacked(source: &Source, module: &str, part: Node<'_>) -> Option<Import> {
    let (name, local) = match part.kind() {
        "shorthand_property_identifier_pattern" => (part, part),
        "pair_pattern" => (part.child_by_field_name("key")?, part.child_by_field_name("value")?),
        _ => return None,
    };
    let imported = ImportedItem::Name(source.slice(name).to_owned());
    Some(Import::new(module, imported, source.slice(local), part))
}

fn guard(trail: &AncestorTrail<'_>) -> ImportGuard {
    let guarded = trail.up().any(|step| {
        matches!(step.node.kind(), "try_statement" | "if_statement" | "ternary_expression")
    });
    if guarded { ImportGuard::Guarded } else { ImportGuard::None }
}
