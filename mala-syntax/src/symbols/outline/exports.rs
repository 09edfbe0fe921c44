//! The exports of a JavaScript or TypeScript file.

use super::build::line_of;
use super::{FileOutline, Openness};
use crate::source::Source;
use crate::symbols::definition::Visibility;
use crate::symbols::imports::{Import, ImportGuard, ImportReach, ImportedItem, text_of_string};
use crate::symbols::names::names_at;
use crate::symbols::table::NameAt;
use crate::symbols::walk::{child_of_kind, named_children};
use mala_domain::language::Language;
use std::collections::HashSet;
use tree_sitter::Node;

/// One exported name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The name that other files import.
    pub name: String,
    /// The name in this file, or in the module that it comes from.
    pub local: String,
    /// The module that it comes from, if it is a re-export.
    pub from: Option<String>,
    /// The line.
    pub line: u32,
}

impl Export {
    /// The import of a re-export: `export * from './m'`.
    pub fn as_import(&self) -> Option<Import> {
        Some(Import {
            module: self.from.clone()?,
            imported: ImportedItem::All,
            local: String::new(),
            line: self.line,
            statement_line: self.line,
            guard: ImportGuard::None,
            reach: ImportReach::PassedOn,
            scope: None,
        })
    }
}

/// The name of a default export.
pub(crate) const DEFAULT: &str = "default";

/// The name of a re-export of everything in a module.
pub(crate) const STAR: &str = "*";

/// The effect of an assignment on `module.exports`.
pub(super) enum CommonJs {
    /// Nothing.
    Nothing,
    /// It exports these.
    Exports(Vec<Export>),
    /// It exports a computed value.
    Anything,
}

/// The names that an `export` statement exports.
pub(super) fn exports_at(source: &Source, node: Node<'_>) -> Vec<Export> {
    let from = node.child_by_field_name("source").map(|module| text_of_string(source, module));
    let line = line_of(node);
    let export = |name: &str, local: &str| Export {
        name: name.to_owned(),
        local: local.to_owned(),
        from: from.clone(),
        line,
    };
    if let Some(clause) = child_of_kind(node, &["export_clause"]) {
        return specifiers(source, clause, export);
    }
    if let Some(namespace) = child_of_kind(node, &["namespace_export"]) {
        let name = namespace.named_child(0).map(|name| source.slice(name)).unwrap_or_default();
        return vec![export(name, STAR)];
    }
    if from.is_some() {
        return vec![export(STAR, STAR)];
    }
    if is_default(node) {
        let local = node
            .child_by_field_name("declaration")
            .and_then(|declaration| declaration.child_by_field_name("name"))
            .or_else(|| node.child_by_field_name("value").filter(|v| v.kind() == "identifier"))
            .map(|name| source.slice(name))
            .unwrap_or(DEFAULT);
        return vec![export(DEFAULT, local)];
    }
    let declaration = node.child_by_field_name("declaration");
    declaration
        .map(|declaration| declared_names(source, declaration))
        .unwrap_or_default()
        .iter()
        .map(|name| export(name, name))
        .collect()
}

fn specifiers(
    source: &Source,
    clause: Node<'_>,
    export: impl Fn(&str, &str) -> Export,
) -> Vec<Export> {
    named_children(clause)
        .into_iter()
        .map(|step| {
            let local = step.node.child_by_field_name("name").unwrap_or(step.node);
            let name = step.node.child_by_field_name("alias").unwrap_or(local);
            export(source.slice(name), source.slice(local))
        })
        .collect()
}

fn is_default(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() == "default")
}

fn declared_names(source: &Source, declaration: Node<'_>) -> Vec<String> {
    if let Some(name) = declaration.child_by_field_name("name") {
        return vec![source.slice(name).to_owned()];
    }
    let nested = child_of_kind(declaration, &["variable_declarator"]).is_none();
    let declarators = named_children(declaration);
    if nested {
        return declarators
            .iter()
            .filter_map(|step| step.node.child_by_field_name("name"))
            .map(|name| source.slice(name).to_owned())
            .collect();
    }
    declarators
        .iter()
        .flat_map(|step| names_at(source, step.node, NameAt::Pattern("name")))
        .map(|named| source.slice(named.node).to_owned())
        .collect()
}

/// Whether an `export` is of a kind that hides its names: TypeScript's `export =`.
pub(super) fn exports_everything(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() == "=")
}

/// The effect of an assignment on `module.exports`.
pub(super) fn common_js(source: &Source, node: Node<'_>) -> CommonJs {
    let (Some(left), Some(right)) =
        (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return CommonJs::Nothing;
    };
    let target = source.slice(left);
    let line = line_of(node);
    if let Some(name) =
        target.strip_prefix("module.exports.").or_else(|| target.strip_prefix("exports."))
    {
        if name.contains('.') {
            return CommonJs::Nothing;
        }
        let local = if right.kind() == "identifier" { source.slice(right) } else { name };
        let export = Export { name: name.to_owned(), local: local.to_owned(), from: None, line };
        return CommonJs::Exports(vec![export]);
    }
    match (target, right.kind()) {
        ("module.exports" | "exports", "object") => object_exports(source, right),
        ("module.exports", "identifier" | "function_expression" | "arrow_function" | "class") => {
            let local = if right.kind() == "identifier" { source.slice(right) } else { DEFAULT };
            let name = DEFAULT.to_owned();
            CommonJs::Exports(vec![Export { name, local: local.to_owned(), from: None, line }])
        }
        ("module.exports", _) => CommonJs::Anything,
        _ => CommonJs::Nothing,
    }
}

fn object_exports(source: &Source, object: Node<'_>) -> CommonJs {
    let mut found = Vec::new();
    for step in named_children(object) {
        let line = line_of(step.node);
        let (name, local) = match step.node.kind() {
            "shorthand_property_identifier" => (Some(step.node), Some(step.node)),
            "pair" => {
                let value = step.node.child_by_field_name("value");
                let key = step.node.child_by_field_name("key");
                (key, value.filter(|value| value.kind() == "identifier").or(key))
            }
            "method_definition" => {
                let name = step.node.child_by_field_name("name");
                (name, name)
            }
            _ => return CommonJs::Anything,
        };
        let (Some(name), Some(local)) = (name, local) else { return CommonJs::Anything };
        found.push(Export {
            name: source.slice(name).trim_matches(['\'', '"']).to_owned(),
            local: source.slice(local).to_owned(),
            from: None,
            line,
        });
    }
    CommonJs::Exports(found)
}

/// Marks the definitions that an export statement elsewhere in the file exports.
pub(super) fn mark_exported(outline: &mut FileOutline) {
    if !matches!(outline.language, Language::JavaScript | Language::TypeScript | Language::Tsx) {
        return;
    }
    let locals: HashSet<&str> = outline
        .exports
        .iter()
        .filter(|export| export.from.is_none())
        .map(|export| export.local.as_str())
        .collect();
    let open = outline.openness == Openness::Open;
    for definition in &mut outline.definitions {
        let top = definition.container.is_none() && definition.visibility != Visibility::Local;
        if top && (open || locals.contains(definition.name.as_str())) {
            definition.visibility = Visibility::Exported;
        }
    }
}
