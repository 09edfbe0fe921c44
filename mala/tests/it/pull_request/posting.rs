//! What is reviewed, and what is posted.

use super::{FLAW, PullRequestBench, is_write};
use mala_testkit::ModelServer;
use mala_testkit::model_server::ModelAnswer;
use serde_json::Value;

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
    let mut bench = PullRequestBench::new();
    let pass = ModelAnswer::text(r#"{"verdict": "PASS", "findings": []}"#);
    let server = ModelServer::always(pass);
    bench.world = bench
        .world
        .with_env("ANTHROPIC_BASE_URL", server.url())
        .with_env("ANTHROPIC_API_KEY", "test-key");
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
fn a_dry_run_sends_nothing() {
    // 002-007
    let bench = PullRequestBench::new();
    let output = bench.world.output(&["pr", "o/r#7", "--dry-run"], b"");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("POST /repos/o/r/pulls/7/reviews"), "{shown}");
    assert!(shown.contains("POST /repos/o/r/issues/7/comments"), "{shown}");
    assert!(shown.contains("\"line\": 2"), "{shown}");
    assert!(bench.github.take_requests().iter().all(|request| !is_write(request)));
}

#[test]
fn a_second_run_makes_one_conditional_request_per_resource() {
    // 002-116
    let bench = PullRequestBench::new();
    bench.pr(&["--post", "review"]);
    bench.pr(&["--post", "review"]);
    bench.github.take_requests();
    let (_, stderr) = bench.pr(&["--post", "review"]);
    assert!(stderr.contains("up to date"), "{stderr}");
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
fn the_command_reviewer_does_not_run_on_a_fork() {
    let bench = PullRequestBench::new();
    bench.github.set_fork(true);
    let (code, stderr) = bench.pr(&["--reviewer", "command"]);
    assert_eq!(code, 78, "{stderr}");
    assert!(stderr.contains("fork_commands"), "{stderr}");
}

#[test]
fn a_pull_request_that_could_not_be_reviewed_is_never_a_success() {
    for (config, conclusion) in
        [("", "neutral"), ("pull_requests: {could_not_review: failure}\n", "failure")]
    {
        let mut bench = PullRequestBench::new();
        bench.repo.checkout("main");
        bench.repo.write("mala.yaml", config);
        bench.repo.commit("configure");
        bench.repo.checkout("topic");
        bench.repo.git(&["rebase", "-q", "main"]);
        let server = ModelServer::always(ModelAnswer::text("no JSON"));
        bench.world = bench
            .world
            .with_env("ANTHROPIC_BASE_URL", server.url())
            .with_env("ANTHROPIC_API_KEY", "test-key");
        assert_eq!(bench.pr(&["--reviewer", "agent_sdk", "--post", "check"]).0, 2);
        assert_eq!(bench.github.checks()[0]["conclusion"], conclusion, "{config}");
    }
}

#[test]
fn other_words_are_usage_errors() {
    let bench = PullRequestBench::new();
    for word in ["o/r", "7", "https://evil.example/o/r/pull/7", "o/../r#7"] {
        let output = bench.world.output(&["pr", word], b"");
        assert_eq!(output.status.code(), Some(64), "{word}");
    }
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
fn title_and_text_reach_the_model_as_claims() {
    // 002-045
    let mut bench = PullRequestBench::new();
    bench.github.describe("Ask twice", "Because once is not enough.");
    let pass = ModelAnswer::text(r#"{"verdict": "PASS", "findings": []}"#);
    let server = ModelServer::always(pass);
    bench.world = bench
        .world
        .with_env("ANTHROPIC_BASE_URL", server.url())
        .with_env("ANTHROPIC_API_KEY", "test-key");
    bench.pr(&["--reviewer", "agent_sdk"]);
    let sent = server.requests().first().unwrap().body.to_string();
    for words in ["title of the pull request, a claim", "Ask twice", "Because once is not enough."]
    {
        assert!(sent.contains(words), "{words}: {sent}");
    }
}
