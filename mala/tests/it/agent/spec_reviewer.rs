//! The specification of the in-process reviewer, row by row. Each row is a test that runs the binary
//! against the model server; what other modules test is named here.
//!
//! | row | test |
//! |---|---|
//! | R1 result | `r1_a_result_has_every_promised_field` |
//! | R1 empty change | `r1_an_empty_change_passes_without_a_call` |
//! | R2 default and override | `r2_the_default_and_the_override_are_logged`, `choice::*` |
//! | R2 configuration | `r2_the_configuration_has_these_defaults` |
//! | R3 prompt | `traffic::the_model_gets_the_prompt_of_the_repository_the_change_and_the_task` |
//! | R4 output | `r4_the_example_is_read_to_the_letter`, `r4_the_verdict_follows_from_the_findings` |
//! | R5 timeout | `r5_the_timeout_is_600_seconds_unless_said`, `answers::a_slow_model_is_a_timeout` |
//! | R6 in process | `r6_no_other_reviewer_is_started`, `choice::it_needs_no_program_but_git` |
//! | R7 disabled reviews | `r7_a_disabled_review_stays_disabled` |
//! | error: no key | `choice::a_reviewer_that_is_named_never_falls_back` |
//! | error: timeout | `answers::a_slow_model_is_a_timeout` |
//! | error: the provider fails | `an_exception_is_a_parse_error_that_names_it` |
//! | error: invalid output | `answers::what_cannot_be_read_is_a_parse_error_in_the_promised_words` |
//! | parsing: missing field, invalid verdict, invalid json | the same, and `fields_have_their_types` |
//! | log: info | `r2_the_default_and_the_override_are_logged` |
//! | log: debug | `prompts_and_answers_are_logged_behind_the_debug_flag` |
//! | log: error | `an_exception_is_logged_as_an_error` |
//! | event: warning | `problems_that_do_not_end_the_review_are_warnings` |

use super::*;
use mala::environment::Environment;
use mala::settings::{self, UserSettings};
use mala::wiring::changes::Changes;
use mala::wiring::reviewers::{self, ReviewerOptions};
use mala::wiring::rules;
use mala_domain::config::{Config, ReviewerType};
use mala_domain::scope::ReviewTarget;
use mala_testkit::model_server::{AnswerEnd, ServerFault};
use std::time::{Duration, Instant};

/// 000-031, 000-033, 000-034, 000-035
#[test]
fn r1_a_result_has_every_promised_field() {
    let server = ModelServer::steps(vec![says(PLAIN), holds()]);
    let world = with_server(changed(), &server);
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1);
    assert_eq!(report["passed"], json!(false));
    assert_eq!(report["issues"].as_array().unwrap().len(), 1);
    assert_eq!((&report["parse_error"], &report["fatal_error"]), (&Value::Null, &json!(false)));
    let kept = std::path::Path::new(report["review_log_path"].as_str().unwrap());
    assert!(kept.join("review.json").is_file(), "{}", kept.display());
}

/// 000-036, 000-037, 000-038, 000-039
#[test]
fn r1_an_empty_change_passes_without_a_call() {
    let server = ModelServer::always(ModelAnswer::text(PLAIN));
    let world = with_server(changed(), &server);
    world.git(&["checkout", "-q", "."]);
    for message in ["nothing", "nothing again"] {
        world.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }
    for args in [
        &["HEAD..HEAD"][..],
        &["HEAD~2..HEAD"],
        &["--commit", "HEAD"],
        &["--commit", "HEAD", "--commit", "HEAD~1"],
        &["--staged"],
        &[],
    ] {
        let (code, report) = review(&world, args);
        assert_eq!((code, &report["passed"]), (0, &json!(true)), "{args:?}");
        assert_eq!(report["issues"], json!([]), "{args:?}");
    }
    assert_eq!(server.requests().len(), 0, "no request is made");
    world.write("app.py", AFTER).git(&["commit", "-qam", "something"]);
    review(&world, &["--commit", "HEAD", "--commit", "HEAD~1"]);
    assert!(!server.requests().is_empty(), "one commit that changes something is enough");
}

/// What is logged at this level, and the exit code.
fn logged(world: World, level: &str, args: &[&str]) -> (i32, String) {
    let world = world.with_env("MALA_LOG", level);
    let args: Vec<&str> = ["review", "--json"].into_iter().chain(args.iter().copied()).collect();
    let output = world.output(&args, b"");
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// 000-046, 000-047, 000-048, 000-096, 000-020
#[test]
fn r2_the_default_and_the_override_are_logged() {
    for (config, args) in [
        ("{}\n", &["HEAD~1..HEAD"][..]),
        ("reviewer_type: agent_sdk\n", &["HEAD~1..HEAD"]),
        ("reviewer_type: agent-sdk\n", &["HEAD~1..HEAD"]),
        ("reviewer_type: builtin\n", &["HEAD~1..HEAD", "--reviewer", "agent_sdk"]),
    ] {
        let server = ModelServer::always(ModelAnswer::text(PASS));
        let world = with_server(world(), &server);
        world.git(&["init", "-q", "-b", "main", "."]).write("mala.yaml", config);
        world.write("app.py", BEFORE).git(&["add", "-A"]).git(&["commit", "-qm", "start"]);
        world.write("app.py", AFTER).git(&["commit", "-qam", "change"]);
        let (code, log) = logged(world, "info", args);
        assert_eq!(code, 0, "{log}");
        let lines: Vec<&str> = log.lines().map(str::trim).collect();
        let expected = [
            "INFO Initializing code reviewer: agent-sdk",
            "INFO Starting review for HEAD~1..HEAD with agent-sdk",
            "INFO Reviewing with Claude Agent SDK... model=claude-sonnet-5-5",
        ];
        assert_eq!(lines, expected, "{config}");
        assert_eq!(server.requests().len(), 2);
    }
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let other = with_server(changed(), &server);
    other.commit_file("mala.yaml", "reviewer_type: builtin\n");
    let (_, log) = logged(other, "info", &[]);
    assert!(log.contains("Initializing code reviewer: builtin\n"), "{log}");
    assert_eq!(server.requests().len(), 0, "the override is asked in the agent's place");
}

/// 000-051, 000-054, 000-055, 000-056
#[test]
fn r2_the_configuration_has_these_defaults() {
    let shown = changed().run(&["config", "show"]);
    let defaults: Vec<&str> = shown.lines().filter(|line| line.starts_with("agent_sdk")).collect();
    insta::assert_snapshot!(defaults.join("\n"), @"
    agent_sdk_review_timeout: 600        # default
    agent_sdk_reviewer_model: sonnet     # default
    agent_sdk_escalation_model: null     # default
    ");
    for (config, code) in [
        ("reviewer_type: agent_sdk\n", 0),
        ("reviewer_type: cerberus\n", 0),
        ("reviewer_type: command\n", 0),
        ("reviewer_type: builtin\n", 0),
        ("reviewer_type: gpt\n", 78),
        ("agent_sdk_review_timeout: 90\n", 0),
        ("agent_sdk_review_timeout: soon\n", 78),
        ("agent_sdk_review_timeout: 0\n", 78),
        ("agent_sdk_review_timeout: -5\n", 78),
        ("agent_sdk_review_timeout: 1.5\n", 78),
        ("agent_sdk_reviewer_model: opus\n", 0),
    ] {
        let world = changed();
        world.write("mala.yaml", config);
        let shown = world.run(&["config", "check"]);
        assert!(shown.starts_with(&format!("[exit {code}]")), "{config}: {shown}");
    }
}

/// 000-066, 000-067, 000-072, 000-073, 002-018, 002-019
#[test]
fn r4_the_example_is_read_to_the_letter() {
    let example = r#"{"verdict": "FAIL", "findings": [{"file_path": "src/main.py", "line_start": 42, "line_end": 42, "priority": 1, "title": "[P1] Issue", "body": "Details"}]}"#;
    for (wire, model) in WIRES {
        let server = ModelServer::steps(vec![says(example), holds()]);
        let world = with_all_keys(world(), &server);
        let text = |last: &str| format!("{}{last}\n", "x = 1\n".repeat(41));
        world.git(&["init", "-q", "."]).write("src/main.py", text("y = 1"));
        world.git(&["add", "-A"]).git(&["commit", "-qm", "start"]);
        world.write("src/main.py", text("y = 2"));
        let (code, report) = review(&world, &["--model", model]);
        assert_eq!((code, &report["passed"]), (1, &json!(false)), "{wire:?}");
        let issue = &report["issues"][0];
        for (field, value) in [
            ("file", json!("src/main.py")),
            ("line_start", json!(42)),
            ("line_end", json!(42)),
            ("priority", json!(1)),
            ("title", json!("[P1] Issue")),
            ("body", json!("Details")),
            ("reviewer", json!("agent-sdk")),
        ] {
            assert_eq!(issue[field], value, "{wire:?} {field}");
        }
        let agent = &report["reviewers"][0];
        assert_eq!(agent["reviewer"], "agent-sdk", "{agent:#}");
    }
}

/// 000-032, 000-075, 000-076
#[test]
fn r4_the_verdict_follows_from_the_findings() {
    for (priority, said, verdict, code) in [
        (0, "FAIL", "FAIL", 1),
        (1, "FAIL", "FAIL", 1),
        (1, "NEEDS_WORK", "FAIL", 1),
        (2, "NEEDS_WORK", "NEEDS_WORK", 0),
        (2, "FAIL", "NEEDS_WORK", 0),
        (3, "NEEDS_WORK", "NEEDS_WORK", 0),
    ] {
        let answer = PLAIN
            .replace("\"FAIL\"", &format!("\"{said}\""))
            .replace("\"priority\": 1", &format!("\"priority\": {priority}"))
            .replace("[P1]", &format!("[P{priority}]"));
        let (found, report, _) = reviewed(vec![says(answer), holds()], &[]);
        assert_eq!((found, &report["verdict"]), (code, &json!(verdict)), "P{priority}");
    }
    let (code, report, _) = reviewed(vec![says(PASS)], &[]);
    assert_eq!((code, &report["verdict"], &report["issues"]), (0, &json!("PASS"), &json!([])));
    let minor = PLAIN.replace("\"priority\": 1", "\"priority\": 2").replace("[P1]", "[P2]");
    let (code, ..) = reviewed(vec![says(minor), holds()], &["--fail-on", "P2"]);
    assert_eq!(code, 1, "the threshold decides");
}

/// 000-088, 000-083
#[test]
fn r5_the_timeout_is_600_seconds_unless_said() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    for profile in [&[][..], &["--profile", "standard"], &["--profile", "thorough"]] {
        let args = [&["review", "--dry-run", "--json"], profile].concat();
        let outlook: Value = serde_json::from_slice(&world.output(&args, b"").stdout).unwrap();
        assert_eq!(outlook["limits"]["max_wall_time_seconds"], 600, "{profile:?}");
    }
    assert!(world.run(&["config", "show"]).contains("agent_sdk_review_timeout: 600 "));
    let late = ModelServer::always(says(PASS).after(Duration::from_secs(30)));
    let world = with_server(changed(), &late);
    let started = Instant::now();
    let (code, report) = review(&world, &["--timeout", "2", "--profile", "thorough"]);
    assert!(started.elapsed() < Duration::from_secs(20), "the request is given up");
    assert_eq!((code, &report["parse_error"]), (3, &json!("timeout")));
    assert_eq!((&report["passed"], &report["fatal_error"]), (&json!(false), &json!(false)));
    assert_eq!(report["issues"], json!([]));
}

/// 000-091
#[test]
fn r6_no_other_reviewer_is_started() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let mut world = with_server(changed(), &server);
    for name in ["review-gate", "claude", "codex", "gemini", "python3", "node"] {
        world = world.with_program(name, "touch \"$HOME/started\"; exit 1");
    }
    let (code, _) = review(&world, &[]);
    assert_eq!((code, server.requests().len()), (0, 1));
    assert!(!world.home().join("started").exists(), "a child was started");
}

#[test]
fn r7_a_disabled_review_stays_disabled() {
    let world = changed();
    let set = [("PATH", std::env::var_os("PATH").unwrap()), ("HOME", world.home().into())];
    let key = [("ANTHROPIC_API_KEY", "test-key".into())];
    let environment = set.into_iter().chain(key).map(|(name, value)| (name.into(), value));
    let here = Environment {
        folder: world.folder().to_owned(),
        variables: environment.collect(),
        columns: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let overrides = runtime.block_on(async {
        let scoped =
            Changes::open(&here).await.scope(&ReviewTarget::WorkingTree, &[]).await.unwrap();
        let flags = Config { reviewer_type: Some(ReviewerType::AgentSdk), ..Config::default() };
        let chosen = settings::choose(None, None);
        let settings = UserSettings::load(&here).unwrap().with_file(chosen, flags).unwrap();
        let rules =
            rules::project_rules(&scoped, &ReviewTarget::WorkingTree, &mut Vec::new()).await;
        let options = ReviewerOptions::new(settings.models.clone());
        let chosen = reviewers::choose(&settings.policy, &here, rules.unwrap(), options).await;
        chosen.unwrap().reviewers.iter().any(|reviewer| reviewer.overrides_disabled_setting())
    });
    assert!(!overrides);
}

/// What a provider does, what is said of it, and the exit code.
fn exceptions() -> Vec<(ServerStep, &'static str, i32)> {
    let status = |status| ServerStep::from(ServerFault::status(status));
    vec![
        (status(401), "401: scripted 401 (authentication_error); see ANTHROPIC_API_KEY", 2),
        (status(403), "403: scripted 403 (permission_error); see ANTHROPIC_API_KEY", 2),
        (
            status(404),
            "404: scripted 404 (not_found_error); run 'mala models' to list the known models",
            2,
        ),
        (ServerFault::TooLong.into(), "400: prompt is too long", 2),
        (
            ServerFault::retry_after(429, "0.01").into(),
            "429: scripted 429 (rate_limit_error); not retried: all 2 retries are spent",
            2,
        ),
        (status(500), "500: scripted 500 (api_error); not retried: all 2 retries are spent", 2),
        (
            status(529),
            "529: scripted 529 (overloaded_error); not retried: all 2 retries are spent",
            2,
        ),
        (ServerFault::Html.into(), "the response is an HTML page", 2),
        (ServerFault::CutAfter(2, ModelAnswer::text(PASS)).into(), "the response ended early", 2),
        (ModelAnswer::text(PASS).end(AnswerEnd::MaxTokens).into(), "the answer is cut", 2),
        (ModelAnswer::text("no").end(AnswerEnd::Refusal).into(), "the model refused to answer", 2),
    ]
}

/// 000-023, 000-025, 000-120, 002-032
#[test]
fn an_exception_is_a_parse_error_that_names_it() {
    for (step, said, code) in exceptions() {
        let server = ModelServer::always(step.clone());
        let world = with_server(changed(), &server);
        let (found, report) = review(&world, &["--no-save"]);
        let problem = report["parse_error"].as_str().unwrap_or_default();
        assert!(problem.starts_with(said), "{step:?}: {problem}");
        assert_eq!(found, code, "{step:?}");
        assert_eq!((&report["passed"], &report["fatal_error"]), (&json!(false), &json!(false)));
        assert_eq!((&report["status"], &report["verdict"]), (&json!("error"), &Value::Null));
        assert!(server.requests().len() <= 3, "{step:?}");
    }
}

/// 000-026, 000-125, 000-127, 000-128, 000-129, 000-130, 000-133, 000-131
#[test]
fn fields_have_their_types() {
    for (from, to, error) in [
        ("\"app.py\"", "7", "invalid format"),
        ("\"line_start\": 2", "\"line_start\": \"two\"", "invalid format"),
        ("\"line_start\": 2", "\"line_start\": 3", "invalid format"),
        ("\"line_start\": 2", "\"line_start\": 0", "invalid format"),
        ("\"priority\": 1", "\"priority\": 4", "invalid format"),
        ("\"priority\": 1", "\"priority\": \"P1\"", "invalid format"),
        ("\"[P1] Issue\"", "7", "invalid format"),
        ("\"Details\"", "null", "missing field: body"),
        ("\"FAIL\"", "\"fail\"", "invalid verdict: fail"),
        ("\"FAIL\"", "\"PASS\"", "invalid verdict: PASS with findings"),
        ("\"FAIL\"", "3", "invalid format"),
        ("\"findings\": [", "\"findings\": [{}, ", "missing field: file_path"),
    ] {
        let answer = PLAIN.replacen(from, to, 1);
        assert_ne!(answer, PLAIN, "{from}");
        let (code, report, _) = reviewed(vec![says(answer.clone()), says(answer)], &["--no-save"]);
        assert_eq!((code, &report["parse_error"]), (2, &json!(error)), "{from} -> {to}");
        assert_eq!((&report["passed"], &report["fatal_error"]), (&json!(false), &json!(false)));
    }
}

/// 000-097, 000-098
#[test]
fn prompts_and_answers_are_logged_behind_the_debug_flag() {
    for (args, is_logged) in [(&[][..], false), (&["--debug"], true)] {
        let server = ModelServer::always(ModelAnswer::text(PASS));
        let world = with_server(changed(), &server);
        let (_, log) = logged(world, "debug", args);
        assert_eq!(log.contains("Review a change to a code base"), is_logged, "{args:?}: {log}");
        assert_eq!(log.contains("return 1 / n"), is_logged, "{args:?}: {log}");
        assert_eq!(log.contains(r#"\"verdict\": \"PASS\""#), is_logged, "{args:?}: {log}");
        assert!(!log.contains("test-key"), "{log}");
    }
}

/// 000-099, 000-100, 000-101
#[test]
fn an_exception_is_logged_as_an_error() {
    let server = ModelServer::always(ServerFault::status(401));
    let (code, log) = logged(with_server(changed(), &server), "error", &[]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(log, @r#"
    ERROR the model gave no answer look="draft" error=401: scripted 401 (authentication_error); see ANTHROPIC_API_KEY
    ERROR the model gave no answer look="second draft" error=401: scripted 401 (authentication_error); see ANTHROPIC_API_KEY
    "#);
    let unreachable = changed()
        .with_env("ANTHROPIC_API_KEY", "test-key")
        .with_env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let (_, log) = logged(unreachable, "error", &["--timeout", "20"]);
    assert!(log.starts_with("ERROR the model gave no answer"), "{log}");
    let late = ModelServer::always(says(PASS).after(Duration::from_secs(30)));
    let (code, log) = logged(with_server(changed(), &late), "error", &["--timeout", "2"]);
    assert_eq!(code, 3);
    assert!(log.starts_with("ERROR the model gave no answer"), "{log}");
    let server = ModelServer::always(ModelAnswer::text(PASS));
    assert_eq!(logged(with_server(changed(), &server), "error", &[]), (0, String::new()));
}

/// 000-102, 000-104
#[test]
fn problems_that_do_not_end_the_review_are_warnings() {
    let unreadable = vec![says("LGTM"), says(PASS)];
    let unchecked = vec![says(PLAIN), says(PASS), ServerFault::status(401).into()];
    let broken = vec![ServerStep::from(ServerFault::status(403))];
    for (steps, warning) in [
        (unreadable, "draft: invalid json: expected value at line 1 column 1; asked again"),
        (unchecked, "1 claim not checked: 401: scripted 401"),
        (broken, "the draft gave no answer: 403: scripted 403"),
    ] {
        let server = ModelServer::steps(steps);
        let (_, log) = logged(with_server(changed(), &server), "warn", &[]);
        let told = log.lines().find(|line| line.contains("WARN on_review_warning"));
        assert!(told.is_some_and(|line| line.contains(warning)), "{warning}: {log}");
    }
}
