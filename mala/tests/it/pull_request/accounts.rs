//! Reviews of one pull request with more than one account, such as a person's token first and that of a CI service later.

use super::{FLAW, PullRequestBench, is_write};

const REVIEW: [&str; 2] = ["--post", "review"];

/// The authors of all summaries.
fn summary_authors(bench: &PullRequestBench) -> Vec<String> {
    let comments = bench.github.comments().into_iter();
    let summaries =
        comments.filter(|one| one.body.starts_with("<!-- code-review-agent:review_id="));
    summaries.map(|one| one.login).collect()
}

#[test]
fn another_account_with_write_access_has_the_same_comments() {
    for may_change in [true, false] {
        let bench = PullRequestBench::new();
        bench.github.allow_writes("ada");
        bench.github.set_viewer("ada");
        assert_eq!(bench.pr(&REVIEW).0, 1);
        let first = bench.github.comments().pop().unwrap().body;
        // On another machine.
        bench.github.set_viewer("mala-bot");
        bench.forget();
        if !may_change {
            bench.github.forbid_changes_of_others();
        }
        bench.repo.write("other.py", FLAW);
        bench.repo.commit("another flaw");
        for run in 0..2 {
            bench.github.take_requests();
            let (code, stderr) = bench.pr(&REVIEW);
            assert_eq!(code, 1, "{stderr}");
            assert_eq!(bench.posted().1, ["app.py:2", "other.py:2"], "{may_change}");
            let is_left = stderr.contains("with another account stay as they are");
            assert_eq!(is_left, !may_change, "{stderr}");
            if may_change {
                assert_eq!(summary_authors(&bench), ["ada"]);
                let requests = bench.github.take_requests();
                assert!(run == 0 || !requests.iter().any(is_write), "nothing is left to do");
            } else {
                assert_eq!(summary_authors(&bench), ["ada", "mala-bot"]);
                assert_eq!(bench.github.comments()[0].body, first);
            }
        }
        let last = bench.github.comments().pop().unwrap().body;
        assert!(last.contains(&bench.repo.id("topic")) && last.contains("other.py:2"), "{last}");
    }
}

#[test]
fn a_thread_that_mala_resolved_with_another_account_is_no_waiver() {
    let bench = PullRequestBench::new();
    bench.github.allow_writes("ada");
    bench.github.set_viewer("ada");
    assert_eq!(bench.pr(&REVIEW).0, 1);
    bench.repo.write("app.py", "def ask():\n    return 3\n");
    bench.repo.commit("fix");
    assert_eq!(bench.pr(&REVIEW).0, 0);
    assert_eq!(bench.github.resolved().len(), 1);
    bench.github.set_viewer("mala-bot");
    bench.forget();
    bench.repo.write("app.py", FLAW);
    bench.repo.commit("the same flaw again");
    let (code, stderr) = bench.pr(&REVIEW);
    assert_eq!(code, 1, "{stderr}");
}

#[test]
fn a_copied_marker_suppresses_nothing() {
    // What mala would post.
    let other = PullRequestBench::new();
    other.pr(&REVIEW);
    let comment = other.github.inline_comments().remove(0).body;
    let summary = other.github.comments().remove(0).body;
    for (login, n_comments) in [("eve", 2), ("eve[bot]", 2), ("ada", 1)] {
        let bench = PullRequestBench::new();
        bench.github.allow_writes("ada");
        bench.github.add_inline(login, ("app.py", 2), &comment);
        bench.github.add_comment(login, &summary);
        let (code, stderr) = bench.pr(&REVIEW);
        assert_eq!(code, 1, "{login}: {stderr}");
        assert_eq!(bench.posted().1.len(), n_comments, "{login}");
        assert_eq!(summary_authors(&bench).len(), n_comments, "{login}");
        assert_eq!(bench.github.comments()[0].body == summary, login != "ada", "{login}");
    }
}
