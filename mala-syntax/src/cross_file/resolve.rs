//! Whether a name in a file means a given thing of another file. A yes needs evidence: an import
//! that leads to the file, the same package, the same file.

mod ecmascript;
mod go;
mod ignored;
mod java;
mod python;
mod rust;
mod world;

pub(crate) use world::World;

use super::contract::Symbol;
use super::user::UserFile;
use crate::symbols::{Export, Guard, Import};
use mala_domain::language::Language;

/// Why a name means a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// The line of the import that leads there.
    pub(crate) import_line: Option<u32>,
    /// Whether the import may fail without harm.
    pub(crate) guard: Guard,
    /// How good the evidence is.
    pub(crate) evidence: Evidence,
}

/// How good the evidence is that a name means a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// No other thing has the name, and the file has to do with the thing.
    OnlyOne,
    /// The language's own rules lead there.
    Resolved,
}

impl Link {
    /// The name is in reach without an import.
    pub(crate) fn in_scope() -> Self {
        Self { import_line: None, guard: Guard::None, evidence: Evidence::Resolved }
    }

    /// An import leads there.
    pub(crate) fn through(import: &Import) -> Self {
        Self { import_line: Some(import.line), guard: import.guard, evidence: Evidence::Resolved }
    }
}

/// A name as it is written in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    /// Its parts: what is before the dots, then the name.
    pub(crate) path: &'a [&'a str],
    /// The module or function around it.
    pub(crate) scope: Option<&'a str>,
}

/// Why what is written in a file means the top-level thing; `None` when nothing says so.
pub(crate) fn denotes(
    world: &World<'_>,
    user: &UserFile,
    symbol: &Symbol,
    written: Written<'_>,
) -> Option<Link> {
    if !same_family(user.outline.language, symbol.language) {
        return None;
    }
    if user.path == symbol.file && written.path == [symbol.name.as_str()] {
        let imports_another = user.outline.imports.iter().any(|it| it.local == symbol.name);
        return (!imports_another).then(Link::in_scope);
    }
    match symbol.language {
        Language::Python => python::denotes(world, user, symbol, written.path),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            ecmascript::denotes(world, user, symbol, written.path)
        }
        Language::Go => go::denotes(world, user, symbol, written.path),
        Language::Rust => rust::denotes(world, user, symbol, written),
        Language::Java => java::denotes(user, symbol, written.path),
        _ => None,
    }
}

/// The imports of a file that lead to a whole file; for a module that is gone.
pub(crate) fn imports_of_module(
    world: &World<'_>,
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
            Language::Python => python::imports_file(world, user, import, &symbol.file),
            Language::Rust => rust::imports_file(world, user, import, &symbol.file),
            _ => leads_to(world, user, &import.module, &symbol.file),
        })
        .collect()
}

/// Whether a module name in a file leads to that path.
fn leads_to(world: &World<'_>, user: &UserFile, module: &str, path: &str) -> bool {
    world.leads_to(&user.path, user.outline.language, module, path)
}

/// Whether code of one language can name things of the other.
pub(crate) fn same_family(a: Language, b: Language) -> bool {
    family(a) == family(b)
}

fn family(language: Language) -> Language {
    match language {
        Language::JavaScript | Language::Tsx => Language::TypeScript,
        other => other,
    }
}
