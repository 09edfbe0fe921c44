//! The specification of the review agent, row by row: flow, budgets, escalation, tools, context,
//! invariants and edge cases. Each row is a test that runs the binary against the model server; what
//! other modules test is named here. Rows about a forge belong to the command that reviews pull
//! requests, and those about scores to the eval engine.
//!
//! | row | test |
//! |---|---|
//! | baseline: one call | `the_baseline_is_one_call` |
//! | baseline: retry with "return valid JSON", two attempts | `invalid_json_is_asked_for_twice_at_most` |
//! | verification: draft, more context, final result | `a_draft_may_ask_for_context_before_the_result` |
//! | limits of `lean` | `lean_has_the_promised_limits` |
//! | max_llm_calls, max_tool_calls | `budgets::lean_makes_two_calls_and_three_tool_calls_at_most`, `retries::*` |
//! | max_verify_candidates | `at_most_five_candidates_are_verified` |
//! | max_output_issues | `at_most_fifteen_issues_come_out` |
//! | max_wall_time_seconds | `answers::a_slow_model_is_a_timeout` |
//! | max_cost_usd | `a_call_that_could_cost_too_much_is_not_made`, `retries::*` |
//! | escalation | `only_urgent_doubts_go_to_the_stronger_model` |
//! | model policy | `the_reviewer_and_its_stronger_model_may_be_openais` |
//! | tools: read_file, search_code, get_function_context, run_ruff | `tools_give_what_they_promise` |
//! | context: full diff, 20 lines around, by function | `the_diff_is_whole_and_has_its_function_around_it` |
//! | context: expansion triggers | `every_claim_is_looked_at_again` |
//! | context: expansion caps | `two_more_files_and_200_lines_of_each` |
//! | context: over budget | `the_most_changed_files_come_first`, `budgets::a_change_over_the_budget_is_truncated_and_no_pass` |
//! | invariant: evidence | `budgets::evidence_that_is_not_there_drops_the_finding`, `budgets::every_finding_has_evidence_and_an_identity` |
//! | invariant: review_id | `budgets::the_same_review_has_the_same_id_and_another_one_another` |
//! | invariant: hard budgets | `no_limit_is_ever_exceeded` |
//! | invariant: no secrets | `traffic::no_secret_leaves_and_none_is_kept` |
//! | edge: 100 and more files | `the_most_changed_files_come_first` |
//! | edge: binary, deleted and new files | `binary_deleted_and_new_files_are_taken_as_they_are` |
//! | edge: invalid JSON | `invalid_json_is_asked_for_twice_at_most`, `json_in_other_text_counts_with_the_nonce` |
//! | edge: a tool fails | `a_tool_that_fails_is_said_and_the_review_goes_on` |
//! | edge: no TypeScript configuration, checks that do not run | `a_linter_that_cannot_run_is_said_and_the_review_goes_on` |
//! | artifacts | `a_run_keeps_its_three_files` |

use super::*;
use mala_testkit::model_server::RequestTurn;

/// A finding at a line of a file whose lines are `xN = N`.
fn at(line: usize, priority: u8, confidence: f64) -> Value {
    json!({
        "file_path": "many.py", "line_start": line, "line_end": line, "priority": priority,
        "title": format!("[P{priority}] Issue {line}"), "body": "Details", "category": "bug",
        "when": "always", "then": "it fails", "evidence": format!("x{line} = {line}"),
        "suggestion": "", "confidence": confidence,
    })
}

fn found(findings: &[Value]) -> ServerStep {
    let urgent = findings.iter().any(|it| it["priority"].as_u64() <= Some(1));
    let verdict = if urgent { "FAIL" } else { "NEEDS_WORK" };
    says(json!({"verdict": verdict, "findings": findings}).to_string())
}

/// A change that adds a file of so many lines `xN = N`.
fn with_many(world: World, n_lines: usize) -> World {
    let text: String = (1..=n_lines).map(|n| format!("x{n} = {n}\n")).collect();
    world.write("many.py", &text);
    world
}

/// 002-043
#[test]
fn the_baseline_is_one_call() {
    let (code, report, server) = reviewed(vec![says(PASS)], &["--pr-title", "Halve faster"]);
    assert_eq!((code, &report["stats"]["llm_calls"]), (0, &json!(1)));
    let request = &server.requests()[0];
    assert!(!request.system().is_empty() && request.user_text().contains("Halve faster"));
    assert!(request.user_text().contains("return 1 / n"));
}

/// 002-046, 002-047
#[test]
fn invalid_json_is_asked_for_twice_at_most() {
    let (code, report, server) = reviewed(vec![says("Fine."), says(PASS)], &[]);
    assert_eq!((code, &report["passed"]), (0, &json!(true)));
    let again = server.requests()[1].user_text();
    assert!(again.contains("invalid json: ") && again.contains("Return valid JSON"), "{again}");
    let (code, report, server) = reviewed(vec![says("Fine."), says("Fine!"), says(PASS)], &[]);
    assert_eq!((code, server.requests().len()), (2, 2));
    assert!(report["parse_error"].as_str().unwrap().starts_with("invalid json: "));
}

/// 002-123
#[test]
fn json_in_other_text_counts_with_the_nonce() {
    let nonce = |request: &ModelRequest| {
        let text = request.user_text();
        let id = text.split("your nonce: ").nth(1).and_then(|rest| rest.get(..32));
        id.unwrap_or_default().to_owned()
    };
    let server = ModelServer::new(move |request| {
        let bound = PASS.replacen('{', &format!("{{\"nonce\": \"{}\", ", nonce(request)), 1);
        says(format!("I looked at all of it.\n\n{bound}\n"))
    });
    let (code, report) = review(&with_server(changed(), &server), &["--no-save"]);
    assert_eq!((code, server.requests().len()), (0, 1), "{report:#}");
    assert_eq!(report["stats"]["answers_read"], json!({"envelope": 1}));
}

/// 002-059
#[test]
fn a_draft_may_ask_for_context_before_the_result() {
    let look = ModelAnswer::call("read_file", json!({"path": "app.py"}));
    let (code, report, server) = reviewed(vec![look.into(), says(PLAIN)], &[]);
    let kinds: Vec<&str> = server.requests()[1]
        .turns()
        .iter()
        .map(|turn| match turn {
            RequestTurn::User(_) => "user",
            RequestTurn::Model(_) => "model",
            RequestTurn::Call(..) => "call",
            RequestTurn::Result(_) => "result",
        })
        .collect();
    assert_eq!(kinds, ["user", "user", "call", "result", "user"]);
    assert_eq!((code, report["issues"].as_array().unwrap().len()), (1, 1));
    assert_eq!(
        (&report["stats"]["llm_calls"], &report["stats"]["tool_calls"]),
        (&json!(2), &json!(1))
    );
}

/// 000-009, 002-049, 002-050, 002-051, 002-052, 002-053, 002-054, 002-055, 002-056
#[test]
fn lean_has_the_promised_limits() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    let outlook = |args: &[&str]| -> Value {
        let args: Vec<&str> =
            ["review", "--dry-run", "--json"].iter().chain(args).copied().collect();
        serde_json::from_slice(&world.output(&args, b"").stdout).unwrap()
    };
    assert_eq!(outlook(&[])["profile"], "standard");
    let lean = outlook(&["--profile", "lean"]);
    assert_eq!(lean["profile"], "lean");
    assert_eq!(outlook(&["--profile", "quick"])["limits"], lean["limits"], "the earlier name");
    let promised = [
        ("max_llm_calls", json!(2)),
        ("max_tool_calls", json!(3)),
        ("max_verify_candidates", json!(5)),
        ("max_output_issues", json!(15)),
        ("max_wall_time_seconds", json!(60)),
        ("max_cost_usd", json!(0.5)),
    ];
    for (limit, value) in &promised {
        assert_eq!(&lean["limits"][*limit], value, "{limit}");
    }
    for (limit, _) in promised {
        world.commit_file("mala.yaml", format!("review: {{budget: {{{limit}: 1}}}}\n"));
        assert_eq!(outlook(&[])["limits"][limit].as_f64(), Some(1.0), "{limit}");
        assert_ne!(outlook(&["--profile", "thorough"])["limits"]["max_tokens"], json!(400_000));
    }
}

/// 002-052
#[test]
fn at_most_five_candidates_are_verified() {
    let claims: Vec<Value> = (1..=7).map(|n| at(n * 10, 1, 0.9)).collect();
    let checks: Vec<Value> = (1..=7)
        .map(|n| json!({"id": format!("c{n}"), "outcome": "holds", "why": "seen"}))
        .collect();
    let server =
        ModelServer::steps(vec![found(&claims), says(json!({"checks": checks}).to_string())]);
    let world = with_many(with_server(changed(), &server), 80);
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1);
    let claims = server.requests()[1].user_text();
    assert!(claims.contains("c5: many.py") && !claims.contains("c6: many.py"), "{claims}");
    let issues = report["issues"].as_array().unwrap();
    let outcomes: Vec<&str> =
        issues.iter().map(|it| it["verification"]["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes.iter().filter(|it| **it == "verified").count(), 5, "{outcomes:?}");
    let rest = issues.iter().find(|it| it["verification"]["outcome"] == "not_checked").unwrap();
    assert_eq!(rest["verification"]["how"], "not checked: at most 5 claims are checked");
}

/// 002-053. What is left out is found again: the review is not complete.
#[test]
fn at_most_fifteen_issues_come_out() {
    let reviewed = |priority| {
        let claims: Vec<Value> = (1..=20).map(|n| at(n * 5, priority, 0.5)).collect();
        let server = ModelServer::steps(vec![found(&claims)]);
        review(&with_many(with_server(changed(), &server), 120), &[])
    };
    let (code, report) = reviewed(1);
    assert_eq!((code, report["issues"].as_array().unwrap().len()), (1, 15));
    assert_eq!(report["status"], "truncated");
    let (code, report) = reviewed(3);
    assert_eq!((code, report["issues"].as_array().unwrap().len()), (0, 15));
    insta::assert_snapshot!(report["warnings"].to_string(), @r#"["agent-sdk: 15 claims not checked: at most 5 claims are checked","agent-sdk: 5 claims not checked: 400: the script is over","5 less urgent findings left out: at most 15 are reported"]"#);
}

/// 002-055
#[test]
fn a_call_that_could_cost_too_much_is_not_made() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    world.commit_file("mala.yaml", "review: {budget: {max_cost_usd: 0.01}}\n");
    let (code, report) = review(&world, &[]);
    assert_eq!((code, server.requests().len()), (2, 0));
    assert_eq!(report["parse_error"], "the call could exceed the budget of $0.01");
    assert_eq!(report["stats"]["cost_usd"], json!(0.0), "nothing was spent");
}

/// 002-060, 002-061
#[test]
fn only_urgent_doubts_go_to_the_stronger_model() {
    let held =
        || says(json!({"checks": [{"id": "c1", "outcome": "holds", "why": "x"}]}).to_string());
    for (priority, confidence, escalated) in [
        (0, 0.1, true),
        (1, 0.59, true),
        (1, 0.6, false),
        (1, 0.9, false),
        (2, 0.1, false),
        (3, 0.1, false),
    ] {
        let server =
            ModelServer::steps(vec![found(&[at(3, priority, confidence)]), held(), held()]);
        let world = with_many(with_server(changed(), &server), 9);
        world.commit_file(
            "mala.yaml",
            "agent_sdk_escalation_model: opus\nreview: {budget: {max_llm_calls: 3}}\n",
        );
        let (_, report) = review(&world, &[]);
        let case = format!("P{priority} {confidence}: {report:#}");
        let models = report["model_used"].as_str().unwrap();
        assert_eq!(models.contains("claude-opus-5-5"), escalated, "{case}");
        let said = report["warnings"].to_string().contains("escalated to claude-opus-5-5");
        assert_eq!(said, escalated, "{case}");
    }
}

/// 002-065
#[test]
fn the_reviewer_and_its_stronger_model_may_be_openais() {
    let held =
        || says(json!({"checks": [{"id": "c1", "outcome": "holds", "why": "x"}]}).to_string());
    let server = ModelServer::steps(vec![found(&[at(3, 1, 0.3)]), held(), held()]);
    let world = with_many(changed(), 9)
        .with_env("OPENAI_API_KEY", "test-key")
        .with_env("OPENAI_BASE_URL", server.url());
    world.commit_file(
        "mala.yaml",
        "agent_sdk_escalation_model: gpt-4.1\nreview: {budget: {max_llm_calls: 3}}\n",
    );
    let (_, report) = review(&world, &[]);
    assert_eq!(report["model_used"], "gpt-4.1-mini, gpt-4.1");
}

/// 002-084. In `lean`, all but nits that the model is sure of.
#[test]
fn claims_are_looked_at_again() {
    for (priority, confidence) in [(3, 0.65), (3, 0.95)] {
        let server = ModelServer::steps(vec![found(&[at(3, priority, confidence)])]);
        let (code, report) = review(&with_many(with_server(changed(), &server), 9), &[]);
        assert_eq!((code, server.requests().len()), (0, 1), "{confidence}");
        assert_eq!(report["issues"][0]["verification"]["outcome"], "unverified", "{confidence}");
        assert_eq!(report["warnings"], json!([]), "{confidence}");
    }
    for (priority, confidence) in [(3, 0.64), (2, 0.3), (2, 0.9), (1, 1.0)] {
        let held =
            says(json!({"checks": [{"id": "c1", "outcome": "holds", "why": "x"}]}).to_string());
        let server = ModelServer::steps(vec![found(&[at(3, priority, confidence)]), held]);
        let (_, report) = review(&with_many(with_server(changed(), &server), 9), &[]);
        let case = format!("P{priority} {confidence}: {report:#}");
        assert_eq!(server.requests().len(), 2, "{case}");
        assert_eq!(report["issues"][0]["verification"]["outcome"], "verified", "{case}");
    }
}

/// A repository with more than the change, and what a model that calls these tools is told.
fn looked_up(calls: &[(&str, Value)]) -> (Vec<String>, Value) {
    let mut answer = ModelAnswer::default();
    for (name, arguments) in calls {
        answer = answer.and_call(name, arguments.clone());
    }
    let server = ModelServer::steps(vec![answer.into(), says(PASS)]);
    let world = with_server(world(), &server);
    world.git(&["init", "-q", "."]).write("app.py", BEFORE).write("ui.ts", "let x = half(1);\n");
    let long: String = (1..=300).map(|n| format!("v{n} = half({n})\n")).collect();
    world.write("a.py", &long).write("b.py", "from app import half\n").write("c.py", "y = half\n");
    world.write("data.bin", [0_u8, 1, 2]);
    world.git(&["add", "-A"]).git(&["commit", "-qm", "start"]);
    world.write("app.py", format!("import os\n\n{AFTER}"));
    let (code, report) = review(&world, &["--no-save"]);
    assert_eq!(code, 0, "{report:#}");
    (server.requests()[1].tool_results(), report)
}

/// 000-115, 000-116, 002-066, 002-067, 002-069, 002-070, 002-075, 002-076
#[test]
fn tools_give_what_they_promise() {
    let rows: [(&str, Value, &[&str]); 9] = [
        (
            "read_file",
            json!({"path": "app.py"}),
            &["path: app.py", "language: python", "4", "1 / n"],
        ),
        ("read_file", json!({"path": "app.py", "ref": "base"}), &["n and 1 / n"]),
        ("read_file", json!({"path": "nowhere.py"}), &["nowhere.py"]),
        ("search_code", json!({"query": "half(1)"}), &["a.py:1", "ui.ts:1", "v1 = half(1)"]),
        ("search_code", json!({"query": "half(1)", "language": "typescript"}), &["ui.ts:1"]),
        (
            "get_function_context",
            json!({"path": "app.py", "symbol": "half"}),
            &["import os", "def half(n):", "3", "4"],
        ),
        ("find_references", json!({"symbol": "half", "path": "b.py"}), &["b.py:1"]),
        ("run_linter", json!({"linter": "ruff", "path": "ui.ts"}), &["ruff"]),
        ("list_files", json!({}), &["app.py", "ui.ts"]),
    ];
    for (name, arguments, expected) in rows {
        let (results, report) = looked_up(&[(name, arguments.clone())]);
        for part in expected {
            assert!(results[0].contains(part), "{name} {arguments}: {part}: {}", results[0]);
        }
        assert_eq!(report["stats"]["tool_calls"], 1);
    }
    let (results, _) =
        looked_up(&[("search_code", json!({"query": "half(1)", "language": "typescript"}))]);
    assert!(!results[0].contains("a.py"), "{}", results[0]);
}

/// 002-087, 002-088
#[test]
fn two_more_files_and_200_lines_of_each() {
    let read = |path: &str| ("read_file", json!({"path": path}));
    let (results, _) = looked_up(&[read("b.py"), read("c.py"), read("a.py")]);
    assert!(results[0].contains("from app import half") && results[1].contains("y = half"));
    assert!(!results[2].contains("v1 = half(1)"), "a third file: {}", results[2]);
    let lines = |start| {
        ("read_file", json!({"path": "a.py", "start_line": start, "end_line": start + 149}))
    };
    let (results, _) = looked_up(&[lines(1), lines(151), read("app.py")]);
    assert!(results[0].contains("v150 = ") && results[1].contains("v200 = "), "{}", results[1]);
    assert!(!results[1].contains("v201 = "), "line 201: {}", results[1]);
    assert!(results[2].contains("return 1 / n"), "what changed is free: {}", results[2]);
}

#[test]
fn the_diff_is_whole_and_has_its_function_around_it() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(world(), &server);
    let body = |at: usize| -> String {
        (1..=300)
            .map(|n| if n == at { "    done()\n".to_owned() } else { format!("    s{n}()\n") })
            .collect()
    };
    let text = |at| {
        format!(
            "def before():\n    return 0\n\ndef long():\n{}\ndef after():\n    return 1\n",
            body(at)
        )
    };
    world.git(&["init", "-q", "."]).write("app.py", text(0)).write("b.py", "b = 1\n");
    world.git(&["add", "-A"]).git(&["commit", "-qm", "start"]);
    world.write("app.py", text(150)).write("b.py", "b = 2\n");
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 0, "{report:#}");
    let told = server.requests()[0].user_text();
    for part in ["+    done()", "-    s150()", "    s130()\n", "    s170()\n", "+b = 2", "-b = 1"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    for part in ["    s129()\n", "    s171()\n", "def before", "def after"] {
        assert!(!told.contains(part), "{part}: {told}");
    }
    assert_eq!(report["coverage"]["hunks_accounted"], 2);
}

/// 002-090, 002-118
#[test]
fn the_most_changed_files_come_first() {
    let is_large = |n: usize| n == 77 || n >= 240;
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    for n in 0..250 {
        let n_lines = if is_large(n) { 100 } else { 60 };
        let text: String = (0..n_lines).map(|line| format!("name_{n}_{line} = {line}\n")).collect();
        world.write(&format!("src/m{n:03}.py"), &text);
    }
    let (code, report) = review(&world, &[]);
    assert_eq!((code, &report["status"]), (2, &json!("truncated")));
    assert_eq!(
        (&report["passed"], &report["verdict"]),
        (&json!(false), &Value::Null),
        "{report:#}"
    );
    let told = server.requests()[0].user_text();
    let files = report["coverage"]["files"].as_array().unwrap();
    let of = |n: usize| files.iter().find(|it| it["file"] == format!("src/m{n:03}.py")).unwrap();
    let (reviewed, left_out): (Vec<usize>, Vec<usize>) =
        (0..250).partition(|n| of(*n)["hunks_accounted"] == 1);
    for n in (0..250).filter(|n| is_large(*n)) {
        assert!(reviewed.contains(&n), "one of the most changed files is left out: {n}");
    }
    for n in &reviewed {
        assert!(told.contains(&format!("name_{n}_59 ")), "{n}");
    }
    let warnings = report["warnings"].to_string();
    assert!(!left_out.is_empty() && warnings.contains("left out: over the prompt's budget"));
    for n in &left_out {
        assert!(!told.contains(&format!("name_{n}_59 ")), "{n}");
        assert!(warnings.contains(&format!("src/m{n:03}.py: 1 hunk left out")), "{n}");
    }
    // And `app.py`.
    assert_eq!(
        report["files_reviewed"].as_array().unwrap().len(),
        reviewed.len() + 1,
        "{warnings}"
    );
}

/// 002-094, 002-095
#[test]
fn no_limit_is_ever_exceeded() {
    let greedy = || {
        let mut answer = ModelAnswer::default();
        for _ in 0..20 {
            answer = answer.and_call("list_files", json!({}));
        }
        ServerStep::from(answer)
    };
    for (profile, calls, tools) in [("lean", 2, 3), ("standard", 60, 80), ("thorough", 120, 160)] {
        let server = ModelServer::always(greedy());
        let world = with_server(changed(), &server);
        let (code, report) = review(&world, &["--profile", profile]);
        let stats = &report["stats"];
        assert_eq!(code, 2, "{profile}");
        assert!(server.requests().len() <= calls, "{profile}: {}", server.requests().len());
        assert_eq!(stats["llm_calls"], json!(server.requests().len()), "{profile}");
        assert!(stats["tool_calls"].as_u64() <= Some(tools), "{profile}: {stats}");
        let cost = stats["cost_usd"].as_f64().unwrap();
        assert!(cost <= if profile == "lean" { 0.5 } else { 12.0 }, "{profile}: {cost}");
    }
}

/// 002-034
#[test]
fn binary_deleted_and_new_files_are_taken_as_they_are() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(world(), &server);
    world.git(&["init", "-q", "."]).write("app.py", BEFORE).write("old.py", "gone = 1\n");
    world.write("logo.bin", [0_u8, 1]).git(&["add", "-A"]).git(&["commit", "-qm", "start"]);
    world.write("new.py", "fresh = 1\n").write("logo.bin", [0_u8, 2]);
    std::fs::remove_file(world.folder().join("old.py")).unwrap();
    let (code, report) = review(&world, &[]);
    assert_eq!((code, &report["passed"]), (0, &json!(true)), "{report:#}");
    let told = server.requests()[0].user_text();
    for part in ["new.py, added", "1 fresh = 1", "old.py, deleted", "-gone = 1", "logo.bin"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(
        report["coverage"]["skipped"],
        json!([{"file": "logo.bin", "hunks": 0, "reason": "binary"}])
    );
}

/// 002-124, 002-125
#[test]
fn a_tool_that_fails_is_said_and_the_review_goes_on() {
    let calls = [
        ("read_file", json!({"path": "data.bin"})),
        ("search_code", json!({"query": "(", "mode": "regex"})),
        ("no_such_tool", json!({})),
    ];
    let (results, report) = looked_up(&calls);
    let results = results.join("\n");
    let is_said = |line: &&str| !line.is_empty() && !line.contains("mala-fence");
    let said: Vec<&str> = results.lines().filter(is_said).collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    error: data.bin is a binary file
    instead: read text files only
    error: query "(" is no regular expression: error: unclosed group
    instead: pass one without look-around and back-references, or mode literal
    error: there is no tool "no_such_tool"
    instead: call one of git_diff, git_show, git_log, git_blame, read_file, list_files, search_code, get_function_context, find_references, run_linter
    "#);
    assert_eq!((&report["passed"], &report["status"]), (&json!(true), &json!("ok")));
    insta::assert_snapshot!(report["warnings"].to_string(), @r#"["agent-sdk: read_file failed: data.bin is a binary file","agent-sdk: search_code failed: query \"(\" is no regular expression: error: unclosed group","agent-sdk: unknown tool failed: there is no tool \"no_such_tool\""]"#);
    let read = ModelAnswer::call("read_file", json!({"path": "nowhere.py"}));
    let server = ModelServer::steps(vec![read.into(), says(PASS)]);
    let world = with_server(changed(), &server);
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 0, "{report:#}");
    let folder = std::path::Path::new(report["review_log_path"].as_str().unwrap());
    let page = std::fs::read_to_string(folder.join("review.md")).unwrap();
    let warning = "- agent-sdk: read_file failed: the reviewed tree has no file nowhere.py at head";
    assert!(page.lines().any(|line| line == warning), "{page}");
}

/// 002-005, 002-126, 002-127
#[test]
fn a_linter_that_cannot_run_is_said_and_the_review_goes_on() {
    let mut warnings = String::new();
    for (config, program) in
        [(None, None), (Some("eslint.config.js"), None), (Some("eslint.config.js"), Some("exit 3"))]
    {
        let server = ModelServer::always(ModelAnswer::text(PASS));
        let world = with_server(world(), &server).with_only_programs(&["git", "sh"]);
        let world = match program {
            Some(script) => world.with_program("eslint", script),
            None => world,
        };
        world.git(&["init", "-q", "."]).write("ui.ts", "export const x = 1;\n");
        if let Some(config) = config {
            world.write(config, "export default [];\n");
        }
        world.git(&["add", "-A"]).git(&["commit", "-qm", "start"]);
        world.write("ui.ts", "export const x = 2;\n");
        let (code, report) = review(&world, &[]);
        assert_eq!((code, &report["passed"]), (0, &json!(true)), "{report:#}");
        warnings.push_str(&format!("{}\n", report["warnings"]));
    }
    insta::assert_snapshot!(warnings, @r#"
    ["tsc and eslint are skipped: the project does not configure them"]
    ["cannot run eslint: the project configures it, but it is not on PATH outside the reviewed tree"]
    ["cannot run eslint: exit code 3"]
    "#);
}

/// 000-118, 002-010, 002-014
#[test]
fn a_run_keeps_its_three_files() {
    let server = ModelServer::steps(vec![says(PASS)]);
    let world = with_server(changed(), &server);
    let (_, report) = review(&world, &[]);
    let kept = report["review_log_path"].as_str().unwrap();
    let id = report["review_id"].as_str().unwrap();
    assert_eq!(id.len(), 16);
    assert!(kept.contains("/.mala/runs/") && kept.ends_with(&format!("_{id}")), "{kept}");
    let telemetry = std::fs::read(std::path::Path::new(kept).join("telemetry.json")).unwrap();
    let telemetry: Value = serde_json::from_slice(&telemetry).unwrap();
    let agent = &telemetry["reviewers"][0]["usage"];
    for usage in [&telemetry["stats"], agent] {
        for name in ["tokens_used", "cost_usd", "latency_seconds_llm", "llm_calls", "tool_calls"] {
            assert!(usage[name].is_number(), "{name}: {telemetry:#}");
        }
    }
    assert!(telemetry["stats"]["latency_seconds_e2e"].is_number(), "{telemetry:#}");
}
