//! Reviews of a pull request are rounds of one change: what is reviewed again, and what is recognised.

use super::{FLAW, PullRequestBench};
use mala_testkit::ModelServer;
use mala_testkit::model_server::ModelAnswer;
use serde_json::{Value, json};

const REVIEW: [&str; 2] = ["--post", "review"];

/// A bench whose agent passes everything.
fn with_agent() -> (PullRequestBench, ModelServer) {
    let mut bench = PullRequestBench::new();
    let pass = ModelAnswer::text(r#"{"verdict": "PASS", "findings": []}"#);
    let server = ModelServer::always(pass);
    bench.world = bench
        .world
        .with_env("ANTHROPIC_BASE_URL", server.url())
        .with_env("ANTHROPIC_API_KEY", "test-key");
    (bench, server)
}

fn reviewed(bench: &PullRequestBench, options: &[&str]) -> Value {
    let report = bench.report(&[&["--reviewer", "agent_sdk"], options].concat());
    report["tracking"]["reviewed"].clone()
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
fn a_fresh_machine_recognises_what_was_posted() {
    let bench = PullRequestBench::new();
    bench.pr(&REVIEW);
    bench.repo.write("app.py", format!("import os\n\n\n{FLAW}"));
    bench.repo.git(&["commit", "-q", "-a", "--amend", "-m", "rewritten"]);
    bench.forget();
    bench.pr(&REVIEW);
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}
