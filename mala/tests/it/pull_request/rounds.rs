//! Reviews of a pull request are rounds of one change: what is reviewed again, and what is recognised.

use super::{AGENT, FLAW, PullRequestBench, passing_model, reporting_model};
use insta::assert_snapshot;
use mala_testkit::ModelServer;
use serde_json::{Value, json};

const REVIEW: [&str; 2] = ["--post", "review"];

/// A bench whose agent passes everything.
fn with_agent() -> (PullRequestBench, ModelServer) {
    let server = passing_model();
    (PullRequestBench::new().with_model(&server), server)
}

fn reviewed(bench: &PullRequestBench, options: &[&str]) -> Value {
    let report = bench.report(&[&["--reviewer", "agent_sdk"], options].concat());
    report["tracking"]["reviewed"].clone()
}

/// A job may have to wait until after the merge.
#[test]
fn a_merged_pull_request_is_reviewed_against_the_base_before_the_merge() {
    let bench = PullRequestBench::new();
    bench.repo.git(&["checkout", "-q", "main"]);
    bench.repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    let (code, stderr) = bench.pr(&["--post", "review,check"]);
    assert_eq!(code, 1, "{stderr}");
    assert_eq!(bench.github.checks()[0]["conclusion"], "failure");
    // Where GitHub names a commit that has the change already, it is not reviewed, and no pass.
    bench.repo.write("other.py", "x = 1\n");
    bench.repo.commit("later");
    assert_snapshot!(bench.show(&["--post", "review,check"]), @"
    [exit 2]
    [stderr]
    error: the pull request is merged, and its base has the change already
    ");
    assert_eq!(bench.github.checks()[0]["conclusion"], "failure");
}

#[test]
fn a_push_is_a_later_round_and_a_rewritten_history_a_full_review() {
    let (bench, _server) = with_agent();
    assert_eq!(reviewed(&bench, &[]), json!({"full": "first_review"}));
    assert_eq!(reviewed(&bench, &[]), json!({"full": "nothing_new"}));
    bench.repo.write("app.py", format!("{FLAW}\n\ndef more():\n    return 2\n"));
    bench.repo.commit("a push");
    assert_eq!(reviewed(&bench, &[]), json!("delta"));
    bench.repo.write("app.py", format!("{FLAW}\n\ndef more():\n    return 3\n"));
    bench.repo.git(&["commit", "-q", "-a", "--amend", "-m", "a force-push"]);
    assert_eq!(reviewed(&bench, &[]), json!({"full": "history_rewritten"}));
}

#[test]
fn a_person_with_write_access_asks_for_a_full_review_once() {
    let (bench, _server) = with_agent();
    bench.github.allow_writes("ada");
    reviewed(&bench, &["--post", "comment"]);
    bench.repo.write("app.py", format!("{FLAW}\n\ndef more():\n    return 2\n"));
    bench.repo.commit("a push");
    bench.github.add_comment("eve", "/mala review");
    assert_eq!(reviewed(&bench, &["--post", "comment"]), json!("delta"), "no write access");
    bench.github.add_comment("ada", "/mala review");
    assert_eq!(reviewed(&bench, &["--post", "comment"]), json!({"full": "requested"}));
    assert_eq!(reviewed(&bench, &["--post", "comment"]), json!({"full": "nothing_new"}));
}

#[test]
fn a_renamed_file_keeps_its_comments() {
    for is_fresh in [false, true] {
        let bench = PullRequestBench::new();
        bench
            .repo
            .write("added.py", format!("{FLAW}\n\ndef tell():\n    print(1)\n    return 2\n"));
        bench.repo.commit("a file of its own");
        bench.pr(&REVIEW);
        assert_eq!(bench.posted().1, ["added.py:2", "app.py:2"]);
        bench.repo.git(&["mv", "added.py", "moved.py"]);
        bench.repo.commit_staged("rename");
        if is_fresh {
            bench.forget();
        }
        bench.pr(&REVIEW);
        assert_eq!(bench.posted(), (1, vec!["added.py:2".to_owned(), "app.py:2".to_owned()]));
        let resolved = bench.github.resolved();
        assert!(resolved.is_empty(), "the findings are still there: {resolved:?}, {is_fresh}");
    }
}

#[test]
fn a_renamed_repository_keeps_its_rounds_and_comments() {
    for (name, is_cloned) in [("o/r#7", false), ("n/s#7", false), ("o/r#7", true)] {
        let mut bench = PullRequestBench::new();
        if is_cloned {
            let url = format!("{}/o/r.git", bench.github.url());
            bench.repo.git(&["remote", "add", "origin", &url]);
            bench.world = bench.world.in_folder(bench.repo.root());
        }
        bench.pr(&REVIEW);
        bench.github.rename("n/s");
        bench.repo.write("other.py", FLAW);
        bench.repo.commit("another flaw");
        bench.github.take_requests();
        let output = bench.world.output(&["pr", name, "--json", "--post", "review"], b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["tracking"]["round"], 2, "{name}: {}", report["tracking"]);
        assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned(), "other.py:2".to_owned()]));
        let requests = bench.github.take_requests();
        // Writes and git are not redirected.
        let others = requests.iter().filter(|one| one.method != "GET" || one.is_git());
        let others: Vec<_> = others.filter(|one| one.path != "/graphql").collect();
        assert!(!others.is_empty());
        for one in others {
            let is_known = one.path.starts_with("/repos/n/s/") || one.path.starts_with("/n/s.git/");
            assert!(is_known, "{name}: {} {}", one.method, one.path);
        }
    }
}

#[test]
fn a_fresh_machine_recognises_what_was_posted() {
    let bench = PullRequestBench::new();
    bench.pr(&REVIEW);
    bench.repo.write("app.py", format!("import os\n\n\n{FLAW}"));
    bench.repo.git(&["commit", "-q", "-a", "--amend", "-m", "rewritten"]);
    bench.forget();
    bench.pr(&REVIEW);
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn a_finding_in_other_words_keeps_its_comment() {
    for is_fresh in [false, true] {
        let evidence = "    breakpoint()";
        let first = reporting_model((2, 2), "A breakpoint stops the program", evidence, "");
        let bench = PullRequestBench::new().with_model(&first);
        assert_eq!(bench.pr(&AGENT).0, 1);
        bench.repo.write("app.py", format!("import os\n{FLAW}"));
        bench.repo.commit("lines above");
        if is_fresh {
            bench.forget();
        }
        let evidence = "def ask():\n    breakpoint()";
        let second = reporting_model((2, 3), "The program stops at a breakpoint", evidence, "");
        let bench = bench.with_model(&second);
        let (code, stderr) = bench.pr(&AGENT);
        assert_eq!(code, 1, "{stderr}");
        assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]), "fresh: {is_fresh}");
    }
}

#[test]
fn a_command_during_a_review_is_for_the_next_one() {
    let (bench, _server) = with_agent();
    bench.github.allow_writes("ada");
    reviewed(&bench, &["--post", "comment"]);
    bench.repo.write("app.py", format!("{FLAW}\n\ndef more():\n    return 2\n"));
    bench.repo.commit("a push");
    let is_asked = std::sync::atomic::AtomicBool::new(false);
    let github = std::sync::Arc::clone(&bench.github);
    bench.github.fail(move |request| {
        // The commits are fetched after the discussion is read.
        if request.is_git() && !is_asked.swap(true, std::sync::atomic::Ordering::SeqCst) {
            github.add_comment("ada", "/mala review");
        }
        None
    });
    assert_eq!(reviewed(&bench, &["--post", "comment"]), json!("delta"));
    assert_eq!(reviewed(&bench, &["--post", "comment"]), json!({"full": "requested"}));
}

#[test]
fn an_open_finding_that_cannot_be_checked_is_no_pass() {
    let server = reporting_model((2, 2), "Division by zero", "    return 10 / n", "");
    let bench = PullRequestBench::new().with_model(&server);
    bench.repo.write("app.py", "def ask(n):\n    return 10 / n\n");
    bench.repo.commit("divide");
    assert_eq!(bench.pr(&AGENT).0, 1);
    let first = bench.github.inline_comments()[0].id;
    bench.repo.write("app.py", "def ask(n):\n    return 20 / n\n");
    bench.repo.commit("divide more");
    let (code, stderr) = bench.pr(&["--reviewer", "builtin", "--post", "review,check"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(!bench.github.resolved().contains(&first), "the thread stays open");
    let summary = bench.github.comments().pop().unwrap().body;
    assert!(summary.contains("Open, not checked: 1"), "{summary}");
    assert_eq!(bench.github.checks()[0]["conclusion"], "neutral");
}
