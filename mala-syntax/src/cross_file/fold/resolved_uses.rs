//! Finds the uses in a file that refer to a given definition.

use super::FoldContext;
use super::members;
use crate::cross_file::contract::Symbol;
use crate::cross_file::fit::CallReceiver;
use crate::cross_file::resolve::{NameLink, WrittenPath, denotes};
use crate::cross_file::user::UserFile;
use crate::symbols::{ImportGuard, ImportedItem, SymbolUse, UseBinding, UseKind};
use mala_domain::language::Language;

/// A use that refers to the definition.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResolvedUse<'u> {
    /// The use.
    pub(super) found: &'u SymbolUse,
    /// The evidence.
    pub(super) link: NameLink,
    /// The expression before its name.
    pub(super) before: CallReceiver,
}

/// The uses in a file that mean the symbol.
pub(super) fn resolved_uses<'u>(
    context: &FoldContext<'_>,
    user: &'u UserFile,
    symbol: &Symbol,
) -> Vec<ResolvedUse<'u>> {
    let aliases = aliases(user, symbol);
    if user.path == symbol.file && copes_without(user, symbol) {
        return Vec::new();
    }
    user.uses
        .iter()
        .filter(|found| found.kind == UseKind::Reads)
        .filter(|found| !is_field_or_method(symbol, found))
        .filter(|found| found.name == symbol.name || aliases.contains(&found.name.as_str()))
        .filter_map(|found| match &symbol.container {
            None => top_level(context, user, symbol, found),
            Some(container) => members::resolved_use(context, user, (symbol, container), found),
        })
        .filter(|resolved_use| resolved_use.link.guard == ImportGuard::None)
        .collect()
}

/// Whether a file tests at runtime whether the removed name exists: `typeof name`.
fn copes_without(user: &UserFile, symbol: &Symbol) -> bool {
    user.uses.iter().any(|found| found.kind == UseKind::Tries && found.name == symbol.name)
}

/// Rust's `self.name` is a field when it is not called, and never a free function.
fn is_field_or_method(symbol: &Symbol, found: &SymbolUse) -> bool {
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
            ImportedItem::Name(name) => *name == symbol.name,
            ImportedItem::Default => symbol.name == "default",
            _ => false,
        })
        .map(|import| import.local.as_str())
        .collect()
}

fn top_level<'u>(
    context: &FoldContext<'_>,
    user: &'u UserFile,
    symbol: &Symbol,
    found: &'u SymbolUse,
) -> Option<ResolvedUse<'u>> {
    if is_shadowed(user, symbol, found) {
        return None;
    }
    let link = written(context, user, symbol, found)?;
    Some(ResolvedUse { found, link, before: CallReceiver::Object })
}

/// The evidence that a use, as written, refers to a top-level definition.
fn written(
    context: &FoldContext<'_>,
    user: &UserFile,
    symbol: &Symbol,
    found: &SymbolUse,
) -> Option<NameLink> {
    let receiver = found.receiver.as_deref();
    let mut path: Vec<&str> = receiver.iter().flat_map(|text| text.split('.')).collect();
    path.push(&found.name);
    let written = WrittenPath { path: &path, scope: found.within.as_deref() };
    denotes(context.tree, user, symbol, written)
}

/// Whether the name, or the first name of its receiver, refers to a definition of the file itself.
pub(super) fn is_shadowed(user: &UserFile, symbol: &Symbol, found: &SymbolUse) -> bool {
    let root = found.receiver.as_deref().and_then(|text| text.split('.').next());
    let root = root.unwrap_or(&found.name);
    match found.binding {
        UseBinding::Free => false,
        UseBinding::Inside => true,
        UseBinding::AtTop => {
            user.path != symbol.file
                && !user.outline.imports.iter().any(|import| import.local == root)
        }
    }
}
