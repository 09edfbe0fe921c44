//! The history of the reviewed state, and no other commits.

use super::*;
use mala_domain::change::LineSpan;
use mala_domain::ports::{Commit, CommitPrefix, CommitWithDiff, LogQuery};

fn subjects(scoped: &ReviewScope, path: Option<&str>, max: usize) -> Vec<String> {
    let query = LogQuery { path: path.map(FilePath::from), max };
    let commits = wait(scoped.tree.history().unwrap().log(&query)).unwrap();
    commits.into_iter().map(|commit| commit.subject).collect()
}

fn show_commit(scoped: &ReviewScope, id: &str, path: Option<&str>) -> Option<CommitWithDiff> {
    let id = CommitPrefix::parse(id).unwrap();
    let path = path.map(FilePath::from);
    wait(scoped.tree.history().unwrap().show(&id, path.as_ref())).unwrap()
}

fn blame(scoped: &ReviewScope, file: &str, start: u32, end: u32) -> Vec<String> {
    let lines = LineSpan::between(start, end);
    let blamed = wait(scoped.tree.history().unwrap().blame(&file.into(), lines)).unwrap();
    let line = |it: &mala_domain::ports::BlamedLine| {
        let subject = it.commit.as_ref().map_or("uncommitted", |commit| commit.subject.as_str());
        format!("{} {subject}", it.line)
    };
    blamed.iter().map(line).collect()
}

/// Calls everything that the history of a file offers.
pub(super) fn look_at_all(scoped: &ReviewScope, file: &str) {
    subjects(scoped, Some(file), 5);
    blame(scoped, file, 1, 2);
    let query = LogQuery { path: None, max: 1 };
    let commits = wait(scoped.tree.history().unwrap().log(&query)).unwrap();
    assert!(show_commit(scoped, &commits[0].id, Some(file)).is_some());
}

fn grown() -> TestRepo {
    let repo = TestRepo::with_files(&[("a.py", "one\ntwo\n"), ("-o", "x\n"), (":(top)m", "x\n")]);
    repo.write("a.py", "one\nTWO\n");
    repo.commit("second\n\nWhy it is so.");
    repo.write("b.py", "new\n");
    repo.write("-o", "y\n");
    repo.commit("third");
    repo
}

#[test]
fn the_log_has_the_newest_first_and_can_be_kept_to_a_path() {
    let repo = grown();
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    assert_eq!(subjects(&scoped, None, 10), ["third", "second", "start"]);
    assert_eq!(subjects(&scoped, None, 1), ["third"]);
    assert_eq!(subjects(&scoped, Some("a.py"), 10), ["second", "start"]);
    assert_eq!(subjects(&scoped, Some("-o"), 10), ["third", "start"]);
    assert_eq!(subjects(&scoped, Some(":(top)m"), 10), ["start"]);
    assert_eq!(subjects(&scoped, Some("--all"), 10), Vec::<String>::new());
    let earlier = scope(&repo, range("HEAD~2", "HEAD~1"));
    assert_eq!(subjects(&earlier, None, 10), ["second", "start"]);
}

#[test]
fn a_commit_is_shown_with_its_message_and_its_diff() {
    let repo = grown();
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    let shown = show_commit(&scoped, &repo.id("HEAD~1")[..7], None).unwrap();
    let date = "2023-11-14".to_owned();
    let (author, subject) = ("Ada".to_owned(), "second".to_owned());
    assert_eq!(shown.commit, Commit { id: repo.id("HEAD~1"), author, date, subject });
    assert_eq!(shown.message.trim_end(), "second\n\nWhy it is so.");
    let files = |shown: CommitWithDiff| -> Vec<String> {
        shown.change.unwrap().files.iter().map(show_file).collect()
    };
    assert_eq!(files(shown), ["M a.py -2:two +2:TWO"]);
    let root = show_commit(&scoped, &repo.id("HEAD~2"), Some("a.py")).unwrap();
    assert_eq!(files(root), ["A a.py +1:one +2:two"]);
}

#[test]
fn commits_of_other_branches_and_other_objects_are_not_shown() {
    let repo = grown();
    repo.branch("other");
    let secret = repo.commit("on another branch");
    repo.checkout("main");
    repo.git(&["branch", "abcdef0", "other"]);
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    let tree = repo.id("HEAD^{tree}");
    for id in [&secret, &tree, "abcdef0", "0000000", &"f".repeat(40)] {
        assert_eq!(show_commit(&scoped, id, None), None, "{id}");
    }
    for id in ["HEAD", "main", "-1", "--all", "abc", "abcdefg", "", "HEAD~1", &"a".repeat(65)] {
        assert_eq!(CommitPrefix::parse(id), None, "{id}");
    }
}

#[test]
fn lines_are_blamed_in_every_state() {
    let repo = grown();
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    assert_eq!(blame(&scoped, "a.py", 1, 2), ["1 start", "2 second"]);
    assert_eq!(blame(&scoped, "-o", 1, 1), ["1 third"]);
    assert_eq!(blame(&scoped, ":(top)m", 1, 1), ["1 start"]);
    repo.write("a.py", "zero\none\nTWO\nmore\n");
    repo.write("untracked.py", "1\n");
    let on_disk = scope(&repo, ReviewTarget::WorkingTree);
    let expected = ["1 uncommitted", "2 start", "3 second", "4 uncommitted"];
    assert_eq!(blame(&on_disk, "a.py", 1, 4), expected);
    assert_eq!(blame(&on_disk, "untracked.py", 1, 1), ["1 uncommitted"]);
    repo.stage();
    repo.write("a.py", "other\n");
    assert_eq!(blame(&scope(&repo, ReviewTarget::Staged), "a.py", 1, 4), expected);
}

#[test]
fn a_repository_without_commits_has_no_history() {
    let repo = TestRepo::new();
    repo.write("a.py", "1\n");
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(subjects(&scoped, None, 10), Vec::<String>::new());
    assert_eq!(show_commit(&scoped, "abcdef0", None), None);
    assert_eq!(blame(&scoped, "a.py", 1, 1), ["1 uncommitted"]);
}

#[test]
fn a_patch_has_the_history_of_the_tree_below_it() {
    let repo = grown();
    let patch = b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-TWO\n+three\n";
    let scoped = scope(&repo, ReviewTarget::Patch(patch.to_vec()));
    assert_eq!(subjects(&scoped, Some("a.py"), 10), ["second", "start"]);
    assert_eq!(blame(&scoped, "b.py", 1, 1), ["1 third"]);
    let history = scoped.tree.history().unwrap();
    let error = wait(history.blame(&"a.py".into(), LineSpan::line(1))).unwrap_err();
    assert_eq!(error.to_string(), "the patch changes this file, so it is not in any commit");
}

#[test]
fn a_commit_that_is_too_large_is_named_without_its_diff() {
    let repo = grown();
    repo.write("big.txt", "x".repeat(99).repeat(60_000));
    let id = repo.commit("big");
    let scoped = scope(&repo, range("HEAD~1", "HEAD"));
    let shown = show_commit(&scoped, &id, None).unwrap();
    assert_eq!((shown.change, shown.commit.subject.as_str()), (None, "big"));
    assert!(show_commit(&scoped, &id, Some("a.py")).unwrap().change.is_some());
}
