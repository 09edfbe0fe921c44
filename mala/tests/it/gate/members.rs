//! The reviewers of mala itself on a panel, beside lanes and alone.

use super::bench::Bench;

const LEFTOVER: &str =
    "def f(x):\n<<<<<<< ours\n    return 1\n=======\n    return 2\n>>>>>>> theirs\n";

#[test]
fn the_built_in_reviewer_sits_on_a_panel() {
    let config = "gate: {panel: [judge, builtin], lanes: {judge: {command: [lane, judge]}}}\n";
    let bench = Bench::with_config(config);
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

#[test]
fn an_agent_without_a_key_is_missing_and_does_not_pass() {
    let bench = Bench::with_config("gate: {panel: [agent, builtin]}\n");
    let spawned = bench.spawn(&[]);
    assert!(spawned["reviewers_missing"]["agent"].is_string(), "{spawned:#}");
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!(ended.code, 4, "{:#}", ended.json);
}
