//! Tokens, permissions, rate limits and lost connections.

use super::{PullRequestBench, is_write, status};
use insta::assert_snapshot;
use mala_testkit::forge_server::{ForgeFault, ForgeRequest};
use mala_testkit::github_server::INSTALLATION_TOKEN;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn the_first_token_that_is_set_is_used() {
    // 002-104, 002-105
    for (tokens, expected) in [
        ([("GITHUB_TOKEN", "one-token"), ("GH_TOKEN", "")], "one-token"),
        ([("GITHUB_TOKEN", ""), ("GH_TOKEN", "two-token")], "two-token"),
        ([("GITHUB_TOKEN", "one-token"), ("GH_TOKEN", "two-token")], "one-token"),
    ] {
        let mut bench = PullRequestBench::new();
        for (name, value) in tokens {
            bench.world = bench.world.with_env(name, value);
        }
        bench.pr(&[]);
        let requests = bench.github.take_requests();
        let api = requests.iter().filter(|request| !request.is_git());
        let sent: Vec<_> = api.filter_map(|request| request.header("authorization")).collect();
        assert!(!sent.is_empty(), "{tokens:?}");
        assert!(sent.iter().all(|value| *value == format!("Bearer {expected}")), "{tokens:?}");
    }
}

#[test]
fn without_a_token_nothing_is_sent() {
    // 002-106
    let mut bench = PullRequestBench::new();
    bench.world = bench.world.with_env("GITHUB_TOKEN", "").with_only_programs(&["git"]);
    assert_snapshot!(bench.show(&["--post", "none"]), @"
    [exit 78]
    [stderr]
    error: no GitHub token: neither GITHUB_TOKEN nor GH_TOKEN is set
    hint: set GITHUB_TOKEN or GH_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, or run `gh auth login`; the token needs `Pull requests: read`, `Contents: read` and, to post, `Issues: write`
    ");
    assert!(bench.github.take_requests().is_empty());
}

#[test]
fn the_token_of_the_github_program_is_the_last_choice() {
    let mut bench = PullRequestBench::new();
    bench.world = bench.world.with_env("GITHUB_TOKEN", "").with_program("gh", "echo cli-token");
    bench.pr(&[]);
    let requests = bench.github.take_requests();
    assert_eq!(
        requests.first().and_then(|one| one.header("authorization")),
        Some("Bearer cli-token")
    );
}

#[test]
fn an_app_reviews_with_the_token_of_its_installation() {
    let mut bench = PullRequestBench::new();
    let key = Command::new("openssl").args(["genrsa", "-traditional", "2048"]).output().unwrap();
    let key = String::from_utf8(key.stdout).unwrap();
    bench.world = bench
        .world
        .with_env("GITHUB_TOKEN", "")
        .with_env("GITHUB_APP_ID", "12345")
        .with_env("GITHUB_APP_PRIVATE_KEY", &key);
    for run in 1..=2 {
        let (code, stderr) = bench.pr(&["--post", "review"]);
        assert_eq!(code, 1, "{stderr}");
        assert!(!stderr.contains(INSTALLATION_TOKEN), "{stderr}");
        assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
        let requests = bench.github.take_requests();
        let api: Vec<_> = requests.iter().filter(|request| !request.is_git()).collect();
        let (sign_in, others) = api.split_at(2);
        assert!(
            sign_in
                .iter()
                .all(|one| one.header("authorization") != others[0].header("authorization"))
        );
        let expected = format!("Bearer {INSTALLATION_TOKEN}{run}");
        assert!(others.iter().all(|one| one.header("authorization") == Some(&expected)));
        let first = others.iter().find(|one| one.resource() == "/repos/o/r/pulls/7").unwrap();
        let is_conditional = first.header("if-none-match").is_some();
        assert_eq!(is_conditional, run == 2, "the responses are those of the app, not of a token");
    }
}

#[test]
fn a_missing_permission_is_named() {
    // 002-107, 002-108
    let mut shown = String::new();
    for (method, path) in [
        ("GET", "/repos/o/r/pulls/7"),
        ("GET", "/compare/"),
        ("POST", "/issues/7/comments"),
        ("POST", "/pulls/7/reviews"),
    ] {
        let bench = PullRequestBench::new();
        bench.github.fail(move |request| {
            let is_refused = request.method == method && request.path.contains(path);
            is_refused.then(|| status(403, &[], "Resource not accessible by integration"))
        });
        shown.push_str(&format!("{method} {path}: {}", bench.show(&["--post", "review"])));
    }
    assert_snapshot!(shown, @"
    GET /repos/o/r/pulls/7: [exit 2]
    [stderr]
    error: GitHub answers 403: Resource not accessible by integration
    hint: the token needs the permission `Pull requests: read`
    GET /compare/: [exit 2]
    [stderr]
    error: GitHub answers 403: Resource not accessible by integration
    hint: the token needs the permission `Contents: read`
    POST /issues/7/comments: [exit 2]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

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
    error: GitHub answers 403: Resource not accessible by integration
    hint: the token needs the permission `Issues: write`
    POST /pulls/7/reviews: [exit 2]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

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
    error: GitHub answers 403: Resource not accessible by integration
    hint: the token needs the permission `Pull requests: write`
    ");
}

#[test]
fn rate_limits_are_waited_for() {
    // 002-114
    for (code, name, value) in [
        (429, "Retry-After", None),
        (403, "Retry-After", None),
        (429, "Retry-After", Some("%a, %d %b %Y %H:%M:%S GMT")),
        (403, "X-RateLimit-Reset", Some("%s")),
    ] {
        let bench = PullRequestBench::new();
        bench.github.fail(move |request| {
            // Counted from the request: a slow machine does not reach the time before it.
            let value = value.map_or_else(|| "1".to_owned(), |format| in_seconds(format, 2));
            let left = if name == "Retry-After" { "5" } else { "0" };
            let headers = [("X-RateLimit-Remaining", left), (name, value.as_str())];
            (request.number == 0).then(|| status(code, &headers, "secondary rate limit"))
        });
        let before = Instant::now();
        let (exit, stderr) = bench.pr(&["--post", "comment"]);
        assert_eq!(exit, 1, "{name}: {stderr}");
        assert!(before.elapsed() >= Duration::from_secs(1), "{name}");
        assert!(stderr.contains(": waiting ") && stderr.contains(" s\n"), "{name}: {stderr}");
        assert_eq!(bench.posted().0, 1);
    }
}

#[test]
fn limits_of_graphql_are_waited_for() {
    // They come with the status of a success.
    let limit = r#"{"data": null, "errors": [{"type": "RATE_LIMITED", "message": "limit"}]}"#;
    let mut shown = String::new();
    for what in ["reviewThreads", "resolveReviewThread"] {
        let bench = PullRequestBench::new();
        bench.pr(&["--post", "review"]);
        bench.repo.write("app.py", "def ask():\n    return 3\n");
        bench.repo.commit("fix");
        let is_done = AtomicBool::new(false);
        bench.github.fail(move |request| {
            let is_limited = String::from_utf8_lossy(&request.body).contains(what)
                && !is_done.swap(true, Ordering::SeqCst);
            let headers = vec![("Retry-After".to_owned(), "1".to_owned())];
            is_limited.then_some(ForgeFault::Page(headers, limit))
        });
        shown.push_str(&bench.show(&["--post", "review"]));
        assert_eq!(bench.github.resolved().len(), 1, "{what}");
    }
    assert_snapshot!(shown, @"
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
    note: GitHub limits the rate of requests (429): waiting 1 s
    note: posted with 2 writes
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
    note: GitHub limits the rate of requests (429): waiting 1 s
    note: posted with 2 writes
    ");
}

/// The time in this number of seconds, written like this.
fn in_seconds(format: &str, seconds: i64) -> String {
    let time = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    time.strftime(format).to_string()
}

#[test]
fn what_is_not_a_list_is_not_an_empty_list() {
    // Nothing is posted a second time because a proxy answers instead of GitHub.
    let mut shown = String::new();
    for page in ["<html>sign in</html>", "{}", ""] {
        let bench = PullRequestBench::new();
        bench.pr(&["--post", "review"]);
        bench.forget();
        bench.github.take_requests();
        bench.github.fail(move |request| {
            let is_list = request.method == "GET" && request.path.contains("/comments?");
            is_list.then_some(ForgeFault::Page(Vec::new(), page))
        });
        shown.push_str(&bench.show(&["--post", "review"]));
        assert!(!bench.github.take_requests().iter().any(is_write), "{page}");
    }
    assert_snapshot!(shown, @"
    [exit 2]
    [stderr]
    error: cannot read the answer that GitHub sent
    [exit 2]
    [stderr]
    error: cannot read the list that GitHub sent
    [exit 2]
    [stderr]
    error: cannot read the answer that GitHub sent
    ");
}

#[test]
fn github_enterprise_has_its_api_in_a_folder() {
    let mut bench = PullRequestBench::new();
    let api = format!("{}/api/v3", bench.github.url());
    bench.world = bench.world.with_env("GITHUB_API_URL", api);
    let (code, stderr) = bench.pr(&["--post", "review"]);
    assert_eq!(code, 1, "{stderr}");
    bench.repo.write("app.py", "def ask():\n    return 3\n");
    bench.repo.commit("fix");
    bench.pr(&["--post", "review"]);
    assert_eq!(bench.github.resolved().len(), 1, "over GraphQL");
    let requests = bench.github.take_requests();
    let api = requests.iter().filter(|request| !request.is_git());
    let folders: std::collections::BTreeSet<_> =
        api.map(|request| request.path.split('/').take(3).collect::<Vec<_>>().join("/")).collect();
    assert_eq!(folders.into_iter().collect::<Vec<_>>(), ["/api/graphql", "/api/v3"]);
}

#[test]
fn a_rate_limit_in_the_middle_of_posting_loses_nothing() {
    let bench = PullRequestBench::new();
    bench.github.fail(on_first_write(|| status(429, &[("Retry-After", "1")], "slow down")));
    assert_snapshot!(bench.show(&["--post", "review"]), @"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

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
    note: GitHub limits the rate of requests (429): waiting 1 s
    note: posted with 2 writes
    ");
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn failures_are_retried_with_growing_waits() {
    // 002-115
    let bench = PullRequestBench::new();
    bench.github.fail(|request| (request.number < 2).then(|| status(502, &[], "bad gateway")));
    assert_snapshot!(bench.show(&["--post", "comment"]), @"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

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
    note: GitHub answers 502: bad gateway: waiting 1 s
    note: GitHub answers 502: bad gateway: waiting 2 s
    note: posted with 1 write
    ");
}

#[test]
fn a_limit_that_ends_late_is_an_error() {
    let bench = PullRequestBench::new();
    bench.github.fail(|_| Some(status(403, &[("Retry-After", "7200")], "limit")));
    assert_snapshot!(bench.show(&["--post", "comment"]), @"
    [exit 2]
    [stderr]
    error: GitHub limits the rate of requests (403); GitHub asks to wait for 120 min
    ");
    assert_eq!(bench.github.take_requests().len(), 1);
}

#[test]
fn a_lost_answer_does_not_repeat_a_write() {
    let bench = PullRequestBench::new();
    bench.github.fail(on_first_write(|| ForgeFault::DropAfter));
    bench.pr(&["--post", "review"]);
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

/// Fails the first write.
fn on_first_write(
    fault: impl Fn() -> ForgeFault + Send + Sync + 'static,
) -> impl Fn(&ForgeRequest) -> Option<ForgeFault> + Send + Sync + 'static {
    let is_done = AtomicBool::new(false);
    move |request| (is_write(request) && !is_done.swap(true, Ordering::SeqCst)).then(&fault)
}

#[test]
fn the_api_comes_from_the_environment_or_the_users_own_file() {
    let mut bench = PullRequestBench::new();
    let config = format!("pull_requests: {{api_url: \"{}\"}}\n", bench.github.url());
    let folder = bench.world.home().join(".config/mala");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.yaml"), &config).unwrap();
    bench.world = bench.world.with_env("GITHUB_API_URL", "");
    let (code, stderr) = bench.pr(&[]);
    assert_eq!(code, 1, "{stderr}");
    std::fs::remove_file(folder.join("config.yaml")).unwrap();
    bench.world = bench.world.with_env("GITHUB_API_URL", bench.github.url());
    bench.repo.checkout("main");
    bench.repo.write("mala.yaml", &config);
    bench.repo.commit("send tokens elsewhere");
    bench.repo.checkout("topic");
    bench.repo.git(&["rebase", "-q", "main"]);
    assert_snapshot!(bench.show(&[]), @r#"
    [exit 78]
    [stderr]
    error: mala.yaml at [COMMIT]:1:17: `api_url` controls where your token is sent and cannot be set by a repository
     --> mala.yaml at [COMMIT]:1:17
      |
    1 | pull_requests: {api_url: "[GITHUB]"}
      |                 ^^^^^^^ not allowed here
    hint: move it to your own file, ~/.config/mala/config.yaml
    "#);
}
