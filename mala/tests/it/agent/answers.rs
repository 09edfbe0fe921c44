//! What becomes of each answer: a result with findings, a pass, or could-not-review.

use super::*;
use mala_testkit::model_server::{AnswerEnd, AnswerUsage, ServerFault};
use std::time::{Duration, Instant};

#[test]
fn findings_come_out_in_the_form_of_every_reviewer() {
    let (code, report, server) = reviewed(vec![says(PLAIN), holds()], &[]);
    assert_eq!((code, &report["passed"], &report["verdict"]), (1, &json!(false), &json!("FAIL")));
    let issue = &report["issues"][0];
    for (field, value) in [
        ("file", json!("app.py")),
        ("line_start", json!(2)),
        ("line_end", json!(2)),
        ("priority", json!(1)),
        ("title", json!("[P1] Issue")),
        ("body", json!("Details")),
        ("reviewer", json!("agent-sdk")),
        ("evidence_snippet", json!("    return 1 / n")),
    ] {
        assert_eq!(issue[field], value, "{field}");
    }
    assert_eq!(issue["verification"]["outcome"], "verified");
    assert_eq!((&report["parse_error"], &report["fatal_error"]), (&Value::Null, &json!(false)));
    assert_eq!(server.requests().len(), 2);
}

/// 000-077
#[test]
fn a_refuted_finding_is_kept_and_does_not_block() {
    let (code, report, _) = reviewed(vec![says(PLAIN), refuted()], &[]);
    assert_eq!((code, &report["passed"]), (0, &json!(true)));
    assert_eq!(report["issues"], json!([]), "it is not counted");
    assert_eq!(report["refuted"][0]["verification"]["outcome"], "refuted");
    let summary = report["summary"].as_str().unwrap();
    assert!(summary.ends_with(": no findings."), "{summary}");
}

/// 002-030, 002-036, 002-039, 002-035
#[test]
fn a_pass_says_what_it_read_and_took() {
    let (code, report, server) = reviewed(vec![says(PASS)], &[]);
    assert_eq!((code, &report["verdict"], &report["status"]), (0, &json!("PASS"), &json!("ok")));
    assert_eq!(report["files_reviewed"], json!(["app.py"]));
    assert_eq!(report["issues"], json!([]));
    assert_eq!(report["summary"], "agent-sdk reviewed 1 hunk in 1 file: no findings.");
    assert_eq!(report["model_used"], "claude-sonnet-5-5");
    let stats = &report["stats"];
    assert_eq!((&stats["llm_calls"], &stats["tool_calls"]), (&json!(1), &json!(0)));
    assert!(stats["tokens_used"].as_u64() > Some(100) && stats["cost_usd"].as_f64() > Some(0.0));
    assert!(stats["latency_seconds_llm"].as_f64() > Some(0.0));
    assert_eq!(stats["answers_read"].as_object().unwrap().values().next(), Some(&json!(1)));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_empty_change_passes_without_a_call() {
    let server = ModelServer::always(ModelAnswer::text(PLAIN));
    let world = with_server(changed(), &server);
    world.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    for args in [&["HEAD..HEAD"][..], &["--commit", "HEAD"]] {
        let (code, report) = review(&world, args);
        assert_eq!((code, &report["passed"], &report["issues"]), (0, &json!(true), &json!([])));
        let stats = &report["stats"];
        assert_eq!(stats["cost_usd"].to_string(), "0.0", "and not less than nothing");
        assert_eq!(stats["latency_seconds_llm"].to_string(), "0.0");
    }
    assert_eq!(server.requests().len(), 0);
}

/// 000-081, 000-121, 000-123, 000-124, 000-126, 000-136, 000-137, 000-122, 000-131, 000-135, 002-020, 002-046
#[test]
fn what_cannot_be_read_is_a_parse_error_in_the_promised_words() {
    let with = |field: &str| {
        let mut value: Value = serde_json::from_str(PLAIN).unwrap();
        value["findings"][0].as_object_mut().unwrap().remove(field);
        value.to_string()
    };
    let mut rows: Vec<(String, String)> =
        ["file_path", "line_start", "line_end", "priority", "title", "body"]
            .map(|field| (with(field), format!("missing field: {field}")))
            .into();
    rows.extend(
        [
            (r#"{"findings": []}"#, "missing field: verdict"),
            (r#"{"verdict": "PASS"}"#, "missing field: findings"),
            (r#"{"verdict": "OK", "findings": []}"#, "invalid verdict: OK"),
            (r#"{"verdict": "pass", "findings": []}"#, "invalid verdict: pass"),
            (r#"{"verdict": "PASS ", "findings": []}"#, "invalid verdict: PASS "),
            (r#"{"verdict": "FAIL", "findings": []}"#, "invalid verdict: FAIL without findings"),
            ("LGTM", "invalid json: expected value at line 1 column 1"),
            (r#"{"verdict": "PASS", "findings": 3}"#, "invalid format"),
            (
                r#"Sure: {"verdict": "PASS", "findings": []}"#,
                "invalid json: text around JSON that lacks the nonce",
            ),
            (r#"{"nonce": "other", "verdict": "PASS", "findings": []}"#, "invalid format"),
        ]
        .map(|(answer, error)| (answer.to_owned(), error.to_owned())),
    );
    for (answer, error) in rows {
        let (code, report, server) =
            reviewed(vec![says(answer.as_str()), says(answer.as_str())], &["--no-save"]);
        assert_eq!(report["parse_error"], json!(error), "{answer}");
        assert_eq!(
            (code, &report["passed"], &report["fatal_error"]),
            (2, &json!(false), &json!(false))
        );
        assert_eq!((&report["status"], &report["verdict"]), (&json!("error"), &Value::Null));
        assert_eq!(report["issues"], json!([]));
        assert_eq!(server.requests().len(), 2, "asked once more, and no more");
        let again = server.requests()[1].prompt();
        assert!(again.contains("Return valid JSON"), "{again}");
    }
}

#[test]
fn what_was_wrong_with_the_first_answer_stays_when_no_second_one_comes() {
    let wrong = || says(r#"{"verdict": "APPROVED", "findings": []}"#);
    for fault in [ServerFault::status(500), ServerFault::status(401), ServerFault::Malformed] {
        let (code, report, _) = reviewed(vec![wrong(), fault.clone().into()], &["--no-save"]);
        assert_eq!((code, &report["parse_error"]), (2, &json!("invalid verdict: APPROVED")));
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("asked again, no answer: "), "{fault:?}: {warnings}");
    }
}

#[test]
fn an_answer_in_an_unknown_envelope_is_none() {
    for (answer, error) in [
        (r#"{"example_of_a_wrong_answer": {"verdict": "PASS", "findings": []}}"#, "missing field"),
        (r#"{"verdict": "FAIL", "verdict": "PASS", "findings": []}"#, "invalid json: a key is"),
    ] {
        let (code, report, _) = reviewed(vec![says(answer), says(answer)], &["--no-save"]);
        assert_eq!(code, 2, "{report:#}");
        assert!(report["parse_error"].as_str().unwrap().starts_with(error), "{report:#}");
    }
}

#[test]
fn an_echo_of_the_prompt_is_no_answer() {
    let server = ModelServer::new(|request| {
        ModelAnswer::text(format!("{}\n{}", request.system(), request.user_text())).into()
    });
    let (code, report) = review(&with_server(changed(), &server), &["--no-save"]);
    assert_eq!(code, 2, "{report:#}");
    assert_eq!(report["issues"], json!([]));
}

#[test]
fn a_broken_provider_is_said_and_never_passes() {
    let zero = AnswerUsage::Said { input: 10, cached: 0, output: 0 };
    let rows: Vec<(ServerStep, i32)> = vec![
        (ServerFault::status(401).into(), 2),
        (ServerFault::status(403).into(), 2),
        (ServerFault::status(404).into(), 2),
        (ServerFault::Malformed.into(), 2),
        (ServerFault::Html.into(), 2),
        (ServerFault::EmptyStream.into(), 2),
        (ServerFault::CutAfter(2, ModelAnswer::text(PASS)).into(), 2),
        (ModelAnswer::text(PASS).end(AnswerEnd::MaxTokens).into(), 2),
        (ModelAnswer::text(PASS).end(AnswerEnd::Refusal).into(), 2),
        (ModelAnswer::text(PASS).usage(zero).into(), 2),
        (ModelAnswer::text("").into(), 2),
    ];
    for (step, expected) in rows {
        let server = ModelServer::always(step.clone());
        let world = with_server(changed(), &server);
        let (code, report) = review(&world, &["--no-save", "--timeout", "20"]);
        assert!(code == expected || code == 3, "{step:?}: {code}");
        assert_eq!((&report["passed"], &report["fatal_error"]), (&json!(false), &json!(false)));
        assert!(report["parse_error"].is_string(), "{step:?}: {report:#}");
    }
}

/// 000-084, 000-087, 002-054
#[test]
fn a_slow_model_is_a_timeout() {
    let late = says(PASS).after(Duration::from_secs(30));
    let own = "review: {budget: {max_wall_time_seconds: 4}}\n";
    let (timeout, wall_time) = ("the timeout of the review, 4 s", "max_wall_time_seconds, 4 s");
    for (config, args, limit) in [
        (None, &["--timeout", "4"][..], timeout),
        (Some("agent_sdk_review_timeout: 4\n"), &[], timeout),
        (Some(own), &[], wall_time),
        (Some(own), &["--timeout", "100"], wall_time),
    ] {
        let server = ModelServer::always(late.clone());
        let world = with_server(changed(), &server);
        if let Some(config) = config {
            world.commit_file("mala.yaml", config);
        }
        let started = Instant::now();
        let (code, report) = review(&world, args);
        assert!(started.elapsed() < Duration::from_secs(20));
        assert_eq!((code, &report["parse_error"]), (3, &json!("timeout")), "{report:#}");
        assert_eq!((&report["passed"], &report["fatal_error"]), (&json!(false), &json!(false)));
        assert_eq!(report["stats"]["llm_calls"], 1);
        assert_eq!(report["stats"]["cost_usd"], Value::Null, "the cost is unknown");
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains(&format!("ended by {limit}")), "{warnings}");
    }
}
