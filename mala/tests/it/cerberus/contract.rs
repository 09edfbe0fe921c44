//! What `mala review --reviewer cerberus` tells an external gate, and the fields of its result.

use super::fakes::{PASS, check, fail, gate, gate_like};
use super::{CerberusProject, ReviewRun};
use mala_domain::agent::prompts;
use mala_testkit::model_server::{ModelAnswer, ModelServer};
use serde_json::{Value, json};
use std::path::Path;

const SPAWNED: &str = r#"echo '{"session_key": "k", "reviewers_spawned": ["codex"]}'"#;

/// The lines that the fake gate wrote to this file in its home.
fn lines(project: &CerberusProject, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(project.world.home().join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Row 001-096.
#[test]
fn an_exit_code_of_2_has_no_issues() {
    let error = fail("a.py").replace(r#""parse_errors": []"#, r#""parse_errors": ["gemini: x"]"#);
    for json in [fail("a.py"), error] {
        let said = check(&gate(&format!("echo '{json}'; exit 2")), 2, "");
        assert_eq!(said.json["issues"], json!([]), "{:#}", said.json);
    }
}

/// Row 001-101.
#[test]
fn each_review_has_a_context_file_of_its_own() {
    let spawn = format!(r#"echo "$5" >>"$HOME/files"; {SPAWNED}"#);
    let project = gate_like(&spawn, &format!("sleep 1; echo '{PASS}'"), "");
    let task = project.world.home().join("task.txt");
    std::fs::write(&task, "the task").unwrap();
    let task = task.display().to_string();
    let review = || project.review(&["--context-file", &task]).code;
    let codes = std::thread::scope(|scope| {
        let started: Vec<_> = (0..3).map(|_| scope.spawn(review)).collect();
        started.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(codes, [0, 0, 0]);
    let mut files = lines(&project, "files");
    files.sort();
    files.dedup();
    assert_eq!(files.len(), 3, "{files:?}");
}

/// Rows 001-109, 001-111.
#[test]
fn the_result_has_issues_and_no_old_fields() {
    let project = gate(&format!("echo '{}'; exit 1", fail("a.py")));
    let said = check(&project, 1, "");
    let folder = said.json["review_log_path"].as_str().unwrap();
    let kept = std::fs::read_to_string(Path::new(folder).join("review.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    for json in [&said.json, &kept] {
        let fields = json.as_object().unwrap();
        for old in ["findings", "raw_output", "attempt", "confidence_score"] {
            assert!(!fields.contains_key(old), "{old}");
        }
        let issue = json["issues"][0].as_object().unwrap();
        assert!(issue["confidence"].is_number() && !issue.contains_key("confidence_score"));
    }
}

/// Row 001-112.
#[test]
fn the_result_names_the_folder_of_the_review_and_of_the_session() {
    let program = env!("CARGO_BIN_EXE_review-gate");
    let config = format!(
        "review: {{cerberus: {{command: [{program}]}}}}\n\
         gate: {{panel: [pass], lanes: {{pass: {{command: [lane, pass]}}}}}}\n"
    );
    let project = CerberusProject::new(&config);
    let ReviewRun { code, json, .. } = project.review(&[]);
    assert_eq!(code, 0, "{json:#}");
    let log = Path::new(json["reviewers"][0]["log"].as_str().unwrap());
    assert!(log.join("session.json").is_file(), "{json:#}");
    let session: Value =
        serde_json::from_slice(&std::fs::read(log.join("session.json")).unwrap()).unwrap();
    assert!(log.ends_with(session["key"].as_str().unwrap()), "{}", log.display());
    let review = Path::new(json["review_log_path"].as_str().unwrap());
    assert!(review.join("review.json").is_file(), "{json:#}");
}

/// Row 001-114.
#[test]
fn the_gate_runs_in_the_root_of_the_repository() {
    let spawn = format!(r#"pwd >>"$HOME/folders"; {SPAWNED}"#);
    let project = gate_like(&spawn, &format!(r#"pwd >>"$HOME/folders"; echo '{PASS}'"#), "");
    project.repo.write("sub/b.py", "x = 1\n");
    let root = project.repo.root().to_owned();
    let project =
        CerberusProject { world: project.world.in_folder(root.join("sub")), repo: project.repo };
    assert_eq!(project.review(&[]).code, 0);
    assert_eq!(lines(&project, "folders"), vec![root.display().to_string(); 2]);
}

/// Row 001-118.
#[test]
fn the_time_of_the_panel() {
    for (more, args, expected) in
        [("", &[][..], 300), ("", &["--timeout", "77"], 77), ("    timeout: 123\n", &[], 123)]
    {
        let project = gate_like(SPAWNED, &format!("echo '{PASS}'"), more);
        assert_eq!(project.review(args).code, 0, "{more} {args:?}");
        let calls = lines(&project, "calls");
        let time = calls.last().unwrap().rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        assert!((expected - 1..=expected).contains(&time), "{more} {args:?}: {calls:?}");
    }
}

/// Row 001-148.
#[test]
fn a_merge_that_changes_nothing_passes_without_a_call() {
    let project = gate("exit 5");
    project.repo.branch("side");
    project.repo.write("b.py", "x = 1\n");
    project.repo.commit("side");
    project.repo.checkout("main");
    project.repo.git(&["merge", "-q", "-s", "ours", "--no-edit", "side"]);
    let said = project.review_of(&["--commit", "HEAD"]);
    assert_eq!(said.code, 0, "{:#}", said.json);
    assert_eq!(lines(&project, "calls"), Vec::<String>::new());
}

/// The review of a project whose `mala.yaml` names this reviewer, by a model that finds the problem and by a
/// gate that finds it too: the exit code, the report, the log, the calls of the gate and those of the model.
fn chosen(reviewer: &str, args: &[&str]) -> (i32, Value, String, usize, usize) {
    let server = ModelServer::new(|request| {
        let is_check = request.system() == prompts::VERIFY;
        let holds = json!({"checks": [{"id": "c1", "outcome": "holds", "why": "so it is"}]});
        let finding = json!({"file_path": "a.py", "line_start": 2, "line_end": 2, "priority": 1,
            "title": "[P1] T", "body": "B"});
        let found = json!({"verdict": "FAIL", "findings": [finding]});
        ModelAnswer::text(if is_check { holds } else { found }.to_string()).into()
    });
    let named = format!("reviewer_type: {reviewer}\n");
    let project = gate_like(SPAWNED, &format!("echo '{}'; exit 1", fail("a.py")), &named);
    let world = project
        .world
        .with_env("ANTHROPIC_API_KEY", "test-key")
        .with_env("ANTHROPIC_BASE_URL", server.url())
        .with_env("MALA_LOG", "info");
    let args = [&["review", "--json", "--timeout", "20"], args].concat();
    let output = world.output(&args, b"");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{log}"));
    let calls = std::fs::read_to_string(world.home().join("calls")).unwrap_or_default();
    let n_calls = calls.lines().filter(|call| call.starts_with("spawn-code-review ")).count();
    (output.status.code().unwrap(), report, log, n_calls, server.requests().len())
}

fn names(object: &Value) -> Vec<&String> {
    object.as_object().unwrap().keys().collect()
}

/// 000-003, 000-004, 000-005, 000-011, 000-049, 000-095
#[test]
fn one_key_switches_between_the_agent_and_the_gate() {
    let context = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    for args in
        [&["HEAD~1..HEAD"][..], &["--commit", "HEAD"], &["--context-file", context, "HEAD~1..HEAD"]]
    {
        let (code, agent, log, n_gate, n_model) = chosen("agent_sdk", args);
        assert_eq!((code, n_gate), (1, 0), "{args:?}: {agent:#}");
        assert!(n_model >= 2, "{args:?}: {n_model}");
        assert_eq!(log.matches("Initializing code reviewer: agent-sdk\n").count(), 1, "{log}");
        assert_eq!(agent["reviewers"].as_array().unwrap().len(), 1, "{agent:#}");
        assert_eq!(agent["reviewers"][0]["reviewer"], "agent-sdk");

        let (code, gate, log, n_gate, n_model) = chosen("cerberus", args);
        assert_eq!((code, n_gate, n_model), (1, 1, 0), "{args:?}: {gate:#}");
        assert_eq!(log.matches("Initializing code reviewer: cerberus\n").count(), 1, "{log}");
        assert_eq!(gate["reviewers"].as_array().unwrap().len(), 1, "{gate:#}");
        assert_eq!(gate["reviewers"][0]["reviewer"], "codex");

        assert_eq!(names(&agent), names(&gate), "{args:?}");
        assert_eq!(names(&agent["issues"][0]), names(&gate["issues"][0]), "{args:?}");
    }
}

/// 000-050
#[test]
fn a_gate_that_is_missing_is_named_and_no_other_reviewer_runs() {
    let server = ModelServer::always(ModelAnswer::text("not asked"));
    let config = "reviewer_type: cerberus\nreview: {cerberus: {command: [no-gate]}}\n";
    let project = CerberusProject::new(config);
    let world = project
        .world
        .with_env("ANTHROPIC_API_KEY", "test-key")
        .with_env("ANTHROPIC_BASE_URL", server.url());
    insta::assert_snapshot!(world.run(&["review", "--no-save", "HEAD~1..HEAD"]), @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  a.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  cerberus: could not review: no-gate not found, 0 findings, 0 dropped
    scope:  HEAD~1..HEAD ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -1

    COULD NOT REVIEW  no reviewer available: no-gate not found
    [stderr]
    error: cannot run the reviewer cerberus: no-gate not found
    hint: add it to PATH, or set its full path in review.cerberus.command
    ");
    assert_eq!(server.requests().len(), 0);
}
