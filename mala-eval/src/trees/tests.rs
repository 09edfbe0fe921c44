//! A diff is taken back where it fits, and what does not fit is said.

use super::*;

fn case(diff: &str, files: &[(&str, &str)]) -> EvalCase {
    let mut case: EvalCase =
        serde_json::from_str(r#"{"id": "a", "language": "python", "diff": ""}"#).unwrap();
    case.diff = diff.to_owned();
    case.files = files.iter().map(|(path, text)| ((*path).into(), (*text).to_owned())).collect();
    case
}

fn listed(files: &Files) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    files.iter().map(|(path, bytes)| (path.to_string(), text(bytes))).collect()
}

#[track_caller]
fn check(
    case: &EvalCase,
    base: &[(&str, &str)],
    head: &[(&str, &str)],
    origin: BaseOrigin,
    notes: &[&str],
) {
    let trees = CaseTrees::of(case);
    let own = |files: &[(&str, &str)]| -> Vec<(String, String)> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    };
    assert_eq!(listed(&trees.base), own(base), "base");
    assert_eq!(listed(&trees.head), own(head), "head");
    assert_eq!((trees.origin, trees.notes.as_slice()), (origin, &own_notes(notes)[..]));
}

fn own_notes(notes: &[&str]) -> Vec<String> {
    notes.iter().map(|note| (*note).to_owned()).collect()
}

const EDIT: &str = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";

#[test]
fn an_edit_is_taken_back_and_other_files_stay() {
    let head = [("a.py", "one\n2\nthree\n"), ("b.py", "b\n")];
    let base = [("a.py", "one\ntwo\nthree\n"), ("b.py", "b\n")];
    check(&case(EDIT, &head), &base, &head, BaseOrigin::Reverted, &[]);
}

#[test]
fn new_gone_and_renamed_files_are_where_they_were() {
    let diff = "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n\
                @@ -0,0 +1 @@\n+new\n\
                diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n\
                +++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\
                diff --git a/old.py b/moved.py\nsimilarity index 90%\nrename from old.py\n\
                rename to moved.py\n--- a/old.py\n+++ b/moved.py\n@@ -1 +1 @@\n-x\n+y\n";
    // The new file's text is taken from the diff when the case has none.
    let head = [("moved.py", "y\n"), ("new.py", "new\n")];
    let base = [("gone.py", "gone\n"), ("old.py", "x\n")];
    check(&case(diff, &head), &base, &head, BaseOrigin::Reverted, &[]);
    check(&case(diff, &head[..1]), &base, &head, BaseOrigin::Reverted, &[]);
}

#[test]
fn what_does_not_fit_counts_as_new_and_is_said() {
    let other = "--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n";
    let head = [("a.py", "one\n2\n"), ("b.py", "something else\n")];
    let note = "b.py: the diff does not apply in reverse; treated as new";
    let both = format!("{EDIT}{other}");
    let base = [("a.py", "one\ntwo\n")];
    check(&case(&both, &head), &base, &head, BaseOrigin::PartlyReverted, &[note]);
    check(&case(other, &head[1..]), &[], &head[1..], BaseOrigin::Empty, &[note]);
    let lost = "b.py: the case has no such file; skipped";
    check(&case(&both, &head[..1]), &base, &head[..1], BaseOrigin::Reverted, &[lost]);
}

#[test]
fn a_diff_that_is_none_leaves_all_files_new() {
    let broken = case("@@ -1 +1 @@\n-x\n", &[("a.py", "x\n")]);
    let trees = CaseTrees::of(&broken);
    assert_eq!((trees.base.len(), trees.head.len()), (0, 1));
    assert_eq!((trees.origin, trees.notes.len()), (BaseOrigin::Empty, 1));
}

#[test]
fn no_path_of_the_diff_leaves_the_tree() {
    for path in ["../x", "a/../../x", ".git/config", "a/.GIT/hooks/x"] {
        let diff = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
        let trees = CaseTrees::of(&case(&diff, &[("a.py", "a\n")]));
        let all = trees.base.keys().chain(trees.head.keys());
        assert!(all.into_iter().all(|kept| kept.to_string() == "a.py"), "{path}");
    }
}

#[test]
fn files_at_base_that_are_given_are_taken_as_they_are() {
    let mut given = case("", &[("a.py", "new\n")]);
    given.base_files = Some([("a.py".into(), "old\n".to_owned())].into());
    check(&given, &[("a.py", "old\n")], &[("a.py", "new\n")], BaseOrigin::Given, &[]);
}
