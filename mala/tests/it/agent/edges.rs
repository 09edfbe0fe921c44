//! Plans without a key, missing reviewers, time limits, and what an interrupted review leaves behind.

use super::*;
use insta::assert_snapshot;
use mala_testkit::model_server::{AnswerUsage, ServerFault};
use std::process::Stdio;
use std::time::{Duration, Instant};

fn planned(world: &World, args: &[&str]) -> Value {
    let (code, plan) = review(world, &[&["--dry-run"], args].concat());
    assert_eq!(code, 0, "{plan:#}");
    plan
}

#[test]
fn a_plan_needs_no_key_and_says_when_a_review_is_refused() {
    let world = changed();
    let plan = planned(&world, &[]);
    assert_eq!(plan["hunks_sent"], 1, "{plan:#}");
    assert_snapshot!(plan["warnings"].to_string(), @r#"["the review would be refused: cannot run the reviewer agent_sdk: ANTHROPIC_API_KEY is not set"]"#);
    assert!(plan["reserved_usd"].as_f64() > Some(0.0), "{plan:#}");
    let plan = planned(&world, &["--model", "compatible/tiny"]);
    assert_snapshot!(plan["warnings"].to_string(), @r#"["the review would be refused: the price of the model is unknown, so the budget of $0.50 cannot be kept; give its price in the user's own list of models, or set review.budget.allow_unknown_price","the review would be refused: cannot run the reviewer agent_sdk: no URL is set for the OpenAI-compatible server"]"#);
}

/// 000-083, 000-085, 000-086, 000-087
#[test]
fn a_time_limit_that_a_person_sets_is_the_time_limit_and_of_two_the_shorter_one() {
    let own = "review: {budget: {max_wall_time_seconds: 30}}\n";
    let standard = &["--profile", "standard"][..];
    for (config, args, seconds) in [
        ("", &[][..], 60),
        ("", standard, 600),
        ("", &["--timeout", "120"], 120),
        ("", &["--timeout", "5"], 5),
        ("agent_sdk_review_timeout: 600\n", &[], 600),
        ("agent_sdk_review_timeout: 700\n", standard, 700),
        ("review: {timeout: 100}\n", &[], 100),
        ("review: {timeout: 2}\n", &["--timeout", "9"], 9),
        (own, standard, 30),
        (own, &["--timeout", "100"], 30),
        (own, &["--timeout", "9"], 9),
    ] {
        let world = changed();
        world.commit_file("mala.yaml", config);
        let plan = planned(&world, args);
        assert_eq!(plan["limits"]["max_wall_time_seconds"], seconds, "{config} {args:?}");
    }
}

/// 000-040
#[test]
fn without_a_key_there_is_a_report_and_nothing_passes_as_nothing() {
    let world = changed();
    let (code, report) = review(&world, &["--no-save"]);
    assert_eq!((code, &report["fatal_error"]), (4, &json!(true)), "{report:#}");
    assert_eq!(report["parse_error"], json!(null), "no other try helps");
    assert_snapshot!(report["reviewers"][0]["error"].as_str().unwrap(), @"ANTHROPIC_API_KEY is not set");
    let (code, report) = review(&world, &["--no-save", "HEAD..HEAD"]);
    assert_eq!((code, &report["passed"]), (0, &json!(true)), "{report:#}");
    let shown = world.run(&["review", "--reviewer", "agent_sdk", "--no-save", "HEAD..HEAD"]);
    assert!(shown.starts_with("[exit 0]"), "{shown}");
}

#[test]
fn usage_beyond_all_reason_is_told_and_breaks_nothing() {
    let huge = AnswerUsage::Said { input: 1 << 62, cached: 0, output: 50 };
    let steps = vec![ModelAnswer::text(PASS).usage(huge).into()];
    let (code, report, _) = reviewed(steps, &["--no-save"]);
    assert_eq!(code, 0, "{report:#}");
    assert_snapshot!(report["warnings"].to_string(), @r#"["agent-sdk: the provider reports 4611686018427387954 tokens, over the budget of 400000"]"#);
}

#[test]
fn a_recording_that_is_stopped_is_not_in_the_way_of_the_next() {
    let slow = ModelServer::always(says(PASS).after(Duration::from_secs(30)));
    let world = with_server(changed(), &slow);
    let args = ["review", "--reviewer", "agent_sdk", "--json", "--no-save", "--record", "tape"];
    let mut child = world
        .command(env!("CARGO_BIN_EXE_mala"))
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while slow.n_requests() == 0 && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(world.command("kill").args(["-INT", &id]).status().unwrap().success());
    child.wait().unwrap();
    assert!(!world.folder().join("tape/recording.json").exists());
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(world, &server);
    let (code, report) = review(&world, &["--no-save", "--record", "tape"]);
    assert_eq!(code, 0, "{report:#}");
    assert!(world.folder().join("tape/recording.json").exists());
}

#[test]
fn requests_that_are_refused_for_a_parameter_use_a_retry() {
    let picky =
        || ServerFault::RefuseParameter("output_config".to_owned(), ModelAnswer::text(PASS));
    for budget in ["{}", "{max_llm_calls: 1}"] {
        let server = ModelServer::always(picky());
        let world = with_server(changed(), &server);
        world.commit_file("mala.yaml", format!("review: {{budget: {budget}}}\n"));
        let (found, report) = review(&world, &["--no-save", "app.py"]);
        assert_eq!((found, server.requests().len()), (0, 2), "{report:#}");
        assert_eq!(report["stats"]["llm_calls"], 1, "{report:#}");
    }
}
