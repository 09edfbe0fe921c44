//! JavaScript and TypeScript: specifiers lead to files; barrels pass names on.

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
    user.outline
        .imports
        .iter()
        .find(|import| match (&import.imported, before) {
            (Imported::Name(imported), []) => {
                import.local == *name && reaches(world, user, import, imported, symbol)
            }
            (Imported::Default, []) => {
                import.local == *name
                    && symbol.name == "default"
                    && leads_to(world, user, &import.module, &symbol.file)
            }
            (Imported::Module, [through]) => {
                import.local == *through
                    && *name == symbol.name
                    && reaches(world, user, import, name, symbol)
            }
            _ => false,
        })
        .map(Link::through)
}

fn reaches(
    world: &World<'_>,
    user: &UserFile,
    import: &Import,
    imported: &str,
    symbol: &Symbol,
) -> bool {
    if imported == symbol.name && leads_to(world, user, &import.module, &symbol.file) {
        return true;
    }
    world
        .passers(symbol)
        .iter()
        .any(|(file, name)| *name == imported && leads_to(world, user, &import.module, file))
}
