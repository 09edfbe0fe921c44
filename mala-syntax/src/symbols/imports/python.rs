//! Python's imports.

use super::{Import, ImportGuard, ImportedItem};
use crate::source::Source;
use crate::symbols::names::fields;
use crate::symbols::walk::{AncestorTrail, child_of_kind};
use tree_sitter::Node;

/// The names that an import statement brings.
pub(super) fn imports(source: &Source, trail: &AncestorTrail<'_>, node: Node<'_>) -> Vec<Import> {
    let guard = guard(trail);
    let module = node.child_by_field_name("module_name").map(|module| source.slice(module));
    match (node.kind(), module) {
        ("import_from_statement", Some(module)) => from(source, node, module),
        ("import_statement", _) => {
            fields(node, "name").into_iter().map(|name| whole(source, name)).collect()
        }
        _ => Vec::new(),
    }
    .into_iter()
    .map(|import: Import| import.guarded(guard))
    .collect()
}

fn from(source: &Source, node: Node<'_>, module: &str) -> Vec<Import> {
    let module: String = module.split_whitespace().collect();
    if child_of_kind(node, &["wildcard_import"]).is_some() {
        return vec![Import::new(&module, ImportedItem::All, "*", node)];
    }
    fields(node, "name")
        .into_iter()
        .map(|item| {
            let (name, local) = name_and_alias(source, item);
            Import::new(&module, ImportedItem::Name(name.to_owned()), local.unwrap_or(name), item)
        })
        .collect()
}

fn whole(source: &Source, item: Node<'_>) -> Import {
    let (name, alias) = name_and_alias(source, item);
    Import::new(name, ImportedItem::Module, alias.unwrap_or(name), item)
}

fn name_and_alias<'s>(source: &'s Source, item: Node<'_>) -> (&'s str, Option<&'s str>) {
    let name = item.child_by_field_name("name").unwrap_or(item);
    let alias = item.child_by_field_name("alias").map(|alias| source.slice(alias));
    (source.slice(name), alias)
}

/// An import in a `try` or under an `if` is one of several ways.
fn guard(trail: &AncestorTrail<'_>) -> ImportGuard {
    let guarded = trail
        .up()
        .take_while(|step| !matches!(step.node.kind(), "function_definition" | "class_definition"))
        .any(|step| {
            matches!(step.node.kind(), "try_statement" | "if_statement" | "with_statement")
        });
    if guarded { ImportGuard::Guarded } else { ImportGuard::None }
}
