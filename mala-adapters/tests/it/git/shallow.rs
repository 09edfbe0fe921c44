//! Shallow clones, and clones without objects.

use super::*;

/// A clone of this depth, as a repository of its own.
fn clone(origin: &TestRepo, options: &[&str]) -> TestRepo {
    let clone = TestRepo::plain_folder("clone");
    let url = format!("file://{}", origin.root().display());
    let mut args = vec!["clone", "-q"];
    args.extend(options);
    args.extend([url.as_str(), "."]);
    clone.git(&args);
    clone
}

fn history() -> TestRepo {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    for n in 2..=5 {
        repo.write("a", format!("{n}\n"));
        repo.commit("more");
    }
    repo
}

#[test]
fn what_is_there_is_reviewed() {
    let origin = history();
    let repo = clone(&origin, &["--depth=2"]);
    assert_eq!(show(&scope(&repo, range("HEAD~1", "HEAD"))), "M a -1:4 +1:5");
    let last = ReviewTarget::Commits(vec!["HEAD".to_owned()]);
    assert_eq!(show(&scope(&repo, last)), "M a -1:4 +1:5");
    repo.write("a", "6\n");
    assert_eq!(show(&scope(&repo, ReviewTarget::WorkingTree)), "M a -1:5 +1:6");
}

#[test]
fn a_base_that_is_cut_off_is_said_to_be() {
    let origin = history();
    let repo = clone(&origin, &["--depth=2"]);
    let deepen = "this clone is shallow: run `git fetch --unshallow` or `git fetch --deepen=100`";
    let error = try_scope(&repo, range("HEAD~3", "HEAD"), &[]).err().unwrap();
    assert_eq!(error.to_string(), "unknown revision: HEAD~3");
    assert_eq!(error.hint().as_deref(), Some(deepen));
    let error = try_scope(&repo, range("release", "HEAD"), &[]).err().unwrap();
    let fetch = "this clone is shallow: run `git fetch --unshallow origin release`";
    assert_eq!(error.hint().as_deref(), Some(fetch));
    // Its parent is missing: it is not a root commit that adds every file.
    let edge = ReviewTarget::Commits(vec!["HEAD~1".to_owned()]);
    let error = try_scope(&repo, edge, &[]).err().unwrap();
    assert!(error.to_string().contains("is not in this shallow clone"), "{error}");
    assert_eq!(error.hint().as_deref(), Some(deepen));
}

#[test]
fn a_meeting_point_that_is_cut_off_is_said_to_be() {
    let origin = history();
    origin.git(&["checkout", "-q", "-b", "topic", "HEAD~3"]);
    origin.write("b", "1\n");
    origin.commit("topic");
    let repo = clone(&origin, &["--depth=1", "--no-single-branch"]);
    let target =
        ReviewTarget::SinceMergeBase { base: "origin/main".into(), head: "origin/topic".into() };
    let error = try_scope(&repo, target, &[]).err().unwrap();
    assert_eq!(error.to_string(), "origin/main and origin/topic have no common ancestor");
    assert!(error.hint().unwrap().contains("--unshallow"));
}

#[test]
fn a_partial_clone_fetches_nothing_behind_the_users_back() {
    let origin = history();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    let repo = clone(&origin, &["--filter=blob:none"]);
    let error = try_scope(&repo, range("HEAD~3", "HEAD~2"), &[]).err().unwrap();
    let hint = error.hint().unwrap_or_default();
    assert!(hint.contains("partial clone"), "{error}; {hint}");
}
