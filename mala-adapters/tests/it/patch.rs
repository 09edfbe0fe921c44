//! Patches inside and outside of a repository.

use crate::git::{environment, read, scope, show, text, try_scope, wait, words};
use mala_adapters::git::Git;
use mala_adapters::patch::{self, PatchOnlySource};
use mala_domain::ports::{Blob, ChangeSource, ScopeError, Side};
use mala_domain::scope::{HeadState, ReviewTarget};
use mala_testkit::TestRepo;

const EDIT: &str =
    "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n";
const NEW: &str = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+new\n";
const GONE: &str = "diff --git a/g.py b/g.py\ndeleted file mode 100644\n--- a/g.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
const MOVE: &str = "diff --git a/o.py b/m.py\nsimilarity index 50%\nrename from o.py\nrename to m.py\n--- a/o.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n o\n-p\n+q\n";

fn all() -> String {
    [EDIT, NEW, GONE, MOVE].concat()
}

fn repo() -> TestRepo {
    TestRepo::with_files(&[
        ("a.py", "one\ntwo\n"),
        ("g.py", "gone\n"),
        ("o.py", "o\np\n"),
        ("user.py", "import a  # two gone\n"),
    ])
}

fn patch(text: &str) -> ReviewTarget {
    ReviewTarget::Patch(text.as_bytes().to_vec())
}

const SHOWN: &str =
    "M a.py -2:two +2:TWO\nA n.py +1:new\nD g.py -1:gone\nR m.py from o.py -2:p +2:q";

#[test]
fn without_a_repository_a_patch_shows_what_it_shows() {
    let scoped = patch::scope(all().as_bytes(), &[]).unwrap();
    assert_eq!(show(&scoped), SHOWN);
    assert_eq!((&scoped.scope.base, &scoped.scope.head), (&None, &HeadState::Patch));
    assert_eq!(read(&scoped, Side::Head, "n.py"), text("new\n"));
    assert_eq!(read(&scoped, Side::Base, "g.py"), text("gone\n"));
    assert_eq!(read(&scoped, Side::Head, "a.py"), Blob::Missing);
    assert_eq!(words(&scoped, &["new", "TWO"], &["*.py"]), ["n.py:1:new"]);
    assert_eq!(words(&scoped, &["new"], &["*.go"]), [""; 0]);
}

#[test]
fn a_patch_on_top_of_head_is_head_with_the_patch() {
    let repo = repo();
    for dirty in [false, true] {
        if dirty {
            repo.write("a.py", "something else\n");
        }
        let scoped = scope(&repo, patch(&all()));
        assert_eq!(show(&scoped), SHOWN);
        assert_eq!(scoped.scope.head, HeadState::Patch);
        assert_eq!(read(&scoped, Side::Base, "a.py"), text("one\ntwo\n"));
        assert_eq!(read(&scoped, Side::Head, "a.py"), text("one\nTWO\n"));
        assert_eq!(read(&scoped, Side::Head, "n.py"), text("new\n"));
        assert_eq!(read(&scoped, Side::Base, "n.py"), Blob::Missing);
        assert_eq!(read(&scoped, Side::Head, "g.py"), Blob::Missing);
        assert_eq!(read(&scoped, Side::Base, "o.py"), text("o\np\n"));
        assert_eq!(read(&scoped, Side::Head, "o.py"), Blob::Missing);
        assert_eq!(read(&scoped, Side::Head, "m.py"), text("o\nq\n"));
        assert_eq!(read(&scoped, Side::Base, "m.py"), Blob::Missing);
        assert_eq!(read(&scoped, Side::Head, "user.py"), text("import a  # two gone\n"));
        let found = words(&scoped, &["two", "TWO", "gone", "q"], &[]);
        assert_eq!(found, ["a.py:2:TWO", "m.py:2:q", "user.py:1:import a  # two gone"]);
        let listed = wait(scoped.tree.list(Side::Head, &"".into())).unwrap();
        let listed: Vec<_> = listed.iter().map(ToString::to_string).collect();
        assert_eq!(listed, ["a.py", "m.py", "n.py", "user.py"]);
    }
}

#[test]
fn a_patch_on_top_of_the_working_tree_is_that_with_the_patch() {
    let repo = repo();
    repo.write("a.py", "one\ntwo\nthree\n");
    repo.git(&["rm", "-q", "--cached", "user.py"]);
    repo.write("g.py", "gone\n");
    let edit = EDIT.replace("@@ -1,2 +1,2 @@", "@@ -1,3 +1,3 @@") + " three\n";
    let scoped = scope(&repo, patch(&edit));
    assert_eq!(read(&scoped, Side::Head, "a.py"), text("one\nTWO\nthree\n"));
    assert_eq!(read(&scoped, Side::Base, "a.py"), text("one\ntwo\nthree\n"));
}

#[test]
fn a_patch_that_is_applied_already_is_read_from_the_tree() {
    let repo = repo();
    repo.write("a.py", "one\nTWO\n");
    repo.write("n.py", "new\n");
    repo.remove("g.py");
    repo.remove("o.py");
    repo.write("m.py", "o\nq\n");
    for committed in [false, true] {
        if committed {
            repo.commit("applied");
            repo.write("a.py", "and then something else\n");
        }
        let scoped = scope(&repo, patch(&all()));
        assert_eq!(read(&scoped, Side::Head, "a.py"), text("one\nTWO\n"));
        assert_eq!(read(&scoped, Side::Base, "a.py"), text("one\ntwo\n"));
        assert_eq!(read(&scoped, Side::Base, "g.py"), text("gone\n"));
        assert_eq!(read(&scoped, Side::Base, "n.py"), Blob::Missing);
        assert_eq!(read(&scoped, Side::Base, "o.py"), text("o\np\n"));
        assert_eq!(read(&scoped, Side::Base, "m.py"), Blob::Missing);
        assert_eq!(read(&scoped, Side::Head, "o.py"), Blob::Missing);
    }
}

#[test]
fn a_patch_that_fits_nowhere_stands_alone() {
    let repo = repo();
    let edit = EDIT.replace("-two", "-zwei");
    let scoped = scope(&repo, patch(&(edit + NEW)));
    assert_eq!(show(&scoped), "M a.py -2:zwei +2:TWO\nA n.py +1:new");
    assert_eq!(read(&scoped, Side::Head, "a.py"), Blob::Missing);
    assert_eq!(read(&scoped, Side::Head, "user.py"), Blob::Missing);
    assert_eq!(read(&scoped, Side::Head, "n.py"), text("new\n"));
}

#[test]
fn empty_patches_are_empty_changes() {
    let repo = repo();
    for empty in ["", "\n", "  \n\n"] {
        assert!(patch::scope(empty.as_bytes(), &[]).unwrap().change.is_empty());
        assert!(scope(&repo, patch(empty)).change.is_empty());
    }
}

#[test]
fn what_is_no_patch_is_refused_with_its_line() {
    let repo = repo();
    let rows = [
        ("hello\n", "cannot parse the diff: no diff found in the input"),
        ("\u{0}\u{1}\u{7f}ELF", "cannot parse the diff: no diff found in the input"),
        (
            "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a\n",
            "cannot parse the diff: line 5: the diff ends inside a hunk: 4 more lines expected",
        ),
    ];
    for (bad, expected) in rows {
        let git = wait(Git::open(repo.root(), &environment(&repo))).unwrap();
        let inside = wait(ChangeSource::scope(&git, &patch(bad), &[])).err().unwrap();
        let outside = patch::scope(bad.as_bytes(), &[]).map(|_| ()).unwrap_err();
        for error in [inside, ScopeError::from(outside)] {
            let ScopeError::Broken { what, .. } = error else { panic!("{error}") };
            assert_eq!(what, expected);
        }
    }
}

#[test]
fn paths_narrow_a_patch() {
    let repo = repo();
    let narrow = |paths: &[&str]| {
        let owned: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
        let inside = show(&try_scope(&repo, patch(&all()), paths).unwrap());
        let outside = show(&patch::scope(all().as_bytes(), &owned).unwrap());
        assert_eq!(inside, outside);
        inside
    };
    assert_eq!(narrow(&["n.py"]), "A n.py +1:new");
    assert_eq!(narrow(&["[gn].py"]), "A n.py +1:new\nD g.py -1:gone");
    assert_eq!(narrow(&["o.py"]), "R m.py from o.py -2:p +2:q");
    assert_eq!(narrow(&["."]), SHOWN);
    assert!(patch::scope(b"", &["../x".to_owned()]).is_err());
    let whole = patch::scope(all().as_bytes(), &[]).unwrap().scope;
    let part = patch::scope(all().as_bytes(), &["n.py".to_owned()]).unwrap().scope;
    assert_ne!(whole.diff_hash, part.diff_hash);
}

#[test]
fn generated_and_vendored_files_of_a_patch_are_marked() {
    let header = NEW.replace("+new", "+// Code generated by x. DO NOT EDIT.");
    let lock = NEW.replace("n.py", "Cargo.lock");
    let vendored = NEW.replace("n.py", "node_modules/x.js");
    let scoped = patch::scope([header, lock, vendored].concat().as_bytes(), &[]).unwrap();
    assert_eq!(
        show(&scoped),
        "A n.py generated +1:// Code generated by x. DO NOT EDIT.\nA Cargo.lock lock +1:new\n\
         A node_modules/x.js vendored +1:new"
    );
}

#[test]
fn without_a_repository_only_patches_are_reviewed() {
    let folder = TestRepo::plain_folder("plain");
    let error = wait(Git::open(folder.root(), &environment(&folder))).unwrap_err();
    let source = PatchOnlySource::because(error);
    assert!(wait(source.scope(&patch(NEW), &[])).is_ok());
    let error = wait(source.scope(&ReviewTarget::WorkingTree, &[])).err().unwrap();
    let ScopeError::Asked { what, hint } = error else { panic!("{error}") };
    assert!(what.ends_with("is not in a git repository"), "{what}");
    assert!(hint.unwrap().contains("--patch"));
}

#[test]
fn a_mailed_series_is_one_change() {
    let repo = repo();
    repo.branch("topic");
    repo.write("a.py", "one\nTWO\n");
    repo.commit("first");
    repo.write("a.py", "zero\none\nTWO\n");
    repo.write("n.py", "new\n");
    repo.commit("second");
    let mails = repo.try_git(&["format-patch", "--stdout", "main"]).stdout;
    repo.checkout("main");
    let scoped = scope(&repo, ReviewTarget::Patch(mails));
    assert_eq!(show(&scoped), "M a.py -2:two +1:zero +3:TWO\nA n.py +1:new");
    assert_eq!(read(&scoped, Side::Head, "a.py"), text("zero\none\nTWO\n"));
}
