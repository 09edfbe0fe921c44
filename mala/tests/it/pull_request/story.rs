//! A pull request over time: pushes, rebases, replies, crashes and runs at the same time.

use super::{AGENT, CLEAN, FLAW, PullRequestBench, is_write, reporting_model, status};
use insta::assert_snapshot;
use mala_testkit::forge_server::ForgeFault;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

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

/// Kills the process at the request with this number, which is done or not.
fn run_and_kill(bench: &PullRequestBench, number: usize, is_done: bool) {
    let pid = Arc::new(Mutex::new(None::<u32>));
    let theirs = Arc::clone(&pid);
    bench.github.take_requests();
    bench.github.fail(move |request| {
        if request.is_git() || request.number != number {
            return None;
        }
        let pid = theirs.lock().unwrap().map(|pid| pid.to_string()).unwrap_or_default();
        assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        Some(if is_done { ForgeFault::DropAfter } else { ForgeFault::DropBefore })
    });
    let mut command = bench.world.command(env!("CARGO_BIN_EXE_mala"));
    command.args([&["pr", "o/r#7"], &BOTH[..]].concat());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut held = pid.lock().unwrap();
    let mut child = command.spawn().unwrap();
    *held = Some(child.id());
    drop(held);
    child.wait().unwrap();
    bench.github.heal();
}

#[test]
fn a_crash_at_any_request_leaves_nothing_out_and_nothing_twice() {
    let start = || (PullRequestBench::new(), vec!["app.py:2".to_owned()]);
    let (mut bench, mut expected) = start();
    let mut seed = 17_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 33).unwrap()
    };
    for round in 0..50 {
        // A pull request gets at most 30 comments.
        if round == 25 {
            (bench, expected) = start();
        }
        bench.repo.write(format!("f{round}.py"), FLAW);
        bench.repo.commit("another flaw");
        expected.push(format!("f{round}.py:2"));
        expected.sort();
        run_and_kill(&bench, random() % 14, random() % 2 == 0);
        bench.pr(&BOTH);
        assert_eq!(bench.posted(), (1, expected.clone()), "round {round}");
    }
}

/// The ids of the findings that have a comment, each once.
fn commented(bench: &PullRequestBench) -> Vec<String> {
    let inline = bench.github.inline_comments();
    let first = inline.iter().filter(|one| one.reply_to.is_none());
    let mut ids: Vec<String> =
        first.map(|one| mala_domain::forge::finding_id(&one.body).unwrap().to_owned()).collect();
    ids.sort();
    let n_comments = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), n_comments, "a finding has two comments");
    ids
}

/// A long story, whose steps are counted.
struct PullRequestStory {
    bench: PullRequestBench,
    n_steps: Cell<usize>,
}

impl PullRequestStory {
    fn step(&self) {
        self.n_steps.set(self.n_steps.get() + 1);
    }

    /// Runs mala. There is one summary, and no finding has two comments.
    fn run(&self) -> i32 {
        self.step();
        let (code, stderr) = self.bench.pr(&BOTH);
        assert_eq!(self.bench.posted().0, 1, "step {}: {stderr}", self.n_steps.get());
        commented(&self.bench);
        code
    }

    fn push(&self, path: &str, text: &str) {
        self.step();
        self.bench.repo.write(path, text);
        self.bench.repo.commit(&format!("step {}", self.n_steps.get()));
    }

    fn rename(&self, old: &str, new: &str) {
        self.step();
        self.bench.repo.git(&["mv", old, new]);
        self.bench.repo.commit_staged("rename");
    }

    fn thread(&self, path: &str) -> u64 {
        let inline = self.bench.github.inline_comments();
        inline.iter().find(|one| one.path == path && one.reply_to.is_none()).unwrap().id
    }

    fn reply(&self, path: &str, login: &str, body: &str) {
        self.step();
        self.bench.github.add_reply(self.thread(path), login, body);
    }

    fn history_is_rewritten(&self) {
        let repo = &self.bench.repo;
        assert_eq!(self.run(), 1, "open");
        self.run();
        self.push("app.py", &format!("import os\n\n\n{FLAW}"));
        self.run();
        self.push("other.py", FLAW);
        self.run();
        self.step();
        repo.git(&["commit", "-q", "--amend", "-m", "force-push"]);
        self.run();
        repo.checkout("main");
        self.push("base.py", CLEAN);
        repo.checkout("topic");
        self.step();
        repo.git(&["rebase", "-q", "main"]);
        self.run();
        self.rename("other.py", "renamed.py");
        self.run();
        self.push("added.py", &FLAW.replace("()\n    return", "()  # here\n    return"));
        self.run();
        self.rename("added.py", "moved.py");
        self.run();
    }

    fn people_reply(&self) {
        self.bench.github.allow_writes("ada");
        self.reply("added.py", "ada", "/mala waive wanted here");
        self.run();
        self.reply("other.py", "eve", "/mala waive not mine to waive");
        self.run();
        self.reply("other.py", "ada", "/mala explain");
        self.run();
        self.bench.forget();
        self.run();
        self.step();
        self.bench.github.resolve(self.thread("added.py"), "ada");
        self.run();
    }

    fn things_go_wrong(&self) {
        let bench = &self.bench;
        self.push("more.py", FLAW);
        std::thread::scope(|scope| {
            scope.spawn(|| bench.pr(&BOTH));
            scope.spawn(|| bench.pr(&BOTH));
        });
        self.run();
        self.push("most.py", FLAW);
        self.step();
        run_and_kill(bench, 9, true);
        self.run();
        self.push("last.py", FLAW);
        let is_done = AtomicBool::new(false);
        bench.github.fail(move |request| {
            let is_first = is_write(request) && !is_done.swap(true, Ordering::SeqCst);
            is_first.then(|| status(403, &[("Retry-After", "1")], "secondary rate limit"))
        });
        self.run();
        bench.github.heal();
        self.step();
        bench.github.add_comment("ada", "/mala review");
        self.run();
        for number in 0..5_000 {
            bench.repo.write(format!("many/f{number}.txt"), format!("{number} {number}\n"));
        }
        self.push("many.py", CLEAN);
        self.run();
    }
}

#[test]
fn forty_steps_leave_one_summary_and_no_comment_twice() {
    let story = PullRequestStory { bench: PullRequestBench::new(), n_steps: Cell::new(0) };
    story.history_is_rewritten();
    story.people_reply();
    story.things_go_wrong();
    story.push("app.py", "def ask():\n    return 3\n");
    assert_eq!(story.run(), 1, "fixed one of several");
    for path in ["renamed.py", "more.py", "most.py", "last.py"] {
        story.push(path, "def ask():\n    return 3\n");
    }
    assert_eq!(story.run(), 0, "all are fixed or waived");
    let bench = &story.bench;
    bench.github.take_requests();
    assert_eq!(story.run(), 0);
    assert!(bench.github.take_requests().iter().all(|request| !is_write(request)));
    assert!(story.n_steps.get() >= 40, "{}", story.n_steps.get());
    let files = ["added.py", "app.py", "last.py", "more.py", "most.py", "other.py"];
    assert_eq!(bench.posted(), (1, files.map(|file| format!("{file}:2")).to_vec()));
    let mut resolved = bench.github.resolved();
    resolved.sort_unstable();
    let mut expected = files.map(|file| story.thread(file));
    expected.sort_unstable();
    assert_eq!(resolved, expected);
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
    let limit = || status(429, &[("Retry-After", "1")], "slow down");
    // The head moves when the comments are read, after the review; or while a write has to wait.
    for (method, path, is_limited) in
        [("GET", "/issues/7/comments", false), ("POST", "/pulls/7/reviews", true)]
    {
        let bench = PullRequestBench::new();
        let (root, base) = (bench.repo.root().to_owned(), bench.repo.id("main"));
        bench.github.fail(move |request| {
            if request.method != method || !request.resource().ends_with(path) {
                return None;
            }
            let moved = std::process::Command::new("git")
                .args(["update-ref", "refs/heads/topic", &base])
                .current_dir(&root)
                .status();
            assert!(moved.unwrap().success());
            is_limited.then(limit)
        });
        let shown = bench.show(&BOTH);
        assert!(shown.contains("newer head"), "{shown}");
        assert_eq!(bench.posted(), (0, Vec::new()));
    }
}

#[test]
fn a_result_that_builds_on_a_waiver_is_not_posted_after_the_waiver_is_taken_back() {
    let mut shown = String::new();
    for post in ["review,check", "check"] {
        let bench = PullRequestBench::new();
        bench.github.allow_writes("ada");
        assert_eq!(bench.pr(&["--post", "review,check"]).0, 1);
        let first = bench.github.inline_comments()[0].id;
        bench.github.add_reply(first, "ada", "/mala waive a known breakpoint");
        let reply = bench.github.inline_comments()[1].id;
        let (github, n_reads) = (Arc::clone(&bench.github), AtomicUsize::new(0));
        bench.github.fail(move |request| {
            // The second time is after the review. A run that starts now has the result that is shown.
            let is_read = request.method == "GET" && request.path.contains("/pulls/7/comments");
            if is_read && n_reads.fetch_add(1, Ordering::SeqCst) == 1 {
                github.remove_inline(reply);
            }
            None
        });
        shown.push_str(&format!("{post}: {}", bench.show(&["--post", post])));
        let summary = bench.github.comments().pop().unwrap().body;
        assert!(summary.contains("## mala: FAIL"), "{post}: {summary}");
        bench.github.heal();
        assert_eq!(bench.pr(&["--post", post]).0, 1, "{post}");
        let checks = bench.github.checks();
        assert!(checks.iter().all(|check| check["conclusion"] == "failure"), "{post}: {checks:#?}");
    }
    assert_snapshot!(shown, @"
    review,check: [exit 2]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    no findings.

    waived:  1 finding accepted by a person (use --all to list them)
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  pull request 7 ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -0
    report:  [WORK]/.mala/runs/[RUN]/review.md

    PASS  no findings
    [stderr]
    error: not posted: a decision on the pull request was taken back during the review
    check: [exit 2]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    no findings.

    waived:  1 finding accepted by a person (use --all to list them)
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  pull request 7 ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -0
    report:  [WORK]/.mala/runs/[RUN]/review.md

    PASS  no findings
    [stderr]
    error: not posted: a decision on the pull request was taken back during the review
    ");
}

#[test]
fn a_token_that_may_not_resolve_threads_posts_the_rest() {
    let bench = PullRequestBench::new();
    bench.pr(&BOTH);
    bench.github.forbid_resolving();
    bench.repo.write("app.py", "def ask():\n    return 3\n");
    bench.repo.commit("fix");
    assert_snapshot!(bench.show(&BOTH), @"
    [exit 0]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    no findings.

    fixed:  app.py:2 P1 Breakpoint left in [debug/python-breakpoint] (its evidence
            is gone, and it is not reported again)
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  pull request 7 ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    PASS  no findings
    [stderr]
    note: posted with 1 write
    warning: threads of fixed findings stay open: GitHub answers: Resource not accessible by integration
    hint: the token needs the permission `Pull requests: write` and `Contents: write`
    ");
    let summary = bench.github.comments().pop().unwrap().body;
    assert!(summary.contains("Fixed: 1"), "{summary}");
    assert!(bench.github.resolved().is_empty());
}

#[test]
fn two_runs_that_use_other_words_leave_one_comment() {
    let first = reporting_model((2, 2), "A breakpoint stops the program", "    breakpoint()", "");
    let evidence = "def ask():\n    breakpoint()";
    let second = reporting_model((1, 2), "The program stops at a breakpoint", evidence, "");
    let bench = PullRequestBench::new().with_model(&second);
    // Another machine, with the first model.
    let elsewhere = crate::world();
    let mut other = elsewhere.command(env!("CARGO_BIN_EXE_mala"));
    other
        .args([&["pr", "o/r#7"], &AGENT[..]].concat())
        .env("GITHUB_API_URL", bench.github.url())
        .env("GITHUB_TOKEN", super::TOKEN)
        .env("ANTHROPIC_BASE_URL", first.url())
        .env("ANTHROPIC_API_KEY", "test-key");
    let other = Mutex::new(Some(other));
    let n_reads = AtomicUsize::new(0);
    bench.github.fail(move |request| {
        // The second time is after the review, before anything is posted.
        let is_read = request.method == "GET" && request.path.contains("/issues/7/comments");
        if is_read && n_reads.fetch_add(1, Ordering::SeqCst) == 1 {
            let other = other.lock().unwrap().take();
            assert_eq!(other.unwrap().status().unwrap().code(), Some(1));
        }
        None
    });
    assert_eq!(bench.pr(&AGENT).0, 1);
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}
