//! Detects the languages and linters of a project from its files.

use crate::wiring::is_linter_set_up;
use mala_domain::change::FilePath;
use mala_domain::config::LinterName;
use mala_domain::language::Language;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_ENTRIES: usize = 20_000;
const MAX_DEPTH: usize = 8;

/// Folders with generated or vendored code.
const SKIPPED: [&str; 7] =
    ["node_modules", "target", "vendor", "dist", "build", "__pycache__", "third_party"];

/// The languages with their number of files, most first. Unreadable folders are skipped.
pub(super) fn languages(root: &Path) -> Vec<(Language, usize)> {
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

/// The linters that the project configures, or whose files it has.
pub(super) fn linters(root: &Path) -> Vec<LinterName> {
    let has = |name: &str| root.join(name).exists();
    let text = |name: &str| fs::read_to_string(root.join(name)).ok();
    let is_script = |path: &Path| path.extension().is_some_and(|end| end == "sh");
    let scripts = || {
        fs::read_dir(root)
            .is_ok_and(|entries| entries.flatten().any(|entry| is_script(&entry.path())))
    };
    let has_files = |linter: LinterName| match linter {
        LinterName::Shellcheck => scripts(),
        LinterName::Hadolint => has("Dockerfile"),
        LinterName::Actionlint => has(".github/workflows"),
        _ => false,
    };
    LinterName::ALL
        .into_iter()
        .filter(|linter| has_files(*linter) || is_linter_set_up(*linter, &has, &text))
        .collect()
}
