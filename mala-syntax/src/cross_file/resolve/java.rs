//! Java: names live in packages, whatever the file.

use super::Link;
use crate::cross_file::contract::Symbol;
use crate::cross_file::user::UserFile;
use crate::symbols::Imported;

/// Why `path` means the symbol.
pub(super) fn denotes(user: &UserFile, symbol: &Symbol, path: &[&str]) -> Option<Link> {
    let (name, before) = path.split_last()?;
    let package = symbol.package.as_deref().unwrap_or_default();
    if !before.is_empty() {
        let full = before.join(".") == package && *name == symbol.name && !package.is_empty();
        return full.then(Link::in_scope);
    }
    let imports = &user.outline.imports;
    let named = imports.iter().find(|import| import.local == *name);
    if let Some(import) = named {
        let meant = import.module == package && import.name() == Some(symbol.name.as_str());
        return meant.then(|| Link::through(import));
    }
    if *name != symbol.name {
        return None;
    }
    let own = user.outline.package.as_deref().unwrap_or_default();
    if own == package {
        return Some(Link::in_scope());
    }
    imports
        .iter()
        .find(|import| import.imported == Imported::All && import.module == package)
        .map(Link::through)
}
