//! What people say on a pull request: waivers, disputes, questions, and resolved threads.

use super::{FLAW, PullRequestBench, is_write};
use insta::assert_snapshot;

const REVIEW: [&str; 2] = ["--post", "review"];

/// A bench with one posted finding, whose comment is returned.
fn posted() -> (PullRequestBench, u64) {
    let bench = PullRequestBench::new();
    bench.github.allow_writes("ada");
    bench.github.allow_writes("mala-bot");
    assert_eq!(bench.pr(&REVIEW).0, 1);
    let first = bench.github.inline_comments()[0].id;
    (bench, first)
}

#[test]
fn a_waiver_counts_only_with_write_access() {
    for (login, reply, code) in [
        ("ada", "/mala waive a known breakpoint", 0),
        ("ada", "/mala dispute this is wanted", 0),
        ("ada", "/mala waive", 1),
        ("eve", "/mala waive a known breakpoint", 1),
        ("ada[bot]", "/mala waive a known breakpoint", 1),
        // An explanation, whose first line comes from a model.
        ("mala-bot", "/mala waive it\n\n<!-- mala:answer=3 -->", 1),
    ] {
        for is_fresh in [false, true] {
            let (bench, first) = posted();
            bench.github.add_reply(first, login, reply);
            if is_fresh {
                bench.forget();
            }
            let (found, stderr) = bench.pr(&REVIEW);
            assert_eq!(found, code, "{login}: {reply}, fresh: {is_fresh}: {stderr}");
            assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]), "{login}: {reply}");
            let summary = bench.github.comments().pop().unwrap().body;
            assert_eq!(summary.contains("Not counted: 1"), code == 0, "{summary}");
            bench.github.take_requests();
            assert_eq!(bench.pr(&REVIEW).0, code, "the next run");
            assert!(bench.github.take_requests().iter().all(|request| !is_write(request)));
        }
    }
}

#[test]
fn a_waiver_ends_when_its_code_changes() {
    let (bench, first) = posted();
    bench.github.add_reply(first, "ada", "/mala waive a known breakpoint");
    assert_eq!(bench.pr(&REVIEW).0, 0);
    bench.repo.write("app.py", FLAW.replace("breakpoint()", "breakpoint()  # twice"));
    bench.repo.commit("another breakpoint");
    assert_eq!(bench.pr(&REVIEW).0, 1);
}

#[test]
fn a_thread_resolved_by_a_person_with_write_access_is_a_waiver() {
    for (login, code) in [("ada", 0), ("eve", 1)] {
        let (bench, first) = posted();
        bench.github.resolve(first, login);
        // Threads are read again when something else changed.
        bench.repo.write("other.py", "def ask():\n    return 2\n");
        bench.repo.commit("another file");
        let (found, stderr) = bench.pr(&REVIEW);
        assert_eq!(found, code, "{login}: {stderr}");
        assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
    }
}

#[test]
fn a_decision_is_taken_back_on_the_pull_request() {
    for is_reply in [true, false] {
        let (bench, first) = posted();
        for (number, code) in [0, 1, 0].into_iter().enumerate() {
            match (code, is_reply) {
                (0, true) => bench.github.add_reply(first, "ada", "/mala waive a known breakpoint"),
                (0, false) => bench.github.resolve(first, "ada"),
                (_, true) => bench.github.remove_inline(bench.github.inline_comments()[1].id),
                (_, false) => bench.github.unresolve(first),
            }
            // Threads are read again when something else changed.
            bench.repo.write("other.py", format!("{}# {number}\n", super::CLEAN));
            bench.repo.commit("another file");
            let (found, stderr) = bench.pr(&REVIEW);
            assert_eq!(found, code, "reply: {is_reply}, step {number}: {stderr}");
        }
        assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
    }
}

#[test]
fn a_question_is_answered_once() {
    let (bench, first) = posted();
    bench.github.add_reply(first, "ada", "/mala explain");
    bench.pr(&REVIEW);
    bench.forget();
    bench.pr(&REVIEW);
    let inline = bench.github.inline_comments();
    let answers: Vec<_> =
        inline.iter().filter(|one| one.reply_to.is_some() && one.login == "mala-bot").collect();
    assert_eq!(answers.len(), 1);
    assert!(answers[0].body.contains("breakpoint()"), "{}", answers[0].body);
    bench.repo.write("app.py", "def ask():\n    return 3\n");
    bench.repo.commit("fix");
    bench.pr(&REVIEW);
    assert_eq!(bench.github.resolved(), [first], "the last word was an answer of mala");
}

#[test]
fn a_command_without_an_effect_gets_one_answer() {
    let (bench, first) = posted();
    for reply in ["/mala wave it through", "/mala waive", "/mala review"] {
        bench.github.add_reply(first, "ada", reply);
    }
    bench.github.add_reply(first, "eve", "/mala waive");
    bench.github.add_comment("ada", "/mala waive a known breakpoint");
    for is_fresh in [false, true] {
        if is_fresh {
            bench.forget();
            bench.github.take_requests();
        }
        assert_eq!(bench.pr(&REVIEW).0, 1);
        let inline = bench.github.inline_comments();
        let replies = inline.iter().filter(|one| one.reply_to.is_some()).map(|one| &one.body);
        let comments = bench.github.comments();
        let comments = comments.iter().map(|one| &one.body);
        let answers: Vec<&String> =
            replies.chain(comments).filter(|body| body.contains("`/mala waive REASON`")).collect();
        let reasons: Vec<&str> = answers.iter().filter_map(|body| body.lines().next()).collect();
        let expected = [
            "This command is not known, or its reason is missing.",
            "This command is not known, or its reason is missing.",
            "A review is asked for in a comment on the pull request, not in a reply.",
            "This command is about a finding: write it in a reply to the comment of that finding.",
        ];
        assert_eq!(reasons, expected, "fresh: {is_fresh}");
    }
    assert!(bench.github.take_requests().iter().all(|request| !is_write(request)), "once");
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn accounts_whose_access_cannot_be_read_do_not_count() {
    let (bench, first) = posted();
    bench.github.add_reply(first, "ada", "/mala waive a known breakpoint");
    bench.github.fail(|request| {
        let is_refused = request.path.contains("/collaborators/");
        is_refused.then(|| super::status(403, &[], "Must have push access"))
    });
    assert_snapshot!(bench.show(&REVIEW), @"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

    still open: 1 finding

    app.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ app.py:2 in ask
    1 │ def ask():
    2 │     breakpoint()
      │     ━━━━━━━━━━━━
    3 │     return 1
      ╰╴
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  pull request 7 ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -0
    report:  [WORK]/.mala/runs/[RUN]/review.md

    FAIL  1 finding at or above P1 (1 P1)
    [stderr]
    warning: cannot read who may write to the repository: what these accounts say does not count: ada
    note: the comments are up to date
    ");
    bench.github.heal();
    assert_snapshot!(bench.show(&REVIEW), @"
    [exit 0]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    no findings.

    waived:  1 finding accepted by a person (use --all to list them)
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  pull request 7 ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -0
    report:  [WORK]/.mala/runs/[RUN]/review.md

    PASS  no findings
    [stderr]
    note: posted with 1 write
    ");
}

#[test]
fn replies_are_stored_in_the_ledger_of_the_clone() {
    let (mut bench, first) = posted();
    let url = format!("{}/o/r.git", bench.github.url());
    bench.repo.git(&["remote", "add", "origin", &url]);
    bench.world = bench.world.in_folder(bench.repo.root());
    bench.github.add_reply(first, "ada", "/mala waive a known breakpoint");
    assert_eq!(bench.pr(&[]).0, 0);
    assert_snapshot!(bench.run(&["findings", "list", "--state", "waived"]), @"
    [exit 0]
    [stdout]
    0f8110c2  waived     P1  app.py:2  Breakpoint left in [debug/python-breakpoint]
    ");
}
