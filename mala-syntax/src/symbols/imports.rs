//! The imports of a file, one entry per name.

mod ecmascript;
mod jvm;
mod python;
mod rust;

use super::table::Lookup;
use super::walk::{AncestorTrail, WalkStep};
use crate::source::{Source, lines_of};
use mala_domain::language::Language;
use tree_sitter::Node;

/// One imported name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module, as written: `..pkg.mod`, `./m`, `crate::m`, `example.org/x/y`, `java.util`.
    pub module: String,
    /// The imported item.
    pub imported: ImportedItem,
    /// The name in this file; `*` for all names, empty for none.
    pub local: String,
    /// The line of the name.
    pub line: u32,
    /// The line on which the statement starts.
    pub statement_line: u32,
    /// Whether the file copes when it fails.
    pub guard: ImportGuard,
    /// Whether other files can import it from here.
    pub reach: ImportReach,
    /// The module or function around the import.
    pub scope: Option<String>,
}

/// The item that is imported from a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImportedItem {
    /// The module itself.
    Module,
    /// This name of it.
    Name(String),
    /// Its main export.
    Default,
    /// All its names.
    All,
    /// A module of the file's own, that is kept in another file.
    Submodule(String),
}

/// Whether a file copes when an import fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportGuard {
    /// It does not.
    None,
    /// It tries, or imports only under a condition.
    Guarded,
}

/// Whether other files can import a name from the file that imports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportReach {
    /// They cannot, or need not.
    Own,
    /// It is passed on.
    PassedOn,
}

impl Import {
    fn new(module: &str, imported: ImportedItem, local: &str, node: Node<'_>) -> Self {
        Self {
            module: module.to_owned(),
            imported,
            local: local.to_owned(),
            line: lines_of(node).start(),
            statement_line: lines_of(node).start(),
            guard: ImportGuard::None,
            reach: ImportReach::Own,
            scope: None,
        }
    }

    fn guarded(self, guard: ImportGuard) -> Self {
        Self { guard, ..self }
    }

    pub(super) fn inside(self, statement: Node<'_>, scope: Option<String>) -> Self {
        Self { scope, statement_line: lines_of(statement).start(), ..self }
    }

    /// The module of which the name is one of Python's, in case it is a module itself.
    pub fn submodule(&self) -> String {
        match self.name() {
            Some(name) if self.module.ends_with('.') => format!("{}{name}", self.module),
            Some(name) => format!("{}.{name}", self.module),
            None => self.module.clone(),
        }
    }

    /// The name that is taken, when it is one.
    pub fn name(&self) -> Option<&str> {
        match &self.imported {
            ImportedItem::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// The imports that a node makes; empty for most.
pub(super) fn imports_at(
    source: &Source,
    lookup: &Lookup,
    trail: &AncestorTrail<'_>,
    step: WalkStep<'_>,
) -> Vec<Import> {
    let node = step.node;
    let is_import = lookup.traits(node).import;
    match source.language() {
        Language::Python if is_import => python::imports(source, trail, node),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            ecmascript::imports(source, trail, node)
        }
        Language::Rust if is_import => rust::uses(source, node),
        Language::Rust if node.kind() == "mod_item" => rust::submodule(source, node),
        Language::Go if is_import => go(source, node),
        Language::Java if is_import => jvm::java(source, node),
        Language::CSharp if is_import => jvm::csharp(source, node),
        Language::Php if is_import => jvm::php(source, node),
        _ => Vec::new(),
    }
}

/// The text between the quotes of a string.
pub(super) fn text_of_string(source: &Source, node: Node<'_>) -> String {
    source.slice(node).trim_matches(['"', '\'', '`']).to_owned()
}

fn go(source: &Source, node: Node<'_>) -> Vec<Import> {
    let Some(path) = node.child_by_field_name("path") else { return Vec::new() };
    let module = text_of_string(source, path);
    let last = module.rsplit('/').next().unwrap_or_default().to_owned();
    let (imported, local) = match node.child_by_field_name("name") {
        None => (ImportedItem::Module, last),
        Some(name) => match source.slice(name) {
            "." => (ImportedItem::All, "*".to_owned()),
            "_" => (ImportedItem::Module, String::new()),
            alias => (ImportedItem::Module, alias.to_owned()),
        },
    };
    vec![Import::new(&module, imported, &local, node)]
}
