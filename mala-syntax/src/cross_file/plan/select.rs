//! Selects the files to read from the search results.

use super::LookupPlan;
use crate::cross_file::contract::Broken;
use crate::symbols::parent;
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use mala_domain::ports::WordHit;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Files beyond this many are not read: to read one costs about as much as to search ten.
const MAX_FILES: usize = 160;

/// For a word in more files than this, only the nearest files are read.
const MAX_FILES_A_WORD: usize = 40;

/// Folders of other people's code.
const FOREIGN: &[&str] = &[
    "node_modules",
    "vendor",
    "third_party",
    "third-party",
    "bower_components",
    ".yarn",
    "site-packages",
];

/// The files to read: those that define module names, changed ones that may have kept a use, and
/// those with the rarest words.
pub(super) fn files(plan: &LookupPlan, hits: &[WordHit], existing: &[FilePath]) -> Vec<FilePath> {
    let mut chosen: Vec<FilePath> = Vec::new();
    let mut seen: HashSet<FilePath> = HashSet::new();
    let mut add = |path: FilePath| {
        if seen.insert(path.clone()) {
            chosen.push(path);
        }
    };
    context_files(plan).into_iter().for_each(|path| add(FilePath::from(path.as_str())));
    imported_files(plan, existing).into_iter().for_each(&mut add);
    let mut by_rarity: Vec<Vec<&FilePath>> = files_by_word(plan, hits)
        .into_iter()
        .map(|(word, files)| nearest(plan, &word, files))
        .collect();
    by_rarity.sort_by_key(Vec::len);
    for files in by_rarity {
        files.into_iter().take(MAX_FILES_A_WORD).cloned().for_each(&mut add);
    }
    chosen.truncate(MAX_FILES);
    chosen
}

fn is_foreign(file: &FilePath) -> bool {
    file.to_text().split('/').any(|part| FOREIGN.contains(&part))
}

/// The files that names are imported from.
fn imported_files(plan: &LookupPlan, existing: &[FilePath]) -> Vec<FilePath> {
    const MAX_IMPORTED: usize = 40;
    let wanted: HashSet<&str> =
        plan.names_imported.iter().flat_map(|check| check.files()).map(String::as_str).collect();
    let found = existing.iter().filter(|path| wanted.contains(&*path.to_text()));
    found.take(MAX_IMPORTED).cloned().collect()
}

/// The words that also occur in files that were not read.
pub(super) fn words_half_seen(
    plan: &LookupPlan,
    hits: &[WordHit],
    read: &HashSet<&FilePath>,
) -> HashSet<String> {
    files_by_word(plan, hits)
        .into_iter()
        .filter(|(_, files)| files.iter().any(|file| !read.contains(file)))
        .map(|(word, _)| word)
        .collect()
}

/// The files with a word, those nearest to the definition of the word first.
fn nearest<'h>(plan: &LookupPlan, word: &str, files: BTreeSet<&'h FilePath>) -> Vec<&'h FilePath> {
    let homes: Vec<&str> = plan
        .contracts
        .iter()
        .filter(|contract| contract.symbol.name == word)
        .map(|contract| parent(&contract.symbol.file))
        .collect();
    let mut files: Vec<&FilePath> = files.into_iter().collect();
    if files.len() > MAX_FILES_A_WORD {
        files.sort_by_key(|file| {
            let path = file.to_text();
            std::cmp::Reverse(homes.iter().map(|home| n_shared(home, &path)).max())
        });
    }
    files
}

/// How many folders two paths share from the root.
fn n_shared(folder: &str, path: &str) -> usize {
    folder.split('/').zip(parent(path).split('/')).take_while(|(a, b)| a == b).count()
}

fn files_by_word<'h>(
    plan: &LookupPlan,
    hits: &'h [WordHit],
) -> BTreeMap<String, BTreeSet<&'h FilePath>> {
    let words: HashSet<&str> = plan.words().iter().map(String::as_str).collect();
    let mut by_word: BTreeMap<String, BTreeSet<&FilePath>> = BTreeMap::new();
    for hit in hits.iter().filter(|hit| Language::of_path(&hit.file).is_some()) {
        if is_foreign(&hit.file) {
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        for word in hit.text.split(|c: char| !is_word(c)).filter(|word| words.contains(word)) {
            by_word.entry(word.to_owned()).or_default().insert(&hit.file);
        }
    }
    by_word
}

/// The files that are always read.
fn context_files(plan: &LookupPlan) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for delta in plan.deltas.iter().filter(|delta| delta.may_use_its_own) {
        found.extend(delta.head_path.clone());
    }
    for wanted in plan.checks.iter().filter_map(|check| check.candidates.first()) {
        found.extend(folders(parent(wanted)).map(|f| in_folder(f, ".gitignore")));
    }
    for wanted in plan.names_imported.iter().flat_map(|check| check.files().next()) {
        found.extend(folders(parent(wanted)).map(|f| in_folder(f, ".gitignore")));
    }
    for contract in &plan.contracts {
        let symbol = &contract.symbol;
        let folder = parent(&symbol.file);
        match symbol.language {
            Language::Go => found.extend(folders(folder).map(|f| in_folder(f, "go.mod"))),
            Language::Rust => {
                found.extend(folders(folder).map(|f| in_folder(f, "Cargo.toml")));
                found.extend(rust_parents(&symbol.file));
            }
            Language::Python => {
                found.extend(folders(folder).take(2).map(|f| in_folder(f, "__init__.py")));
            }
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                let barrels = ["index.ts", "index.tsx", "index.js"];
                let around = folders(folder).take(2);
                found.extend(around.flat_map(|f| barrels.iter().map(move |b| in_folder(f, b))));
                found.extend(folders(folder).map(|f| in_folder(f, "package.json")));
            }
            _ => {}
        }
        if !matches!(contract.broken, Broken::Module { .. }) {
            found.remove(&symbol.file);
        }
    }
    for delta in plan.deltas.iter().filter(|delta| delta.may_use_its_own) {
        found.extend(delta.head_path.clone());
    }
    found
}

/// The files that may declare the module of a Rust file, or pass its names on.
fn rust_parents(file: &str) -> Vec<String> {
    let folder = parent(file);
    let mut found: Vec<String> =
        ["lib.rs", "main.rs", "mod.rs"].iter().map(|name| in_folder(folder, name)).collect();
    if !folder.is_empty() {
        found.push(format!("{folder}.rs"));
        found.extend(["lib.rs", "main.rs", "mod.rs"].map(|name| in_folder(parent(folder), name)));
    }
    found
}

/// A folder and those around it.
fn folders(folder: &str) -> impl Iterator<Item = &str> {
    const MAX_DEPTH: usize = 12;
    std::iter::successors(Some(folder), |inner| {
        let inner: &str = inner;
        (!inner.is_empty()).then(|| parent(inner))
    })
    .take(MAX_DEPTH)
}

fn in_folder(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
