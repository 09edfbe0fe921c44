//! Every kind of tree entry, added, changed and removed.

use super::*;
use std::os::unix::fs::PermissionsExt;

/// The same change as seen on disk, in the index and between commits.
fn everywhere(repo: &TestRepo, expected: &str) {
    assert_eq!(show(&scope(repo, ReviewTarget::WorkingTree)), expected, "on disk");
    repo.stage();
    assert_eq!(show(&scope(repo, ReviewTarget::Staged)), expected, "in the index");
    repo.commit_staged("change");
    assert_eq!(show(&scope(repo, range("HEAD~1", "HEAD"))), expected, "between commits");
}

#[test]
fn moved_and_copied_files_keep_their_past() {
    let body = (0..20).map(|n| format!("line {n}\n")).collect::<String>();
    let repo = TestRepo::with_files(&[("a.txt", &body), ("c.txt", &body.replace("line", "row"))]);
    repo.remove("a.txt");
    repo.write("sub/b.txt", body.replace("line 7\n", "line seven\n"));
    repo.write("c.txt", body.replace("line", "row") + "more\n");
    repo.write("d.txt", body.replace("line", "row"));
    everywhere(
        &repo,
        "M c.txt +21:more\nC d.txt from c.txt\nR sub/b.txt from a.txt -8:line 7 +8:line seven",
    );
}

#[test]
fn modes_and_kinds_change() {
    let repo = TestRepo::with_files(&[("run.sh", "x\n"), ("file", "text\n"), ("keep", "1\n")]);
    repo.link("link", "keep");
    repo.commit("link");
    std::fs::set_permissions(repo.path("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    repo.remove("file");
    repo.link("file", "keep");
    repo.remove("link");
    repo.link("link", "elsewhere");
    everywhere(
        &repo,
        "T file 100644->120000 link -1:text +1:keep\nM link link -1:keep +1:elsewhere\n\
         M run.sh 100644->100755",
    );
}

#[test]
fn binary_files_are_named_and_not_shown() {
    let repo = TestRepo::with_files(&[("a.txt", "1\n")]);
    repo.write("old.png", b"\x89PNG\0\x01");
    repo.commit("binary");
    repo.write("old.png", b"\x89PNG\0\x02");
    repo.write("new.bin", b"\0\0\0");
    everywhere(&repo, "A new.bin binary\nM old.png binary");
}

#[test]
fn line_ends_are_part_of_lines() {
    let repo = TestRepo::with_files(&[("crlf", "a\r\nb\r\n"), ("end", "a\nb\n"), ("none", "a\nb")]);
    repo.write("crlf", "a\r\nc\r\n");
    repo.write("end", "a\nb");
    repo.write("none", "a\nb\n");
    everywhere(&repo, "M crlf -2:b\r +2:c\r\nM end -2:b +2:b\nM none -2:b +2:b");
}

#[test]
fn any_name_is_a_name() {
    let repo = TestRepo::with_files(&[("plain", "1\n")]);
    let names: [&[u8]; 9] = [
        b" lead",
        b"a b",
        b"quo\"te",
        b"back\\slash",
        b"new\nline",
        b"tab\there",
        b"\xff\xfe",
        b":(top)x",
        "\u{e9}t\u{e9}/\u{4e16}".as_bytes(),
    ];
    for name in names {
        repo.write(name, "1\n2\n");
    }
    repo.commit("names");
    for name in names {
        repo.write(name, "1\n3\n");
    }
    repo.write(b"-dash", "x\n");
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(scoped.change.files.len(), names.len() + 1);
    for name in names {
        let path = FilePath::from_bytes(name);
        let file = scoped.change.file(&path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(file.added_lines().collect::<Vec<_>>(), [(2, "3")]);
    }
    repo.commit("more");
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    for name in names {
        assert_eq!(read(&scoped, Side::Head, name), text("1\n3\n"));
        assert_eq!(read(&scoped, Side::Base, name), text("1\n2\n"));
    }
    let hits = words(&scoped, &["3"], &[]);
    assert_eq!(hits.len(), names.len(), "{hits:?}");
}

#[test]
fn submodules_are_commits_and_not_looked_into() {
    let inner = TestRepo::with_files(&[("x", "1\n")]);
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.git(&["submodule", "--quiet", "add", inner.root().to_str().unwrap(), "lib"]);
    repo.commit("submodule");
    let first = inner.head();
    inner.write("x", "2\n");
    let second = inner.commit("two");
    repo.git(&["-C", "lib", "fetch", "-q"]);
    repo.git(&["-C", "lib", "checkout", "-q", &second]);
    // A dirty submodule is not part of the change.
    repo.write("lib/dirty", "x\n");
    let line = |id: &str| format!("Subproject commit {id}");
    everywhere(&repo, &format!("M lib submodule -1:{} +1:{}", line(&first), line(&second)));
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    assert_eq!(read(&scoped, Side::Head, "lib"), Blob::Missing);
    assert_eq!(read(&scoped, Side::Head, "lib/x"), Blob::Missing);
    repo.git(&["config", "-f", ".gitmodules", "submodule.lib.ignore", "all"]);
    repo.commit("ignore");
    repo.git(&["-C", "lib", "checkout", "-q", &first]);
    let shown = show(&scope(&repo, ReviewTarget::WorkingTree));
    assert!(shown.contains("M lib submodule"), "an ignored submodule still changes: {shown}");
}

#[test]
fn empty_files_come_and_go() {
    let repo = TestRepo::with_files(&[("gone", ""), ("filled", "")]);
    repo.remove("gone");
    repo.write("born", "");
    repo.write("filled", "1\n");
    let shown = show(&scope(&repo, ReviewTarget::WorkingTree));
    assert!(shown.contains("M filled +1:1"), "{shown}");
    assert!(shown.contains("born"), "{shown}");
}

#[test]
fn what_tools_wrote_is_marked() {
    let repo = TestRepo::with_files(&[
        (
            ".gitattributes",
            "*.gen linguist-generated\nlib/** linguist-vendored\nvendor/mine.go -linguist-vendored\n",
        ),
        ("header.go", "// Code generated by x. DO NOT EDIT.\npackage a\n"),
        ("plain.go", "package a\n"),
    ]);
    repo.write("a.gen", "1\n");
    repo.write("lib/b.c", "1\n");
    repo.write("vendor/mine.go", "1\n");
    repo.write("vendor/theirs.go", "1\n");
    repo.write("Cargo.lock", "1\n");
    repo.write("app.min.js", "1\n");
    repo.write("fresh.go", "// Code generated by another. DO NOT EDIT.\n");
    repo.write("header.go", "// Code generated by x. DO NOT EDIT.\npackage b\n");
    everywhere(
        &repo,
        "A Cargo.lock lock +1:1\nA a.gen generated +1:1\nA app.min.js minified +1:1\n\
         A fresh.go +1:// Code generated by another. DO NOT EDIT.\n\
         M header.go generated -2:package a +2:package b\nA lib/b.c vendored +1:1\n\
         A vendor/mine.go +1:1\nA vendor/theirs.go vendored +1:1",
    );
}

#[test]
fn a_change_cannot_put_itself_out_of_review() {
    let repo = TestRepo::with_files(&[("a.py", "a = 1\n"), ("b.py", "b = 1\n")]);
    repo.write(".gitattributes", "a.py -diff\n*.py linguist-generated\n");
    repo.write("a.py", "a = 2\n");
    repo.write("b.py", "# @generated do not edit\nb = 1\n");
    everywhere(
        &repo,
        "A .gitattributes +1:a.py -diff +2:*.py linguist-generated\nM a.py -1:a = 1 +1:a = 2\n\
         M b.py +1:# @generated do not edit",
    );
}

#[test]
fn large_files_and_long_diffs_come_through() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    let long = (0..200_000).map(|n| format!("line {n} of a long file\n")).collect::<String>();
    repo.write("long.txt", &long);
    repo.write("huge.txt", "x\n".repeat(20 << 20));
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    let file = scoped.change.file(&FilePath::from("long.txt")).unwrap();
    assert_eq!(file.added_lines().count(), 200_000);
    let huge = scoped.change.file(&FilePath::from("huge.txt")).unwrap();
    assert_eq!((huge.class, huge.hunks.len()), (FileClass::TooLarge, 0));
    assert_eq!(read(&scoped, Side::Head, "huge.txt"), Blob::TooLarge(40 << 20));
}
