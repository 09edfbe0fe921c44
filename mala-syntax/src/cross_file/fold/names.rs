//! Names that the change imports and that no file has.

use super::FoldContext;
use crate::cross_file::contract::Broken;
use crate::cross_file::plan::{ModuleLocation, NameCheck};
use crate::cross_file::report;
use crate::cross_file::user::UserFile;
use crate::symbols::{ImportedItem, Openness, Visibility};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;

/// One finding for every added import of a name that is not there.
pub(super) fn candidates(context: &FoldContext<'_>) -> Vec<ReviewClaim> {
    context.plan.names_imported.iter().filter_map(|check| candidate(context, check)).collect()
}

fn candidate(context: &FoldContext<'_>, check: &NameCheck) -> Option<ReviewClaim> {
    let places: Vec<&ModuleLocation> =
        check.places.iter().filter(|place| counts(context, place)).collect();
    let [place] = places.as_slice() else { return None };
    if place.submodules.iter().any(|path| context.tree.exists(path)) {
        return None;
    }
    let mut files: Vec<&String> =
        place.files.iter().filter(|path| context.tree.exists(path)).collect();
    if let Some(package) = files.iter().find(|path| path.ends_with("/__init__.py")).copied() {
        files = vec![package];
    }
    match files.as_slice() {
        // Relative imports that lead to no file are reported by another check.
        [] => {
            let made = || place.files.iter().any(|path| context.tree.ignored.leaves_out(path));
            let gone = || place.files.iter().any(|path| is_broken_module(context, path));
            (place.package.is_some() && !made() && !gone())
                .then(|| report::leads_nowhere(check, place))
        }
        [file] => {
            let user = context.users().find(|user| user.path == **file)?;
            let is_gone = lost_by_change(context, file, &check.name);
            (lacks(user, check) && !is_gone).then(|| report::lacks_name(check, file))
        }
        _ => None,
    }
}

/// Whether a module can be at this location: the project's own package exists there, and is not
/// part of another package.
fn counts(context: &FoldContext<'_>, place: &ModuleLocation) -> bool {
    place.package.as_ref().is_none_or(|path| context.tree.exists(path))
        && !place.around.as_ref().is_some_and(|path| context.tree.exists(path))
}

/// Whether the change removes the file, which is reported already.
fn is_broken_module(context: &FoldContext<'_>, path: &str) -> bool {
    context.plan.contracts.iter().any(|contract| {
        matches!(contract.broken, Broken::Module { .. }) && contract.symbol.file == path
    })
}

fn lost_by_change(context: &FoldContext<'_>, file: &str, name: &str) -> bool {
    context
        .plan
        .contracts
        .iter()
        .any(|contract| contract.symbol.file == file && contract.symbol.name == name)
}

/// Whether a file certainly does not export the name.
fn lacks(user: &UserFile, check: &NameCheck) -> bool {
    let outline = &user.outline;
    if outline.openness == Openness::Open {
        return false;
    }
    if check.language == Language::Python {
        let passes_all_on = outline.imports.iter().any(|it| it.imported == ImportedItem::All);
        // A package's folder may have a folder of the name.
        let may_be_folder =
            user.path.ends_with("__init__.py") && check.name.starts_with(char::is_lowercase);
        return !passes_all_on && !may_be_folder && user.lacking.contains(&check.name);
    }
    let passes_all_on = outline.exports.iter().any(|export| export.name == "*");
    let exports_it = outline.exports.iter().any(|export| export.name == check.name);
    let renames_it = outline.exports.iter().any(|export| export.local == check.name);
    let keeps_it = || {
        outline.definitions.iter().any(|it| {
            it.name == check.name
                && it.is_top_level()
                && (it.visibility == Visibility::Internal || renames_it)
        })
    };
    !user.path.ends_with(".d.ts")
        && !outline.exports.is_empty()
        && !passes_all_on
        && !exports_it
        && user.is_plain_module
        && (user.lacking.contains(&check.name) || keeps_it())
}
