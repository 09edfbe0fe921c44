//! Go: a folder is a package, and import paths end in folders.

use super::{Link, World};
use crate::cross_file::contract::Symbol;
use crate::cross_file::user::UserFile;
use crate::symbols::{Import, Imported, parent};

/// Why `path` means the symbol.
pub(super) fn denotes(
    world: &World<'_>,
    user: &UserFile,
    symbol: &Symbol,
    path: &[&str],
) -> Option<Link> {
    let folder = parent(&symbol.file);
    match path {
        [name] if *name == symbol.name => {
            let same = parent(&user.path) == folder && user.outline.package == symbol.package;
            let dotted =
                user.outline.imports.iter().find(|import| {
                    import.imported == Imported::All && leads_to(world, import, folder)
                });
            same.then(Link::in_scope).or_else(|| dotted.map(Link::through))
        }
        [package, name] if *name == symbol.name && name.starts_with(char::is_uppercase) => user
            .outline
            .imports
            .iter()
            .find(|import| {
                import.imported == Imported::Module
                    && is_called(import, package, symbol)
                    && leads_to(world, import, folder)
            })
            .map(Link::through),
        _ => None,
    }
}

/// Whether an import's package goes by this name in the file; without an alias it is the name in
/// the package's own files.
fn is_called(import: &Import, name: &str, symbol: &Symbol) -> bool {
    let last = import.module.rsplit('/').next().unwrap_or_default();
    import.local == name || import.local == last && symbol.package.as_deref() == Some(name)
}

/// Whether an import path is that of a folder.
pub(super) fn leads_to(world: &World<'_>, import: &Import, folder: &str) -> bool {
    world.go_modules.iter().any(|(root, module)| {
        let Some(rest) = import.module.strip_prefix(module.as_str()) else { return false };
        if !(rest.is_empty() || rest.starts_with('/')) {
            return false;
        }
        crate::symbols::join(root, rest).as_deref() == Some(folder)
    })
}
