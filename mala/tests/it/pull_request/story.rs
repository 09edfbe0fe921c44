//! A pull request over time: pushes, rebases, replies, crashes and runs at the same time.

use super::{CLEAN, FLAW, PullRequestBench, is_write, status};
use mala_testkit::github_server::GitHubFault;

const BOTH: [&str; 2] = ["--post", "review"];

#[test]
fn nothing_is_posted_twice_over_pushes_and_rebases() {
    let bench = PullRequestBench::new();
    bench.pr(&BOTH);
    let first = bench.github.inline_comments()[0].clone();
    bench.repo.write("app.py", format!("import os\n\n\n{FLAW}"));
    bench.repo.commit("lines above");
    bench.pr(&BOTH);
    assert_eq!(bench.posted().1, ["app.py:2"], "the same finding on other lines");
    bench.repo.checkout("main");
    bench.repo.write("third.py", CLEAN);
    bench.repo.commit("main goes on");
    bench.repo.checkout("topic");
    bench.repo.git(&["rebase", "-q", "main"]);
    bench.pr(&BOTH);
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]), "after a rebase");
    bench.repo.write("other.py", FLAW);
    bench.repo.commit("another flaw");
    bench.pr(&BOTH);
    assert_eq!(bench.posted().1, ["app.py:2", "other.py:2"]);
    assert!(bench.github.resolved().is_empty());
    bench.repo.write("app.py", "def ask():\n    return 3\n");
    bench.repo.commit("fix the first");
    bench.pr(&BOTH);
    assert_eq!(bench.github.resolved(), [first.id]);
    bench.github.take_requests();
    bench.pr(&BOTH);
    let requests = bench.github.take_requests();
    assert!(!requests.iter().any(|request| request.method != "GET"), "nothing is left to do");
}

#[test]
fn a_thread_with_a_reply_of_a_person_stays_open() {
    let bench = PullRequestBench::new();
    bench.pr(&BOTH);
    let first = bench.github.inline_comments()[0].id;
    bench.github.add_reply(first, "ada", "I do not agree");
    bench.repo.write("app.py", "def ask():\n    return 3\n");
    bench.repo.commit("fix");
    bench.pr(&BOTH);
    assert!(bench.github.resolved().is_empty());
}

/// Every write may be the last one of a run, with and without effect.
#[test]
fn a_crash_between_two_calls_leaves_nothing_out_and_nothing_twice() {
    for number in 5..13 {
        for is_done in [false, true] {
            let bench = PullRequestBench::new();
            bench.repo.write("other.py", FLAW);
            bench.repo.commit("another flaw");
            bench.github.fail(move |request| match request.number {
                n if n < number || request.is_git() => None,
                n if n == number && is_done && is_write(request) => Some(GitHubFault::DropAfter),
                _ => Some(status(400, &[], "the server is gone")),
            });
            bench.pr(&BOTH);
            bench.github.heal();
            bench.pr(&BOTH);
            let expected = (1, vec!["app.py:2".to_owned(), "other.py:2".to_owned()]);
            assert_eq!(bench.posted(), expected, "{number} {is_done}");
        }
    }
}

#[test]
fn two_runs_at_the_same_time_leave_one_of_each() {
    let bench = PullRequestBench::new();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| bench.pr(&BOTH));
        }
    });
    bench.pr(&BOTH);
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn a_result_for_an_older_head_is_not_posted() {
    let bench = PullRequestBench::new();
    let (root, base) = (bench.repo.root().to_owned(), bench.repo.id("main"));
    // The head moves when the comments are read, after the review.
    bench.github.fail(move |request| {
        if request.resource().ends_with("/issues/7/comments") {
            let moved = std::process::Command::new("git")
                .args(["update-ref", "refs/heads/topic", &base])
                .current_dir(&root)
                .status();
            assert!(moved.unwrap().success());
        }
        None
    });
    let (_, stderr) = bench.pr(&BOTH);
    assert!(stderr.contains("newer head"), "{stderr}");
    assert_eq!(bench.posted(), (0, Vec::new()));
}
