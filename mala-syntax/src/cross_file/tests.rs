//! Two small trees in, findings out; one file of cases a language.

mod go;
mod imports;
mod java;
mod javascript;
mod python;
mod receivers;
mod rust;
mod typescript;

use super::*;
use mala_domain::change::{
    ChangedFile, DiffLine, EntryKind, FileClass, FilePath, FileStatus, Hunk, LineKind,
};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;
use mala_domain::ports::{WordHit, WordQuery};
use std::collections::{BTreeMap, BTreeSet};

type FileTree = BTreeMap<String, String>;

/// What the change from one tree to the other is said to break, as `path:line rule priority title`.
/// A tree is written as `== path` lines with the text of the file after each.
fn broken(base: &str, head: &str) -> Vec<String> {
    candidates(&tree(base), &tree(head))
        .iter()
        .map(|found| {
            let rule = found.rule.as_deref().unwrap_or_default();
            let rule = rule.strip_prefix("cross-file/").unwrap_or(rule);
            let priority = found.priority.map(|p| p.to_string()).unwrap_or_default();
            format!("{}:{} {rule} {priority} {}", found.file, found.span, found.title)
        })
        .collect()
}

/// Checks what a change is said to break.
fn check(base: &str, head: &str, expected: &[&str]) {
    assert_eq!(broken(base, head), expected, "\nbase:\n{base}\nhead:\n{head}");
}

fn tree(text: &str) -> FileTree {
    let mut tree = FileTree::new();
    let mut path = String::new();
    for line in text.trim_start().lines() {
        match line.strip_prefix("== ") {
            Some(next) => {
                path = next.trim().to_owned();
                tree.entry(path.clone()).or_default();
            }
            None => {
                let file = tree.entry(path.clone()).or_default();
                file.push_str(line);
                file.push('\n');
            }
        }
    }
    tree
}

fn candidates(base: &FileTree, head: &FileTree) -> Vec<ReviewClaim> {
    let files = changed_files(base, head);
    let deltas = files
        .iter()
        .map(|file| {
            let text = |tree: &'_ FileTree, path: &FilePath| tree.get(&*path.to_text()).cloned();
            let base = file.existed_at_base().then(|| text(base, file.base_path())).flatten();
            let head = file.exists_at_head().then(|| text(head, &file.path)).flatten();
            FileDelta::of(FileVersions { file, base: base.as_deref(), head: head.as_deref() })
        })
        .collect();
    let plan = plan(deltas);
    let hits = plan.query().map(|query| find(head, &query)).unwrap_or_default();
    let mut found = FoundFiles {
        existing: plan
            .paths_to_check(&hits)
            .into_iter()
            .filter(|path| head.contains_key(&*path.to_text()))
            .collect(),
        ..FoundFiles::default()
    };
    for path in plan.files_to_read(&hits, &found.existing) {
        let Some(text) = head.get(&*path.to_text()) else { continue };
        match UserFile::of(&path, text, &plan) {
            Some(user) => found.files.push(user),
            None => found.manifests.push((path.to_text().into_owned(), text.clone())),
        }
    }
    found.hits = hits;
    fold(&plan, &found)
}

fn find(head: &FileTree, query: &WordQuery) -> Vec<WordHit> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has_word =
        |line: &str| line.split(|c| !is_word(c)).any(|w| query.words.iter().any(|q| q == w));
    let endings: Vec<&str> = query.globs.iter().map(|glob| glob.trim_start_matches('*')).collect();
    head.iter()
        .filter(|(path, _)| endings.is_empty() || endings.iter().any(|end| path.ends_with(end)))
        .flat_map(|(path, text)| {
            text.lines().zip(1..).filter(|(line, _)| has_word(line)).map(|(line, number)| WordHit {
                file: FilePath::from(path.as_str()),
                line: number,
                text: line.to_owned(),
            })
        })
        .collect()
}

fn changed_files(base: &FileTree, head: &FileTree) -> Vec<ChangedFile> {
    let paths: BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    let mut moved_from = BTreeSet::new();
    let mut files = Vec::new();
    for path in paths.iter().filter(|path| base.get(**path) != head.get(**path)) {
        let (old, new) = (base.get(*path), head.get(*path));
        let origin = base
            .iter()
            .find(|(from, text)| old.is_none() && new == Some(text) && !head.contains_key(*from));
        moved_from.extend(origin.map(|(from, _)| from.clone()));
        let status = match (old, new, origin) {
            (None, _, Some(_)) => FileStatus::Renamed,
            (None, _, None) => FileStatus::Added,
            (_, None, _) => FileStatus::Deleted,
            _ => FileStatus::Modified,
        };
        files.push(ChangedFile {
            path: FilePath::from(path.as_str()),
            old_path: origin.map(|(from, _)| FilePath::from(from.as_str())),
            status,
            kind: EntryKind::File,
            mode_change: None,
            class: FileClass::Source,
            script: None,
            hunks: hunks(old, new),
        });
    }
    files.retain(|file| !moved_from.contains(&*file.path.to_text()));
    files
}

/// One hunk with all of head; lines that base has somewhere count as context.
fn hunks(old: Option<&String>, new: Option<&String>) -> Vec<Hunk> {
    let known: BTreeSet<&str> = old.iter().flat_map(|text| text.lines()).collect();
    let lines: Vec<DiffLine> = new
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| DiffLine {
            kind: if known.contains(line) { LineKind::Context } else { LineKind::Added },
            text: line.to_owned(),
        })
        .collect();
    let n = u32::try_from(lines.len()).expect("short");
    vec![Hunk {
        old_start: 1,
        old_lines: n,
        new_start: 1,
        new_lines: n,
        section: String::new(),
        lines,
    }]
}

#[test]
fn what_is_said_names_both_places_and_a_way_out() {
    let base = tree(
        "== helpers.py\ndef total(xs):\n    return sum(xs)\n== bill.py\nfrom helpers import total\n\ndef invoice(xs):\n    return total(xs)\n",
    );
    let mut head = base.clone();
    head.insert("helpers.py".to_owned(), "def grand_total(xs):\n    return sum(xs)\n".to_owned());
    let found = candidates(&base, &head);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    insta::assert_snapshot!(format!("{}\n{}\n{}", one.title, one.body, one.suggestion.clone().unwrap_or_default()), @"
    `total` is now `grand_total`, but is still called here
    When `bill.py` is loaded, it fails with `ImportError: cannot import name 'total' from 'helpers'`: this change renames the function `total` of `helpers.py` (line 1 before) to `grand_total`, and this line still calls it (imported on line 1).
    Use `grand_total` here, or keep `total` as another name for it.
    ");
    assert_eq!(Language::of_path(&one.file), Some(Language::Python));
}
