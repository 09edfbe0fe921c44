//! Gates that are others', in the shapes that they print, and gates that misbehave. Each ends in the
//! right code within its time, and none passes by accident.

use super::{CerberusProject, ReviewRun, assert_none_left};

/// A gate whose `wait` does this; `spawn` starts the session `k`, and what it is told is kept.
pub(super) fn gate(wait: &str) -> CerberusProject {
    gate_like(r#"echo '{"session_key": "k", "reviewers_spawned": ["codex"]}'"#, wait, "")
}

pub(super) fn gate_like(spawn: &str, wait: &str, more: &str) -> CerberusProject {
    let config = format!("review:\n  cerberus:\n    command: [fake-gate]\n{more}");
    let script = format!(
        "echo \"$@\" >>\"$HOME/calls\"\ncase \"$1\" in\nspawn-code-review) {spawn} ;;\nwait) {wait} ;;\nesac"
    );
    let project = CerberusProject::new(&config);
    CerberusProject { world: project.world.with_program("fake-gate", &script), repo: project.repo }
}

pub(super) const PASS: &str = r#"{"status": "resolved", "consensus": {"verdict": "PASS", "iteration": 1}, "reviewers": {"codex": {"verdict": "PASS", "summary": "", "issues": [], "error": null}}, "issues": [], "parse_errors": []}"#;

pub(super) fn fail(file: &str) -> String {
    format!(
        r#"{{"status": "resolved", "consensus": {{"verdict": "FAIL", "iteration": 1}}, "reviewers": {{"codex": {{"verdict": "FAIL", "summary": "", "issues": [], "error": null}}}}, "issues": [{{"reviewer": "codex", "file": "{file}", "line_start": 2, "line_end": 2, "priority": 1, "title": "T", "body": "B"}}], "parse_errors": []}}"#
    )
}

#[track_caller]
pub(super) fn check(project: &CerberusProject, code: i32, says: &str) -> ReviewRun {
    check_with(project, &[], code, says)
}

/// The same with more arguments.
#[track_caller]
pub(super) fn check_with(
    project: &CerberusProject,
    more: &[&str],
    code: i32,
    says: &str,
) -> ReviewRun {
    let said = project.review(&[&["--timeout", "5"][..], more].concat());
    let case = format!("{:#}", said.json);
    assert_eq!(said.code, code, "{case}");
    assert!(said.error().contains(says), "{case}");
    assert_eq!(said.json["passed"], code == 0, "{case}");
    // Row 001-110.
    let parse_error = &said.json["parse_error"];
    assert_eq!(parse_error.is_string(), matches!(code, 2 | 3), "{case}");
    assert!(parse_error.is_string() || parse_error.is_null(), "{case}");
    assert_eq!(said.json["fatal_error"], code > 3, "{case}");
    assert!(said.seconds < 20.0, "{}", said.seconds);
    let home = project.world.home().display().to_string();
    assert_none_left(|environ, command| environ.contains(&home) && command.contains("fake-gate"));
    said
}

// Rows 001-007, 001-083, 001-084, 001-115.
#[test]
fn the_least_that_the_contract_asks_for_is_enough() {
    let project = gate(&format!("echo '{PASS}'"));
    let said = check(&project, 0, "");
    assert_eq!(said.json["reviewers"][0]["reviewer"], "codex");
    insta::assert_snapshot!(said.json["warnings"], @r#"["cerberus: the gate does not say which regions it reviewed; its verdict is taken for all"]"#);
    let calls = std::fs::read_to_string(project.world.home().join("calls")).unwrap();
    let range = format!("{}..{}", project.repo.id("HEAD~1"), project.repo.id("HEAD"));
    assert_eq!(
        calls,
        format!("spawn-code-review --diff {range}\nwait --json --session-key k --timeout 4\n")
    );

    let project = gate(&format!("echo '{}'; exit 1", fail("a.py")));
    let said = check(&project, 1, "");
    let issue = &said.json["issues"][0];
    assert_eq!(
        (&issue["reviewer"], &issue["evidence_snippet"]),
        (&"codex".into(), &"    return x + 1".into())
    );
}

#[test]
fn paths_from_the_root_of_the_machine_lead_into_the_tree() {
    let project = gate("");
    let file = project.repo.root().join("a.py");
    let script = format!(
        "case \"$1\" in spawn-code-review) echo '{{\"session_key\": \"k\", \"reviewers_spawned\": [\"codex\"]}}' ;; wait) echo '{}'; exit 1 ;; esac",
        fail(&file.display().to_string())
    );
    let project = CerberusProject {
        world: project.world.with_program("fake-gate", &script),
        repo: project.repo,
    };
    assert_eq!(check(&project, 1, "").json["issues"][0]["file"], "a.py");
}

// Rows 001-099, 001-107.
#[test]
fn its_settings_reach_the_gate() {
    let more = "    spawn_args: [--verbose, 'a b']\n    wait_args: [--timeout, '3']\n    env: {DEBUG: \"1\"}\n";
    let spawn = r#"[ "$DEBUG" = 1 ] && [ "$3" != "" ] && echo '{"session_key": "k", "reviewers_spawned": ["codex"]}'"#;
    let project = gate_like(spawn, &format!("echo '{PASS}'"), more);
    let task = project.world.home().join("task.txt");
    std::fs::write(&task, "the task").unwrap();
    let said = project.review(&["--context-file", &task.display().to_string()]);
    assert_eq!(said.code, 0, "{:#}", said.json);
    let calls = std::fs::read_to_string(project.world.home().join("calls")).unwrap();
    assert!(calls.contains("review-context.txt --verbose a b\n"), "{calls}");
    assert!(calls.ends_with("wait --json --session-key k --timeout 3\n"), "{calls}");
    let shown = project.world.run(&["config", "show"]);
    assert!(shown.contains("DEBUG") && shown.contains("(set)"), "{shown}");
}

#[test]
fn what_the_task_says_is_for_the_gate_alone() {
    let spawn = r#"cp "$5" "$HOME/task"; stat -c %a "$(dirname "$5")" >"$HOME/mode"; echo '{"session_key": "k", "reviewers_spawned": ["codex"]}'"#;
    let project = gate_like(spawn, &format!("echo '{PASS}'"), "");
    let task = project.world.home().join("task.txt");
    let key = format!("ghp_{}", "a1B2".repeat(9));
    std::fs::write(&task, format!("the token is {key}")).unwrap();
    let said = project.review(&["--context-file", &task.display().to_string()]);
    assert_eq!(said.code, 0, "{:#}", said.json);
    let read = |name: &str| std::fs::read_to_string(project.world.home().join(name)).unwrap();
    assert_eq!(read("mode"), "700\n");
    let told = read("task");
    assert!(told.starts_with("the token is ") && !told.contains(&key), "{told}");
}

// Rows 001-085, 001-086, 001-087, 001-088, 001-089, 001-094, 001-095, 001-116.
#[test]
fn exit_codes_by_the_table() {
    let error = r#"{"status": "error", "parse_errors": ["gemini: malformed JSON response"]}"#;
    check(&gate(&format!("echo '{error}'; exit 2")), 2, "gemini: malformed JSON response");
    check(&gate("exit 2"), 2, "the gate could not read its reviewers");
    check(&gate("exit 3"), 3, "timeout");
    let said = check(&gate("echo 'no CLIs' >&2; exit 4"), 4, "no CLIs");
    assert_eq!(said.json["fatal_error"], true);
    let said = check(&gate("exit 5"), 5, "the gate failed");
    assert_eq!(said.json["fatal_error"], true);
    check(&gate("exit 42"), 2, "exit 42");
    check(&gate("kill -9 $$"), 2, "killed");
    check(&gate_like("echo 'bad range' >&2; exit 1", "", ""), 2, "spawn failed: bad range");
}

// Rows 001-093, 001-097.
#[test]
fn what_does_not_fit_together_is_no_review() {
    check(&gate(&format!("echo '{PASS}'; exit 1")), 2, "exit 1 with resolved and PASS");
    check(&gate(&format!("echo '{}'", fail("a.py"))), 2, "exit 0 with resolved and FAIL");
    check(&gate("exit 0"), 2, "invalid json");
    check(&gate("echo 'All good: PASS'"), 2, "invalid json");
    check(&gate(&format!("echo 'note: x'; echo '{PASS}'")), 2, "invalid json");
    check(&gate(&format!("echo '{}'", PASS.replace("PASS", "APPROVED"))), 2, "invalid verdict");
    check(&gate("head -c 100000 /dev/urandom"), 2, "invalid json");
    check(&gate(&format!("echo '{}'; exit 1", fail("nowhere.py"))), 2, "that cannot be placed");
    check(
        &gate(&format!("echo '{}'; exit 1", fail("../../etc/passwd"))),
        2,
        "that cannot be placed",
    );
}

#[test]
fn a_pass_in_a_broken_form_is_no_review() {
    let case = |from: &str, to: &str, says: &str| {
        let json = PASS.replacen(from, to, 1);
        assert_ne!(json, PASS);
        check(&gate(&format!("echo '{json}'")), 2, says);
    };
    case(r#", "parse_errors": []"#, "", "missing field: parse_errors");
    case(r#""parse_errors": []"#, r#""parse_errors": "boom""#, "invalid format");
    case(r#""verdict": "PASS""#, r#""verdict": "FAIL", "verdict": "PASS""#, "twice");
    case(r#""issues": [], "error""#, r#""issues": [{}], "error""#, "codex names issues");
    let spawn = r#"echo '{"session_key": "k", "reviewers_spawned": "codex,gemini"}'"#;
    check(&gate_like(spawn, &format!("echo '{PASS}'"), ""), 2, "invalid format");
}

#[test]
fn a_gate_that_does_not_end_is_ended() {
    check(&gate("exec sleep 1005"), 3, "timeout");
    check(&gate(&format!("setsid sleep 1005 & echo '{PASS}'; sleep 1005")), 3, "timeout");
    check(&gate_like("exec sleep 1005", "", ""), 3, "timeout");
    assert_none_left(|_, command| command == "sleep 1005 ");
}

#[test]
fn a_flood_is_cut() {
    check(&gate("head -c 1000000000 /dev/zero | tr '\\0' x"), 2, "printed more than");
    check(&gate_like("head -c 1000000000 /dev/zero | tr '\\0' x", "", ""), 2, "printed more than");
}

#[test]
fn what_spawn_leaves_running_goes_on_until_the_answer() {
    let spawn = r#"(sleep 0.5; echo done >"$HOME/reviewed") >/dev/null 2>&1 & sleep 1006 >/dev/null 2>&1 & echo '{"session_key": "k", "reviewers_spawned": ["codex"]}'"#;
    let wait = format!(r#"while [ ! -e "$HOME/reviewed" ]; do sleep 0.05; done; echo '{PASS}'"#);
    check(&gate_like(spawn, &wait, ""), 0, "");
    assert_none_left(|_, command| command == "sleep 1006 ");
}

#[test]
fn a_gate_that_is_not_there_is_named() {
    let project = CerberusProject::new("review: {cerberus: {command: [no-such-gate]}}");
    let shown = project.world.run(&["review", "--reviewer", "cerberus", "HEAD~1..HEAD"]);
    insta::assert_snapshot!(shown, @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  a.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  cerberus: could not review: no-such-gate not found, 0 findings, 0
               dropped
    scope:  HEAD~1..HEAD ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    COULD NOT REVIEW  no reviewer available: no-such-gate not found
    [stderr]
    error: cannot run the reviewer cerberus: no-such-gate not found
    hint: add it to PATH, or set its full path in review.cerberus.command
    ");
}

#[test]
fn the_older_shape() {
    let json = |verdict: &str, findings: &str| {
        format!(
            r#"{{"status": "complete", "consensus_verdict": "{verdict}", "reviewers": {{"codex": {{"verdict": "{verdict}", "summary": "", "findings": []}}}}, "aggregated_findings": [{findings}], "parse_errors": [], "session_dir": "/s"}}"#
        )
    };
    let words = "echo 'Spawned: codex'";
    let said = check(&gate_like(words, &format!("echo '{}'", json("PASS", "")), ""), 0, "");
    assert_eq!(said.json["reviewers"][0]["log"], "/s");
    let finding = r#"{"reviewer": "codex", "file_path": "a.py", "line_start": null, "line_end": null, "priority": 0, "title": "T", "body": "B"}"#;
    let project = gate_like(words, &format!("echo '{}'", json("FAIL", finding)), "");
    let said = check(&project, 1, "");
    assert_eq!(said.json["issues"][0]["line_start"], 2, "the first changed line stands for none");
    let calls = std::fs::read_to_string(project.world.home().join("calls")).unwrap();
    assert!(calls.ends_with("wait --json\n"), "{calls}");
    check(
        &gate_like(words, &format!("echo '{}'; exit 1", json("PASS", "")), ""),
        2,
        "exit 1 with complete",
    );
}

/// A gate that tells how it stands, and keeps what its reviewers say in files.
fn newer(verdict: &str, files: &[(&str, &str)]) -> CerberusProject {
    let mut spawn = String::from(
        r#"run="$CERBERUS_STATE_ROOT/$CERBERUS_PROJECT_KEY/$CERBERUS_RUN_KEY/iterations/1/round-1/reviewers"; "#,
    );
    for (name, text) in files {
        spawn.push_str(&format!(r#"mkdir -p "$run/{name}"; "#));
        if !text.is_empty() {
            spawn.push_str(&format!(r#"echo '{text}' >"$run/{name}/output.json"; "#));
        }
    }
    spawn.push_str("echo started");
    let wait = format!(
        r#"[ $# = 2 ] || exit 2; echo "{{\"schema_version\": 1, \"run_key\": \"$CERBERUS_RUN_KEY\", \"status\": \"resolved\", \"verdict\": \"{verdict}\", \"resolution_reason\": \"split\"}}""#
    );
    gate_like(&spawn, &wait, "")
}

#[test]
fn the_newer_shape() {
    let pass = r#"{"verdict": "PASS", "summary": "", "findings": []}"#;
    let fail = r#"{"verdict": "FAIL", "summary": "", "findings": [{"file_path": "a.py", "line_start": 2, "line_end": 2, "priority": 1, "title": "T", "body": "B", "confidence": 0.9}]}"#;
    check(&newer("pass", &[("codex#1", pass)]), 0, "");
    check(&newer("pass", &[]), 2, "PASS without reviewers");
    check(&newer("requires_decision", &[]), 2, "requires_decision without reviewers");
    check(&newer("pass", &[("codex#1", pass), ("gemini#1", "")]), 2, "its output is missing");
    check(&newer("pass", &[("codex#1", "{")]), 2, "invalid json");
    let said = check(&newer("fail", &[("codex#1", pass), ("gemini#1", fail)]), 1, "");
    assert_eq!(said.json["issues"][0]["reviewer"], "gemini#1");
    let said = check(&newer("requires_decision", &[("codex#1", pass)]), 1, "");
    let issue = &said.json["issues"][0];
    assert_eq!((&issue["priority"], &issue["reviewer"]), (&1.into(), &"cerberus".into()));
}
