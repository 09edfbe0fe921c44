//! Rust: paths lead through modules, and a module is a file or a block in one.

use super::{HeadTree, NameLink, WrittenPath};
use crate::cross_file::contract::Symbol;
use crate::cross_file::user::UserFile;
use crate::symbols::{DefinitionKind, Import, ImportedItem, RustModule};

/// Maximum length of a chain of imports.
const MAX_HOPS: usize = 6;

/// A path from the root of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Absolute {
    root: String,
    path: Vec<String>,
    import_line: Option<u32>,
}

/// The evidence that a path means the symbol.
pub(super) fn denotes(
    tree: &HeadTree<'_>,
    user: &UserFile,
    symbol: &Symbol,
    written: WrittenPath<'_>,
) -> Option<NameLink> {
    let target = target(symbol);
    absolute(tree, user, written)
        .into_iter()
        .find(|found| {
            let direct = found.root == target.root && found.path == target.path;
            direct || passed_on(tree, found, &target, symbol)
        })
        .map(|found| NameLink { import_line: found.import_line, ..NameLink::in_scope() })
}

fn target(symbol: &Symbol) -> Absolute {
    let module = RustModule::of(&symbol.file);
    let mut path = module.path;
    path.push(symbol.name.clone());
    Absolute { root: module.root, path, import_line: None }
}

/// Whether a module in between re-exports the symbol with `pub use`.
fn passed_on(tree: &HeadTree<'_>, found: &Absolute, target: &Absolute, symbol: &Symbol) -> bool {
    let Some((name, module)) = found.path.split_last() else { return false };
    if found.root != target.root || *name != symbol.name {
        return false;
    }
    tree.outlines.iter().any(|(path, outline)| {
        let at = RustModule::of(path);
        at.root == found.root
            && at.path == module
            && outline.imports.iter().any(|import| {
                let brings = import.name() == Some(name) || import.imported == ImportedItem::All;
                let mut source = segments(&import.module);
                resolve_head(&mut source, &at);
                source.push(symbol.name.as_str().to_owned());
                brings && import.scope.is_none() && source == target.path
            })
    })
}

/// The absolute forms of a path in a file, according to imports and modules; several if glob
/// imports of several modules are possible.
fn absolute(tree: &HeadTree<'_>, user: &UserFile, written: WrittenPath<'_>) -> Vec<Absolute> {
    let own = RustModule::of(&user.path);
    let at = RustModule {
        path: [own.path.clone(), inline_modules(user, written.scope)].concat(),
        root: own.root.clone(),
    };
    let mut path: Vec<String> = written.path.iter().map(|part| (*part).to_owned()).collect();
    let mut import_line = None;
    for _ in 0..MAX_HOPS {
        let Some(first) = path.first().cloned() else { return Vec::new() };
        if matches!(first.as_str(), "crate" | "self" | "super") {
            resolve_head(&mut path, &at);
            return vec![Absolute { root: own.root, path, import_line }];
        }
        let Some(import) = import_of(user, &first) else {
            if let Some(root) = crate_called(tree, &first) {
                return vec![Absolute { root, path: path.split_off(1), import_line }];
            }
            let found = in_own_module(user, &at, &path);
            let line =
                |one: Absolute| Absolute { import_line: import_line.or(one.import_line), ..one };
            return found.into_iter().map(line).collect();
        };
        import_line = import_line.or(Some(import.line));
        let mut start = segments(&import.module);
        start.extend(import.name().map(str::to_owned));
        if start == [first] {
            return Vec::new();
        }
        start.extend(path.into_iter().skip(1));
        path = start;
    }
    Vec::new()
}

/// A path that starts with a module that the file declares, or with a name that some `*` brings.
fn in_own_module(user: &UserFile, at: &RustModule, path: &[String]) -> Vec<Absolute> {
    let Some(first) = path.first() else { return Vec::new() };
    let is_submodule = || {
        user.outline.definitions.iter().any(|definition| {
            definition.kind == DefinitionKind::Module
                && definition.name == *first
                && definition.container.is_none()
        })
    };
    if path.len() > 1 && is_submodule() {
        let own = RustModule::of(&user.path);
        let path = [own.path.as_slice(), path].concat();
        return vec![Absolute { root: own.root, path, import_line: None }];
    }
    let globs = user.outline.imports.iter().filter(|import| import.imported == ImportedItem::All);
    globs
        .filter_map(|import| {
            let mut module = segments(&import.module);
            matches!(module.first()?.as_str(), "crate" | "self" | "super").then(|| {
                resolve_head(&mut module, at);
                module.extend_from_slice(path);
                Absolute { root: at.root.clone(), path: module, import_line: Some(import.line) }
            })
        })
        .collect()
}

/// The modules written inside the file that are around a scope.
fn inline_modules(user: &UserFile, scope: Option<&str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in scope.unwrap_or_default().split('.').filter(|part| !part.is_empty()) {
        let container = (!found.is_empty()).then(|| found.join("."));
        let is_module = user.outline.definitions.iter().any(|definition| {
            definition.kind == DefinitionKind::Module
                && definition.name == part
                && definition.container == container
        });
        if !is_module {
            break;
        }
        found.push(part.to_owned());
    }
    found
}

fn import_of<'u>(user: &'u UserFile, local: &str) -> Option<&'u Import> {
    user.outline.imports.iter().find(|import| {
        import.local == local
            && matches!(import.imported, ImportedItem::Name(_) | ImportedItem::Module)
    })
}

fn crate_called(tree: &HeadTree<'_>, name: &str) -> Option<String> {
    tree.crates.iter().find(|(_, crate_name)| *crate_name == name).map(|(root, _)| root.clone())
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Replaces `crate`, `self` and `super` at the start of a path.
fn resolve_head(path: &mut Vec<String>, at: &RustModule) {
    let mut base = at.path.clone();
    let mut n_used = 0;
    for part in path.iter() {
        match part.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => {
                base.pop();
            }
            _ => break,
        }
        n_used += 1;
    }
    if n_used == 0 {
        return;
    }
    base.extend(path.drain(n_used..));
    *path = base;
}

/// Whether an import needs this file: `mod name;`, or a path through its module.
pub(super) fn imports_file(
    tree: &HeadTree<'_>,
    user: &UserFile,
    import: &Import,
    file: &str,
) -> bool {
    if let ImportedItem::Submodule(name) = &import.imported {
        return crate::symbols::files_of_submodule(&user.path, name).iter().any(|f| f == file);
    }
    let target = RustModule::of(file);
    if target.path.is_empty() {
        return false;
    }
    let mut path = segments(&import.module);
    path.extend(import.name().map(str::to_owned));
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let written = WrittenPath { path: &parts, scope: import.scope.as_deref() };
    let starts_here = matches!(parts.first(), Some(&("crate" | "self" | "super")))
        || parts.first().is_some_and(|first| crate_called(tree, first).is_some());
    starts_here
        && absolute(tree, user, written)
            .iter()
            .any(|found| found.root == target.root && found.path.starts_with(&target.path))
}
