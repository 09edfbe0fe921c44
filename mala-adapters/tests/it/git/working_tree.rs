//! The working tree and the index, in every state.

use super::*;
use mala_domain::scope::HeadState;

#[test]
fn staged_unstaged_and_untracked_files_are_one_change() {
    let repo = TestRepo::with_files(&[
        ("a", "1\n"),
        ("b", "1\n"),
        ("c", "1\n"),
        (".gitignore", "*.log\n"),
    ]);
    repo.write("a", "2\n");
    repo.git(&["add", "a"]);
    repo.write("b", "2\n");
    repo.remove("c");
    repo.write("new/d", "x\ny\n");
    repo.write("x.log", "ignored\n");
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(show(&scoped), "M a -1:1 +1:2\nM b -1:1 +1:2\nD c -1:1\nA new/d +1:x +2:y");
    assert_eq!(scoped.scope.base, Some(repo.head()));
    assert_eq!(scoped.scope.head, HeadState::WorkingTree);
}

#[test]
fn what_is_staged_is_reviewed_as_it_is_staged() {
    let repo = TestRepo::with_files(&[("a", "1\n"), ("b", "1\n")]);
    repo.write("a", "2\n");
    repo.git(&["add", "a"]);
    repo.write("a", "3\n");
    repo.write("b", "2\n");
    repo.write("new", "1\n");
    let scoped = scope(&repo, ReviewTarget::Staged);
    assert_eq!(show(&scoped), "M a -1:1 +1:2");
    assert_eq!(scoped.scope.head, HeadState::Index);
    assert_eq!(read(&scoped, Side::Head, "a"), text("2\n"));
    assert_eq!(read(&scoped, Side::Base, "a"), text("1\n"));
    assert_eq!(read(&scoped, Side::Head, "new"), Blob::Missing);
}

#[test]
fn nothing_changed_is_an_empty_change() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    for target in [ReviewTarget::WorkingTree, ReviewTarget::Staged, range("HEAD", "HEAD")] {
        let scoped = scope(&repo, target);
        assert!(scoped.change.is_empty());
    }
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let repo = TestRepo::new();
    assert!(scope(&repo, ReviewTarget::WorkingTree).change.is_empty());
    repo.write("a", "1\n");
    repo.write("b", "1\n");
    repo.git(&["add", "a"]);
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(show(&scoped), "A a +1:1\nA b +1:1");
    assert_eq!(scoped.scope.base, None);
    assert_eq!(read(&scoped, Side::Base, "a"), Blob::Missing);
    assert_eq!(read(&scoped, Side::Head, "b"), text("1\n"));
    assert_eq!(show(&scope(&repo, ReviewTarget::Staged)), "A a +1:1");
    let error = try_scope(&repo, range("HEAD", ""), &[]).err().unwrap();
    assert_eq!(error.to_string(), "unknown revision: HEAD");
}

#[test]
fn a_detached_head_is_a_head() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.write("a", "2\n");
    repo.commit("two");
    repo.checkout("HEAD~1");
    repo.write("a", "3\n");
    assert_eq!(show(&scope(&repo, ReviewTarget::WorkingTree)), "M a -1:1 +1:3");
}

#[test]
fn a_file_that_moved_on_disk_is_found_again() {
    let body = "one\ntwo\nthree\nfour\nfive\n";
    let repo = TestRepo::with_files(&[("old.txt", body)]);
    repo.remove("old.txt");
    repo.write("new.txt", body.replace("five", "5"));
    assert_eq!(
        show(&scope(&repo, ReviewTarget::WorkingTree)),
        "R new.txt from old.txt -5:five +5:5"
    );
}

#[test]
fn a_file_that_left_the_index_and_stays_on_disk_is_no_change() {
    let repo = TestRepo::with_files(&[("a", "1\n"), ("b", "1\n")]);
    repo.git(&["rm", "-q", "--cached", "a"]);
    assert_eq!(show(&scope(&repo, ReviewTarget::WorkingTree)), "");
    repo.write(".gitignore", "a\n");
    assert_eq!(show(&scope(&repo, ReviewTarget::WorkingTree)), "A .gitignore +1:a\nD a -1:1");
}

#[test]
fn a_file_that_changes_as_fast_as_the_clock_is_seen() {
    // The same size and usually the same date as in the index.
    for _ in 0..20 {
        let repo = TestRepo::with_files(&[("a", "1\n")]);
        repo.write("a", "2\n");
        repo.write("new", "x\n");
        assert_eq!(show(&scope(&repo, ReviewTarget::WorkingTree)), "M a -1:1 +1:2\nA new +1:x");
    }
}

#[test]
fn conflicts_show_on_disk_and_stop_a_review_of_the_index() {
    let repo = TestRepo::with_files(&[("f", "1\n2\n3\n")]);
    repo.branch("topic");
    repo.write("f", "1\nT\n3\n");
    repo.commit("topic");
    repo.checkout("main");
    repo.write("f", "1\nM\n3\n");
    repo.commit("main");
    repo.try_git(&["merge", "-q", "topic"]);
    let shown = show(&scope(&repo, ReviewTarget::WorkingTree));
    assert_eq!(shown, "M f +2:<<<<<<< HEAD +4:======= +5:T +6:>>>>>>> topic");
    let error = try_scope(&repo, ReviewTarget::Staged, &[]).err().unwrap();
    assert_eq!(error.to_string(), "unresolved conflicts in the index: f");
}

#[test]
fn a_repository_inside_is_named_and_not_looked_into() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.write("inner/b", "1\n");
    repo.git(&["init", "-q", "inner"]);
    let before = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(show(&before), "A inner submodule");
    repo.git(&["init", "-q", "other"]);
    repo.write("other/c", "1\n");
    assert_ne!(scope(&repo, ReviewTarget::WorkingTree).scope.diff_hash, before.scope.diff_hash);
}

#[test]
fn nothing_is_written_into_the_repository() {
    let repo = TestRepo::with_files(&[("a", "1\n"), ("b", "1\n")]);
    repo.write("a", "2\n");
    repo.git(&["add", "a"]);
    repo.write("b", "2\n");
    repo.write("new", "1\n");
    // A touched file makes git refresh its index.
    let touched = std::fs::read(repo.path("a")).unwrap();
    std::fs::remove_file(repo.path("a")).unwrap();
    repo.write("a", touched);
    let before = files_below(repo.root());
    let targets = [ReviewTarget::WorkingTree, ReviewTarget::Staged, range("HEAD", "HEAD")];
    for target in targets {
        let scoped = scope(&repo, target);
        read(&scoped, Side::Head, "new");
        words(&scoped, &["1", "2"], &[]);
    }
    assert!(files_below(repo.root()) == before);
}

#[test]
fn a_read_only_repository_is_reviewed() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.write("a", "2\n");
    repo.write("new", "x\n");
    repo.git(&["-c", "core.fileMode=false", "status"]);
    let output = std::process::Command::new("chmod").args(["-R", "a-w"]).arg(repo.root()).output();
    assert!(output.unwrap().status.success());
    let shown = show(&scope(&repo, ReviewTarget::WorkingTree));
    std::process::Command::new("chmod").args(["-R", "u+w"]).arg(repo.root()).output().unwrap();
    assert_eq!(shown, "M a -1:1 +1:2\nA new +1:x");
}

#[test]
fn the_users_own_ignored_files_stay_out() {
    let repo = TestRepo::with_files(&[("a", "1\n")]);
    repo.write("a.swp", "x\n");
    assert_eq!(show(&scope(&repo, ReviewTarget::WorkingTree)), "A a.swp +1:x");
    let home = repo.beside("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("ignored"), "*.swp\n").unwrap();
    std::fs::write(home.join(".gitconfig"), "[core]\n\texcludesFile = ~/ignored\n").unwrap();
    assert_eq!(show(&scope(&repo, ReviewTarget::WorkingTree)), "");
}

#[test]
fn the_users_own_line_ends_are_no_change() {
    let repo = TestRepo::with_files(&[("a.txt", "1\n2\n"), ("b.txt", "1\n2\n")]);
    let home = repo.beside("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join(".gitconfig"), "[core]\n\tautocrlf = true\n").unwrap();
    repo.write("a.txt", "1\r\n2\r\n");
    repo.write("b.txt", "1\r\n3\r\n");
    assert_eq!(show(&scope(&repo, ReviewTarget::WorkingTree)), "M b.txt -2:2 +2:3");
}

#[test]
fn a_hook_reviews_the_index_that_is_about_to_be_committed() {
    let repo = TestRepo::with_files(&[("a", "1\n"), ("b", "1\n")]);
    repo.write("a", "2\n");
    repo.write("b", "2\n");
    repo.git(&["add", "b"]);
    // The index that `git commit a` gives to its hooks: HEAD and `a`, without `b`.
    let index = repo.beside("next-index");
    let environment = environment(&repo).with("GIT_INDEX_FILE", &index);
    let git = wait(Git::open(repo.root(), &environment)).unwrap();
    std::fs::copy(repo.path(".git/index"), &index).unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(args).current_dir(repo.root()).env("GIT_INDEX_FILE", &index);
        assert!(command.status().unwrap().success());
    };
    run(&["reset", "-q"]);
    run(&["add", "a"]);
    let scoped = wait(git.change(&ReviewTarget::Staged, &[])).unwrap();
    assert_eq!(show(&scoped), "M a -1:1 +1:2");
    assert_eq!(read(&scoped, Side::Head, "a"), text("2\n"));
    assert_eq!(show(&scope(&repo, ReviewTarget::Staged)), "M b -1:1 +1:2");
}

#[test]
fn the_same_change_has_the_same_hash_wherever_it_is_looked_at_from() {
    let repo = TestRepo::with_files(&[("src/a", "1\n")]);
    repo.write("src/a", "2\n");
    let from_root = scope(&repo, ReviewTarget::WorkingTree).scope;
    let git = open_at(&repo, &repo.path("src")).unwrap();
    let from_below = wait(git.change(&ReviewTarget::WorkingTree, &[])).unwrap().scope;
    assert_eq!(from_below, from_root);
    repo.stage();
    assert_eq!(scope(&repo, ReviewTarget::Staged).scope.diff_hash, from_root.diff_hash);
    repo.commit("two");
    assert_eq!(scope(&repo, range("HEAD~1", "HEAD")).scope.diff_hash, from_root.diff_hash);
    repo.write("src/a", "3\n");
    assert_ne!(scope(&repo, ReviewTarget::WorkingTree).scope.diff_hash, from_root.diff_hash);
}
