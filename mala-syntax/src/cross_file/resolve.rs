//! Whether a name in a file means a given symbol of another file. This needs evidence: an import
//! that leads to the file, the same package, or the same file.

mod head_tree;
mod ignored;
mod rust;

pub(crate) use head_tree::HeadTree;

use super::contract::Symbol;
use super::user::UserFile;
use crate::symbols::{Export, Import, ImportGuard, ImportedItem, parent};
use mala_domain::language::Language;

/// The evidence that a name means a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameLink {
    /// The line of the import that leads there.
    pub(crate) import_line: Option<u32>,
    /// Whether the import may fail without harm.
    pub(crate) guard: ImportGuard,
    /// The strength of the evidence.
    pub(crate) evidence: Evidence,
}

/// The strength of the evidence that a name refers to a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// No other definition has the name, and the file is related to the definition.
    OnlyOne,
    /// The language's own rules lead there.
    Resolved,
}

impl NameLink {
    /// The name is in reach without an import.
    pub(crate) fn in_scope() -> Self {
        Self { import_line: None, guard: ImportGuard::None, evidence: Evidence::Resolved }
    }

    /// An import leads there.
    pub(crate) fn through(import: &Import) -> Self {
        Self { import_line: Some(import.line), guard: import.guard, evidence: Evidence::Resolved }
    }
}

/// A name as it is written in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenPath<'a> {
    /// Its parts: the qualifiers, then the name.
    pub(crate) path: &'a [&'a str],
    /// The module or function around it.
    pub(crate) scope: Option<&'a str>,
}

/// The evidence that a path in a file refers to the top-level symbol; `None` if there is none.
pub(crate) fn denotes(
    tree: &HeadTree<'_>,
    user: &UserFile,
    symbol: &Symbol,
    written: WrittenPath<'_>,
) -> Option<NameLink> {
    if !same_family(user.outline.language, symbol.language) {
        return None;
    }
    if user.path == symbol.file && written.path == [symbol.name.as_str()] {
        let imports_another = user.outline.imports.iter().any(|it| it.local == symbol.name);
        return (!imports_another).then(NameLink::in_scope);
    }
    match symbol.language {
        Language::Python => denotes_in_python(tree, user, symbol, written.path),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            denotes_in_script(tree, user, symbol, written.path)
        }
        Language::Go => denotes_in_go(tree, user, symbol, written.path),
        Language::Rust => rust::denotes(tree, user, symbol, written),
        Language::Java => denotes_in_java(user, symbol, written.path),
        _ => None,
    }
}

/// The imports of a file that lead to a whole file; for a module that is gone.
pub(crate) fn imports_of_module(
    tree: &HeadTree<'_>,
    user: &UserFile,
    symbol: &Symbol,
) -> Vec<Import> {
    if !same_family(user.outline.language, symbol.language) {
        return Vec::new();
    }
    let passed_on = user.outline.exports.iter().filter_map(Export::as_import);
    user.outline
        .imports
        .iter()
        .cloned()
        .chain(passed_on)
        .filter(|import| match symbol.language {
            Language::Python => imports_python_file(tree, user, import, &symbol.file),
            Language::Rust => rust::imports_file(tree, user, import, &symbol.file),
            _ => leads_to(tree, user, &import.module, &symbol.file),
        })
        .collect()
}

/// Whether a module name in a file leads to that path.
fn leads_to(tree: &HeadTree<'_>, user: &UserFile, module: &str, path: &str) -> bool {
    tree.leads_to(&user.path, user.outline.language, module, path)
}

/// Whether code of one language can refer to definitions of the other.
pub(crate) fn same_family(a: Language, b: Language) -> bool {
    family(a) == family(b)
}

fn family(language: Language) -> Language {
    match language {
        Language::JavaScript | Language::Tsx => Language::TypeScript,
        other => other,
    }
}

/// JavaScript and TypeScript: specifiers lead to files, and barrel files re-export names.
fn denotes_in_script(
    tree: &HeadTree<'_>,
    user: &UserFile,
    symbol: &Symbol,
    path: &[&str],
) -> Option<NameLink> {
    let (name, before) = path.split_last()?;
    user.outline
        .imports
        .iter()
        .find(|import| match (&import.imported, before) {
            (ImportedItem::Name(imported), []) => {
                import.local == *name && reaches_in_script(tree, user, import, imported, symbol)
            }
            (ImportedItem::Default, []) => {
                import.local == *name
                    && symbol.name == "default"
                    && leads_to(tree, user, &import.module, &symbol.file)
            }
            (ImportedItem::Module, [through]) => {
                import.local == *through
                    && *name == symbol.name
                    && reaches_in_script(tree, user, import, name, symbol)
            }
            _ => false,
        })
        .map(NameLink::through)
}

fn reaches_in_script(
    tree: &HeadTree<'_>,
    user: &UserFile,
    import: &Import,
    imported: &str,
    symbol: &Symbol,
) -> bool {
    if imported == symbol.name && leads_to(tree, user, &import.module, &symbol.file) {
        return true;
    }
    tree.reexports(symbol)
        .iter()
        .any(|(file, name)| *name == imported && leads_to(tree, user, &import.module, file))
}

/// Python: imports lead to files, and a package re-exports what its `__init__.py` imports.
fn denotes_in_python(
    tree: &HeadTree<'_>,
    user: &UserFile,
    symbol: &Symbol,
    path: &[&str],
) -> Option<NameLink> {
    let (name, before) = path.split_last()?;
    let through = before.join(".");
    user.outline
        .imports
        .iter()
        .find(|import| {
            if before.is_empty() {
                return brings(tree, user, import, symbol, name);
            }
            let module = match &import.imported {
                ImportedItem::Module => import.module.clone(),
                ImportedItem::Name(name) => submodule(&import.module, name),
                _ => return false,
            };
            // `local.sub.name` goes through a submodule of the import.
            let rest = through.strip_prefix(import.local.as_str());
            let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('.'));
            *name == symbol.name
                && rest.is_some_and(|rest| {
                    leads_to(tree, user, &format!("{module}{rest}"), &symbol.file)
                })
        })
        .map(NameLink::through)
}

/// Whether an import brings the symbol under this name.
fn brings(
    tree: &HeadTree<'_>,
    user: &UserFile,
    import: &Import,
    symbol: &Symbol,
    name: &str,
) -> bool {
    match &import.imported {
        ImportedItem::Name(imported) if import.local == name => {
            *imported == symbol.name && leads_to(tree, user, &import.module, &symbol.file)
                || passed_on_by_package(tree, user, import, imported, symbol)
        }
        ImportedItem::All => {
            name == symbol.name
                && !name.starts_with('_')
                && leads_to(tree, user, &import.module, &symbol.file)
        }
        _ => false,
    }
}

fn passed_on_by_package(
    tree: &HeadTree<'_>,
    user: &UserFile,
    import: &Import,
    imported: &str,
    symbol: &Symbol,
) -> bool {
    tree.reexports(symbol).iter().any(|(file, name)| {
        file.ends_with("__init__.py")
            && *name == imported
            && leads_to(tree, user, &import.module, file)
    })
}

/// Whether an import needs this file: as a module, or as the module that a name is taken from.
fn imports_python_file(tree: &HeadTree<'_>, user: &UserFile, import: &Import, file: &str) -> bool {
    let as_submodule = import
        .name()
        .is_some_and(|name| leads_to(tree, user, &submodule(&import.module, name), file));
    as_submodule || leads_to(tree, user, &import.module, file)
}

fn submodule(module: &str, name: &str) -> String {
    if module.ends_with('.') { format!("{module}{name}") } else { format!("{module}.{name}") }
}

/// Go: a folder is a package, and import paths end in folders.
fn denotes_in_go(
    tree: &HeadTree<'_>,
    user: &UserFile,
    symbol: &Symbol,
    path: &[&str],
) -> Option<NameLink> {
    let folder = parent(&symbol.file);
    match path {
        [name] if *name == symbol.name => {
            let same = parent(&user.path) == folder && user.outline.package == symbol.package;
            let dotted = user.outline.imports.iter().find(|import| {
                import.imported == ImportedItem::All && leads_to_package(tree, import, folder)
            });
            same.then(NameLink::in_scope).or_else(|| dotted.map(NameLink::through))
        }
        [package, name] if *name == symbol.name && name.starts_with(char::is_uppercase) => user
            .outline
            .imports
            .iter()
            .find(|import| {
                import.imported == ImportedItem::Module
                    && is_called(import, package, symbol)
                    && leads_to_package(tree, import, folder)
            })
            .map(NameLink::through),
        _ => None,
    }
}

/// Whether an import's package has this name in the file; without an alias, it is the name in the
/// package's own files.
fn is_called(import: &Import, name: &str, symbol: &Symbol) -> bool {
    let last = import.module.rsplit('/').next().unwrap_or_default();
    import.local == name || import.local == last && symbol.package.as_deref() == Some(name)
}

/// Whether an import path is that of a folder.
fn leads_to_package(tree: &HeadTree<'_>, import: &Import, folder: &str) -> bool {
    tree.go_modules.iter().any(|(root, module)| {
        let Some(rest) = import.module.strip_prefix(module.as_str()) else { return false };
        if !(rest.is_empty() || rest.starts_with('/')) {
            return false;
        }
        crate::symbols::join(root, rest).as_deref() == Some(folder)
    })
}

/// Java: names belong to packages, independent of files.
fn denotes_in_java(user: &UserFile, symbol: &Symbol, path: &[&str]) -> Option<NameLink> {
    let (name, before) = path.split_last()?;
    let package = symbol.package.as_deref().unwrap_or_default();
    if !before.is_empty() {
        let full = before.join(".") == package && *name == symbol.name && !package.is_empty();
        return full.then(NameLink::in_scope);
    }
    let imports = &user.outline.imports;
    let named = imports.iter().find(|import| import.local == *name);
    if let Some(import) = named {
        let meant = import.module == package && import.name() == Some(symbol.name.as_str());
        return meant.then(|| NameLink::through(import));
    }
    if *name != symbol.name {
        return None;
    }
    let own = user.outline.package.as_deref().unwrap_or_default();
    if own == package {
        return Some(NameLink::in_scope());
    }
    imports
        .iter()
        .find(|import| import.imported == ImportedItem::All && import.module == package)
        .map(NameLink::through)
}
