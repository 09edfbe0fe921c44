//! Python: imports lead to files; a package passes on what its `__init__.py` imports.

use super::{Link, World, leads_to};
use crate::cross_file::contract::Symbol;
use crate::cross_file::user::UserFile;
use crate::symbols::{Import, Imported};

/// Why `path` means the symbol.
pub(super) fn denotes(
    world: &World<'_>,
    user: &UserFile,
    symbol: &Symbol,
    path: &[&str],
) -> Option<Link> {
    let (name, before) = path.split_last()?;
    let through = before.join(".");
    user.outline
        .imports
        .iter()
        .find(|import| {
            if before.is_empty() {
                return brings(world, user, import, symbol, name);
            }
            let module = match &import.imported {
                Imported::Module => import.module.clone(),
                Imported::Name(name) => submodule(&import.module, name),
                _ => return false,
            };
            // `local.sub.name` goes through a submodule of what was imported.
            let rest = through.strip_prefix(import.local.as_str());
            let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('.'));
            *name == symbol.name
                && rest.is_some_and(|rest| {
                    leads_to(world, user, &format!("{module}{rest}"), &symbol.file)
                })
        })
        .map(Link::through)
}

/// Whether an import brings the symbol under this name.
fn brings(
    world: &World<'_>,
    user: &UserFile,
    import: &Import,
    symbol: &Symbol,
    name: &str,
) -> bool {
    match &import.imported {
        Imported::Name(imported) if import.local == name => {
            *imported == symbol.name && leads_to(world, user, &import.module, &symbol.file)
                || passed_on(world, user, import, imported, symbol)
        }
        Imported::All => {
            name == symbol.name
                && !name.starts_with('_')
                && leads_to(world, user, &import.module, &symbol.file)
        }
        _ => false,
    }
}

fn passed_on(
    world: &World<'_>,
    user: &UserFile,
    import: &Import,
    imported: &str,
    symbol: &Symbol,
) -> bool {
    world.passers(symbol).iter().any(|(file, name)| {
        file.ends_with("__init__.py")
            && *name == imported
            && leads_to(world, user, &import.module, file)
    })
}

/// Whether an import needs this file: as a module, or as the module that a name is taken from.
pub(super) fn imports_file(
    world: &World<'_>,
    user: &UserFile,
    import: &Import,
    file: &str,
) -> bool {
    let as_submodule = import
        .name()
        .is_some_and(|name| leads_to(world, user, &submodule(&import.module, name), file));
    as_submodule || leads_to(world, user, &import.module, file)
}

fn submodule(module: &str, name: &str) -> String {
    if module.ends_with('.') { format!("{module}{name}") } else { format!("{module}.{name}") }
}
