//! Reads of keys of configuration that no file sets any more.

use super::Scene;
use crate::cross_file::keys::{Form, Key, KeyDeed, KeyUse, defines, is_set_by, sets_on_line};
use crate::cross_file::plan::{LostKey, Plan};
use crate::cross_file::report::{self, Reading};
use crate::cross_file::user::UserFile;
use crate::cross_file::words::{has_word, longest_part};
use mala_domain::change::FilePath;
use mala_domain::finding::Candidate;
use mala_domain::language::Language;
use std::collections::HashSet;

/// Reads of one key beyond this many are counted and not reported.
const MAX_READS: usize = 20;

/// One finding for every line that reads a lost key.
pub(super) fn candidates(scene: &Scene<'_>) -> Vec<Candidate> {
    if Plan::is_cut(&scene.found.hits) {
        return Vec::new();
    }
    let all = scene.plan.keys.iter().enumerate();
    all.flat_map(|(which, lost)| of_key(scene, which, lost)).collect()
}

fn of_key(scene: &Scene<'_>, which: usize, lost: &LostKey) -> Vec<Candidate> {
    let reads = reads(scene, which, lost);
    if reads.is_empty() || is_set_elsewhere(scene, which, lost) {
        return Vec::new();
    }
    let (n_reads, n_reported) = (reads.len(), reads.len().min(MAX_READS));
    reads
        .into_iter()
        .take(MAX_READS)
        .map(|(user, line, happens)| {
            report::lost_key(lost, &Reading { user, line, happens, n_reads, n_reported })
        })
        .collect()
}

/// The lines that read the key, outside tests and where nothing asks first whether it is set.
fn reads<'a>(
    scene: &Scene<'a>,
    which: usize,
    lost: &LostKey,
) -> Vec<(&'a UserFile, u32, &'static str)> {
    let mut found = Vec::new();
    for user in scene.users().filter(|user| !is_test(&user.path)) {
        let uses = || user.keys.uses.iter().filter(|one| one.which == which);
        if uses().any(|one| one.deed == KeyDeed::Tests) {
            continue;
        }
        let of_file = uses().filter_map(|one| match one.deed {
            KeyDeed::Reads(happens) if means(scene, lost, one) => Some((user, one.line, happens)),
            _ => None,
        });
        found.extend(of_file);
    }
    found.sort_by(|a, b| (&a.0.path, a.1).cmp(&(&b.0.path, b.1)));
    found.dedup_by(|a, b| a.0.path == b.0.path && a.1 == b.1);
    found
}

/// Whether a read means the lost key, and not a field of the same name of a type of the program.
fn means(scene: &Scene<'_>, lost: &LostKey, read: &KeyUse) -> bool {
    let Key::Setting(names) = &lost.key else { return true };
    let is_known = |word: &str| scene.plan.words().iter().any(|it| it == longest_part(word));
    let saw = |word: &str| scene.saw_all(longest_part(word));
    match (names.as_slice(), read.form) {
        ([only], _) => saw(only) && !is_declared(scene, only),
        ([first, ..], Form::Member) => {
            is_known(lost.key.last()) && saw(first) && !is_declared(scene, first)
        }
        (_, Form::Text) => is_known(lost.key.last()),
        ([], _) => false,
    }
}

fn is_declared(scene: &Scene<'_>, name: &str) -> bool {
    code(scene).any(|user| user.keys.declared.contains(name))
}

/// The files of code that are no tests.
fn code<'a>(scene: &Scene<'a>) -> impl Iterator<Item = &'a UserFile> {
    scene.users().filter(|user| !is_test(&user.path))
}

/// Whether something else sets the key.
fn is_set_elsewhere(scene: &Scene<'_>, which: usize, lost: &LostKey) -> bool {
    let in_code = code(scene)
        .flat_map(|user| &user.keys.uses)
        .any(|one| one.which == which && one.deed == KeyDeed::Sets);
    in_code
        || match &lost.key {
            Key::Variable(name) => is_variable_set(scene, name),
            Key::Setting(names) => is_setting_set(scene, names, &lost.key),
        }
}

/// Whether a line sets a variable, or declares it as one that may be missing.
fn is_variable_set(scene: &Scene<'_>, name: &str) -> bool {
    let known: HashSet<(&FilePath, u32)> = scene
        .users()
        .flat_map(|user| user.keys.uses.iter().map(move |one| (&user.file, one.line)))
        .collect();
    scene.found.hits.iter().filter(|hit| has_word(&hit.text, name)).any(|hit| {
        let is_code = Language::of_path(&hit.file).is_some();
        let may_be_missing = || {
            let text = hit.text.to_lowercase();
            is_code
                && !known.contains(&(&hit.file, hit.line))
                && (text.contains("default") || text.contains("optional"))
        };
        is_set_by(&hit.file, &hit.text, name) || may_be_missing()
    })
}

fn is_setting_set(scene: &Scene<'_>, names: &[String], key: &Key) -> bool {
    let by_variable = key.as_variable();
    let listed = &scene.found.manifests;
    let read: HashSet<&str> = listed.iter().map(|(path, _)| path.as_str()).collect();
    let last = names.last().map(String::as_str).unwrap_or_default();
    let sets_unread = |path: &FilePath, text: &str| {
        !read.contains(&*path.to_text()) && sets_on_line(path, text, last)
    };
    let has_all = |user: &UserFile| {
        names.len() > 1 && names.iter().all(|name| user.keys.valued.contains(name))
    };
    scene
        .found
        .hits
        .iter()
        .any(|hit| has_word(&hit.text, &by_variable) || sets_unread(&hit.file, &hit.text))
        || listed.iter().any(|(path, text)| defines(&FilePath::from(path.as_str()), text, names))
        || code(scene).any(has_all)
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| {
        part.starts_with("test")
            || part == "spec"
            || part == "__tests__"
            || [".test.", ".spec.", "_test.", "_spec.", "Test.java"]
                .iter()
                .any(|it| part.contains(it))
    })
}
