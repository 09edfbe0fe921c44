//! Imports that lead nowhere.

use super::FoldContext;
use crate::cross_file::contract::Symbol;
use crate::cross_file::plan::{ImportCheck, in_folder, other_spellings};
use crate::cross_file::report;
use crate::cross_file::resolve::imports_of_module;
use crate::cross_file::user::UserFile;
use crate::symbols::{
    FileOutline, Import, ImportGuard, ImportedItem, Openness, RustModule, files_of_submodule,
    parent,
};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;
use std::collections::BTreeMap;

/// One finding for every file that still imports a module that is gone.
pub(super) fn candidates(
    context: &FoldContext<'_>,
    symbol: &Symbol,
    successor: Option<&str>,
) -> Vec<ReviewClaim> {
    context
        .users()
        .filter(|user| !is_left_over(context, user))
        .filter_map(|user| {
            let imports = imports_of_module(context.tree, user, symbol);
            let import = imports.into_iter().find(|import| {
                import.guard == ImportGuard::None && !resolves(context, user, import, symbol)
            })?;
            Some(report::lost_module(symbol, successor, user, &import))
        })
        .collect()
}

/// Whether a Rust file is no part of its crate: the module around it was read and does not name it.
fn is_left_over(context: &FoldContext<'_>, user: &UserFile) -> bool {
    let own = RustModule::of(&user.path);
    let Some((name, around)) = own.path.split_last() else { return false };
    if user.outline.language != Language::Rust {
        return false;
    }
    let mut parents = context.tree.outlines.iter().filter(|(path, _)| {
        let module = RustModule::of(path);
        module.root == own.root && module.path == around
    });
    let names_it = |outline: &FileOutline| {
        let named =
            |it: &Import| matches!(&it.imported, ImportedItem::Submodule(sub) if sub == name);
        outline.imports.iter().any(named)
    };
    let read = parents.clone().count();
    read > 0 && !parents.any(|(_, outline)| names_it(outline))
}

/// Whether an import resolves to something at head.
fn resolves(context: &FoldContext<'_>, user: &UserFile, import: &Import, symbol: &Symbol) -> bool {
    let tree = context.tree;
    let exists = |path: &str| tree.exists(path);
    if let ImportedItem::Submodule(name) = &import.imported {
        return files_of_submodule(&user.path, name).iter().any(|path| exists(path));
    }
    if symbol.language == Language::Rust {
        let module = RustModule::of(&symbol.file);
        let paths = tree.existing.iter().chain(tree.outlines.keys());
        return is_passed_on(context, &module)
            || paths.filter(|path| ***path != symbol.file).any(|p| RustModule::of(p) == module);
    }
    let is_beside = || {
        let own = parent(&symbol.file);
        let module = import.module.replace('.', "/");
        in_folder(parent(&user.path), &module)
            .iter()
            .any(|path| exists(path) && parent(path) != own)
    };
    other_spellings(&symbol.file, symbol.language).iter().any(|path| exists(path))
        || symbol.language == Language::Python
            && (is_in_package(context, import, symbol) || is_beside())
}

/// Whether the module around a Rust module that is gone has its name from elsewhere: `pub use`.
fn is_passed_on(context: &FoldContext<'_>, module: &RustModule) -> bool {
    let Some((name, around)) = module.path.split_last() else { return false };
    context.tree.outlines.iter().any(|(path, outline)| {
        let own = RustModule::of(path);
        let is_around = own.root == module.root && own.path == around;
        let has_it =
            |it: &Import| it.local == *name && !matches!(&it.imported, ImportedItem::Submodule(_));
        is_around && (outline.in_macros.contains(name) || outline.imports.iter().any(has_it))
    })
}

/// Whether the package of a Python module that is gone has its name from elsewhere.
fn is_in_package(context: &FoldContext<'_>, import: &Import, symbol: &Symbol) -> bool {
    let path = format!("{}/__init__.py", parent(&symbol.file));
    let path = path.trim_start_matches('/');
    let name = import.name().filter(|name| *name == symbol.name);
    let (Some(package), Some(name)) = (context.tree.outlines.get(path), name) else { return false };
    let is_the_lost_one = |import: &Import| {
        import.local == name
            && context.tree.leads_to(path, package.language, &import.submodule(), &symbol.file)
    };
    package.openness == Openness::Open
        || package.definitions.iter().any(|it| it.is_top_level() && it.name == name)
        || package.imports.iter().any(|import| {
            (import.local == name || import.imported == ImportedItem::All)
                && !is_the_lost_one(import)
        })
}

/// One finding for every file with added imports that lead to no file.
pub(super) fn unresolved(context: &FoldContext<'_>) -> Vec<ReviewClaim> {
    let tree = context.tree;
    let exists = |path: &str| tree.exists(path);
    let mut by_file: BTreeMap<&str, Vec<&ImportCheck>> = BTreeMap::new();
    for check in &context.plan.checks {
        let may_be = |path: &String| exists(path) || tree.ignored.leaves_out(path);
        if !check.candidates.iter().any(may_be) {
            by_file.entry(&check.file).or_default().push(check);
        }
    }
    by_file.values().filter_map(|checks| report::unresolved(checks)).collect()
}
