//! Every review target, over real repositories with every kind of entry.

mod commits;
mod entries;
mod history;
mod hostile;
mod open;
mod origin;
mod paths;
mod search;
mod shallow;
mod tree;
mod working_tree;
mod workspaces;

use mala_adapters::git::{Git, GitError, GitScopeError};
use mala_adapters::process::ProcessEnvironment;
use mala_domain::change::{ChangedFile, EntryKind, FileClass, FilePath, FileStatus, LineKind};
use mala_domain::ports::{Blob, ReviewScope, Side, WordQuery};
use mala_domain::scope::ReviewTarget;
use mala_testkit::TestRepo;
use std::path::Path;
use std::sync::LazyLock;
use tokio::runtime::{Builder, Runtime};

/// One runtime for all tests: a tree keeps its git process between calls.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(future)
}

pub(crate) fn environment(repo: &TestRepo) -> ProcessEnvironment {
    ProcessEnvironment::filtered(std::env::vars_os())
        .with("HOME", repo.beside("home"))
        .without("XDG_CONFIG_HOME")
}

pub(crate) fn open_at(repo: &TestRepo, dir: &Path) -> Result<Git, GitError> {
    wait(Git::open(dir, &environment(repo)))
}

pub(crate) fn open(repo: &TestRepo) -> Git {
    open_at(repo, repo.root()).unwrap()
}

pub(crate) fn scope(repo: &TestRepo, target: ReviewTarget) -> ReviewScope {
    try_scope(repo, target, &[]).map_err(|error| error.to_string()).unwrap()
}

pub(crate) fn try_scope(
    repo: &TestRepo,
    target: ReviewTarget,
    paths: &[&str],
) -> Result<ReviewScope, GitScopeError> {
    let paths: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
    let git = open(repo);
    wait(git.change(&target, &paths))
}

pub(crate) fn range(base: &str, head: &str) -> ReviewTarget {
    ReviewTarget::Range { base: base.to_owned(), head: head.to_owned() }
}

/// A short form of a change: `M src/x.c` with its modes and its changed lines.
pub(crate) fn show(scoped: &ReviewScope) -> String {
    assert_eq!(scoped.scope.files, scoped.change.files.len());
    assert_eq!(scoped.scope.hunks, scoped.change.n_hunks());
    assert_eq!(scoped.scope.lines, scoped.change.n_lines());
    assert_eq!(scoped.scope.diff_hash.len(), 64);
    scoped.change.files.iter().map(show_file).collect::<Vec<_>>().join("\n")
}

fn show_file(file: &ChangedFile) -> String {
    let letter = match file.status {
        FileStatus::Added => "A",
        FileStatus::Deleted => "D",
        FileStatus::Modified => "M",
        FileStatus::Renamed => "R",
        FileStatus::Copied => "C",
        FileStatus::TypeChanged => "T",
    };
    let mut out = format!("{letter} {}", file.path);
    out += &file.old_path.as_ref().map_or(String::new(), |old| format!(" from {old}"));
    out += &file.mode_change.as_ref().map_or(String::new(), |(old, new)| format!(" {old}->{new}"));
    out += match file.kind {
        EntryKind::File => "",
        EntryKind::Symlink => " link",
        EntryKind::Submodule => " submodule",
    };
    if file.class != FileClass::Source {
        out += &format!(" {:?}", file.class).to_lowercase();
    }
    for hunk in &file.hunks {
        for (number, text) in hunk.removed_lines() {
            out += &format!(" -{number}:{text}");
        }
        for (number, text) in hunk.added_lines() {
            out += &format!(" +{number}:{text}");
        }
        assert!(hunk.lines.iter().any(|line| line.kind != LineKind::Context));
    }
    out
}

pub(crate) fn read(scoped: &ReviewScope, side: Side, path: impl Into<Vec<u8>>) -> Blob {
    let path = FilePath::from_bytes(path);
    wait(scoped.tree.read(side, std::slice::from_ref(&path))).unwrap().remove(0)
}

pub(crate) fn text(text: &str) -> Blob {
    Blob::Text(text.to_owned())
}

pub(crate) fn words(scoped: &ReviewScope, words: &[&str], globs: &[&str]) -> Vec<String> {
    let owned = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect();
    let query = WordQuery { words: owned(words), globs: owned(globs), max_hits: 100 };
    let hits = wait(scoped.tree.find_words(&query)).unwrap();
    hits.iter().map(|hit| format!("{}:{}:{}", hit.file, hit.line, hit.text)).collect()
}

/// Every file below a folder with its content, to see that nothing is written.
pub(crate) fn files_below(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.symlink_metadata().unwrap() {
                meta if meta.is_dir() => folders.push(path),
                meta if meta.is_file() => found.push((path.clone(), std::fs::read(&path).unwrap())),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
