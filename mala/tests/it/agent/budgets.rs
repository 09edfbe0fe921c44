//! The limits hold, and what was cut is said.

use super::*;
use mala_testkit::model_server::ServerFault;
use std::collections::BTreeSet;

fn finding(priority: u8, confidence: f64) -> Value {
    json!({
        "file_path": "app.py", "line_start": 2, "line_end": 2, "priority": priority,
        "title": format!("[P{priority}] Division by zero"), "body": "n may be 0",
        "category": "bug", "when": "n is 0", "then": "it raises",
        "evidence": "    return 1 / n", "suggestion": "keep the check", "confidence": confidence,
    })
}

fn fails(findings: &[Value]) -> ServerStep {
    says(json!({"verdict": "FAIL", "findings": findings}).to_string())
}

/// 002-050, 002-051
#[test]
fn lean_makes_two_calls_and_three_tool_calls_at_most() {
    let mut wants = ModelAnswer::default();
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
    assert_eq!(verification["outcome"], "not_checked");
    assert_eq!(verification["how"], "not checked: all 2 model calls are spent");
    assert_eq!(report["status"], "truncated");
    insta::assert_snapshot!(report["warnings"].to_string(), @r#"["agent-sdk: 3 tool calls refused: all 3 tool calls are spent","agent-sdk: 1 claim not checked: all 2 model calls are spent"]"#);
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

/// 002-093, 002-085
#[test]
fn evidence_that_is_not_there_drops_the_finding() {
    let mut invented = finding(1, 0.9);
    invented["evidence"] = json!("os.system(n)");
    let both = fails(&[invented.clone(), finding(2, 0.9)]);
    let (code, report, _) = reviewed(vec![both, holds()], &[]);
    assert_eq!((code, report["issues"].as_array().unwrap().len()), (0, 1), "{report:#}");
    insta::assert_snapshot!(report["warnings"].to_string(), @r#"["agent-sdk: dropped a finding: app.py:2: the quoted evidence is not there"]"#);
    // With nothing left of an objection, the change is not reviewed.
    let mut empty = finding(1, 0.9);
    empty["evidence"] = json!("");
    let mut elsewhere = finding(1, 0.9);
    elsewhere["file_path"] = json!("nowhere.py");
    for (gone, error) in [
        (invented, "invalid evidence: app.py:2: the quoted evidence is not there"),
        (empty, "missing field: evidence"),
        (elsewhere, "invalid evidence: nowhere.py:2: no such file or lines at head"),
    ] {
        let same = std::slice::from_ref(&gone);
        let steps = vec![fails(same), fails(same)];
        let (code, report, server) = reviewed(steps, &["--no-save"]);
        assert_eq!((code, &report["parse_error"]), (2, &json!(error)), "{report:#}");
        assert_eq!(report["passed"], false);
        assert_eq!(server.requests().len(), 2, "{error}");
        // The second answer counts when it holds.
        let steps = vec![fails(&[gone]), fails(&[finding(1, 0.9)])];
        let (code, report, _) = reviewed(steps, &["--no-save"]);
        assert_eq!(code, 1, "{report:#}");
    }
}

#[test]
fn checks_that_are_not_made_are_told() {
    let stalls = || ServerStep::from(ServerFault::status(500));
    let none = "review: {budget: {max_verify_candidates: 0}}\n";
    let rows: Vec<(Vec<ServerStep>, &str)> = vec![
        (vec![], none),
        (vec![stalls(), stalls(), stalls()], ""),
        (vec![says("no JSON")], ""),
        (vec![says(r#"{"checks": []}"#)], ""),
    ];
    let mut warnings = Vec::new();
    for (then, config) in rows {
        let steps: Vec<ServerStep> =
            std::iter::once(fails(&[finding(1, 0.9)])).chain(then).collect();
        let server = ModelServer::steps(steps);
        let world = with_server(changed(), &server);
        if !config.is_empty() {
            world.commit_file("mala.yaml", config);
        }
        let (code, report) = review(&world, &["--no-save", "app.py"]);
        assert_eq!((code, &report["status"]), (1, &json!("truncated")), "{report:#}");
        warnings.push(report["warnings"].to_string());
        let how = report["issues"][0]["verification"]["how"].as_str().unwrap();
        assert!(how.starts_with("not checked: "), "{how}");
    }
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    ["agent-sdk: 1 claim not checked: at most 0 claims are checked"]
    ["agent-sdk: 1 claim not checked: 500: scripted 500 (api_error); not retried: all 2 retries are spent"]
    ["agent-sdk: 1 claim not checked: invalid json: expected ident at line 1 column 2"]
    ["agent-sdk: 1 claim not checked: claude-sonnet-5-5 says nothing of it"]
    "#);
}

#[test]
fn two_problems_on_one_line_are_two_findings() {
    let mut other = finding(2, 0.9);
    other["title"] = json!("[P2] The result is no longer an integer");
    other["body"] = json!("Callers index lists with it.");
    let mut again = finding(2, 0.9);
    again["title"] = json!("[P2] Possible division by zero");
    let step = fails(&[finding(1, 0.9), other, again]);
    let (_, report, _) = reviewed(vec![step, holds()], &["--no-save"]);
    let issues = report["issues"].as_array().unwrap();
    assert_eq!(issues.len(), 2, "{report:#}");
    let body = issues[0]["body"].as_str().unwrap();
    assert!(body.contains("Also said, of 2: [P2] Possible division by zero"), "{body}");
}

/// 002-031, 002-092
#[test]
fn a_change_over_the_budget_is_truncated_and_no_pass() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    let big: String = (0..20_000).map(|n| format!("x{n} = {n}\n")).collect();
    world.write("big.py", &big);
    let (code, report) = review(&world, &[]);
    assert_eq!(
        (code, &report["status"], &report["passed"]),
        (2, &json!("truncated"), &json!(false))
    );
    assert_eq!(report["files_reviewed"], json!(["app.py"]));
    insta::assert_snapshot!(report["warnings"].to_string(), @r#"["big.py: 1 hunk left out: over the prompt's budget"]"#);
    assert_eq!(report["coverage"]["hunks_accounted"], 1);
}

/// 002-033, 002-063
#[test]
fn the_stronger_model_decides_uncertain_claims() {
    let server = ModelServer::steps(vec![fails(&[finding(1, 0.5)]), holds(), refuted()]);
    let world = with_server(changed(), &server);
    world.commit_file(
        "mala.yaml",
        "agent_sdk_escalation_model: opus\nreview: {budget: {max_llm_calls: 3}}\n",
    );
    let (code, report) = review(&world, &[]);
    assert_eq!(server.requests()[2].model(), "claude-opus-5-5");
    assert_eq!(report["model_used"], "claude-sonnet-5-5, claude-opus-5-5");
    assert_eq!((code, &report["refuted"][0]["verification"]["outcome"]), (0, &json!("refuted")));
}

/// 002-037
#[test]
fn a_model_without_a_price_needs_a_yes() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = changed().with_env("OPENAI_BASE_URL", server.url());
    let args = ["--model", "compatible/tiny"];
    let (code, report) = review(&world, &args);
    assert_eq!((code, server.requests().len()), (2, 0));
    let why = report["parse_error"].as_str().unwrap();
    assert!(why.starts_with("the price of the model is unknown"), "{why}");
    world.commit_file("mala.yaml", "review: {budget: {allow_unknown_price: true}}\n");
    let (code, report) = review(&world, &args);
    assert_eq!((code, &report["stats"]["cost_usd"]), (0, &Value::Null));
}

/// 000-007
#[test]
fn the_looks_of_a_thorough_review_share_their_prompt() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    world.write("lib.py", "def f():\n    return 1\n".repeat(200));
    let (code, report) = review(&world, &["--profile", "thorough"]);
    assert_eq!((code, &report["stats"]["llm_calls"]), (0, &json!(3)), "{report:#}");
    assert_eq!(report["reviewers"].as_array().map(Vec::len), Some(1), "{report:#}");
    let systems: BTreeSet<String> =
        server.requests().iter().map(|request| request.system()).collect();
    assert_eq!(systems.len(), 1);
    assert!(server.cache_count().ratio() > 0.4, "{:?}", server.cache_count());
    assert!(report["stats"]["cache_read_tokens"].as_u64() > Some(1_000), "{report:#}");
}

/// 002-101
#[test]
fn the_same_review_has_the_same_id_and_another_one_another() {
    let id = |args: &[&str]| {
        let (_, report, _) = reviewed(vec![says(PASS)], args);
        report["review_id"].as_str().unwrap().to_owned()
    };
    let ids = [id(&[]), id(&["--profile", "standard"]), id(&["--model", "haiku"])];
    assert_eq!(ids[0], id(&[]));
    assert_eq!(BTreeSet::from(ids).len(), 3);
}

#[test]
fn only_the_worst_findings_are_reported() {
    let many: Vec<Value> = (0..18)
        .map(|n| {
            let mut one = finding(if n == 17 { 1 } else { 3 }, 0.9);
            one["line_start"] = json!(n * 5 + 1);
            one["line_end"] = json!(n * 5 + 1);
            one["evidence"] = json!(format!("x{} = {}", n * 5, n * 5));
            one["file_path"] = json!("many.py");
            one["title"] = json!(format!("about x{}", n * 5));
            one["body"] = json!(format!("x{} is not the sum", n * 5));
            one
        })
        .collect();
    let server = ModelServer::steps(vec![fails(&many)]);
    let world = with_server(changed(), &server);
    let text: String = (0..90).map(|n| format!("x{n} = {n}\n")).collect();
    world.write("many.py", &text);
    let (code, report) = review(&world, &["--profile", "quick"]);
    assert_eq!((code, report["issues"].as_array().unwrap().len()), (1, 15));
    assert_eq!(report["issues"][0]["priority"], 1);
    insta::assert_snapshot!(report["warnings"].to_string(), @r#"["agent-sdk: 1 claim not checked: 400: the script is over","3 less urgent findings left out: at most 15 are reported"]"#);
}

/// A file of 23 kB whose functions are short, with two of them changed.
fn long_file(changed: &[usize]) -> String {
    let function = |n: usize| {
        let last = match changed.contains(&n) {
            true => format!("    order.checked = order.total / {n}\n    return order or None\n"),
            false => "    return order\n".to_owned(),
        };
        let check = "    if order.price is None or order.price > limit:\n        raise ValueError(f\"order {order.id} has no price\")\n";
        let count = "    for entry in order.entries:\n        entry.price = entry.price + 17\n        log.debug(\"%s: %s\", entry.id, entry.price)\n";
        format!(
            "def order_price_{n}(order, price, limit={n}):\n    \"\"\"Brings order and price together, up to a limit.\"\"\"\n{check}{count}{check}{count}{check}{last}\n\n"
        )
    };
    (0..33).map(function).collect()
}

/// 002-004
#[test]
fn the_first_request_is_at_most_half_of_the_files_in_every_protocol() {
    for (wire, model) in WIRES {
        let server = ModelServer::always(ModelAnswer::text(PASS));
        let world = world();
        world.git(&["init", "-q", "-b", "main", "."]);
        world.write("REVIEW.md", "Amounts are whole cents. Nothing is saved without a lock.\n");
        world.write("order.py", long_file(&[])).git(&["add", "-A"]);
        world.git(&["commit", "-q", "-m", "start"]);
        let whole = long_file(&[5, 15]);
        world.write("order.py", &whole).git(&["commit", "-q", "-am", "change"]);
        let world = with_all_keys(world, &server);
        review(&world, &["--no-save", "--model", model, "HEAD~1..HEAD"]);
        let request = &server.requests()[0];
        assert_eq!((request.wire, request.tools().len()), (wire, 10));
        let (sent, whole) = (request.body.to_string().len(), whole.len());
        assert!((22_000..25_000).contains(&whole), "{whole}");
        assert!(sent * 100 <= whole * 50, "{wire:?}: {sent} of {whole}");
    }
}
