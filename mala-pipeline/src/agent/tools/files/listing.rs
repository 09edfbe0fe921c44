//! The output of `list_files`: all files if they fit, else the folders with their number of files.

use super::super::ToolLimits;
use super::super::page::n_fitting;
use mala_domain::change::{EntryKind, FilePath};
use mala_domain::ports::TreeEntry;
use std::collections::BTreeMap;

/// The entries below a folder.
pub(super) fn show(folder: &FilePath, entries: &[TreeEntry], limits: ToolLimits) -> String {
    let all: Vec<String> = entries.iter().map(line).collect();
    let head = format!("files: {}", entries.len());
    if n_fitting(&all, limits) == all.len() {
        return [&[head][..], &all].concat().join("\n");
    }
    let folded = fold(folder, entries);
    let n_shown = n_fitting(&folded, limits);
    let mut shown = vec![format!("{head}; folders are shown with how many files they have")];
    shown.extend(folded.iter().take(n_shown).cloned());
    if n_shown < folded.len() {
        let n_more = folded.len() - n_shown;
        shown.push(format!("cut: {n_more} more; pass a language, or search_code"));
    }
    shown.join("\n")
}

/// The files directly in a folder, and the folders.
fn fold(folder: &FilePath, entries: &[TreeEntry]) -> Vec<String> {
    let n_above = match folder.as_bytes().len() {
        0 => 0,
        n => n + 1,
    };
    let mut folders: BTreeMap<FilePath, usize> = BTreeMap::new();
    let mut files = Vec::new();
    for entry in entries {
        let bytes = entry.path.as_bytes();
        let inside = bytes.get(n_above..).unwrap_or_default();
        match inside.iter().position(|byte| *byte == b'/') {
            Some(end) => {
                let name = bytes.get(..n_above + end).unwrap_or_default();
                *folders.entry(FilePath::from_bytes(name)).or_default() += 1;
            }
            None => files.push(line(entry)),
        }
    }
    let folders = folders.into_iter().map(|(path, n)| format!("{path}/ ({n} files)"));
    folders.chain(files).collect()
}

fn line(entry: &TreeEntry) -> String {
    match entry.kind {
        EntryKind::File => entry.path.to_string(),
        EntryKind::Symlink => format!("{} (symbolic link)", entry.path),
        EntryKind::Submodule => format!("{} (submodule)", entry.path),
    }
}
