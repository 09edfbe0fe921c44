//! The check over a tree in memory that counts how often it is asked.

use super::*;
use mala_domain::change::{Change, ChangedFile, EntryKind, FileStatus, LineCounts};
use mala_domain::ports::{BoxFuture, Repository, ReviewScope, WordHit, WordQuery};
use mala_domain::review::FileTexts;
use mala_domain::scope::{HeadState, ScopeSummary};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type Files = BTreeMap<FilePath, String>;

#[derive(Default)]
struct InMemoryTree {
    base: Files,
    head: Files,
    is_broken: bool,
    unsearched: Vec<FilePath>,
    n_searches: AtomicUsize,
    n_reads: AtomicUsize,
}

impl InMemoryTree {
    fn side(&self, side: Side) -> &Files {
        match side {
            Side::Base => &self.base,
            Side::Head => &self.head,
        }
    }

    fn search(&self, query: &WordQuery) -> Vec<WordHit> {
        let has_word = |line: &str| {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            line.split(|c| !is_word(c)).any(|word| query.words.iter().any(|q| q == word))
        };
        self.head
            .iter()
            .filter(|(file, _)| !self.unsearched.contains(file))
            .flat_map(|(file, text)| text.lines().zip(1..).map(move |(line, n)| (file, line, n)))
            .filter(|(_, line, _)| has_word(line))
            .map(|(file, line, n)| WordHit { file: file.clone(), line: n, text: line.to_owned() })
            .collect()
    }
}

impl Repository for InMemoryTree {
    fn read<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<Blob>, RepositoryError>> {
        self.n_reads.fetch_add(1, Ordering::Relaxed);
        let read =
            |path: &FilePath| self.side(side).get(path).cloned().map_or(Blob::Missing, Blob::Text);
        let blobs = paths.iter().map(read).collect();
        Box::pin(async move { Ok(blobs) })
    }

    fn exist<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<bool>, RepositoryError>> {
        let exist = paths.iter().map(|path| self.side(side).contains_key(path)).collect();
        Box::pin(async move { Ok(exist) })
    }

    fn list<'a>(
        &'a self,
        _: Side,
        _: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<FilePath>, RepositoryError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn find_words<'a>(
        &'a self,
        query: &'a WordQuery,
    ) -> BoxFuture<'a, Result<Vec<WordHit>, RepositoryError>> {
        self.n_searches.fetch_add(1, Ordering::Relaxed);
        let answer = if self.is_broken {
            Err(RepositoryError { what: "no such object".to_owned(), source: None })
        } else {
            Ok(self.search(query))
        };
        Box::pin(async move { answer })
    }
}

fn files(texts: &[(&str, &str)]) -> Files {
    texts.iter().map(|(path, text)| (FilePath::from(*path), (*text).to_owned())).collect()
}

fn request(tree: Arc<InMemoryTree>) -> ReviewContext {
    let blobs = |files: &Files| -> BTreeMap<FilePath, Blob> {
        files.iter().map(|(path, text)| (path.clone(), Blob::Text(text.clone()))).collect()
    };
    let changed = tree.base.iter().filter(|(path, text)| tree.head.get(path) != Some(text));
    let files = changed
        .map(|(path, _)| ChangedFile {
            path: path.clone(),
            old_path: None,
            status: FileStatus::Modified,
            kind: EntryKind::File,
            mode_change: None,
            class: FileClass::Source,
            script: None,
            hunks: Vec::new(),
        })
        .collect();
    let texts = FileTexts { base: blobs(&tree.base), head: blobs(&tree.head) };
    let scope = ReviewScope {
        change: Arc::new(Change { files }),
        tree,
        scope: ScopeSummary {
            repository: None,
            target: "a range".to_owned(),
            base: None,
            head: HeadState::WorkingTree,
            diff_hash: String::new(),
            files: 1,
            hunks: 1,
            lines: LineCounts::default(),
        },
        trusted: None,
    };
    ReviewContext::new(scope, texts)
}

fn tree(user_at_head: &str) -> InMemoryTree {
    let user = "from helpers import compute\n\nprint(compute(1))\n";
    InMemoryTree {
        base: files(&[("helpers.py", "def compute(a):\n    return a\n"), ("user.py", user)]),
        head: files(&[("helpers.py", "x = 1\n"), ("user.py", user_at_head), ("bin.py", "\0")]),
        ..InMemoryTree::default()
    }
}

#[tokio::test]
async fn the_tree_is_searched_once_and_read_once() {
    let tree = Arc::new(tree("from helpers import compute\n\nprint(compute(1))\n"));
    let found = check(&request(tree.clone())).await.expect("is asked");
    let places: Vec<String> = found.iter().map(|it| format!("{}:{}", it.file, it.span)).collect();
    assert_eq!(places, ["user.py:3"]);
    assert_eq!(tree.n_searches.load(Ordering::Relaxed), 1);
    assert_eq!(tree.n_reads.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_change_that_breaks_nothing_asks_for_nothing() {
    let tree = Arc::new(InMemoryTree {
        base: files(&[("a.py", "x = 1\n")]),
        head: files(&[("a.py", "x = 2\n")]),
        ..InMemoryTree::default()
    });
    assert_eq!(check(&request(tree.clone())).await.expect("is asked"), Vec::new());
    assert_eq!(tree.n_searches.load(Ordering::Relaxed), 0);
    assert_eq!(tree.n_reads.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_tree_that_cannot_be_searched_is_said() {
    let broken = InMemoryTree { is_broken: true, ..tree("x = 1\n") };
    let trouble = check(&request(Arc::new(broken))).await.expect_err("fails");
    assert_eq!(trouble.to_string(), "checks across files: no such object");
}

#[tokio::test]
async fn what_moves_into_a_file_that_is_not_shown_is_still_there() {
    let used = "package a\n\nfunc use() { LoadCache(1) }\n";
    let tree = Arc::new(InMemoryTree {
        base: files(&[
            ("a/a.go", "package a\n\nfunc LoadCache(n int) {}\n"),
            ("a/table.go", "package a\n"),
            ("a/use.go", used),
        ]),
        head: files(&[
            ("a/a.go", "package a\n"),
            ("a/table.go", "package a\n\nfunc LoadCache(n int) {}\n"),
            ("a/use.go", used),
        ]),
        unsearched: vec![FilePath::from("a/table.go")],
        ..InMemoryTree::default()
    });
    let mut request = request(tree);
    let change = Arc::make_mut(&mut request.change);
    for file in change.files.iter_mut().filter(|file| file.path == FilePath::from("a/table.go")) {
        file.class = FileClass::Binary;
    }
    assert_eq!(check(&request).await.expect("is asked"), Vec::new());
}
