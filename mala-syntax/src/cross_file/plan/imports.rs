//! Imports that the change adds and that must lead to a file.

use crate::cross_file::delta::FileDelta;
use crate::rules::{is_built, is_sample};
use crate::symbols::{Import, ImportGuard, ImportedItem, files_of_module, files_of_submodule};
use mala_domain::language::Language;
use std::collections::HashSet;

/// An import that must lead to one of these files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportCheck {
    /// The file that imports.
    pub(crate) file: String,
    /// The line.
    pub(crate) line: u32,
    /// The module as written.
    pub(crate) module: String,
    /// The language.
    pub(crate) language: Language,
    /// The files that it may refer to.
    pub(crate) candidates: Vec<String>,
}

/// Checks beyond this many are left out.
const MAX_CHECKS: usize = 2_000;

/// Folders and names whose files tools make, so that they are in no commit.
const MADE_BY_TOOLS: &[&str] = &[
    "dist",
    "build",
    "out",
    "lib",
    "generated",
    "__generated__",
    "gen",
    ".next",
    "node_modules",
    "target",
    "_version",
    "version",
    "__version__",
    "bundle",
    "public",
    "coverage",
    "wasm",
    "pkg",
    "proto",
    "codegen",
    // `six.moves` is made when it is imported.
    "moves",
];

/// The imports that the change adds, with the files that they need.
pub(super) fn checks(deltas: &[FileDelta]) -> Vec<ImportCheck> {
    let changed: HashSet<&str> =
        deltas.iter().filter_map(|delta| delta.head_path.as_deref()).collect();
    deltas
        .iter()
        .flat_map(added)
        .filter(|check| !check.candidates.is_empty())
        .filter(|check| !check.candidates.iter().any(|path| changed.contains(path.as_str())))
        .filter(|check| !is_made_by_tools(&check.module))
        .filter(|check| {
            let file = check.file.as_str().into();
            !is_sample(&file) && !is_built(&file)
        })
        .take(MAX_CHECKS)
        .collect()
}

fn added(delta: &FileDelta) -> Vec<ImportCheck> {
    let (Some(head), Some(path)) = (&delta.head, &delta.head_path) else { return Vec::new() };
    let moved = *path != delta.base_path;
    let known: HashSet<(&str, &ImportedItem)> = delta
        .base
        .iter()
        .filter(|_| !moved)
        .flat_map(|base| &base.imports)
        .map(|import| (import.module.as_str(), &import.imported))
        .collect();
    let imports = head
        .imports
        .iter()
        .filter(|import| import.guard == ImportGuard::None)
        .filter(|import| !known.contains(&(import.module.as_str(), &import.imported)))
        .map(|import| check(path, head.language, import));
    let passed_on = head.exports.iter().filter_map(|export| {
        let from = export.from.as_ref()?;
        let old = delta.base.iter().filter(|_| !moved).flat_map(|base| &base.exports);
        let is_known = old.into_iter().any(|old| old.from.as_ref() == Some(from));
        (!is_known).then(|| ImportCheck {
            file: path.clone(),
            line: export.line,
            module: from.clone(),
            language: head.language,
            candidates: relative_files(path, head.language, from),
        })
    });
    let mut found: Vec<ImportCheck> = imports.chain(passed_on).collect();
    let mut seen = HashSet::new();
    found.retain(|check| seen.insert(check.module.clone()));
    found
}

fn check(path: &str, language: Language, import: &Import) -> ImportCheck {
    let (module, candidates) = match &import.imported {
        ImportedItem::Submodule(name) if import.scope.is_none() => {
            (name.clone(), files_of_submodule(path, name))
        }
        ImportedItem::Submodule(name) => (name.clone(), Vec::new()),
        ImportedItem::Name(name) if language == Language::Python => {
            let mut files = relative_files(path, language, &import.module);
            if !files.is_empty() {
                files.extend(files_of_module(path, language, &format!("{}.{name}", import.module)));
            }
            (import.module.clone(), files)
        }
        _ => (import.module.clone(), relative_files(path, language, &import.module)),
    };
    ImportCheck { file: path.to_owned(), line: import.statement_line, module, language, candidates }
}

/// The files of a relative module; empty for one that the build may find elsewhere.
pub(super) fn relative_files(path: &str, language: Language, module: &str) -> Vec<String> {
    let is_relative = match language {
        Language::Python => {
            module.starts_with('.')
                && module.trim_start_matches('.').starts_with(char::is_alphabetic)
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            (module.starts_with("./") || module.starts_with("../"))
                && !module.contains(['!', '*', '$'])
        }
        _ => false,
    };
    if is_relative { files_of_module(path, language, module) } else { Vec::new() }
}

/// Whether a module's name indicates a generated file.
pub(super) fn is_made_by_tools(module: &str) -> bool {
    let parts = || module.split(['/', '.']).filter(|part| !part.is_empty());
    let last = parts().next_back().unwrap_or_default();
    parts().any(|part| MADE_BY_TOOLS.contains(&part))
        || last.starts_with('_')
        || last.ends_with("_pb2")
        || last.ends_with("_pb")
        || module.contains("generated")
        || module.contains(".gen")
}
