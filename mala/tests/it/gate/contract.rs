//! The contract of the gate, row by row, as a caller sees it. Each row names what it covers.

use super::bench::GateWorld;
use crate::world;
use insta::assert_snapshot;
use mala_testkit::{TestRepo, World};
use serde_json::{Value, json};

/// The three known lanes as scripts, each with a key.
fn known_lanes() -> World {
    let mut world = crate::gate_world().with_program("lane", include_str!("lane.sh"));
    for name in ["codex", "gemini", "claude"] {
        world = world.with_program(name, "exec lane pass");
    }
    for key in ["CODEX_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"] {
        world = world.with_env(key, "k");
    }
    world
}

/// A lane's entry in the spawn output and the result must be valid by the printed schemas.
#[test]
fn both_outputs_have_a_schema() {
    // Rows 001-018, 001-028, 001-030, 001-064.
    let bench = GateWorld::new();
    let (code, stdout, stderr) =
        bench.run(&["spawn-code-review", "--diff", "HEAD~1..HEAD", "--lanes", "fail,missing"]);
    assert_eq!(code, 0, "{stderr}");
    let spawned: Value = serde_json::from_str(&stdout).unwrap();
    assert!(spawned["reviewers_missing"]["missing"].is_string());
    let key = spawned["session_key"].as_str().unwrap();
    let (_, stdout, stderr) = bench.run(&["wait", "--json", "--session-key", key]);
    assert_eq!(stderr, "");
    let waited: Value = serde_json::from_str(&stdout).unwrap();
    for (name, value) in [("gate-spawned", &spawned), ("gate-waited", &waited)] {
        let schema = world().output(&["schema", name], b"").stdout;
        let schema: Value = serde_json::from_slice(&schema).unwrap();
        let problems: Vec<String> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(value)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(problems, [""; 0], "{name}");
    }
}

#[test]
fn the_scope_is_the_range() {
    // Rows 001-011, 001-015.
    let bench = GateWorld::new();
    let ended = bench.review("pass", &[]);
    let scope = &ended.json["report"]["scope"];
    assert_eq!(scope["target"], "HEAD~1..HEAD");
    let head = scope["head"].to_string();
    assert_eq!(scope["base"].as_str(), Some(bench.repo.id("HEAD~1").as_str()));
    assert!(head.contains(&bench.repo.head()), "{head}");
}

#[test]
fn rules_come_from_flags_and_settings() {
    // Row 001-005.
    let lanes = "lanes: {pass: {command: [lane, pass]}, fail: {command: [lane, fail]}}";
    let bench = GateWorld::with_config(&format!("gate: {{consensus: any, {lanes}}}\n"));
    assert_eq!(bench.review("pass,fail", &[]).code, 0);
    assert_eq!(bench.review("pass,fail", &["--consensus", "quorum:2"]).code, 1);
    let args = ["spawn-code-review", "--diff", "HEAD~1..HEAD", "--consensus", "nope"];
    assert_eq!(bench.run(&args).0, 1);
}

#[test]
fn a_pinned_lane_that_is_missing_is_named() {
    // Row 001-004.
    let config = "gate: {panel: [pass, gone], lanes: {pass: {command: [lane, pass]}, gone: {command: [gone]}}}\n";
    let bench = GateWorld::with_config(config);
    let spawned = bench.spawn(&[]);
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!(ended.code, 4, "{:#}", ended.json);
    assert_eq!(ended.error_of("gone"), "`gone` is not on PATH", "{:#}", ended.json);
}

#[test]
fn only_what_is_installed_counts() {
    // Rows 001-003, 001-104, 001-105, 001-106.
    let repo = TestRepo::with_files(&[("a.py", "def f(x):\n    return x\n")]);
    repo.write("a.py", "def f(x):\n    return x + 1\n");
    repo.commit("add one");
    for (args, effort) in [(&[][..], "high"), (&["--codex-reasoning", "low"], "low")] {
        let world = known_lanes().in_folder(repo.root());
        let spawn = [&["spawn-code-review", "--diff", "HEAD~1..HEAD"][..], args].concat();
        let output = world.output(&spawn, b"");
        let spawned: Value = serde_json::from_slice(&output.stdout).unwrap();
        let names = &spawned["reviewers_spawned"];
        assert_eq!(names.as_array().map(Vec::len), Some(3), "{spawned:#}");
        let key = spawned["session_key"].as_str().unwrap();
        world.output(&["wait", "--json", "--session-key", key], b"");
        let folder = repo.path(format!(".mala/gate/{key}/session.json"));
        let session: Value = serde_json::from_slice(&std::fs::read(folder).unwrap()).unwrap();
        assert_eq!(session["reasoning"], effort);
        for seat in session["seats"].as_array().unwrap() {
            let command = seat["lane"]["settings"]["command"].to_string();
            let takes_effort = command.contains("model_reasoning_effort={reasoning}");
            assert_eq!(takes_effort, seat["lane"]["name"] == "codex", "{command}");
        }
    }
}

#[test]
fn a_lane_has_its_own_verdict_and_summary() {
    // Rows 001-054, 001-055, 001-059.
    let bench = GateWorld::new();
    let ended = bench.review("pass,fail,needs,prose", &[]);
    let lanes = &ended.json["reviewers"];
    let verdicts = ["pass", "fail", "needs", "prose"].map(|name| lanes[name]["verdict"].clone());
    assert_eq!(verdicts, [json!("PASS"), json!("FAIL"), json!("NEEDS_WORK"), Value::Null]);
    assert!(lanes["pass"]["summary"].as_str().unwrap().starts_with("PASS by"));
    let priorities: Vec<&Value> =
        ended.json["issues"].as_array().unwrap().iter().map(|it| &it["priority"]).collect();
    assert_eq!(priorities, [&json!(1), &json!(2)], "worst first");
}

#[test]
fn an_answer_that_contradicts_itself_is_a_parse_error() {
    // Row 001-063.
    let wrong = |name: &str, edit: &str| {
        let config = format!("gate: {{lanes: {{{name}: {{command: [{name}]}}}}}}\n");
        let bench = GateWorld::with_config(&config);
        let script = format!("lane fail | sed '{edit}'");
        let bench = GateWorld { world: bench.world.with_program(name, &script), repo: bench.repo };
        let ended = bench.review(name, &[]);
        assert_eq!(ended.code, 2, "{name}: {:#}", ended.json);
        ended.error_of(name).to_owned()
    };
    assert_snapshot!(wrong("lacks", "s/\"line_start\":2,//"), @"missing field: line_start");
    let edit = "s/\"verdict\":\"FAIL\"/\"verdict\":\"PASS\"/";
    assert_snapshot!(wrong("passes", edit), @"invalid verdict: PASS with findings");
    let edit = "s/\"findings\":\\[{.*}\\],\"reviewed\"/\"findings\":[],\"reviewed\"/";
    assert_snapshot!(wrong("fails", edit), @"invalid verdict: FAIL without findings");
}

#[test]
fn a_wait_can_be_repeated() {
    // Rows 001-033, 001-041, 001-046.
    let bench = GateWorld::new();
    let spawned = bench.spawn(&["--lanes", "slow"]);
    let key = spawned["session_key"].as_str().unwrap();
    let (code, stdout, _) = bench.run(&["wait", "--json", "--session-key", key, "--timeout", "0"]);
    let json: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &json["status"]), (3, &"timeout".into()));
    let [second, third] = [(), ()].map(|()| bench.wait(key));
    assert_eq!((second.code, &second.json), (0, &third.json));
}

#[test]
fn there_is_no_codex_review() {
    // Rows 001-006, 001-107, 001-138, 001-145.
    let world = world();
    assert_snapshot!(world.run(&["review", "--codex-thinking-mode", "high"]), @"
    [exit 64]
    [stderr]
    error: unexpected argument '--codex-thinking-mode' found

      tip: to pass '--codex-thinking-mode' as a value, use '-- --codex-thinking-mode'

    Usage: mala review [OPTIONS] [RANGE|PATH]...

    For more information, try '--help'.
    ");
    let mut shown = String::new();
    for key in ["codex_review_enabled: true", "codex_review: {}", "codex_thinking_mode: high"] {
        world.write("mala.yaml", format!("{key}\n"));
        shown.push_str(&world.run(&["config", "check"]));
    }
    assert_snapshot!(shown, @"
    [exit 78]
    [stderr]
    error: mala.yaml:1:1: unknown key `codex_review_enabled`
     --> mala.yaml:1:1
      |
    1 | codex_review_enabled: true
      | ^^^^^^^^^^^^^^^^^^^^ unknown key
    hint: valid keys: reviewer_type, agent_sdk_review_timeout, agent_sdk_reviewer_model, agent_sdk_escalation_model, review, models, gate, pull_requests, run, tasks, validation_triggers, commands
    [exit 78]
    [stderr]
    error: mala.yaml:1:1: unknown key `codex_review`
     --> mala.yaml:1:1
      |
    1 | codex_review: {}
      | ^^^^^^^^^^^^ unknown key
    hint: valid keys: reviewer_type, agent_sdk_review_timeout, agent_sdk_reviewer_model, agent_sdk_escalation_model, review, models, gate, pull_requests, run, tasks, validation_triggers, commands
    [exit 78]
    [stderr]
    error: mala.yaml:1:1: unknown key `codex_thinking_mode`
     --> mala.yaml:1:1
      |
    1 | codex_thinking_mode: high
      | ^^^^^^^^^^^^^^^^^^^ unknown key
    hint: valid keys: reviewer_type, agent_sdk_review_timeout, agent_sdk_reviewer_model, agent_sdk_escalation_model, review, models, gate, pull_requests, run, tasks, validation_triggers, commands
    ");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for page in ["README.md", "docs/gate.md", "docs/hook.md", "docs/cli.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap().to_lowercase();
        let text = text.replace("spawn-code-review", "").replace("codex_review", "");
        assert!(!text.contains("codex review") && !text.contains("codex-review"), "{page}");
    }
}

#[test]
fn the_docs_present_the_gate() {
    // Row 001-144.
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |page: &str| std::fs::read_to_string(root.join(page)).unwrap();
    assert!(read("README.md").contains("review-gate"));
    let gate = read("docs/gate.md");
    for words in ["review-gate spawn-code-review", "review-gate wait", "| exit code of `wait` |"] {
        assert!(gate.contains(words), "{words}");
    }
    let lines = gate.lines().count() + read("docs/hook.md").lines().count();
    assert!(lines < 250, "{lines} lines");
}
