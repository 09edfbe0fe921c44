//! What is reviewed, and what is posted.

use super::{AGENT, FLAW, PullRequestBench, is_write, passing_model, reporting_model};
use insta::assert_snapshot;
use mala_testkit::forge_server::ForgeFault;
use mala_testkit::model_server::ModelAnswer;
use mala_testkit::{ModelServer, OutputFilter};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_pull_request_is_reviewed_in_an_empty_folder() {
    // 002-002, 002-003, 002-011, 002-102
    let bench = PullRequestBench::new();
    let report = bench.report(&["--post", "none"]);
    let (base, head) = (bench.repo.id("main"), bench.repo.id("topic"));
    assert_eq!(report["scope"]["base"], base.as_str(), "{report:#}");
    assert_eq!(report["scope"]["head"]["commit"], head.as_str());
    assert_eq!(report["coverage"]["files"][0]["file"], "app.py");
    assert_eq!(report["issues"][0]["line_start"], 2);
    let folder = report["review_log_path"].as_str().unwrap();
    for name in ["review.md", "review.json", "telemetry.json"] {
        assert!(std::path::Path::new(folder).join(name).is_file(), "{name}");
    }
    assert_eq!(bench.report(&[])["review_id"], report["review_id"], "the same pull request");
    let other = bench.world.output(&["pr", "o/r#8", "--json"], b"");
    let other: Value = serde_json::from_slice(&other.stdout).unwrap();
    assert_ne!(other["review_id"], report["review_id"], "another pull request");
    assert!(bench.github.take_requests().iter().all(|request| !is_write(request)));
}

#[test]
fn a_pull_request_is_fetched_reviewed_stored_and_posted() {
    // 002-129, 002-132
    let server = passing_model();
    let bench = PullRequestBench::new().with_model(&server);
    for (post, n_comments) in [("none", 0), ("comment", 1)] {
        let report = bench.report(&["--reviewer", "agent_sdk", "--post", post]);
        assert_eq!(report["status"], "ok", "{report:#}");
        let folder = report["review_log_path"].as_str().unwrap();
        assert!(std::path::Path::new(folder).join("review.md").is_file());
        assert_eq!(bench.posted().0, n_comments, "{post}");
    }
}

#[test]
fn a_clone_with_both_commits_is_used() {
    let mut bench = PullRequestBench::new();
    bench.world = bench.world.in_folder(bench.repo.root());
    assert_eq!(bench.pr(&[]).0, 1);
    assert!(bench.github.take_requests().iter().all(|request| !request.is_git()));
}

#[test]
fn the_comment_starts_with_the_marker_and_is_updated_in_place() {
    // 002-006, 002-100, 002-103
    let bench = PullRequestBench::new();
    let copied = "<!-- code-review-agent:review_id=0123456789abcdef -->\nmine";
    bench.github.add_comment("ada", copied);
    let report = bench.report(&["--post", "comment"]);
    let ours = bench.github.comments().pop().unwrap();
    let marker =
        format!("<!-- code-review-agent:review_id={} -->", report["review_id"].as_str().unwrap());
    assert_eq!(ours.body.lines().next(), Some(marker.as_str()));
    assert!(ours.body.contains("Breakpoint left in"), "{}", ours.body);
    assert!(bench.github.inline_comments().is_empty());
    bench.repo.write("app.py", "def ask():\n    return 2\n");
    bench.repo.commit("fix");
    bench.pr(&["--post", "comment"]);
    let comments = bench.github.comments();
    assert_eq!(comments.len(), 2);
    assert_eq!(comments[0].body, copied, "another user's comment is left alone");
    assert_eq!(comments[1].id, ours.id);
    assert_ne!(comments[1].body.lines().next(), Some(marker.as_str()));
    assert!(comments[1].body.contains("Fixed: 1"), "{}", comments[1].body);
}

#[test]
fn the_summary_has_the_verdict_the_findings_the_coverage_and_the_cost() {
    let bench = PullRequestBench::new();
    bench.repo.write("other.py", "def ask(items=[]):\n    items.append(1)\n    return items\n");
    bench.repo.commit("another flaw");
    bench.pr(&["--post", "comment"]);
    let summary = bench.github.comments().pop().unwrap().body;
    let summary = summary.replace(&bench.github.url(), "[URL]");
    let (text, took) = summary.rsplit_once("<sub>review ").unwrap();
    assert!(took.ends_with(" s · 0 model calls · 0 tool calls</sub>\n"), "{took}");
    assert_snapshot!(OutputFilter::default().clean(text), @r#"
    <!-- code-review-agent:review_id=[ID] -->
    <!-- mala:state {"head":"[SHA]","started":"[TIME]","digest":"[ID]","rejected":[],"resolved":[],"answered":0} -->

    ## mala: FAIL

    **1 of 2 findings at or above P1 (1 P1, 1 P2)**

    Built-in analyzers only: no model key is set. builtin reviewed 2 hunks in 2 files: 2 findings (1 P1, 1 P2).

    | P0 critical | P1 high | P2 medium | P3 low |
    |---:|---:|---:|---:|
    | 0 | 1 | 1 | 0 |

    - **P1** Breakpoint left in [`app.py:2`]([URL]/o/r/blob/[SHA]/app.py#L2-L2)
    - **P2** Default argument is changed by the call [`other.py:2`]([URL]/o/r/blob/[SHA]/other.py#L2-L2)

    <details open><summary><b>P1 high</b> Breakpoint left in, app.py:2</summary>

    When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.

    ```python
        breakpoint()
    ```

    **Fix:** Remove the line.

    <sub>`debug/python-breakpoint` · bug · by builtin · confidence 0.97</sub>

    </details>

    <details><summary><b>P2 medium</b> Default argument is changed by the call, other.py:2</summary>

    When `ask` is called again without `items`, it sees what this line left in the default of an earlier call, because the default at line 1 is made once.

    ```python
        items.append(1)
    ```

    **Fix:** Use `items=None` and make the value inside the function.

    <sub>`python/mutable-default` · bug · by builtin · confidence 0.90</sub>

    </details>

    ---

    **Coverage:** reviewed 2 of 2 hunks in 2 files

    <details><summary>Reviewers (1)</summary>

    - builtin: FAIL, 2 findings, 0 dropped

    </details>

    **Scope:** pull request 7 ([COMMIT] to [COMMIT]), 2 files, 2 hunks, +4 -2
    "#);
}

#[test]
fn a_second_run_makes_one_conditional_request_per_resource() {
    // 002-116
    let bench = PullRequestBench::new();
    bench.pr(&["--post", "review"]);
    bench.pr(&["--post", "review"]);
    bench.github.take_requests();
    assert_snapshot!(bench.show(&["--post", "review"]), @"
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
    note: the comments are up to date
    ");
    let requests = bench.github.take_requests();
    let mut paths: Vec<_> = requests.iter().map(|request| request.path.clone()).collect();
    assert!(!paths.is_empty());
    for request in &requests {
        assert_eq!(request.method, "GET", "{}", request.path);
        assert!(request.header("if-none-match").is_some(), "{}", request.path);
    }
    paths.sort();
    let n_requests = paths.len();
    paths.dedup();
    assert_eq!(paths.len(), n_requests, "{paths:?}");
}

#[test]
fn comments_are_on_lines_of_the_diff_and_others_are_in_the_summary() {
    let bench = PullRequestBench::new();
    bench.pr(&["--post", "review"]);
    let inline = bench.github.inline_comments();
    assert_eq!((inline[0].path.as_str(), inline[0].line), ("app.py", 2));
    assert!(inline[0].body.contains("Breakpoint left in"), "{}", inline[0].body);
    let summary = bench.github.comments().pop().unwrap().body;
    assert!(summary.contains("[`app.py:2`]("), "{summary}");
    assert!(!summary.contains("<details open>"), "the details are in the comment: {summary}");
}

#[test]
fn a_refused_position_moves_into_the_summary() {
    let bench = PullRequestBench::new();
    bench.repo.write("other.py", FLAW);
    bench.repo.commit("another flaw");
    bench.github.fail(|request| {
        let text = String::from_utf8_lossy(&request.body);
        let is_refused = request.path.contains("/pulls/7/") && text.contains("other.py");
        is_refused.then(|| super::status(422, &[], "line must be part of the diff"))
    });
    bench.pr(&["--post", "review"]);
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
    let summary = bench.github.comments().pop().unwrap().body;
    assert!(summary.contains("<details open>"), "{summary}");
    bench.github.take_requests();
    bench.pr(&["--post", "review"]);
    let requests = bench.github.take_requests();
    assert!(!requests.iter().any(is_write), "a refused position is not tried again");
}

#[test]
fn the_configuration_comes_from_the_base() {
    let bench = PullRequestBench::new();
    bench.repo.write("mala.yaml", "review:\n  fail_on: none\n  ignore: [\"**\"]\n");
    bench.repo.commit("switch the review off");
    let report = bench.report(&[]);
    assert_eq!(report["issues"][0]["file"], "app.py", "{report:#}");
    assert_eq!(report["passed"], false);
}

#[test]
fn nothing_of_the_project_runs_on_a_fork_unless_the_base_allows_it() {
    for (config, runs) in [("", false), ("pull_requests: {fork_commands: true}\n", true)] {
        let mut bench = PullRequestBench::new();
        bench.repo.checkout("main");
        bench.repo.write("mala.yaml", config);
        bench.repo.write("ruff.toml", "");
        bench.repo.commit("configure");
        bench.repo.checkout("topic");
        bench.repo.git(&["rebase", "-q", "main"]);
        bench.repo.write("mala.yaml", "pull_requests: {fork_commands: true}\n");
        bench.repo.commit("allow myself everything");
        bench.github.set_fork(true);
        // A linter that writes down its environment.
        let seen = bench.world.home().join("seen");
        let script = format!("#!/bin/sh\nenv > {}\necho '[]'\n", seen.display());
        bench.world = bench.world.with_program("ruff", &script);
        let report = bench.report(&["--reviewer", "builtin"]);
        let environment = std::fs::read_to_string(&seen).ok();
        assert_eq!(environment.is_some(), runs, "{config}: {report:#}");
        let warnings = report["warnings"].to_string();
        assert_eq!(warnings.contains("linters do not run"), !runs, "{warnings}");
        assert!(!environment.unwrap_or_default().contains(super::TOKEN));
    }
}

#[test]
fn configured_reviewers_do_not_run_on_a_fork() {
    let lane = "gate: {lanes: {mine: {command: [lane]}}}\n";
    let mut shown = String::new();
    for (config, reviewer) in [
        ("", "command"),
        (lane, "cerberus"),
        ("review: {cerberus: {command: [lane]}}\n", "cerberus"),
    ] {
        let mut bench = PullRequestBench::new();
        bench.repo.checkout("main");
        bench.repo.write("mala.yaml", config);
        bench.repo.commit("configure");
        bench.repo.checkout("topic");
        bench.repo.git(&["rebase", "-q", "main"]);
        bench.github.set_fork(true);
        let ran = bench.world.home().join("ran");
        let script = format!("#!/bin/sh\ntouch {}\n", ran.display());
        bench.world = bench.world.in_folder(bench.repo.root()).with_program("lane", &script);
        shown.push_str(&bench.show(&["--reviewer", reviewer]));
        assert!(!ran.exists(), "{config}: {shown}");
    }
    assert_snapshot!(shown, @"
    [exit 78]
    [stderr]
    error: the reviewer 'command' does not run on pull requests from forks
    hint: set pull_requests.fork_commands on the base branch, or use --reviewer
    [exit 78]
    [stderr]
    error: the lane 'mine' of gate.lanes does not run on pull requests from forks
    hint: set pull_requests.fork_commands on the base branch, or use --reviewer
    [exit 78]
    [stderr]
    error: the program of review.cerberus does not run on pull requests from forks
    hint: set pull_requests.fork_commands on the base branch, or use --reviewer
    ");
}

#[test]
fn a_pull_request_that_could_not_be_reviewed_is_never_a_success() {
    for (config, conclusion) in
        [("", "neutral"), ("pull_requests: {could_not_review: failure}\n", "failure")]
    {
        let server = ModelServer::always(ModelAnswer::text("no JSON"));
        let bench = configured(config).with_model(&server);
        assert_eq!(bench.pr(&["--reviewer", "agent_sdk", "--post", "check"]).0, 2);
        assert_eq!(bench.github.checks()[0]["conclusion"], conclusion, "{config}");
    }
}

#[test]
fn other_words_are_usage_errors() {
    let bench = PullRequestBench::new();
    assert_snapshot!(bench.run(&["pr", "o/r"]), @"
    [exit 64]
    [stderr]
    error: 'o/r' is not a pull request
    hint: use OWNER/REPO#N, GROUP/PROJECT!N or a URL; GITHUB_API_URL and GITLAB_API_URL set the host
    ");
    assert_snapshot!(bench.run(&["pr", "7"]), @"
    [exit 64]
    [stderr]
    error: '7' is not a pull request
    hint: use OWNER/REPO#N, GROUP/PROJECT!N or a URL; GITHUB_API_URL and GITLAB_API_URL set the host
    ");
    assert_snapshot!(bench.run(&["pr", "https://evil.example/o/r/pull/7"]), @"
    [exit 64]
    [stderr]
    error: the pull request is on evil.example, but the API is on [HOST]
    hint: use OWNER/REPO#N, GROUP/PROJECT!N or a URL; GITHUB_API_URL and GITLAB_API_URL set the host
    ");
    assert_snapshot!(bench.run(&["pr", "o/../r#7"]), @"
    [exit 64]
    [stderr]
    error: 'o/../r#7' is not a pull request
    hint: use OWNER/REPO#N, GROUP/PROJECT!N or a URL; GITHUB_API_URL and GITLAB_API_URL set the host
    ");
    assert!(bench.github.take_requests().is_empty());
    let url = format!("{}/o/r/pull/7/files", bench.github.url());
    assert_eq!(bench.world.output(&["pr", &url], b"").status.code(), Some(1));
}

#[test]
fn a_check_run_has_all_annotations() {
    let bench = PullRequestBench::new();
    for number in 0..60 {
        bench.repo.write(format!("more/m{number}.py"), FLAW);
    }
    bench.repo.commit("many flaws");
    bench.pr(&["--post", "check"]);
    bench.github.take_requests();
    bench.pr(&["--post", "check"]);
    assert!(bench.github.take_requests().iter().all(|request| !is_write(request)));
    let checks = bench.github.checks();
    assert_eq!(checks.len(), 1);
    assert_eq!(checks[0]["conclusion"], "failure");
    assert_eq!(checks[0]["output"]["annotations_count"], 61);
    assert_eq!(bench.posted(), (0, Vec::new()));
    bench.repo.git(&["reset", "-q", "--hard", "main"]);
    bench.repo.write("other.py", "def ask():\n    return 2\n");
    bench.repo.commit("no flaw");
    bench.pr(&["--post", "check"]);
    assert_eq!(bench.github.checks()[1]["conclusion"], "success");
}

#[test]
fn a_lost_connection_leaves_each_annotation_once() {
    for method in ["POST", "PATCH"] {
        for is_done in [false, true] {
            let bench = PullRequestBench::new();
            for number in 0..110 {
                bench.repo.write(format!("more/m{number}.py"), FLAW);
            }
            bench.repo.commit("many flaws");
            let is_first = AtomicBool::new(true);
            bench.github.fail(move |request| {
                let is_lost = request.path.contains("/check-runs") && request.method == method;
                let is_lost = is_lost && is_first.swap(false, Ordering::SeqCst);
                let fault = if is_done { ForgeFault::DropAfter } else { ForgeFault::DropBefore };
                is_lost.then_some(fault)
            });
            assert_eq!(bench.pr(&["--post", "check"]).0, 1);
            let checks = bench.github.checks();
            assert_eq!(checks.len(), 1, "{method}, done: {is_done}");
            let annotations = checks[0]["output"]["annotations"].as_array().unwrap();
            let mut paths: Vec<_> = annotations.iter().map(|one| one["path"].as_str()).collect();
            paths.sort_unstable();
            paths.dedup();
            let counts = (annotations.len(), paths.len());
            assert_eq!(counts, (111, 111), "{method}, done: {is_done}");
        }
    }
}

#[test]
fn title_and_text_reach_the_model_as_claims() {
    // 002-045
    let server = passing_model();
    let bench = PullRequestBench::new().with_model(&server);
    bench.github.describe("Ask twice", "Because once is not enough.");
    bench.pr(&["--reviewer", "agent_sdk"]);
    let sent = server.requests().first().unwrap().body.to_string();
    for words in ["title of the pull request, a claim", "Ask twice", "Because once is not enough."]
    {
        assert!(sent.contains(words), "{words}: {sent}");
    }
}

/// A bench whose base branch has this configuration.
fn configured(config: &str) -> PullRequestBench {
    let bench = PullRequestBench::new();
    bench.repo.checkout("main");
    bench.repo.write("mala.yaml", config);
    bench.repo.commit("configure");
    bench.repo.checkout("topic");
    bench.repo.git(&["rebase", "-q", "main"]);
    bench
}

#[test]
fn the_pull_request_of_the_current_branch_is_the_default() {
    let mut bench = PullRequestBench::new();
    let url = format!("{}/o/r.git", bench.github.url());
    bench.repo.git(&["remote", "add", "origin", &url]);
    bench.world = bench.world.in_folder(bench.repo.root());
    let output = bench.world.output(&["pr", "--json"], b"");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["scope"]["target"], "pull request 7", "{report:#}");
    let requests = bench.github.take_requests();
    let asked = requests.iter().find(|request| request.resource() == "/repos/o/r/pulls").unwrap();
    assert!(asked.path.ends_with("?state=open&head=o:topic"), "{}", asked.path);
}

#[test]
fn a_check_run_shows_the_newest_result() {
    for (external_id, is_shown) in [("other@20000101T000000.000Z", false), ("other@9", true)] {
        let bench = PullRequestBench::new();
        bench.pr(&["--post", "check"]);
        bench.github.add_check(external_id, "success");
        bench.pr(&["--post", "check"]);
        let last = bench.github.checks().pop().unwrap();
        assert_eq!(last["conclusion"] == "success", is_shown, "{external_id}: {last:#}");
    }
}

#[test]
fn a_pull_request_gets_at_most_thirty_comments() {
    let bench = PullRequestBench::new();
    for number in 0..40 {
        bench.repo.write(format!("more/m{number}.py"), FLAW);
    }
    bench.repo.commit("many flaws");
    for _ in 0..2 {
        bench.pr(&["--post", "review"]);
        let requests = bench.github.take_requests();
        let reviews = requests.iter().filter(|one| is_write(one) && one.path.contains("/pulls/"));
        assert!(reviews.count() <= 1, "one review");
        let (n_summaries, comments) = bench.posted();
        assert_eq!((n_summaries, comments.len()), (1, 30));
    }
    let summary = bench.github.comments().pop().unwrap().body;
    assert_eq!(summary.matches("<details open>").count(), 11, "the others are in the summary");
}

#[test]
fn a_finding_that_comes_back_is_explained_in_the_summary() {
    let bench = PullRequestBench::new();
    for (text, has_details) in [(FLAW, false), (super::CLEAN, false), (FLAW, true)] {
        bench.repo.write("app.py", text);
        bench.repo.write("other.py", format!("{}# {has_details}\n", super::CLEAN.repeat(2)));
        bench.repo.commit("another state");
        bench.pr(&["--post", "review"]);
        let summary = bench.github.comments().pop().unwrap().body;
        assert_eq!(summary.contains("<details open>"), has_details, "{summary}");
    }
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn a_pull_request_does_not_waive_its_own_findings() {
    let ignored = FLAW
        .replace("breakpoint()", "breakpoint()  # mala: ignore[debug/python-breakpoint] wanted");
    for (config, code) in [("", 1), ("review: {suppressions: all}\n", 0)] {
        let bench = configured(config);
        bench.repo.write("app.py", &ignored);
        bench.repo.commit("waive it");
        let (found, stderr) = bench.pr(&[]);
        assert_eq!(found, code, "{config}: {stderr}");
    }
}

#[test]
fn a_finding_on_several_lines_is_commented_with_its_range_and_a_suggestion() {
    let evidence = "    first = input()\n    return eval(first)";
    let suggestion = "```python\n    return int(input())\n```";
    let server = reporting_model((2, 3), "Input is run", evidence, suggestion);
    let bench = PullRequestBench::new().with_model(&server);
    bench.repo.write("app.py", format!("def ask():\n{evidence}\n"));
    bench.repo.commit("several lines");
    let (code, stderr) = bench.pr(&AGENT);
    assert_eq!(code, 1, "{stderr}");
    let comment = bench.github.inline_comments().remove(0);
    assert_eq!((comment.start_line, comment.line), (Some(2), 3));
    let block = "```suggestion\n    return int(input())\n```\n";
    assert!(comment.body.contains(block), "{}", comment.body);
}

#[test]
fn the_configuration_comes_from_the_tip_of_the_base_branch() {
    // An old branch does not have the policy of its time.
    for is_local in [false, true] {
        let mut bench = configured("review: {fail_on: none}\n");
        bench.repo.checkout("main");
        bench.repo.write("mala.yaml", "review: {fail_on: P1}\n");
        bench.repo.commit("a stricter policy");
        bench.repo.checkout("topic");
        if is_local {
            bench.world = bench.world.in_folder(bench.repo.root());
        }
        let report = bench.report(&[]);
        assert_eq!(report["passed"], false, "{report:#}");
        let base = bench.repo.git(&["merge-base", "main", "topic"]);
        assert_eq!(report["scope"]["base"], base, "the change starts at the merge base");
    }
}

#[test]
fn a_summary_with_long_links_is_short_enough() {
    let bench = PullRequestBench::new();
    let folder = "\u{691c}\u{67fb}".repeat(35);
    for number in 0..55 {
        bench.repo.write(format!("{folder}/{folder}{number}.py"), FLAW);
    }
    bench.repo.commit("many flaws");
    let (code, stderr) = bench.pr(&["--post", "review,check"]);
    assert_eq!(code, 1, "{stderr}");
    assert_eq!((bench.posted().0, bench.github.checks().len()), (1, 1));
}
