//! Files and texts of every state of the tree.

use super::*;
use mala_domain::ports::{CaseSensitivity, FoundLines, TextQuery};

fn query(texts: &[&str]) -> TextQuery {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    TextQuery { texts, case: CaseSensitivity::Exact, below: None, endings: Vec::new() }
}

fn find(scoped: &ReviewScope, query: &TextQuery) -> FoundLines {
    wait(scoped.tree.search().unwrap().find_texts(query)).unwrap()
}

fn shown(found: &FoundLines) -> Vec<String> {
    let line =
        |line: &mala_domain::ports::WordHit| format!("{}:{}:{}", line.file, line.line, line.text);
    found.lines.iter().map(line).collect()
}

/// The lines with any of these texts.
pub(super) fn texts(scoped: &ReviewScope, texts: &[&str]) -> Vec<String> {
    shown(&find(scoped, &query(texts)))
}

fn entries(scoped: &ReviewScope, side: Side, below: &str) -> Vec<String> {
    let below = FilePath::from(below);
    let entries = wait(scoped.tree.search().unwrap().entries(side, &below)).unwrap();
    let entry = |entry: &mala_domain::ports::TreeEntry| match entry.kind {
        EntryKind::File => entry.path.to_string(),
        EntryKind::Symlink => format!("{} link", entry.path),
        EntryKind::Submodule => format!("{} submodule", entry.path),
    };
    entries.iter().map(entry).collect()
}

/// A repository with an ignored file, a submodule, a link out of it, and odd names.
fn crowded() -> TestRepo {
    let repo = TestRepo::with_files(&[
        (".gitignore", ".env\nbuild/\n"),
        ("src/a.py", "import os\nTOKEN = 1\n"),
        ("src/deep/b.rs", "fn token() {}\n"),
        ("-rf", "token\n"),
        (":(exclude)x.py", "token\n"),
        ("*.py", "token star\n"),
    ]);
    repo.write(".env", "token=ignored\n");
    repo.write("build/out.py", "token built\n");
    repo.link("passwd", "/etc/passwd");
    std::fs::create_dir(repo.path("sub")).unwrap();
    let inner = ["-c", "protocol.file.allow=always", "init", "-q", "sub"];
    repo.git(&inner);
    repo.write("sub/inner.py", "token inner\n");
    repo.git(&["-C", "sub", "add", "inner.py"]);
    repo.git(&["-C", "sub", "commit", "-q", "-m", "inner"]);
    repo.commit("crowd");
    repo
}

const CROWD: [&str; 8] = [
    "*.py",
    "-rf",
    ".gitignore",
    ":(exclude)x.py",
    "passwd link",
    "src/a.py",
    "src/deep/b.rs",
    "sub submodule",
];

#[test]
fn every_state_lists_what_it_has_and_nothing_that_is_ignored() {
    let repo = crowded();
    let at_commit = scope(&repo, range("HEAD~1", "HEAD"));
    let staged = scope(&repo, ReviewTarget::Staged);
    let on_disk = scope(&repo, ReviewTarget::WorkingTree);
    for scoped in [&at_commit, &staged, &on_disk] {
        assert_eq!(entries(scoped, Side::Head, ""), CROWD);
        assert_eq!(entries(scoped, Side::Head, "src"), ["src/a.py", "src/deep/b.rs"]);
        assert_eq!(entries(scoped, Side::Head, "src/a.py"), ["src/a.py"]);
        assert_eq!(entries(scoped, Side::Head, "passwd"), ["passwd link"]);
        for nothing in ["sub/inner.py", ".env", "build", "passwd/x", "../repo", "/etc", ".git"] {
            assert!(entries(scoped, Side::Head, nothing).is_empty(), "{nothing}");
        }
    }
    assert!(!entries(&at_commit, Side::Base, "").contains(&"passwd link".to_owned()));
}

#[test]
fn the_work_tree_is_listed_as_it_is_on_disk() {
    let repo = TestRepo::with_files(&[("gone", "1\n"), ("now-a-link", "1\n"), ("kept", "1\n")]);
    repo.remove("gone");
    repo.remove("now-a-link");
    repo.link("now-a-link", "/etc/passwd");
    repo.write("new", "1\n");
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(entries(&scoped, Side::Head, ""), ["kept", "new", "now-a-link link"]);
}

#[test]
fn texts_are_found_in_every_state() {
    let repo = crowded();
    let expected = ["*.py:1:token star", "-rf:1:token", ":(exclude)x.py:1:token"];
    let expected = [&expected[..], &["src/deep/b.rs:1:fn token() {}"]].concat();
    for target in [range("HEAD~1", "HEAD"), ReviewTarget::Staged, ReviewTarget::WorkingTree] {
        let scoped = scope(&repo, target);
        assert_eq!(texts(&scoped, &["token"]), expected);
        let ignoring = TextQuery { case: CaseSensitivity::Ignored, ..query(&["token"]) };
        assert_eq!(find(&scoped, &ignoring).lines.len(), 5);
        let rust = TextQuery { endings: vec![".rs".to_owned()], ..query(&["token"]) };
        assert_eq!(shown(&find(&scoped, &rust)), ["src/deep/b.rs:1:fn token() {}"]);
        for (below, n_lines) in [
            ("src", 1),
            ("-rf", 1),
            (":(exclude)x.py", 1),
            ("*.py", 1),
            ("sub", 0),
            ("sub/inner.py", 0),
            ("passwd", 0),
            ("passwd/x", 0),
            ("build", 0),
            (".env", 0),
            ("no/such", 0),
        ] {
            let query = TextQuery { below: Some(below.into()), ..query(&["token"]) };
            assert_eq!(find(&scoped, &query).lines.len(), n_lines, "{below}");
        }
    }
}

#[test]
fn a_text_is_no_pattern_and_no_option() {
    let repo = TestRepo::with_files(&[("a", "x.y\nxzy\n--help\n-e\n$(id)\n[a-z]\n\\d\n")]);
    repo.write("a2", "1\n");
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    for text in ["x.y", "--help", "-e", "$(id)", "[a-z]", "\\d"] {
        assert_eq!(texts(&scoped, &[text]).len(), 1, "{text}");
    }
    let many = ["x.y", "--help", "$(id)", "[a-z]", "\\d"];
    assert_eq!(texts(&scoped, &many).len(), 5);
}

#[test]
fn a_folder_that_became_a_link_hides_nothing_behind_it() {
    let repo = TestRepo::with_files(&[("etc/secret.txt", "inside\n"), ("a", "1\n")]);
    let outside = repo.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "stolen words\n").unwrap();
    std::fs::remove_dir_all(repo.path("etc")).unwrap();
    repo.link("etc", &outside);
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(texts(&scoped, &["stolen"]), Vec::<String>::new());
    assert_eq!(words(&scoped, &["stolen"], &[]), Vec::<String>::new());
    assert_eq!(entries(&scoped, Side::Head, "etc"), ["etc link"]);
    assert_eq!(read(&scoped, Side::Head, "etc/secret.txt"), Blob::Missing);
}

#[test]
fn thousands_of_lines_are_cut_and_binary_files_are_passed_over() {
    let line = "needle and some hay to make the line longer than it was\n";
    let repo = TestRepo::with_files(&[("a.txt", "1\n")]);
    repo.write("big.txt", line.repeat(100_000));
    repo.write("big.bin", [b"needle\0".as_slice(), &[0; 100]].concat());
    repo.write("long.txt", format!("{}needle", "x".repeat(1 << 20)));
    repo.commit("big");
    for target in [range("HEAD~1", "HEAD"), ReviewTarget::WorkingTree] {
        let found = find(&scope(&repo, target), &query(&["needle"]));
        assert!(found.is_cut);
        assert!((1000..100_000).contains(&found.lines.len()));
        assert!(found.lines.iter().all(|line| line.text.len() <= 2000));
        assert!(found.lines.iter().all(|line| line.file != FilePath::from("big.bin")));
    }
}

#[test]
fn a_patch_is_searched_as_far_as_it_shows_files() {
    let patch =
        b"diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n\
                  @@ -0,0 +1,2 @@\n+Token\n+other\n";
    let scoped = mala_adapters::patch::scope(patch, &[]).unwrap();
    assert_eq!(texts(&scoped, &["Token"]), ["new.py:1:Token"]);
    assert_eq!(find(&scoped, &query(&[])).lines.len(), 3);
    assert_eq!(entries(&scoped, Side::Head, ""), ["new.py"]);
    assert!(scoped.tree.history().is_none());

    let repo = TestRepo::with_files(&[("old.py", "Token\n")]);
    let scoped = scope(&repo, ReviewTarget::Patch(patch.to_vec()));
    assert_eq!(texts(&scoped, &["Token"]), ["new.py:1:Token", "old.py:1:Token"]);
    assert_eq!(entries(&scoped, Side::Head, ""), ["new.py", "old.py"]);
    assert_eq!(entries(&scoped, Side::Base, ""), ["old.py"]);
    assert!(scoped.tree.history().is_some());
}
