//! Where eval cases come from: pull requests by their refs, and lines by the commits that added
//! them.

use super::*;

/// The commits of a pull request, by the subjects of base and head.
fn request(repo: &TestRepo, number: u64) -> Option<(String, String)> {
    let git = open(repo);
    let Some(ReviewTarget::SinceMergeBase { base, head }) = wait(git.pull_request(number)).unwrap()
    else {
        return None;
    };
    let subject = |id: &str| wait(git.message(id)).unwrap().trim().to_owned();
    Some((subject(&base), subject(&head)))
}

/// `main` with a commit `later`, and the head of a pull request that started before it.
fn with_request() -> (TestRepo, String) {
    let repo = TestRepo::with_files(&[("a.py", "one\n")]);
    repo.branch("topic");
    repo.checkout("topic");
    repo.write("b.py", "two\n");
    let head = repo.commit("asked for");
    repo.checkout("main");
    repo.write("a.py", "ONE\n");
    repo.commit("later");
    repo.git(&["update-ref", "refs/pull/7/head", &head]);
    (repo, head)
}

#[test]
fn an_open_request_starts_at_the_branch_it_is_for() {
    let (repo, _) = with_request();
    assert_eq!(request(&repo, 7), Some(("later".to_owned(), "asked for".to_owned())));
    assert_eq!(request(&repo, 8), None);
}

#[test]
fn a_merged_request_starts_where_the_branch_was_before() {
    let (repo, _) = with_request();
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    repo.write("c.py", "three\n");
    repo.commit("much later");
    assert_eq!(request(&repo, 7), Some(("later".to_owned(), "asked for".to_owned())));
}

#[test]
fn a_request_that_the_branch_grew_over_has_no_base() {
    let repo = TestRepo::with_files(&[("a.py", "one\n")]);
    repo.write("a.py", "ONE\n");
    let head = repo.commit("asked for");
    repo.write("a.py", "two\n");
    repo.commit("later");
    repo.git(&["update-ref", "refs/pull/7/head", &head]);
    assert_eq!(request(&repo, 7), None);
}

#[test]
fn the_merge_that_was_tried_knows_the_base_unless_it_is_old() {
    let (repo, head) = with_request();
    repo.git(&["checkout", "-q", "--detach", "main~1"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "try", "topic"]);
    let tried = repo.head();
    repo.git(&["update-ref", "refs/pull/7/merge", &tried]);
    repo.checkout("main");
    assert_eq!(request(&repo, 7), Some(("start".to_owned(), "asked for".to_owned())));
    repo.checkout("topic");
    repo.write("b.py", "three\n");
    let newer = repo.commit("asked again");
    assert_ne!(newer, head);
    repo.checkout("main");
    repo.git(&["update-ref", "refs/pull/7/head", &newer]);
    assert_eq!(request(&repo, 7), Some(("later".to_owned(), "asked again".to_owned())));
}

#[test]
fn lines_come_from_commits_under_their_old_names_and_numbers() {
    let repo = TestRepo::with_files(&[("old name.py", "one\ntwo\nthree\n")]);
    let first = repo.head();
    repo.git(&["mv", "--", "old name.py", "-new.py"]);
    repo.commit("move");
    repo.write("-new.py", "zero\none\ntwo  \nTHREE\n");
    let last = repo.commit("change");
    let git = open(&repo);
    let found = wait(git.origins("HEAD", &FilePath::from("-new.py"), &[1, 3, 4])).unwrap();
    let found: Vec<(&str, String, u32)> = found
        .iter()
        .map(|origin| (origin.commit.as_str(), origin.file.to_string(), origin.line))
        .collect();
    let old = "old name.py".to_owned();
    let new = "-new.py".to_owned();
    assert_eq!(found, [(last.as_str(), new.clone(), 1), (&first, old, 2), (&last, new, 4)]);
    assert!(wait(git.origins("HEAD", &FilePath::from("gone.py"), &[1])).is_err());
    assert!(wait(git.origins("--help", &FilePath::from("-new.py"), &[1])).is_err());
    assert!(wait(git.origins("HEAD", &FilePath::from("-new.py"), &[])).unwrap().is_empty());
}
