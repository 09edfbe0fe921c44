//! Reading, listing and searching both states of a tree.

use super::*;
use proptest::prelude::*;

fn exist(scoped: &ReviewScope, side: Side, paths: &[&str]) -> Vec<bool> {
    let paths: Vec<_> = paths.iter().map(|path| FilePath::from(*path)).collect();
    wait(scoped.tree.exist(side, &paths)).unwrap()
}

fn list(scoped: &ReviewScope, side: Side, folder: &str) -> Vec<String> {
    let paths = wait(scoped.tree.list(side, &FilePath::from(folder))).unwrap();
    paths.iter().map(FilePath::to_string).collect()
}

/// The same change on disk, in the index and committed.
fn in_every_state() -> Vec<(&'static str, TestRepo, ReviewTarget)> {
    let make = || {
        let repo = TestRepo::with_files(&[
            ("src/a.py", "def load():\n    return 1\n"),
            ("src/b.py", "x = load()\n"),
            ("docs/c.md", "load the page\n"),
        ]);
        repo.link("src/link.py", "a.py");
        repo.commit("link");
        repo.write("src/a.py", "def load(x):\n    return x\n");
        repo.write("src/new.py", "y = load(1); reload()\n");
        repo.remove("docs/c.md");
        repo.write("binary", b"load\0");
        repo
    };
    let (disk, index, commit) = (make(), make(), make());
    index.stage();
    index.write("src/b.py", "not staged\n");
    commit.commit("change");
    commit.write("src/b.py", "not committed\n");
    let range = range("HEAD~1", "HEAD");
    vec![
        ("disk", disk, ReviewTarget::WorkingTree),
        ("index", index, ReviewTarget::Staged),
        ("commit", commit, range),
    ]
}

#[test]
fn both_sides_are_read() {
    for (state, repo, target) in in_every_state() {
        let scoped = scope(&repo, target);
        let paths =
            ["src/a.py", "src/b.py", "src/new.py", "docs/c.md", "src", "src/link.py", "binary"];
        let paths: Vec<_> = paths.into_iter().map(FilePath::from).collect();
        let head = wait(scoped.tree.read(Side::Head, &paths)).unwrap();
        let new = "def load(x):\n    return x\n";
        let expected = [
            text(new),
            text("x = load()\n"),
            text("y = load(1); reload()\n"),
            Blob::Missing,
            Blob::Missing,
            Blob::Missing,
            Blob::Binary,
        ];
        assert_eq!(head, expected, "{state}");
        assert_eq!(wait(scoped.tree.read(Side::Head, &paths)).unwrap(), expected, "{state}, again");
        let base = wait(scoped.tree.read(Side::Base, &paths)).unwrap();
        assert_eq!(base[0], text("def load():\n    return 1\n"), "{state}");
        assert_eq!(base[2], Blob::Missing, "{state}");
        assert_eq!(base[3], text("load the page\n"), "{state}");
    }
}

#[test]
fn files_exist_and_folders_do_not() {
    for (state, repo, target) in in_every_state() {
        let scoped = scope(&repo, target);
        let paths =
            ["src/a.py", "src", "src/link.py", "docs/c.md", "src/new.py", "nowhere/x", "../x"];
        let head = [true, false, true, false, true, false, false];
        assert_eq!(exist(&scoped, Side::Head, &paths), head, "{state}");
        let base = [true, false, true, true, false, false, false];
        assert_eq!(exist(&scoped, Side::Base, &paths), base, "{state}");
    }
}

#[test]
fn folders_are_listed() {
    for (state, repo, target) in in_every_state() {
        let scoped = scope(&repo, target);
        let src = ["src/a.py", "src/b.py", "src/link.py", "src/new.py"];
        assert_eq!(list(&scoped, Side::Head, "src"), src, "{state}");
        assert_eq!(list(&scoped, Side::Base, "docs"), ["docs/c.md"], "{state}");
        assert_eq!(list(&scoped, Side::Head, ""), ["binary"], "{state}");
        for nothing in ["nowhere", "src/a.py", "..", "docs/c.md/x"] {
            assert_eq!(list(&scoped, Side::Head, nothing), [""; 0], "{state} {nothing}");
        }
    }
}

#[test]
fn whole_words_are_found_at_head() {
    for (state, repo, target) in in_every_state() {
        let scoped = scope(&repo, target);
        let python = [
            "src/a.py:1:def load(x):",
            "src/b.py:1:x = load()",
            "src/new.py:1:y = load(1); reload()",
        ];
        assert_eq!(words(&scoped, &["load"], &["*.py"]), python, "{state}");
        let several = words(&scoped, &["return", "reload", "", "a\nb", "x.*"], &[]);
        let expected = ["src/a.py:2:    return x", "src/new.py:1:y = load(1); reload()"];
        assert_eq!(several, expected, "{state}");
        assert_eq!(words(&scoped, &["--output=x", "-e"], &[]), [""; 0], "{state}");
        assert_eq!(words(&scoped, &[], &[]), [""; 0], "{state}");
        assert_eq!(words(&scoped, &["load"], &["*.go"]), [""; 0], "{state}");
        let query = WordQuery { words: vec!["load".into()], globs: Vec::new(), max_hits: 2 };
        assert_eq!(wait(scoped.tree.find_words(&query)).unwrap().len(), 2, "{state}");
    }
}

#[test]
fn many_files_are_read_in_one_go() {
    let repo = TestRepo::with_files(&[("start", "1\n")]);
    for n in 0..3000 {
        repo.write(format!("d{}/f{n}", n % 50), format!("{n}\n").repeat(200));
    }
    repo.commit("many");
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    assert_eq!(scoped.change.files.len(), 3000);
    let paths: Vec<_> = scoped.change.files.iter().map(|file| file.path.clone()).collect();
    let blobs = wait(scoped.tree.read(Side::Head, &paths)).unwrap();
    assert!(blobs.iter().all(|blob| blob.text().is_some_and(|text| text.len() >= 400)));
}

#[test]
fn a_committed_file_is_read_by_its_revision() {
    let repo = TestRepo::with_files(&[("mala.yaml", "a: 1\n")]);
    repo.write("mala.yaml", "a: 2\n");
    let git = open(&repo);
    let file = FilePath::from("mala.yaml");
    assert_eq!(wait(git.committed("HEAD", &file)).unwrap().as_deref(), Some(&b"a: 1\n"[..]));
    assert_eq!(wait(git.committed("HEAD", &FilePath::from("nothing"))).unwrap(), None);
    assert!(wait(git.committed("nowhere", &file)).is_err());
}

/// Files of a tree: a few names, each with a few lines.
fn files() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = proptest::sample::select(vec!["a", "b", "d/c", "d/e f", "\"q\"", "n\nl"]);
    let line = proptest::sample::select(vec![
        "x\n",
        "y\n",
        "--- a\n",
        "+++ b\n",
        "@@ -1 +1 @@\n",
        "\n",
        "end",
    ]);
    let content = proptest::collection::vec(line, 0..12).prop_map(|lines| lines.concat());
    proptest::collection::btree_map(name.prop_map(str::to_owned), content, 0..6)
        .prop_map(|files| files.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// The parsed diff leads from one side to the other, for any edits.
    #[test]
    fn what_git_prints_rebuilds_the_files(before in files(), after in files()) {
        let repo = TestRepo::new();
        before.iter().for_each(|(name, content)| repo.write(name, content));
        repo.commit("before");
        before.iter().for_each(|(name, _)| repo.remove(name));
        after.iter().for_each(|(name, content)| repo.write(name, content));
        let scoped = scope(&repo, ReviewTarget::WorkingTree);
        repo.commit("after");
        let committed = scope(&repo, range("HEAD~1", "HEAD"));
        prop_assert_eq!(&scoped.change, &committed.change);
        prop_assert_eq!(&scoped.scope.diff_hash, &committed.scope.diff_hash);

        let diff = repo.try_git(&["diff", "-M", "-C", "HEAD~1", "HEAD"]).stdout;
        let diffs = mala_domain::change::read(&diff).unwrap();
        for file in diffs {
            let side = |files: &[(String, String)], path: &FilePath| {
                let found = files.iter().find(|(name, _)| name.as_bytes() == path.as_bytes());
                found.map(|(_, content)| content.as_bytes().to_vec()).unwrap_or_default()
            };
            let (old, new) = (side(&before, file.base_path()), side(&after, &file.path));
            prop_assert_eq!(file.apply(&old), Some(new.clone()));
            prop_assert_eq!(file.revert(&new), Some(old.clone()));
        }
    }
}
