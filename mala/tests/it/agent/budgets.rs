//! The limits hold, and what was cut is said.

use super::*;
use std::collections::BTreeSet;

fn finding(priority: u8, confidence: f64) -> Value {
    json!({
        "file_path": "app.py", "line_start": 2, "line_end": 2, "priority": priority,
        "title": format!("[P{priority}] Division by zero"), "body": "n may be 0",
        "category": "bug", "when": "n is 0", "then": "it raises",
        "evidence": "    return 1 / n", "suggestion": "keep the check", "confidence": confidence,
    })
}

fn fails(findings: &[Value]) -> Step {
    says(json!({"verdict": "FAIL", "findings": findings}).to_string())
}

#[test]
fn standard_makes_two_calls_and_three_tool_calls_at_most() {
    let mut wants = Answer::default();
    for _ in 0..6 {
        wants = wants.and_call("read_file", json!({"path": "app.py"}));
    }
    let (code, report, server) = reviewed(vec![wants.into(), fails(&[finding(1, 0.9)])], &[]);
    let stats = &report["stats"];
    assert_eq!((&stats["llm_calls"], &stats["tool_calls"]), (&json!(2), &json!(3)));
    assert_eq!(server.requests().len(), 2);
    let results = server.requests()[1].tool_results();
    assert_eq!(results.iter().filter(|text| text.contains("return 1 / n")).count(), 3);
    assert_eq!(code, 1, "what could not be checked blocks");
    let verification = &report["issues"][0]["verification"];
    assert_eq!(verification["outcome"], "unverified");
    assert_eq!(verification["how"], "not checked: all 2 model calls are spent");
}

#[test]
fn every_finding_has_evidence_and_an_identity() {
    let (_, report, _) = reviewed(vec![fails(&[finding(1, 0.9)]), holds()], &[]);
    let issue = &report["issues"][0];
    assert_eq!(issue["evidence_snippet"], "    return 1 / n");
    assert_eq!(issue["dedupe_key"].as_str().unwrap().len(), 16);
    assert_eq!((&issue["severity"], &issue["category"]), (&json!("high"), &json!("bug")));
    assert_eq!((&issue["confidence"], &issue["language"]), (&json!(0.9), &json!("python")));
    assert_eq!(issue["suggestion"], "keep the check");
}

#[test]
fn evidence_that_is_not_there_drops_the_finding() {
    let mut invented = finding(1, 0.9);
    invented["evidence"] = json!("os.system(n)");
    let (code, report, _) = reviewed(vec![fails(&[invented]), holds()], &[]);
    assert_eq!((code, &report["issues"]), (0, &json!([])));
    assert!(report["warnings"].to_string().contains("the quoted evidence is not there"));
}

#[test]
fn a_change_over_the_budget_is_truncated_and_no_pass() {
    let server = ModelServer::always(Answer::text(PASS));
    let world = with_server(changed(), &server);
    let big: String = (0..20_000).map(|n| format!("x{n} = {n}\n")).collect();
    world.write("big.py", &big);
    let (code, report) = review(&world, &[]);
    assert_eq!(
        (code, &report["status"], &report["passed"]),
        (2, &json!("truncated"), &json!(false))
    );
    assert_eq!(report["files_reviewed"], json!(["app.py"]));
    assert!(report["warnings"].to_string().contains("big.py: 1 hunk left out"), "{report:#}");
    assert_eq!(report["coverage"]["hunks_accounted"], 1);
}

#[test]
fn the_stronger_model_decides_what_nobody_is_sure_of() {
    let server = ModelServer::steps(vec![fails(&[finding(1, 0.5)]), holds(), refuted()]);
    let world = with_server(changed(), &server);
    world.write(
        "mala.yaml",
        "agent_sdk_escalation_model: opus\nreview: {budget: {max_llm_calls: 3}}\n",
    );
    let (code, report) = review(&world, &[]);
    assert_eq!(server.requests()[2].model(), "claude-opus-5-5");
    assert_eq!(report["model_used"], "claude-sonnet-5-5, claude-opus-5-5");
    assert_eq!((code, &report["issues"][0]["verification"]["outcome"]), (0, &json!("refuted")));
}

#[test]
fn a_model_without_a_price_needs_a_yes() {
    let server = ModelServer::always(Answer::text(PASS));
    let world = changed().with_env("OPENAI_BASE_URL", server.url());
    let args = ["--model", "compatible/tiny"];
    let (code, report) = review(&world, &args);
    assert_eq!((code, server.requests().len()), (2, 0));
    let why = report["parse_error"].as_str().unwrap();
    assert!(why.starts_with("the price of the model is unknown"), "{why}");
    world.write("mala.yaml", "review: {budget: {allow_unknown_price: true}}\n");
    let (code, report) = review(&world, &args);
    assert_eq!((code, &report["stats"]["cost_usd"]), (0, &Value::Null));
}

#[test]
fn the_passes_of_a_thorough_review_share_their_prompt() {
    let server = ModelServer::always(Answer::text(PASS));
    let world = with_server(changed(), &server);
    world.write("lib.py", "def f():\n    return 1\n".repeat(200));
    let (code, report) = review(&world, &["--profile", "thorough"]);
    assert_eq!((code, &report["stats"]["llm_calls"]), (0, &json!(3)), "{report:#}");
    let systems: BTreeSet<String> =
        server.requests().iter().map(|request| request.system()).collect();
    assert_eq!(systems.len(), 1);
    assert!(server.cache_count().ratio() > 0.6, "{:?}", server.cache_count());
    assert!(report["stats"]["cache_read_tokens"].as_u64() > Some(1_000), "{report:#}");
}

#[test]
fn the_same_review_has_the_same_id_and_another_one_another() {
    let id = |args: &[&str]| {
        let (_, report, _) = reviewed(vec![says(PASS)], args);
        report["review_id"].as_str().unwrap().to_owned()
    };
    let ids = [id(&[]), id(&["--profile", "quick"]), id(&["--model", "haiku"])];
    assert_eq!(ids[0], id(&[]));
    assert_eq!(BTreeSet::from(ids).len(), 3);
}

#[test]
fn only_the_worst_findings_are_reported() {
    let many: Vec<Value> = (0..12)
        .map(|n| {
            let mut one = finding(if n == 11 { 1 } else { 3 }, 0.9);
            one["line_start"] = json!(n * 5 + 1);
            one["line_end"] = json!(n * 5 + 1);
            one["evidence"] = json!(format!("x{} = {}", n * 5, n * 5));
            one["file_path"] = json!("many.py");
            one
        })
        .collect();
    let server = ModelServer::steps(vec![fails(&many)]);
    let world = with_server(changed(), &server);
    let text: String = (0..60).map(|n| format!("x{n} = {n}\n")).collect();
    world.write("many.py", &text);
    let (code, report) = review(&world, &["--profile", "quick"]);
    assert_eq!((code, report["issues"].as_array().unwrap().len()), (1, 10));
    assert_eq!(report["issues"][0]["priority"], 1);
    assert!(report["warnings"].to_string().contains("2 less urgent findings left out"));
}
