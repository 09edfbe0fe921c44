//! Gates whose own data says that their word is not to be believed: what they object to is lost, a
//! reviewer is missing, or the source of the answer is unknown. None of them passes, whatever the threshold.

use super::fakes::{PASS, check, check_with, gate, gate_like};
use super::{CerberusProject, ReviewRun};
use serde_json::{Value, json};

const LENIENT: &[&str] = &["--fail-on", "P1"];

fn entry(verdict: &str) -> Value {
    json!({"verdict": verdict, "summary": "", "issues": [], "error": null})
}

fn issue(file: &str, line: u32, priority: Value) -> Value {
    json!({"reviewer": "codex", "file": file, "line_start": line, "line_end": line,
           "priority": priority, "title": "T", "body": "B"})
}

/// What the contract's gate prints for these issues.
fn needs_work(issues: &[Value]) -> Value {
    json!({"status": "resolved", "consensus": {"verdict": "NEEDS_WORK", "iteration": 1},
           "reviewers": {"codex": entry("FAIL")}, "issues": issues, "parse_errors": []})
}

fn with(mut json: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = json.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    parent.insert(key.to_owned(), value);
    json
}

/// A gate that answers like this, with 1 for what is no pass.
fn answers(json: &Value) -> CerberusProject {
    let code = i32::from(json["consensus"]["verdict"] != "PASS");
    gate(&format!("echo '{json}'; exit {code}"))
}

/// A finding as the other shapes have it.
fn found(file: &str, line: u32, priority: u32) -> Value {
    json!({"reviewer": "codex", "file_path": file, "line_start": line, "line_end": line,
           "priority": priority, "title": "T", "body": "B"})
}

fn older(verdict: &str, findings: &[Value]) -> Value {
    json!({"status": "complete", "consensus_verdict": verdict, "aggregated_findings": findings,
           "reviewers": {"codex": {"verdict": verdict, "summary": "", "findings": findings}},
           "parse_errors": []})
}

fn opinion(verdict: &str, findings: &[Value]) -> Value {
    json!({"verdict": verdict, "summary": "", "findings": findings})
}

/// A gate of the newer shape: its files below `iterations`, and more of its state.
fn newer(verdict: &str, files: &[(&str, Value)], more: &str) -> CerberusProject {
    newer_like("echo started", verdict, files, more)
}

fn newer_like(spawn: &str, verdict: &str, files: &[(&str, Value)], more: &str) -> CerberusProject {
    let mut script = String::from(
        r#"run="$CERBERUS_STATE_ROOT/$CERBERUS_PROJECT_KEY/$CERBERUS_RUN_KEY/iterations"; "#,
    );
    for (name, text) in files {
        script.push_str(&format!(
            r#"mkdir -p "$run/{name}"; echo '{text}' >"$run/{name}/output.json"; "#
        ));
    }
    let state = format!(r#"{{"status": "resolved", "verdict": "{verdict}"{more}}}"#);
    gate_like(&format!("{script}{spawn}"), &format!("echo '{state}'"), "")
}

const CODEX: &str = "1/round-1/reviewers/codex#1";

#[test]
fn what_is_lost_is_not_outweighed_by_what_is_less() {
    let lost = "for a finding that cannot be placed";
    for (file, line) in [("../x", 1), ("gone.py", 2), ("a.py", 999)] {
        let issues = [issue(file, line, json!(0)), issue("a.py", 1, json!(3))];
        check_with(&answers(&needs_work(&issues)), LENIENT, 2, lost);
    }
    let two = [found("gone.py", 2, 0), found("a.py", 1, 3)];
    let words = "echo started";
    let project = gate_like(words, &format!("echo '{}'", older("FAIL", &two)), "");
    check_with(&project, LENIENT, 2, lost);
    check_with(&newer("fail", &[(CODEX, opinion("FAIL", &two))], ""), LENIENT, 2, lost);

    let issues = [issue("gone.py", 2, json!(3)), issue("a.py", 1, json!(1))];
    let said = check_with(&answers(&needs_work(&issues)), LENIENT, 1, "");
    insta::assert_snapshot!(said.json["warnings"], @r#"["cerberus: the gate does not say which regions it reviewed; its verdict is taken for all","codex: dropped a finding: gone.py:2: no such file or lines at head"]"#);
}

#[test]
fn a_reviewer_of_an_earlier_round_is_in_the_last_one() {
    let fail = opinion("FAIL", &[found("a.py", 2, 1)]);
    let pass = opinion("PASS", &[]);
    let earlier = ("1/round-1/reviewers/gemini#1", fail);
    let last = ("1/round-2/reviewers/codex#1", pass.clone());
    let project = newer("pass", &[earlier.clone(), last.clone()], "");
    check(&project, 2, "gemini#1 says: its output is missing");
    let changed = ("1/round-2/reviewers/gemini#1", pass.clone());
    check(&newer("pass", &[earlier, last, changed], ""), 0, "");
    let project = newer("pass", &[(CODEX, pass)], r#", "current_iteration": 2"#);
    check(&project, 2, "iteration 2");
}

#[test]
fn an_objection_in_the_words_of_another_shape_is_one() {
    let pass = opinion("pass", &[]);
    let issues = json!([issue("a.py", 2, json!(1))]);
    let file = with(pass.clone(), "/issues", issues.clone());
    check(&newer("pass", &[(CODEX, file)], ""), 2, "codex#1 names issues");
    let more = format!(r#", "issues": {issues}"#);
    check(&newer("pass", &[(CODEX, pass)], &more), 2, "the gate names issues");

    // Beside an objection that is less.
    let small = [issue("a.py", 1, json!(3))];
    let worse = json!([issue("a.py", 2, json!(0))]);
    let json = with(needs_work(&small), "/reviewers/codex/issues", worse.clone());
    check_with(&answers(&json), LENIENT, 2, "codex names worse issues");
    let json = with(older("NEEDS_WORK", &[found("a.py", 1, 3)]), "/issues", worse.clone());
    let project = gate_like("echo started", &format!("echo '{json}'"), "");
    check_with(&project, LENIENT, 2, "the gate names worse issues");
    let file = with(opinion("FAIL", &[found("a.py", 1, 3)]), "/issues", worse);
    check_with(&newer("fail", &[(CODEX, file)], ""), LENIENT, 2, "codex#1 names worse issues");
    let mut blocking = found("a.py", 2, 3);
    blocking["severity"] = json!("blocking");
    check_with(&newer("fail", &[(CODEX, opinion("FAIL", &[blocking]))], ""), LENIENT, 1, "");
}

// Rows 001-117.
#[test]
fn an_answer_that_may_be_for_any_session_is_for_none() {
    for spawn in ["true", "echo '[1,2'", "echo 'session k started'"] {
        let project = gate_like(spawn, &format!("echo '{PASS}'"), "");
        check(&project, 2, "the gate named no session");
    }
    let mut json: Value = serde_json::from_str(PASS).unwrap();
    json["session_key"] = json!("another");
    check(&answers(&json), 2, "another session");
    json["session_key"] = json!("k");
    check(&answers(&json), 0, "");
    for word in ["--session-key, other", "--session-id=other"] {
        let project = gate_like("true", "true", &format!("    wait_args: [{word}]\n"));
        check(&project, 4, "wait_args must not name a session");
    }
}

#[test]
fn what_an_earlier_run_left_is_no_answer() {
    let more = "    env: {CERBERUS_RUN_KEY: mine, CLAUDE_SESSION_ID: mine}\n";
    let spawn = r#"run="$CERBERUS_STATE_ROOT/$CERBERUS_PROJECT_KEY"; mkdir -p "$run/mine/iterations/1/round-1/reviewers/codex#1"; echo '{"verdict": "PASS", "summary": "", "findings": []}' >"$run/mine/iterations/1/round-1/reviewers/codex#1/output.json"; echo "$CLAUDE_SESSION_ID" >"$HOME/session""#;
    let wait = r#"echo '{"status": "resolved", "verdict": "pass"}'"#;
    let project = gate_like(spawn, wait, more);
    check(&project, 2, "PASS without reviewers");
    let session = std::fs::read_to_string(project.world.home().join("session")).unwrap();
    assert_ne!(session, "mine\n");
}

#[test]
fn a_started_reviewer_must_answer_in_every_format() {
    let spawn = r#"echo '{"session_key": "k1", "reviewers_spawned": ["codex", "gemini"]}'"#;
    let silent = "gemini was started and says nothing";
    check(&gate_like(spawn, &format!("echo '{PASS}'"), ""), 2, silent);
    let project = gate_like(spawn, &format!("echo '{}'", older("PASS", &[])), "");
    check(&project, 2, silent);
    let pass = || opinion("PASS", &[]);
    check(&newer_like(spawn, "pass", &[(CODEX, pass())], ""), 2, silent);
    let none_spawned = r#"echo '{"session_key": "k1", "reviewers_spawned": []}'"#;
    check(&gate_like(none_spawned, &format!("echo '{PASS}'"), ""), 2, "no reviewer was started");
    let both = [(CODEX, pass()), ("1/round-1/reviewers/gemini#1", pass())];
    check(&newer_like(spawn, "pass", &both, ""), 0, "");
}

// Rows 001-098.
#[test]
fn the_least_fields_of_the_contract_are_needed() {
    let pass: Value = serde_json::from_str(PASS).unwrap();
    for (pointer, wrong, says) in [
        ("/consensus", json!({"verdict": "PASS"}), "missing field: iteration"),
        ("/consensus/iteration", json!("x"), "invalid format"),
        ("/reviewers/codex", json!({"verdict": "PASS"}), "missing field: summary"),
        (
            "/reviewers/codex",
            json!({"verdict": "PASS", "summary": "", "error": null}),
            "missing field: issues",
        ),
        (
            "/reviewers/codex",
            json!({"verdict": "PASS", "summary": "", "issues": []}),
            "missing field: error",
        ),
    ] {
        check(&answers(&with(pass.clone(), pointer, wrong)), 2, says);
    }
}

/// Blocks by the panel's word, and is no review where a threshold lets its findings pass.
#[track_caller]
fn is_not_all(project: &CerberusProject) -> ReviewRun {
    let said = check(project, 1, "");
    let warnings = said.json["warnings"].to_string();
    assert!(warnings.contains("does not count as reviewed"), "{warnings}");
    let said = check_with(project, LENIENT, 2, "");
    assert_eq!(said.json["coverage"]["hunks_accounted"], 0, "{:#}", said.json);
    said
}

#[test]
fn a_threshold_does_not_excuse_a_reviewer_who_said_nothing() {
    let small = needs_work(&[issue("a.py", 1, json!(3))]);
    check_with(&answers(&small), LENIENT, 0, "");
    let failed = json!({"verdict": null, "summary": null, "issues": [], "error": "died"});
    is_not_all(&answers(&with(small.clone(), "/reviewers/gemini", failed)));
    is_not_all(&answers(&with(small.clone(), "/parse_errors", json!(["gemini: no JSON"]))));
    // It objects without naming a problem.
    is_not_all(&answers(&with(small.clone(), "/reviewers/gemini", entry("FAIL"))));
    is_not_all(&answers(&with(small, "/fatal_error", json!(true))));

    let two = older("NEEDS_WORK", &[found("a.py", 1, 3)]);
    let failed = json!({"verdict": "ERROR", "summary": "timed out", "findings": []});
    let two = with(two, "/reviewers/gemini", failed);
    is_not_all(&gate_like("echo started", &format!("echo '{two}'"), ""));
    let broken = ("1/round-1/reviewers/gemini#1", json!({}));
    let small = (CODEX, opinion("FAIL", &[found("a.py", 1, 3)]));
    is_not_all(&newer("needs_work", &[small, broken], ""));

    let undecided = newer("requires_decision", &[(CODEX, opinion("PASS", &[]))], "");
    check_with(&undecided, LENIENT, 1, "");
    check_with(&undecided, &["--fail-on", "P0"], 2, "");
}
