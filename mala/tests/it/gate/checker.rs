//! The agent as the one who checks what no other lane could check.

use super::bench::GateWorld;
use mala_testkit::model_server::{ModelAnswer, ModelServer, ServerStep};
use serde_json::json;

fn bench(config: &str, server: Option<&ModelServer>) -> GateWorld {
    let lanes = "  lanes:\n    fail: {command: [lane, fail]}\n    unsure: {command: [lane, pass, unsure]}\n    pass: {command: [lane, pass]}\n    lazy: {command: [lane, partial, refuted]}\n    many: {command: [lane, many]}\n";
    let budget =
        if config.contains("poor") { "review: {budget: {max_cost_usd: 0.000001}}\n" } else { "" };
    let config = config.replace("  # poor\n", "");
    let bench = GateWorld::with_config(&format!("{budget}gate:\n{config}{lanes}"));
    let Some(server) = server else { return bench };
    let world = bench.world.with_env("ANTHROPIC_API_KEY", "test-key");
    GateWorld { world: world.with_env("ANTHROPIC_BASE_URL", server.url()), repo: bench.repo }
}

fn says(outcome: &str) -> ServerStep {
    let check = json!({"checks": [{"id": "c1", "outcome": outcome, "why": "x may be None"}]});
    ModelAnswer::text(check.to_string()).into()
}

const ON: &str = "  agent_checks: true\n";

#[test]
fn a_lane_that_is_alone_is_checked_by_the_agent() {
    let server = ModelServer::steps(vec![says("holds")]);
    let ended = bench(ON, Some(&server)).review("fail", &[]);
    assert_eq!(ended.code, 1, "{:#}", ended.json);
    let how = ended.json["issues"][0]["verification"]["how"].as_str().unwrap();
    assert!(how.ends_with("in a fresh context: x may be None"), "{how}");
    let checker = &ended.json["report"]["checker"];
    assert_eq!((&checker["reviewer"], &checker["findings"]), (&"agent-sdk".into(), &1.into()));
    assert_eq!(checker["usage"]["llm_calls"], 1);
    assert!(checker["usage"]["cost_usd"].as_f64().unwrap() > 0.0, "{checker}");
    assert_eq!(ended.json["report"]["usage"]["llm_calls"], 1);

    let server = ModelServer::steps(vec![says("refuted")]);
    let ended = bench(ON, Some(&server)).review("fail", &[]);
    assert_eq!((ended.code, ended.verdict()), (0, "PASS"), "{:#}", ended.json);
    assert_eq!(ended.json["reviewers"]["fail"]["verdict"], "FAIL", "it objected");
}

#[test]
fn another_lane_goes_before_the_agent() {
    let server = ModelServer::steps(vec![]);
    let ended = bench(ON, Some(&server)).review("fail,pass", &[]);
    assert_eq!(ended.code, 1);
    assert_eq!(ended.json["issues"][0]["verification"]["how"], "pass: looked");
    assert!(ended.json["report"]["checker"].is_null());
    assert_eq!(server.requests().len(), 0);

    let server = ModelServer::steps(vec![says("refuted")]);
    let ended = bench(ON, Some(&server)).review("fail,unsure", &[]);
    assert_eq!(ended.code, 0, "what a lane is not sure of goes to the agent: {:#}", ended.json);
}

#[test]
fn where_no_lane_has_a_vote_the_agent_checks() {
    let server = ModelServer::steps(vec![says("holds")]);
    let ended = bench(ON, Some(&server)).review("fail,lazy", &["--consensus", "any"]);
    assert_eq!((ended.code, server.requests().len()), (1, 1), "{:#}", ended.json);
    let how = ended.json["issues"][0]["verification"]["how"].as_str().unwrap();
    assert!(how.ends_with("in a fresh context: x may be None"), "{how}");
}

#[test]
fn the_agent_checks_all_of_many() {
    let check =
        |number: usize| json!({"id": format!("c{number}"), "outcome": "refuted", "why": "w"});
    let all: Vec<_> = (1..=35).map(check).collect();
    let refutes: ServerStep = ModelAnswer::text(json!({"checks": all}).to_string()).into();
    let server = ModelServer::steps(vec![refutes; 4]);
    let ended = bench(ON, Some(&server)).review("many", &[]);
    assert_eq!((ended.code, server.requests().len()), (0, 4), "{:#}", ended.json);
    assert_eq!(ended.json["report"]["checker"]["findings"], 35, "{:#}", ended.json);
    assert_eq!(ended.json["report"]["checker"]["usage"]["llm_calls"], 4, "{:#}", ended.json);
}

#[test]
fn no_model_is_called_without_agent_checks() {
    let server = ModelServer::steps(vec![]);
    let ended = bench("", Some(&server)).review("fail", &[]);
    assert_eq!((ended.code, server.requests().len()), (1, 0));
}

#[test]
fn a_model_that_cannot_be_asked_leaves_it_to_looking() {
    let ended = bench(ON, None).review("fail", &[]);
    assert_eq!(ended.code, 1);
    let how = ended.json["issues"][0]["verification"]["how"].as_str().unwrap();
    assert!(how.starts_with("no other lane to ask"), "{how}");
    let warnings = ended.json["report"]["warnings"].to_string();
    assert!(warnings.contains("the agent checks nothing"), "{warnings}");
}

#[test]
fn a_budget_that_does_not_pay_for_it_is_not_overdrawn() {
    let server = ModelServer::steps(vec![]);
    let ended = bench(&format!("{ON}  # poor\n"), Some(&server)).review("fail", &[]);
    assert_eq!((ended.code, server.requests().len()), (1, 0), "{:#}", ended.json);
}
