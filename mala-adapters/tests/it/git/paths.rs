//! Reviews that are limited to some paths.

use super::*;

fn repo() -> TestRepo {
    let repo = TestRepo::with_files(&[
        ("src/a.py", "1\n"),
        ("src/deep/b.py", "1\n"),
        ("docs/c.md", "1\n"),
    ]);
    for path in ["src/a.py", "src/deep/b.py", "docs/c.md"] {
        repo.write(path, "2\n");
    }
    repo.write("src/new.py", "x\n");
    repo.write("docs/[x].md", "y\n");
    repo
}

fn kept(repo: &TestRepo, dir: &str, paths: &[&str]) -> Result<Vec<String>, GitScopeError> {
    let git = open_at(repo, &repo.path(dir)).unwrap();
    let paths: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
    let scoped = wait(git.change(&ReviewTarget::WorkingTree, &paths))?;
    Ok(scoped.change.files.iter().map(|file| file.path.to_string()).collect())
}

#[test]
fn files_folders_and_globs_are_kept() {
    let repo = repo();
    let root = repo.root().to_str().unwrap().to_owned();
    let absolute = format!("{root}/src/a.py");
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("", &["src/a.py"], &["src/a.py"]),
        ("", &["src"], &["src/a.py", "src/deep/b.py", "src/new.py"]),
        ("", &["src/"], &["src/a.py", "src/deep/b.py", "src/new.py"]),
        ("", &["src/*.py"], &["src/a.py", "src/new.py"]),
        ("", &["**/*.py"], &["src/a.py", "src/deep/b.py", "src/new.py"]),
        ("", &["docs", "src/a.py"], &["docs/[x].md", "docs/c.md", "src/a.py"]),
        ("", &["docs/[x].md"], &["docs/[x].md"]),
        ("", &["."], &["docs/[x].md", "docs/c.md", "src/a.py", "src/deep/b.py", "src/new.py"]),
        (
            "",
            &["src", "."],
            &["docs/[x].md", "docs/c.md", "src/a.py", "src/deep/b.py", "src/new.py"],
        ),
        ("src", &["a.py"], &["src/a.py"]),
        ("src", &["."], &["src/a.py", "src/deep/b.py", "src/new.py"]),
        ("src/deep", &["../a.py"], &["src/a.py"]),
        ("src", &["../docs/*.md"], &["docs/[x].md", "docs/c.md"]),
        ("src", &[&absolute], &["src/a.py"]),
    ];
    for (dir, paths, expected) in rows {
        assert_eq!(kept(&repo, dir, paths).unwrap(), *expected, "{dir} {paths:?}");
    }
}

#[test]
fn a_path_through_a_link_to_the_root_is_inside() {
    let repo = repo();
    let link = repo.beside("link");
    std::os::unix::fs::symlink(repo.root(), &link).unwrap();
    let path = link.join("src/a.py").to_str().unwrap().to_owned();
    assert_eq!(kept(&repo, "", &[&path]).unwrap(), ["src/a.py"]);
}

#[test]
fn a_path_outside_is_an_error() {
    let repo = repo();
    for path in ["..", "../x", "src/../../x", "/etc/passwd", "/", "../../../../../../../../x"] {
        let error = kept(&repo, "", &[path]).unwrap_err();
        let expected = format!("{path} is outside the repository at {}", repo.root().display());
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_path_that_never_was_is_an_error() {
    let repo = repo();
    let error = kept(&repo, "", &["scr/a.py"]).unwrap_err();
    assert_eq!(error.to_string(), "scr/a.py does not exist before or after the change");
    repo.git(&["rm", "-q", "-f", "docs/c.md"]);
    assert_eq!(kept(&repo, "", &["docs/c.md"]).unwrap(), ["docs/c.md"]);
    repo.commit("all");
    assert_eq!(kept(&repo, "", &["src/a.py", "src"]).unwrap(), [""; 0]);
    assert!(try_scope(&repo, range("HEAD~1", "HEAD"), &["src/zzz"]).is_err());
    assert!(try_scope(&repo, ReviewTarget::Staged, &["src"]).is_ok());
}

#[test]
fn a_glob_that_matches_no_file_is_an_error() {
    let repo = repo();
    for paths in [&["*.rs"][..], &["src/*.py", "lib/*.py"], &["src/*.md"]] {
        let error = kept(&repo, "", paths).unwrap_err();
        let glob = paths.last().unwrap();
        assert_eq!(error.to_string(), format!("no file matches '{glob}'"));
    }
    repo.commit("all");
    assert_eq!(kept(&repo, "", &["src/*.py"]).unwrap(), [""; 0], "they are not changed");
    let scoped = try_scope(&repo, ReviewTarget::WorkingTree, &["src/*.py"]).unwrap();
    let target = "the working tree against HEAD in src/*.py";
    assert_eq!(scoped.scope.target, target);
    assert!(try_scope(&repo, range("HEAD~1", "HEAD"), &["lib/*.py"]).is_err());
    let last = ReviewTarget::Commits(vec!["HEAD".to_owned()]);
    assert!(try_scope(&repo, last, &["lib/*.py"]).is_err());
}

#[test]
fn a_revision_in_place_of_a_path_is_named() {
    let repo = repo();
    let error = kept(&repo, "", &["HEAD"]).unwrap_err();
    assert_eq!(error.to_string(), "'HEAD' is a revision, not a range or a path");
    let hint = "run `mala review --base HEAD`, or `mala review HEAD..HEAD`";
    assert_eq!(error.hint().as_deref(), Some(hint));
}

#[test]
fn a_move_over_the_edge_stays_a_move() {
    let body = "one\ntwo\nthree\nfour\nfive\n";
    let repo = TestRepo::with_files(&[("old/a.txt", body), ("old/b.txt", "other\nlines\nhere\n")]);
    repo.git(&["mv", "old/a.txt", "old/c.txt"]);
    repo.write("new/d.txt", body.to_owned() + "six\n");
    repo.remove("old/c.txt");
    repo.write("new/e.txt", "fresh\n");
    let moved = "R new/d.txt from old/a.txt +6:six";
    let shown = show(&try_scope(&repo, ReviewTarget::WorkingTree, &["new"]).unwrap());
    assert_eq!(shown, format!("{moved}\nA new/e.txt +1:fresh"));
    let shown = show(&try_scope(&repo, ReviewTarget::WorkingTree, &["old"]).unwrap());
    assert_eq!(shown, moved);
}
