//! Files of tests that the change deletes while it adds none and takes no code away.

use crate::cross_file::contract::{Broken, Contract};
use crate::cross_file::delta::FileDelta;
use crate::rules::is_test_path;
use crate::symbols::{Import, files_of_module, parent};
use mala_domain::change::{FilePath, FileStatus};
use mala_domain::language::Language;

/// A deleted file of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LostTests {
    /// The file at base.
    pub(crate) file: String,
    /// The files that it may have tested, the likeliest first.
    pub(crate) tested: Vec<String>,
}

/// Files beyond this many are left out.
const MAX_FILES: usize = 50;

/// The files of tests that are deleted while what they test stays, as far as the change shows.
pub(super) fn lost(deltas: &[FileDelta], contracts: &[Contract]) -> Vec<LostTests> {
    let is_test = |path: &str| is_test_path(&FilePath::from(path));
    let edits_tests = deltas.iter().any(|delta| delta.head_path.as_deref().is_some_and(is_test));
    let loses_code = contracts.iter().any(|contract| {
        let gone = matches!(contract.broken, Broken::Removed { .. } | Broken::Module { .. });
        gone && !is_test(&contract.symbol.file)
    }) || deltas
        .iter()
        .any(|delta| delta.status == FileStatus::Deleted && !is_test(&delta.base_path));
    if edits_tests || loses_code {
        return Vec::new();
    }
    deltas
        .iter()
        .filter(|delta| delta.status == FileStatus::Deleted && has_tests(delta))
        .map(|delta| LostTests { file: delta.base_path.clone(), tested: tested(delta) })
        .filter(|lost| !lost.tested.is_empty())
        .take(MAX_FILES)
        .collect()
}

/// Whether a deleted file had tests: its name says so, and not only its folder.
fn has_tests(delta: &FileDelta) -> bool {
    let name = delta.base_path.rsplit('/').next().unwrap_or_default();
    delta.base.is_some() && code_name(name).is_some()
}

/// The name of the file that a file of tests is about, by its own name.
fn code_name(test: &str) -> Option<String> {
    let (stem, ending) = test.rsplit_once('.')?;
    let code = stem
        .strip_prefix("test_")
        .or_else(|| stem.strip_suffix("_test"))
        .or_else(|| stem.strip_suffix(".test"))
        .or_else(|| stem.strip_suffix(".spec"))
        .or_else(|| stem.strip_suffix("_spec"))
        .or_else(|| stem.strip_suffix("Tests"))
        .or_else(|| stem.strip_suffix("Test"))?;
    (!code.is_empty()).then(|| format!("{code}.{ending}"))
}

/// The files that a file of tests may be about: those of its name around it, and those of its name
/// that it imports.
fn tested(delta: &FileDelta) -> Vec<String> {
    let path = &delta.base_path;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let Some(code) = code_name(name) else { return Vec::new() };
    let in_folder = |folder: &str| match folder {
        "" => code.clone(),
        folder => format!("{folder}/{code}"),
    };
    let mut found = vec![in_folder(folder)];
    if folder.rsplit('/').next().is_some_and(|last| last.starts_with("test") || last == "__tests__")
    {
        let around = parent(folder);
        let source = if around.is_empty() { "src".to_owned() } else { format!("{around}/src") };
        found.extend([in_folder(around), in_folder(&source)]);
    }
    found.push(in_folder(&folder.replacen("src/test/", "src/main/", 1)));
    let stem = code.split('.').next().unwrap_or_default();
    let language = delta.language.unwrap_or(Language::Python);
    let imports = delta.base.iter().flat_map(|base| &base.imports);
    let imported = imports.flat_map(|import| files_of(path, language, import));
    found.extend(imported.filter(|file| {
        let name = file.rsplit('/').next().unwrap_or_default();
        name.split('.').next() == Some(stem)
    }));
    found.retain(|file| file != path);
    found.dedup();
    found
}

fn files_of(path: &str, language: Language, import: &Import) -> Vec<String> {
    let mut found = files_of_module(path, language, &import.module);
    if language == Language::Python && import.name().is_some() {
        found.extend(files_of_module(path, language, &import.submodule()));
    }
    found
}
