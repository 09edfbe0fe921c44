//! Imports by dotted names: Java, C# and PHP.

use super::{Import, ImportedItem};
use crate::source::Source;
use crate::symbols::walk::{child_of_kind, named_children};
use tree_sitter::Node;

/// `import a.b.C;`, `import static a.b.C.d;` and `import a.b.*;`
pub(super) fn java(source: &Source, node: Node<'_>) -> Vec<Import> {
    if node.kind() != "import_declaration" {
        return Vec::new();
    }
    let path = child_of_kind(node, &["scoped_identifier", "identifier"]);
    let Some(path) = path.map(|path| source.slice(path)) else { return Vec::new() };
    if child_of_kind(node, &["asterisk"]).is_some() {
        return vec![Import::new(path, ImportedItem::All, "*", node)];
    }
    let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
    vec![Import::new(module, ImportedItem::Name(name.to_owned()), name, node)]
}

/// `using A.B;` and `using C = A.B.C;`
pub(super) fn csharp(source: &Source, node: Node<'_>) -> Vec<Import> {
    let children = named_children(node);
    let alias = node.child_by_field_name("name").map(|alias| source.slice(alias));
    let Some(path) = children.last().map(|last| source.slice(last.node)) else {
        return Vec::new();
    };
    match alias {
        None => vec![Import::new(path, ImportedItem::All, "*", node)],
        Some(alias) => {
            let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
            vec![Import::new(module, ImportedItem::Name(name.to_owned()), alias, node)]
        }
    }
}

/// `use A\B as C;` and `use A\{B, C};`
pub(super) fn php(source: &Source, node: Node<'_>) -> Vec<Import> {
    let prefix = child_of_kind(node, &["namespace_name"]).map(|prefix| source.slice(prefix));
    let group = node.child_by_field_name("body").unwrap_or(node);
    named_children(group)
        .iter()
        .filter(|step| step.node.kind() == "namespace_use_clause")
        .filter_map(|step| php_clause(source, prefix, step.node))
        .collect()
}

fn php_clause(source: &Source, prefix: Option<&str>, clause: Node<'_>) -> Option<Import> {
    let path = source.slice(clause.named_child(0)?).trim_start_matches('\\');
    let path = match prefix {
        Some(prefix) => format!("{prefix}\\{path}"),
        None => path.to_owned(),
    }
    .replace('\\', ".");
    let alias = clause.child_by_field_name("alias").map(|alias| source.slice(alias));
    let (module, name) = path.rsplit_once('.').unwrap_or(("", &path));
    let local = alias.unwrap_or(name);
    Some(Import::new(module, ImportedItem::Name(name.to_owned()), local, clause))
}
