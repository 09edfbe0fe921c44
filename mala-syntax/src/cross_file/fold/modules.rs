//! Imports that lead nowhere.

use super::Scene;
use crate::cross_file::contract::Symbol;
use crate::cross_file::plan::{ImportCheck, in_folder, other_spellings};
use crate::cross_file::report;
use crate::cross_file::resolve::imports_of_module;
use crate::cross_file::user::UserFile;
use crate::symbols::{Guard, Import, Imported, RustModule, files_of_submodule, parent};
use mala_domain::finding::Candidate;
use mala_domain::language::Language;
use std::collections::BTreeMap;

/// One finding for every file that still imports a module that is gone.
pub(super) fn candidates(
    scene: &Scene<'_>,
    symbol: &Symbol,
    successor: Option<&str>,
) -> Vec<Candidate> {
    scene
        .users()
        .filter_map(|user| {
            let import =
                imports_of_module(scene.world, user, symbol).into_iter().find(|import| {
                    import.guard == Guard::None && !resolves(scene, user, import, symbol)
                })?;
            Some(report::lost_module(symbol, successor, user, import))
        })
        .collect()
}

/// Whether an import leads to something at head after all.
fn resolves(scene: &Scene<'_>, user: &UserFile, import: &Import, symbol: &Symbol) -> bool {
    let world = scene.world;
    let exists = |path: &str| world.existing.contains(path) || world.outlines.contains_key(path);
    if let Imported::Submodule(name) = &import.imported {
        return files_of_submodule(&user.path, name).iter().any(|path| exists(path));
    }
    if symbol.language == Language::Rust {
        let module = RustModule::of(&symbol.file);
        let paths = world.existing.iter().chain(world.outlines.keys());
        return paths.filter(|path| ***path != symbol.file).any(|p| RustModule::of(p) == module);
    }
    let is_in_package = || {
        let package = format!("{}/__init__.py", parent(&symbol.file));
        let package = world.outlines.get(package.trim_start_matches('/'));
        let name = import.name().filter(|name| *name == symbol.name);
        package.zip(name).is_some_and(|(package, name)| package.bound().contains(name))
    };
    let is_beside = || {
        let module = import.module.replace('.', "/");
        in_folder(parent(&user.path), &module).iter().any(|path| exists(path))
    };
    other_spellings(&symbol.file, symbol.language).iter().any(|path| exists(path))
        || symbol.language == Language::Python && (is_in_package() || is_beside())
}

/// One finding for every file with added imports that lead to no file.
pub(super) fn unresolved(scene: &Scene<'_>) -> Vec<Candidate> {
    let world = scene.world;
    let exists = |path: &str| world.existing.contains(path) || world.outlines.contains_key(path);
    let mut by_file: BTreeMap<&str, Vec<&ImportCheck>> = BTreeMap::new();
    for check in &scene.plan.checks {
        let may_be = |path: &String| exists(path) || world.ignored.leaves_out(path);
        if !check.candidates.iter().any(may_be) {
            by_file.entry(&check.file).or_default().push(check);
        }
    }
    by_file.values().filter_map(|checks| report::unresolved(checks)).collect()
}
