//! Ranges, branches and selected commits.

use super::*;
use mala_domain::scope::HeadState;

fn commits(ids: &[&str]) -> ReviewTarget {
    ReviewTarget::Commits(ids.iter().map(|id| (*id).to_owned()).collect())
}

fn since(base: &str, head: &str) -> ReviewTarget {
    ReviewTarget::SinceMergeBase { base: base.to_owned(), head: head.to_owned() }
}

/// Ten lines, some of them replaced.
fn lines(changed: &[(usize, &str)]) -> String {
    (1..=10)
        .map(|n| {
            let change = changed.iter().find(|(line, _)| *line == n);
            change.map_or(format!("{n}\n"), |(_, text)| format!("{text}\n"))
        })
        .collect()
}

#[test]
fn a_range_is_the_difference_of_its_ends() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.branch("topic");
    repo.write("a", "2\n");
    let topic = repo.commit("topic");
    repo.checkout("main");
    repo.write("b", "1\n");
    let main = repo.commit("main");
    let scoped = scope(&repo, range("main", "topic"));
    assert_eq!(show(&scoped), "M a -1:1 +1:2\nD b -1:1");
    assert_eq!(scoped.scope.target, "main..topic");
    assert_eq!(scoped.scope.base, Some(main));
    assert_eq!(scoped.scope.head, HeadState::Commit(topic));
    assert_eq!(show(&scope(&repo, range("topic", ""))), "M a -1:2 +1:1\nA b +1:1");
}

#[test]
fn a_branch_starts_where_it_left() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    let start = repo.head();
    repo.branch("topic");
    repo.write("a", "2\n");
    repo.commit("topic");
    repo.checkout("main");
    repo.write("b", "1\n");
    repo.commit("main");
    let scoped = scope(&repo, since("main", "topic"));
    assert_eq!(show(&scoped), "M a -1:1 +1:2");
    assert_eq!(scoped.scope.base, Some(start));
    repo.checkout("topic");
    assert_eq!(show(&scope(&repo, since("main", ""))), "M a -1:1 +1:2");
}

#[test]
fn a_commit_is_compared_with_its_first_parent() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    let root = repo.head();
    repo.branch("topic");
    repo.write("b", "1\n");
    repo.commit("topic");
    repo.checkout("main");
    repo.write("a", "2\n");
    repo.commit("main");
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    let scoped = scope(&repo, commits(&[&root]));
    assert_eq!((show(&scoped).as_str(), &scoped.scope.base), ("A a +1:1", &None));
    assert_eq!(show(&scope(&repo, commits(&["main~1"]))), "M a -1:1 +1:2");
    assert_eq!(show(&scope(&repo, commits(&["main"]))), "A b +1:1");
    let error = try_scope(&repo, commits(&[]), &[]).err().unwrap();
    assert_eq!(error.to_string(), "no commit given");
}

#[test]
fn commits_that_follow_each_other_are_one_range() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.write("a", "2\n");
    let two = repo.commit("two");
    repo.write("a", "3\n");
    let three = repo.commit("three");
    repo.write("b", "1\n");
    repo.commit("four");
    let scoped = scope(&repo, commits(&[&three, &two, &three]));
    assert_eq!(show(&scoped), "M a -1:1 +1:3");
    assert_eq!(scoped.scope.head, HeadState::Commit(three));
}

#[test]
fn commits_apart_leave_out_what_came_between() {
    let repo = TestRepo::with_files(&[("a", &lines(&[])), ("gone", "x\n"), ("kept", "x\n")]);
    repo.write("a", lines(&[(2, "two")]));
    repo.write("mine", "m\n");
    repo.remove("gone");
    let mine = repo.commit("mine");
    repo.write("a", lines(&[(2, "two\ntheirs"), (5, "five")]));
    repo.write("theirs", "t\n");
    repo.write("mine", "m\nn\n");
    repo.remove("kept");
    repo.commit("theirs");
    repo.write("a", lines(&[(2, "two\ntheirs"), (5, "five"), (9, "nine")]).replace("\n7\n", "\n"));
    let more = repo.commit("more");
    let scoped = scope(&repo, commits(&[&mine, &more]));
    assert_eq!(show(&scoped), "M a -2:2 -8:7 -10:9 +2:two +9:nine\nD gone -1:x\nA mine +1:m");
    // The base is the last state without the selected lines, so that line numbers match.
    let tip = lines(&[(2, "two\ntheirs"), (5, "five"), (9, "nine")]).replace("\n7\n", "\n");
    assert_eq!(read(&scoped, Side::Head, "a"), text(&tip));
    let Blob::Text(base) = read(&scoped, Side::Base, "a") else { panic!("no text") };
    for file in &scoped.change.files {
        for (number, line) in file.hunks.iter().flat_map(|hunk| hunk.removed_lines()) {
            if file.path == FilePath::from("a") {
                assert_eq!(base.lines().nth(number as usize - 1), Some(line));
            }
        }
    }
    assert_eq!(read(&scoped, Side::Base, "gone"), text("x\n"));
    assert_eq!(read(&scoped, Side::Base, "mine"), Blob::Missing);
    assert_eq!(read(&scoped, Side::Base, "theirs"), text("t\n"));
    assert_eq!(read(&scoped, Side::Head, "mine"), text("m\nn\n"));
}

#[test]
fn a_picked_merge_brings_what_it_merged() {
    let repo = TestRepo::with_files(&[("a", &lines(&[]))]);
    repo.branch("topic");
    repo.write("a", lines(&[(2, "topic")]));
    repo.commit("topic");
    repo.checkout("main");
    repo.write("a", lines(&[(9, "main")]));
    repo.commit("main");
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    let merge = repo.head();
    repo.write("a", lines(&[(2, "topic"), (9, "main"), (5, "between")]));
    repo.commit("between");
    repo.write("b", "b\n");
    let last = repo.commit("last");
    let scoped = scope(&repo, commits(&[&merge, &last]));
    assert_eq!(show(&scoped), "M a -2:2 +2:topic\nA b +1:b");
}

#[test]
fn commits_of_two_branches_need_a_state_that_has_both() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.branch("left");
    repo.write("l", "l\n");
    let left = repo.commit("left");
    repo.git(&["checkout", "-q", "-b", "right", "main"]);
    repo.write("r", "r\n");
    let right = repo.commit("right");
    let error = try_scope(&repo, commits(&[&left, &right]), &[]).err().unwrap();
    assert!(error.to_string().starts_with("no commit contains all of "), "{error}");
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "left"]);
    let scoped = scope(&repo, commits(&[&left, &right]));
    assert_eq!(show(&scoped), "A l +1:l\nA r +1:r");
}

#[test]
fn unknown_revisions_come_with_names_like_them() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.branch("feature/login");
    let error = try_scope(&repo, range("feature/logn", "HEAD"), &[]).err().unwrap();
    assert_eq!(error.to_string(), "unknown revision: feature/logn");
    assert_eq!(error.hint().as_deref(), Some("did you mean feature/login?"));
    let error = try_scope(&repo, since("nothing-like-it", "HEAD"), &[]).err().unwrap();
    assert_eq!(error.hint(), None);
}

#[test]
fn a_branch_that_only_origin_has_is_found_there() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    let base = repo.head();
    repo.write("a", "2\n");
    repo.commit("second");
    repo.git(&["update-ref", "refs/remotes/origin/release", &base]);
    repo.git(&["update-ref", "refs/remotes/origin/HEAD", &base]);
    repo.git(&["checkout", "-q", "--detach"]);
    assert_eq!(show(&scope(&repo, since("release", "HEAD"))), "M a -1:1 +1:2");
    repo.branch("release");
    let target = since("release", "HEAD");
    assert!(scope(&repo, target).change.is_empty(), "a local branch comes first");
    repo.git(&["checkout", "-q", "--orphan", "empty"]);
    assert!(try_scope(&repo, since("HEAD", "release"), &[]).is_err(), "HEAD is the local one");
}

#[test]
fn histories_without_a_meeting_point_are_refused() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    repo.write("b", "1\n");
    repo.commit("other");
    let error = try_scope(&repo, since("main", "other"), &[]).err().unwrap();
    assert_eq!(error.to_string(), "main and other have no common ancestor");
    assert_eq!(error.hint(), None);
}

#[test]
fn repositories_with_long_ids_work() {
    let repo = TestRepo::plain_folder("repo");
    repo.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    repo.write("a/b", "1\n");
    repo.commit("one");
    repo.write("a/b", "2\n");
    repo.write("new", "n\n");
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(show(&scoped), "M a/b -1:1 +1:2\nA new +1:n");
    assert_eq!(read(&scoped, Side::Base, "a/b"), text("1\n"));
    assert_eq!(show(&scope(&repo, commits(&["HEAD"]))), "A a/b +1:1");
}
