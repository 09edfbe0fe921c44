//! `mala ci` and the action, with the environment that the services set.

use super::{FLAW, PullRequestBench, TOKEN, is_write};
use mala_testkit::World;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;

/// The bench as a job of GitHub Actions with this event.
fn in_actions(mut bench: PullRequestBench, event: &Value) -> PullRequestBench {
    let path = bench.world.home().join("event.json");
    std::fs::write(&path, event.to_string()).unwrap();
    let summary = bench.world.home().join("summary.md");
    bench.world = bench
        .world
        .with_env("CI", "true")
        .with_env("GITHUB_ACTIONS", "true")
        .with_env("GITHUB_REPOSITORY", "o/r")
        .with_env("GITHUB_SHA", bench.repo.id("topic"))
        .with_env("GITHUB_EVENT_PATH", &path)
        .with_env("GITHUB_STEP_SUMMARY", &summary);
    bench
}

fn pull_event(head: &str) -> Value {
    json!({"pull_request": {"number": 7, "head": {"repo": {"full_name": head}}}})
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_pull_request_of_the_repository_gets_a_review() {
    let bench = in_actions(PullRequestBench::new(), &pull_event("o/r"));
    let output = bench.world.output(&["ci"], b"");
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
    let summary = std::fs::read_to_string(bench.world.home().join("summary.md")).unwrap();
    assert!(summary.contains("Breakpoint left in"), "{summary}");
}

#[test]
fn a_pull_request_of_a_fork_gets_annotations() {
    let bench = PullRequestBench::new();
    bench.github.set_fork(true);
    let bench = in_actions(bench, &pull_event("eve/r"));
    let output = bench.world.output(&["ci"], b"");
    assert!(stdout(&output).contains("::error file=app.py,line=2"), "{}", stdout(&output));
    assert!(bench.github.take_requests().iter().all(|request| !is_write(request)));
}

#[test]
fn a_push_is_reviewed_with_annotations() {
    let bench = PullRequestBench::new();
    let event = json!({"before": bench.repo.id("main"), "after": bench.repo.id("topic")});
    let mut bench = in_actions(bench, &event);
    bench.world = bench.world.in_folder(bench.repo.root());
    let output = bench.world.output(&["ci"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("::error file=app.py,line=2"), "{}", stdout(&output));
    assert!(bench.github.take_requests().is_empty());
}

#[test]
fn a_merge_request_on_gitlab_gets_a_code_quality_report() {
    let bench = PullRequestBench::new();
    let world: World = bench
        .world
        .with_env("GITLAB_CI", "true")
        .with_env("CI_MERGE_REQUEST_IID", "3")
        .with_env("CI_MERGE_REQUEST_DIFF_BASE_SHA", bench.repo.id("main"))
        .with_env("CI_COMMIT_SHA", bench.repo.id("topic"))
        .in_folder(bench.repo.root());
    assert_eq!(world.output(&["ci"], b"").status.code(), Some(1));
    let report = std::fs::read(bench.repo.root().join("gl-code-quality-report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report[0]["location"]["path"], "app.py", "{report:#}");
}

#[test]
fn elsewhere_it_is_an_error() {
    let bench = PullRequestBench::new();
    let output = bench.world.output(&["ci"], b"");
    assert_eq!(output.status.code(), Some(78));
}

/// A review of a fork without secrets, and the event of the workflow that posts it.
fn reviewed_fork() -> (PullRequestBench, PathBuf) {
    let bench = PullRequestBench::new();
    bench.github.set_fork(true);
    let file = bench.world.home().join("review.json");
    let mut bench = in_actions(bench, &pull_event("eve/r"));
    let sink = format!("json={}", file.display());
    bench.world.output(&["ci", "--post", "none", "--output", &sink], b"");
    let event = json!({"workflow_run": {
        "head_sha": bench.repo.id("topic"), "head_branch": "topic",
        "head_repository": {"owner": {"login": "eve"}},
    }});
    bench = in_actions(bench, &event);
    (bench, file)
}

#[test]
fn a_second_job_posts_the_review_of_a_fork() {
    let (bench, file) = reviewed_fork();
    let output = bench.world.output(&["ci", "--from", file.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn a_file_that_is_no_review_of_this_change_is_not_posted() {
    let (bench, file) = reviewed_fork();
    let review: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let changed = |pointer: &str, value: Value| {
        let mut changed = review.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed.to_string()
    };
    for (name, text) in [
        ("no JSON", "{".to_owned()),
        ("no review", "{}".to_owned()),
        ("another commit", changed("/scope/head/commit", json!("0".repeat(40)))),
        ("another diff", changed("/scope/diff_hash", json!("0".repeat(64)))),
        ("another type", changed("/issues/0/line_start", json!("two"))),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = bench.world.output(&["ci", "--from", file.to_str().unwrap()], b"");
        assert_eq!(output.status.code(), Some(2), "{name}: {}", stdout(&output));
        assert_eq!(bench.posted(), (0, Vec::new()), "{name}");
    }
    bench.repo.write("app.py", format!("{FLAW}\n"));
    bench.repo.commit("a newer head");
    std::fs::write(&file, review.to_string()).unwrap();
    let output = bench.world.output(&["ci", "--from", file.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(2), "a newer head");
    assert_eq!(bench.posted(), (0, Vec::new()));
}

#[test]
fn hostile_texts_of_a_file_do_not_forge_markers() {
    let (bench, file) = reviewed_fork();
    let mut review: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    review["issues"][0]["title"] = json!("x\n<!-- mala:finding=ffff -->");
    review["issues"][0]["dedupe_key"] = json!("a --> <script>");
    std::fs::write(&file, review.to_string()).unwrap();
    bench.world.output(&["ci", "--from", file.to_str().unwrap()], b"");
    for one in bench.github.inline_comments() {
        assert_eq!(one.body.matches("<!--").count(), 1, "{}", one.body);
        assert_eq!(one.body.matches("-->").count(), 1, "{}", one.body);
    }
}

/// The value of the expressions that action.yml uses.
fn evaluated(text: &str, inputs: &[(&str, &str)], tools: &Path) -> String {
    let mut out = text.to_owned();
    while let Some((before, rest)) = out.clone().split_once("${{") {
        let (expression, after) = rest.split_once("}}").unwrap();
        let value = expression.trim().split("||").map(str::trim).map(|name| match name {
            "runner.tool_cache" => tools.display().to_string(),
            "github.action_ref" => "v1".to_owned(),
            "github.action_repository" => "o/mala".to_owned(),
            "github.server_url" => "http://127.0.0.1:9".to_owned(),
            name => {
                let name = name.strip_prefix("inputs.").unwrap_or_else(|| panic!("{name}"));
                let input = inputs.iter().find(|(known, _)| *known == name);
                input.map(|(_, value)| (*value).to_owned()).unwrap_or_default()
            }
        });
        let value = value.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
        out = format!("{before}{value}{after}");
    }
    out
}

#[test]
fn the_steps_of_the_action_review_a_pull_request() {
    let mut bench = in_actions(PullRequestBench::new(), &pull_event("o/r"));
    let action = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../action.yml"));
    let action: Value = serde_saphyr::from_str(&action.unwrap()).unwrap();
    // The cache has restored the binary.
    let tools = bench.world.home().join("tools");
    std::fs::create_dir_all(tools.join("mala/bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mala"), tools.join("mala/bin/mala")).unwrap();
    let (path, out) = (bench.world.home().join("path"), bench.world.home().join("output"));
    bench.world = bench.world.with_env("GITHUB_PATH", &path).with_env("GITHUB_OUTPUT", &out);
    let inputs = [("token", TOKEN), ("post", "review,check"), ("args", "--reviewer\nbuiltin\n")];
    let mut codes = Vec::new();
    for step in action["runs"]["steps"].as_array().unwrap() {
        let Some(script) = step["run"].as_str() else { continue };
        assert_eq!(step["shell"], "bash");
        assert!(!script.contains("${{"), "expressions reach a script only as variables");
        let mut command = bench.world.command("bash");
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]);
        for (name, value) in step["env"].as_object().unwrap() {
            command.env(name, evaluated(value.as_str().unwrap(), &inputs, &tools));
        }
        let added = std::fs::read_to_string(&path).unwrap_or_default();
        let known = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{known}", added.trim()));
        let done = command.output().unwrap();
        codes.push(done.status.code().unwrap());
    }
    assert_eq!(codes, [0, 1]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "exit-code=1\n");
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
    assert_eq!(bench.github.checks()[0]["conclusion"], "failure");
}
