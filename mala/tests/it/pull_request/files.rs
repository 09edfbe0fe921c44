//! Which files of a pull request are reviewed: many, binary, deleted, added and generated ones. The diff comes from
//! git, so that no list of the API can cut it short.

use super::{PullRequestBench, passing_model};
use mala_testkit::ModelServer;
use mala_testkit::model_server::ModelAnswer;
use serde_json::Value;

fn names(entries: &Value) -> Vec<String> {
    let entries = entries.as_array().unwrap().iter();
    entries.map(|entry| entry["file"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn all_files_of_a_large_pull_request_are_reviewed() {
    // 002-117; GitHub's own lists end at 300 and 3,000 files.
    let bench = PullRequestBench::new();
    for number in 0..3_100 {
        let text = format!("first_{number} = {number}\nsecond_{number} = first_{number}\n");
        bench.repo.write(format!("many/f{number}.py"), text);
    }
    bench.repo.commit("many files");
    let report = bench.report(&[]);
    assert_eq!(names(&report["coverage"]["files"]).len(), 3_101);
    assert_eq!(report["issues"][0]["file"], "app.py");
}

#[test]
fn a_pull_request_over_the_budget_is_never_a_pass() {
    let bench = PullRequestBench::new();
    bench.repo.checkout("main");
    bench.repo.write("mala.yaml", "review: {budget: {max_tokens: 20000}}\n");
    bench.repo.commit("a small budget");
    bench.repo.checkout("topic");
    bench.repo.git(&["rebase", "-q", "main"]);
    for number in 0..250 {
        let text = format!("first_{number} = {number}\nsecond_{number} = first_{number}\n");
        bench.repo.write(format!("many/f{number}.py"), text.repeat(4));
    }
    let big: String = (0..200).map(|line| format!("value_{line} = {line}\n")).collect();
    bench.repo.write("zz_big.py", big);
    bench.repo.commit("many files");
    let server = passing_model();
    let bench = bench.with_model(&server);
    let report = bench.report(&["--reviewer", "agent_sdk"]);
    assert_eq!(report["passed"], false);
    assert_ne!(report["status"], "ok");
    assert!(!report["warnings"].as_array().unwrap().is_empty(), "{}", report["warnings"]);
}

#[test]
fn files_that_are_not_reviewed_are_named() {
    // 002-119, 002-120, 002-121, 002-122
    let bench = PullRequestBench::new();
    bench.repo.write("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0");
    bench.repo.remove("other.py");
    let added = "import os\n\n\ndef wipe(path):\n    breakpoint()\n    os.remove(path)\n";
    bench.repo.write("added.py", added);
    bench.repo.write("Cargo.lock", "[[package]]\nname = \"a\"\n");
    bench.repo.write("app.min.js", format!("var a=1;{}\n", "b();".repeat(300)));
    bench.repo.commit("files of many kinds");
    let report = bench.report(&["--post", "none"]);
    let skipped = report["coverage"]["skipped"].as_array().unwrap();
    let reason = |file: &str| {
        let entry = skipped.iter().find(|entry| entry["file"] == file);
        entry.map(|entry| entry["reason"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    assert_eq!(reason("image.png"), "binary", "{report:#}");
    assert!(!reason("Cargo.lock").is_empty() && !reason("app.min.js").is_empty(), "{report:#}");
    let found: Vec<_> = report["issues"].as_array().unwrap().iter().map(|it| &it["file"]).collect();
    assert!(found.iter().any(|file| **file == "added.py"), "a new file is reviewed: {found:?}");
    assert!(!found.iter().any(|file| **file == "other.py"), "{found:?}");
    let warnings = report["warnings"].to_string();
    for file in ["image.png", "other.py", "Cargo.lock", "app.min.js"] {
        assert!(warnings.contains(file), "{file}: {warnings}");
    }
}

#[test]
fn the_code_search_of_the_agent_uses_the_fetched_commits() {
    // 002-071, 002-072: no request goes to the search of GitHub, so that its limits do not matter.
    let search = ModelAnswer::call("search_code", serde_json::json!({"query": "return 1"}));
    let pass = ModelAnswer::text(r#"{"verdict": "PASS", "findings": []}"#);
    let server = ModelServer::new(move |request| match request.number {
        0 => search.clone().into(),
        _ => pass.clone().into(),
    });
    let bench = PullRequestBench::new().with_model(&server);
    bench.github.fail(|request| {
        let is_search = request.path.starts_with("/search");
        is_search.then(|| super::status(403, &[("Retry-After", "60")], "rate limit"))
    });
    bench.pr(&["--reviewer", "agent_sdk"]);
    let requests = server.requests();
    let is_shown = |body: &Value| body.to_string().contains("other.py");
    assert!(requests.iter().any(|request| is_shown(&request.body)), "{requests:#?}");
    let sent = bench.github.take_requests();
    assert!(sent.iter().all(|request| !request.path.starts_with("/search")));
}
