//! The reviewers of mala itself on a panel, beside lanes and alone.

use super::bench::GateWorld;
use mala_testkit::model_server::{ModelAnswer, ModelServer, ServerFault};
use serde_json::Value;

const LEFTOVER: &str =
    "def f(x):\n<<<<<<< ours\n    return 1\n=======\n    return 2\n>>>>>>> theirs\n";

#[test]
fn the_built_in_reviewer_sits_on_a_panel() {
    let config = "gate: {panel: [judge, builtin], lanes: {judge: {command: [lane, judge]}}}\n";
    let bench = GateWorld::with_config(config);
    let spawned = bench.spawn(&[]);
    assert_eq!(
        spawned["reviewers_spawned"],
        serde_json::json!(["builtin", "judge"]),
        "{spawned:#}"
    );
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!((ended.code, ended.verdict()), (0, "PASS"), "{:#}", ended.json);
    assert_eq!(ended.json["reviewers"]["builtin"]["verdict"], "PASS");
    bench.repo.write("a.py", LEFTOVER);
    bench.repo.commit("half a merge");
    let ended = bench.review("builtin", &[]);
    assert_eq!((ended.code, ended.verdict()), (1, "FAIL"), "{:#}", ended.json);
    let reviewer = ended.json["issues"][0]["reviewer"].as_str().unwrap();
    assert!(reviewer.starts_with("builtin"), "{reviewer}");
    assert_eq!(ended.json["reviewers"]["builtin"]["verdict"], "FAIL");
}

/// A panel of a stub lane, the agent with a key, and the built-in reviewer; by `review-gate` and by
/// `mala review`.
#[test]
fn the_agent_sits_beside_a_lane_and_the_built_in_reviewer() {
    const CONFIG: &str =
        "gate: {panel: [judge, agent, builtin], lanes: {judge: {command: [lane, judge]}}}\n";
    const PASS: &str = r#"{"verdict": "PASS", "findings": []}"#;
    const FAIL: &str = r#"{"verdict": "FAIL", "findings": [{"file_path": "a.py", "line_start": 2,
        "line_end": 2, "priority": 1, "title": "[P1] breaks on None", "body": "x may be None"}]}"#;
    for (answer, code, verdict) in [(PASS, 0, "PASS"), (FAIL, 1, "FAIL"), ("no JSON", 2, "")] {
        let server = ModelServer::always(ModelAnswer::text(answer));
        let bench = GateWorld::with_config(CONFIG);
        let with_key = |world: mala_testkit::World| {
            world
                .with_env("ANTHROPIC_API_KEY", "test-key")
                .with_env("ANTHROPIC_BASE_URL", server.url())
        };
        let bench = GateWorld { world: with_key(bench.world), repo: bench.repo };
        let spawned = bench.spawn(&[]);
        let names = serde_json::json!(["agent", "builtin", "judge"]);
        assert_eq!(spawned["reviewers_spawned"], names, "{answer}");
        let ended = bench.wait(spawned["session_key"].as_str().unwrap());
        let case = format!("{answer}: {:#}", ended.json);
        assert_eq!(ended.code, code, "{case}");
        let reviewers = &ended.json["reviewers"];
        for (name, expected) in [("judge", "PASS"), ("builtin", "PASS"), ("agent", verdict)] {
            let said = reviewers[name]["verdict"].as_str().unwrap_or_default();
            assert_eq!(said, expected, "{name}: {case}");
        }
        assert_eq!(reviewers["agent"]["error"].is_null(), code < 2, "{case}");
        assert!(ended.json["report"]["reviewers"]["agent"]["usage"]["llm_calls"] != 0, "{case}");
        let found_by = ended.json["issues"][0]["reviewer"].as_str().unwrap_or_default();
        assert_eq!(found_by, if code == 1 { "agent" } else { "" }, "{case}");
        ended.assert_nothing_left();

        let mala = with_key(crate::world().with_program("lane", include_str!("lane.sh")));
        let mala = mala.in_folder(bench.repo.root());
        let args = ["review", "--reviewer", "cerberus", "--json", "HEAD~1..HEAD"];
        let output = mala.output(&args, b"");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{report:#}");
        let said = |it: &Value| format!("{}: {}", it["reviewer"], it["verdict"]).replace('"', "");
        let said: Vec<String> = report["reviewers"].as_array().unwrap().iter().map(said).collect();
        let agent = if verdict.is_empty() { "null" } else { verdict };
        assert_eq!(said, ["judge: PASS", &format!("agent: {agent}"), "builtin: PASS"]);
    }
}

/// The rules of the project are those of the base, also on a panel.
#[test]
fn the_built_in_reviewer_of_a_panel_uses_the_rules_of_the_project() {
    let bench = GateWorld::with_config("gate: {panel: [builtin]}\n");
    let rule = "id: own/no-eval\nlanguages: [python]\ntitle: No eval\nmessage: Do not use eval.\n\
        suggestion: Parse it.\ncategory: security\npriority: 1\nconfidence: 0.9\nrule: {pattern: eval($X)}\n\
        examples: {bad: [\"eval('1')  # !\"], good: [\"f('1')\"]}\n";
    bench.repo.write(".mala/rules/no-eval.yaml", rule);
    bench.repo.write("b.py", "x = 1\n");
    bench.repo.git(&["add", "-Af"]);
    bench.repo.commit_staged("a rule");
    bench.repo.write("b.py", "x = eval('1')\n");
    bench.repo.commit("eval");
    let spawned = bench.spawn(&[]);
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!(ended.code, 1, "{:#}", ended.json);
    assert!(ended.json["issues"].to_string().contains("no-eval"), "{:#}", ended.json);
}

#[test]
fn the_time_limit_of_a_session_is_that_of_the_agent_too() {
    let server = ModelServer::always(ServerFault::Hang);
    let mut bench = GateWorld::with_config("gate: {panel: [agent, builtin]}\n");
    bench.world = bench
        .world
        .with_env("ANTHROPIC_API_KEY", "test-key")
        .with_env("ANTHROPIC_BASE_URL", server.url());
    let spawned = bench.spawn(&["--timeout", "3"]);
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!(ended.code, 3, "{:#}", ended.json);
    assert!(ended.error_of("agent").contains("no answer within 3 s"), "{:#}", ended.json);
}

#[test]
fn an_agent_without_a_key_is_missing_and_does_not_pass() {
    let bench = GateWorld::with_config("gate: {panel: [agent, builtin]}\n");
    let spawned = bench.spawn(&[]);
    assert!(spawned["reviewers_missing"]["agent"].is_string(), "{spawned:#}");
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!(ended.code, 4, "{:#}", ended.json);
}
