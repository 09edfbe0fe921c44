//! Which languages a project has, by a bounded look at its files' names.

use mala_domain::change::FilePath;
use mala_domain::language::Language;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_ENTRIES: usize = 20_000;
const MAX_DEPTH: usize = 8;

/// Folders with other people's code.
const SKIPPED: [&str; 7] =
    ["node_modules", "target", "vendor", "dist", "build", "__pycache__", "third_party"];

/// The languages with the number of files, most first. Folders that cannot be read are skipped.
pub(super) fn count(root: &Path) -> Vec<(Language, usize)> {
    let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
    let mut waiting: Vec<(PathBuf, usize)> = vec![(root.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                return sorted(counts);
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < MAX_DEPTH && !is_skipped(name) {
                waiting.push((entry.path(), depth + 1));
            } else if kind.is_file()
                && let Some(language) = Language::of_path(&FilePath::from(name))
            {
                *counts.entry(language).or_default() += 1;
            }
        }
    }
    sorted(counts)
}

fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || SKIPPED.contains(&name)
}

fn sorted(counts: BTreeMap<Language, usize>) -> Vec<(Language, usize)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(language, files)| (std::cmp::Reverse(*files), *language));
    counts
}
