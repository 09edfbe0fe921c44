//! The uses in a file that mean a given thing.

use super::Scene;
use super::members;
use crate::cross_file::contract::Symbol;
use crate::cross_file::fit::Before;
use crate::cross_file::resolve::{Link, Written, denotes};
use crate::cross_file::user::UserFile;
use crate::symbols::{Binding, Deed, Guard, Imported, Use};
use mala_domain::language::Language;

/// A use that means the thing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight<'u> {
    /// The use.
    pub(super) found: &'u Use,
    /// Why it means the thing.
    pub(super) link: Link,
    /// What stands before its name.
    pub(super) before: Before,
}

/// The uses in a file that mean the symbol.
pub(super) fn sights<'u>(scene: &Scene<'_>, user: &'u UserFile, symbol: &Symbol) -> Vec<Sight<'u>> {
    let aliases = aliases(user, symbol);
    if user.path == symbol.file && copes_without(user, symbol) {
        return Vec::new();
    }
    user.uses
        .iter()
        .filter(|found| found.deed == Deed::Reads)
        .filter(|found| !is_field_or_method(symbol, found))
        .filter(|found| found.name == symbol.name || aliases.contains(&found.name.as_str()))
        .filter_map(|found| match &symbol.container {
            None => top_level(scene, user, symbol, found),
            Some(container) => members::sight(scene, user, (symbol, container), found),
        })
        .filter(|sight| sight.link.guard == Guard::None)
        .collect()
}

/// Whether a file asks whether its surroundings have a name that it no longer defines: `typeof name`.
fn copes_without(user: &UserFile, symbol: &Symbol) -> bool {
    user.uses.iter().any(|found| found.deed == Deed::Tries && found.name == symbol.name)
}

/// Rust's `self.name` is a field when it is not called, and never a free function.
fn is_field_or_method(symbol: &Symbol, found: &Use) -> bool {
    let through_self = found.receiver.as_deref() == Some("self");
    let is_field = symbol.kind.is_callable() && found.receiver.is_some() && found.call.is_none();
    let is_method = symbol.container.is_none() && symbol.kind.is_callable() && through_self;
    symbol.language == Language::Rust && (is_field && through_self || is_method)
}

/// The names that the symbol has in this file by import.
fn aliases<'u>(user: &'u UserFile, symbol: &Symbol) -> Vec<&'u str> {
    user.outline
        .imports
        .iter()
        .filter(|import| match &import.imported {
            Imported::Name(name) => *name == symbol.name,
            Imported::Default => symbol.name == "default",
            _ => false,
        })
        .map(|import| import.local.as_str())
        .collect()
}

fn top_level<'u>(
    scene: &Scene<'_>,
    user: &'u UserFile,
    symbol: &Symbol,
    found: &'u Use,
) -> Option<Sight<'u>> {
    if is_shadowed(user, symbol, found) {
        return None;
    }
    let link = written(scene, user, symbol, found)?;
    Some(Sight { found, link, before: Before::Object })
}

/// Why a use as it is written means a top-level thing.
fn written(scene: &Scene<'_>, user: &UserFile, symbol: &Symbol, found: &Use) -> Option<Link> {
    let receiver = found.receiver.as_deref();
    let mut path: Vec<&str> = receiver.iter().flat_map(|text| text.split('.')).collect();
    path.push(&found.name);
    let written = Written { path: &path, scope: found.within.as_deref() };
    denotes(scene.world, user, symbol, written)
}

/// Whether the file means a thing of its own by the name, or by the first name of its receiver.
pub(super) fn is_shadowed(user: &UserFile, symbol: &Symbol, found: &Use) -> bool {
    let root = found.receiver.as_deref().and_then(|text| text.split('.').next());
    let root = root.unwrap_or(&found.name);
    match found.binding {
        Binding::Free => false,
        Binding::Inside => true,
        Binding::AtTop => {
            user.path != symbol.file
                && !user.outline.imports.iter().any(|import| import.local == root)
        }
    }
}
