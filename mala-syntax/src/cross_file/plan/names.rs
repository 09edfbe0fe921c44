//! Names that the change imports and that their modules must have.

use super::imports::{is_made_by_tools, relative_files};
use crate::cross_file::delta::FileDelta;
use crate::cross_file::words::is_standard_python;
use crate::rules::{is_sample, is_test_path};
use crate::symbols::{Import, ImportGuard, ImportedItem, files_of_module, join, parent};
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use std::collections::HashSet;

/// An import whose module must be there, and have the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameCheck {
    /// The file that imports.
    pub(crate) file: String,
    /// The line.
    pub(crate) line: u32,
    /// The module as written.
    pub(crate) module: String,
    /// The name that is taken from it.
    pub(crate) name: String,
    /// The language.
    pub(crate) language: Language,
    /// The possible locations of the module.
    pub(crate) places: Vec<ModuleLocation>,
}

/// One place where a module may be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ModuleLocation {
    /// The file that must be there for the place to count: that of the outermost package.
    pub(crate) package: Option<String>,
    /// The file that must not be there: that of a package around it.
    pub(crate) around: Option<String>,
    /// The files that the module may be.
    pub(crate) files: Vec<String>,
    /// The files that the name may be, as a module of its own.
    pub(crate) submodules: Vec<String>,
}

/// Checks beyond this many are left out.
const MAX_CHECKS: usize = 200;

/// Folders between a project's root and its Python packages.
const SOURCE_FOLDERS: [&str; 3] = ["", "src", "python"];

/// The names that the change imports, with the files that may have them.
pub(super) fn checks(deltas: &[FileDelta]) -> Vec<NameCheck> {
    deltas
        .iter()
        .filter(|delta| delta.head_path.as_deref().is_some_and(|path| !is_sample(&path.into())))
        .flat_map(added)
        .take(MAX_CHECKS)
        .collect()
}

fn added(delta: &FileDelta) -> Vec<NameCheck> {
    let (Some(head), Some(path)) = (&delta.head, &delta.head_path) else { return Vec::new() };
    let known: HashSet<(&str, &ImportedItem)> = delta
        .base
        .iter()
        .filter(|_| *path == delta.base_path)
        .flat_map(|base| &base.imports)
        .map(|import| (import.module.as_str(), &import.imported))
        .collect();
    head.imports
        .iter()
        .filter(|import| import.guard == ImportGuard::None)
        // A test that imports inside a function may test importing itself.
        .filter(|import| import.scope.is_none() || !is_test_path(&FilePath::from(path.as_str())))
        .filter(|import| !known.contains(&(import.module.as_str(), &import.imported)))
        .filter_map(|import| check(path, head.language, import))
        .collect()
}

fn check(path: &str, language: Language, import: &Import) -> Option<NameCheck> {
    let name = import.name().filter(|name| !name.starts_with('_'))?;
    let places = match language {
        Language::Python if import.module.starts_with('.') => relative_place(path, import),
        Language::Python => own_packages(path, import),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let files = relative_files(path, language, &import.module);
            let is_made = is_made_by_tools(&import.module);
            Some(ModuleLocation { files, ..ModuleLocation::default() })
                .filter(|place| !place.files.is_empty() && !is_made)
                .into_iter()
                .collect()
        }
        _ => return None,
    };
    (!places.is_empty()).then(|| NameCheck {
        file: path.to_owned(),
        line: import.line,
        module: import.module.clone(),
        name: name.to_owned(),
        language,
        places,
    })
}

fn relative_place(path: &str, import: &Import) -> Vec<ModuleLocation> {
    let files = relative_files(path, Language::Python, &import.module);
    let submodules = files_of_module(path, Language::Python, &import.submodule());
    let place = ModuleLocation { files, submodules, ..ModuleLocation::default() };
    if place.files.is_empty() || is_made_by_tools(&import.module) {
        Vec::new()
    } else {
        vec![place]
    }
}

/// The possible locations of a package of the project itself: next to folders around the importer
/// that are neither packages nor tests.
fn own_packages(path: &str, import: &Import) -> Vec<ModuleLocation> {
    let (first, rest) = import.module.split_once('.').unwrap_or((&import.module, ""));
    if is_standard_python(first) || is_made_by_tools(rest) || first.starts_with("test") {
        return Vec::new();
    }
    let module = import.module.replace('.', "/");
    let folders = std::iter::successors(Some(parent(path)), |folder| {
        (!folder.is_empty()).then(|| parent(folder))
    });
    let roots = folders.flat_map(|folder| SOURCE_FOLDERS.map(|source| join(folder, source)));
    let mut seen = HashSet::new();
    roots
        .flatten()
        .filter(|root| !root.split('/').any(|part| part.starts_with("test")))
        .filter(|root| seen.insert(root.clone()))
        .filter_map(|root| {
            let base = join(&root, &module)?;
            let package = join(&root, &format!("{first}/__init__.py"))?;
            let around = (!root.is_empty()).then(|| format!("{root}/__init__.py"));
            let files = spellings(&base);
            let submodules = spellings(&format!("{base}/{}", import.name().unwrap_or_default()));
            Some(ModuleLocation { package: Some(package), around, files, submodules })
        })
        .collect()
}

/// The files of a module; it may be built from another language.
fn spellings(base: &str) -> Vec<String> {
    ["/__init__.py", ".py", ".pyi", "/__init__.pyi", ".pyx", ".so", ".c", ".cpp", ".rs"]
        .iter()
        .map(|ending| format!("{base}{ending}"))
        .collect()
}

impl NameCheck {
    /// Every path whose existence affects the decision.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &String> {
        self.places.iter().flat_map(|place| {
            place.package.iter().chain(&place.around).chain(&place.files).chain(&place.submodules)
        })
    }

    /// The files that may have the name.
    pub(crate) fn files(&self) -> impl Iterator<Item = &String> {
        self.places.iter().flat_map(|place| &place.files)
    }
}
