//! The tools over a tree in memory.

mod answers;
mod arguments;
mod limits;
mod properties;

use super::*;
use mala_domain::change::{
    Change, ChangedFile, DiffLine, EntryKind, FileClass, FilePath, FileStatus, Hunk, LineCounts,
    LineKind, LineSpan,
};
use mala_domain::config::LinterName;
use mala_domain::ports::{
    BlamedLine, Blob, BoxFuture, Commit, CommitPrefix, CommitWithDiff, CommitWithMessage,
    FoundLines, History, LintFailure, LintMessage, LogQuery, Repository, RepositoryError,
    ReviewScope, Search, Side, TextQuery, TreeEntry, WordHit, WordQuery,
};
use mala_domain::review::FileTexts;
use mala_domain::scope::{HeadState, ScopeSummary};
use std::collections::BTreeMap;

/// A tree with the same files at base and at head, and one commit.
#[derive(Default)]
struct InMemory {
    files: BTreeMap<FilePath, String>,
    links: Vec<FilePath>,
    is_patch: bool,
}

type Ready<'a, T> = BoxFuture<'a, Result<T, RepositoryError>>;

fn ready<'a, T: Send + 'a>(value: T) -> Ready<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

impl InMemory {
    fn lines(&self, wanted: impl Fn(&FilePath, &str) -> bool) -> Vec<WordHit> {
        let lines = self
            .files
            .iter()
            .flat_map(|(file, text)| (1..).zip(text.lines()).map(move |(n, line)| (file, n, line)));
        lines
            .filter(|(file, _, line)| wanted(file, line))
            .map(|(file, line, text)| WordHit { file: file.clone(), line, text: text.to_owned() })
            .collect()
    }
}

impl Repository for InMemory {
    fn read<'a>(&'a self, _: Side, paths: &'a [FilePath]) -> Ready<'a, Vec<Blob>> {
        let blob = |path: &FilePath| match self.files.get(path).map(String::as_str) {
            None => Blob::Missing,
            Some("BINARY") => Blob::Binary,
            Some("LARGE") => Blob::TooLarge(5 << 20),
            Some(text) => Blob::Text(text.to_owned()),
        };
        ready(paths.iter().map(blob).collect())
    }

    fn exist<'a>(&'a self, _: Side, paths: &'a [FilePath]) -> Ready<'a, Vec<bool>> {
        ready(paths.iter().map(|path| self.files.contains_key(path)).collect())
    }

    fn list<'a>(&'a self, _: Side, _: &'a FilePath) -> Ready<'a, Vec<FilePath>> {
        ready(Vec::new())
    }

    fn find_words<'a>(&'a self, query: &'a WordQuery) -> Ready<'a, Vec<WordHit>> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let has = |line: &str| line.split(|c| !is_word(c)).any(|word| query.words[0] == word);
        let ends = |file: &FilePath| {
            let glob = |glob: &String| file.to_text().ends_with(glob.trim_start_matches('*'));
            query.globs.is_empty() || query.globs.iter().any(glob)
        };
        ready(self.lines(|file, line| ends(file) && has(line)))
    }

    fn search(&self) -> Option<&dyn Search> {
        Some(self)
    }

    fn history(&self) -> Option<&dyn History> {
        (!self.is_patch).then_some(self)
    }
}

impl Search for InMemory {
    fn entries<'a>(&'a self, _: Side, below: &'a FilePath) -> Ready<'a, Vec<TreeEntry>> {
        let entry = |kind| move |path: &FilePath| TreeEntry { path: path.clone(), kind };
        let files = self.files.keys().map(entry(EntryKind::File));
        let links = self.links.iter().map(entry(EntryKind::Symlink));
        ready(files.chain(links).filter(|entry| below.holds(&entry.path)).collect())
    }

    fn find_texts<'a>(&'a self, query: &'a TextQuery) -> Ready<'a, FoundLines> {
        let has = |line: &str| {
            query.texts.is_empty() || query.texts.iter().any(|text| line.contains(text))
        };
        let lines = self.lines(|file, line| query.looks_in(file) && has(line));
        ready(FoundLines { lines, is_cut: false })
    }
}

fn commit() -> Commit {
    Commit {
        id: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        author: "Ada".to_owned(),
        date: "2024-01-31".to_owned(),
        subject: "add it".to_owned(),
    }
}

impl History for InMemory {
    fn log<'a>(&'a self, query: &'a LogQuery) -> Ready<'a, Vec<Commit>> {
        ready(vec![commit(); query.max.min(3)])
    }

    fn show<'a>(
        &'a self,
        prefix: &'a CommitPrefix,
        _: Option<&'a FilePath>,
    ) -> Ready<'a, Option<CommitWithDiff>> {
        let commit = commit();
        ready(commit.id.starts_with(prefix.as_str()).then(|| CommitWithDiff {
            commit,
            message: "add it\n\nWhy.\n".to_owned(),
            change: Some(Change { files: vec![changed("a.py", 2)] }),
        }))
    }

    fn reviewed(&self, _: usize) -> Ready<'_, Vec<CommitWithMessage>> {
        ready(vec![CommitWithMessage { commit: commit(), message: "add it\n\nWhy.\n".to_owned() }])
    }

    fn blame<'a>(&'a self, _: &'a FilePath, lines: LineSpan) -> Ready<'a, Vec<BlamedLine>> {
        let blamed = |line| BlamedLine { line, commit: (line != 2).then(commit) };
        ready((lines.start()..=lines.end()).map(blamed).collect())
    }
}

struct Ruff;

impl Linters for Ruff {
    fn lint<'a>(
        &'a self,
        _: &'a ReviewContext,
        linter: LinterName,
        _: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<LintMessage>, LintFailure>> {
        let message = LintMessage {
            rule: "F401".to_owned(),
            line: 1,
            message: "unused import".to_owned(),
            severity: "warning",
        };
        let answer = match linter {
            LinterName::Ruff => Ok(vec![message]),
            other => {
                Err(LintFailure(format!("{}: the project does not configure it", other.name())))
            }
        };
        Box::pin(std::future::ready(answer))
    }
}

/// A changed file with hunks that each replace one line.
fn changed(path: &str, n_hunks: u32) -> ChangedFile {
    let line = |kind, text: &str| DiffLine { kind, text: text.to_owned() };
    let hunk = |n: u32| Hunk {
        old_start: n * 10 + 1,
        old_lines: 2,
        new_start: n * 10 + 1,
        new_lines: 2,
        section: "def f():".to_owned(),
        lines: vec![
            line(LineKind::Context, "same"),
            line(LineKind::Removed, "old"),
            line(LineKind::Added, "new"),
        ],
    };
    ChangedFile {
        path: path.into(),
        old_path: None,
        status: FileStatus::Modified,
        kind: EntryKind::File,
        mode_change: None,
        class: FileClass::Source,
        script: None,
        hunks: (0..n_hunks).map(hunk).collect(),
    }
}

const SERVER: &str = "\
import os
from math import (
    pi,
)

class Server:
    def run(self):
        return os.getpid()

    def stop(self):
        self.run()
";

fn tree() -> InMemory {
    let twenty: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let files = [
        ("a.py", twenty.as_str()),
        ("src/server.py", SERVER),
        ("src/user.py", "from server import Server\nServer().run()\n# run it\n"),
        ("notes.txt", "one\nto run\nthree\n"),
        ("empty.txt", ""),
        ("logo.png", "BINARY"),
        ("big.txt", "LARGE"),
    ];
    let files = files.map(|(path, text)| (FilePath::from(path), text.to_owned()));
    InMemory {
        files: files.into_iter().collect(),
        links: vec!["passwd".into()],
        ..InMemory::default()
    }
}

fn request(tree: InMemory) -> ReviewContext {
    let scope = ReviewScope {
        change: Arc::new(Change { files: vec![changed("a.py", 2)] }),
        tree: Arc::new(tree),
        scope: ScopeSummary {
            repository: None,
            target: "a range".to_owned(),
            base: None,
            head: HeadState::Patch,
            diff_hash: String::new(),
            files: 1,
            hunks: 2,
            lines: LineCounts::default(),
        },
        trusted: None,
    };
    ReviewContext::new(scope, FileTexts::default())
}

fn toolbox(limits: ToolLimits) -> Toolbox {
    Toolbox::new(request(tree()), limits).with_linters(Arc::new(Ruff))
}

async fn ask(toolbox: &Toolbox, name: &str, arguments: &str) -> ToolResult {
    toolbox.call(&call(name, arguments), &ShownImports::default()).await
}

fn call(name: &str, arguments: &str) -> ToolCall {
    let (id, name) = ("1".to_owned(), name.to_owned());
    ToolCall { id, name, arguments: arguments.to_owned() }
}

/// The text of an answer; an error shows itself as one.
async fn say(name: &str, arguments: &str) -> String {
    let result = ask(&toolbox(ToolLimits::default()), name, arguments).await;
    assert_eq!(result.is_error, result.text.starts_with("error: "), "{}", result.text);
    result.text
}
