//! Rust's `use` trees and the modules that are kept in other files.

use super::{Import, ImportGuard, ImportReach, ImportedItem};
use crate::source::Source;
use crate::symbols::walk::{child_of_kind, named_children};
use tree_sitter::Node;

/// Nesting of `use` trees that is followed.
const MAX_DEPTH: usize = 16;

/// The names that a `use` brings.
pub(super) fn uses(source: &Source, node: Node<'_>) -> Vec<Import> {
    let public = child_of_kind(node, &["visibility_modifier"]).is_some();
    let Some(argument) = node.child_by_field_name("argument") else { return Vec::new() };
    let mut found = Vec::new();
    let mut open = vec![(String::new(), argument, 0)];
    while let Some((prefix, tree, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            continue;
        }
        match tree.kind() {
            "scoped_use_list" => {
                let path = tree.child_by_field_name("path").map(|path| source.slice(path));
                let prefix = join(&prefix, path.unwrap_or_default());
                open.extend(tree.child_by_field_name("list").map(|l| (prefix, l, depth + 1)));
            }
            "use_list" => open.extend(
                named_children(tree).into_iter().map(|s| (prefix.clone(), s.node, depth + 1)),
            ),
            _ => found.extend(leaf(source, &prefix, tree)),
        }
    }
    found.sort_by_key(|import| import.line);
    let reach = if public { ImportReach::PassedOn } else { ImportReach::Own };
    found.into_iter().map(|import| Import { reach, ..import }).collect()
}

fn leaf(source: &Source, prefix: &str, tree: Node<'_>) -> Option<Import> {
    match tree.kind() {
        "use_wildcard" => {
            let path = tree.named_child(0).map(|path| source.slice(path)).unwrap_or_default();
            Some(Import::new(&join(prefix, path), ImportedItem::All, "*", tree))
        }
        "use_as_clause" => {
            let path = source.slice(tree.child_by_field_name("path")?);
            let alias = source.slice(tree.child_by_field_name("alias")?);
            Some(import(&join(prefix, path), alias, tree))
        }
        "self" => {
            let local = prefix.rsplit("::").next().unwrap_or_default();
            Some(import(prefix, local, tree))
        }
        _ => {
            let path = join(prefix, source.slice(tree));
            let local = path.rsplit("::").next().unwrap_or_default().to_owned();
            Some(import(&path, &local, tree))
        }
    }
}

fn import(path: &str, local: &str, node: Node<'_>) -> Import {
    match path.rsplit_once("::") {
        Some((module, name)) => {
            Import::new(module, ImportedItem::Name(name.to_owned()), local, node)
        }
        None => Import::new(path, ImportedItem::Module, local, node),
    }
}

fn join(prefix: &str, path: &str) -> String {
    let path: String = path.split_whitespace().collect();
    match (prefix.is_empty(), path.is_empty()) {
        (true, _) => path,
        (false, true) => prefix.to_owned(),
        (false, false) => format!("{prefix}::{path}"),
    }
}

/// `mod name;`
pub(super) fn submodule(source: &Source, node: Node<'_>) -> Vec<Import> {
    if node.child_by_field_name("body").is_some() {
        return Vec::new();
    }
    let Some(name) = node.child_by_field_name("name").map(|name| source.slice(name)) else {
        return Vec::new();
    };
    let guard = if has_own_path(source, node) { ImportGuard::Guarded } else { ImportGuard::None };
    let imported = ImportedItem::Submodule(name.to_owned());
    vec![Import::new("self", imported, name, node).guarded(guard)]
}

/// Whether an attribute before the item may move its file or leave it out.
fn has_own_path(source: &Source, node: Node<'_>) -> bool {
    const LOOK_BEHIND: usize = 240;
    let end = node.start_byte();
    let mut start = end.saturating_sub(LOOK_BEHIND);
    while !source.text().is_char_boundary(start) {
        start += 1;
    }
    let before = source.text().get(start..end).unwrap_or_default().trim_end();
    let attributes = before.rsplit([';', '}']).next().unwrap_or_default();
    before.ends_with(']') && (attributes.contains("path") || attributes.contains("cfg"))
}
