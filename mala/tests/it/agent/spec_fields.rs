//! The fields of findings and answers, row by row of the specifications: what comes out as it was given,
//! what is derived, and which answers are asked for again.

use super::*;
use std::time::Duration;

/// A finding in the full form.
fn finding(file: &str, (start, end): (u32, u32), evidence: &str) -> Value {
    json!({
        "file_path": file, "line_start": start, "line_end": end, "priority": 2,
        "title": format!("[P2] Wrong at {file}:{start}"), "body": format!("{file}:{start} is wrong."),
        "category": "bug", "when": "it is called", "then": "it raises", "evidence": evidence,
        "suggestion": "Fix it.", "confidence": 0.9,
    })
}

fn with(mut finding: Value, field: &str, value: Value) -> Value {
    finding[field] = value;
    finding
}

/// An answer with these findings, with the verdict that they have.
fn found(findings: &[Value]) -> ServerStep {
    let urgent = findings.iter().any(|it| it["priority"].as_u64() <= Some(1));
    let verdict = if urgent { "FAIL" } else { "NEEDS_WORK" };
    says(json!({"verdict": verdict, "findings": findings}).to_string())
}

/// A repository whose working tree adds these files.
fn adding(files: &[(&str, &str)]) -> World {
    let world = changed();
    world.git(&["checkout", "-q", "."]);
    for (path, text) in files {
        world.write(path, text);
    }
    world
}

/// The report of a review whose draft has these findings.
fn reported(world: World, findings: &[Value]) -> Value {
    let server = ModelServer::steps(vec![found(findings)]);
    let (_, report) = review(&with_server(world, &server), &["--no-save"]);
    report
}

const EQUAL: &str = "def f(a):\n    a.go()\n    a.go()\n    a.go()\n    return a\n";

/// 000-068, 000-069, 000-070, 002-018, 002-019, 002-020, 002-021
#[test]
fn lines_come_out_as_they_are_given() {
    for (lines, evidence) in [
        ((2, 2), "    a.go()"),
        ((3, 3), "    a.go()"),
        ((4, 4), "    a.go()"),
        ((2, 4), "    a.go()"),
        ((1, 5), "    return a"),
        ((5, 5), "    return a"),
    ] {
        let world = adding(&[("src/a.py", EQUAL)]);
        let report = reported(world, &[finding("src/a.py", lines, evidence)]);
        let issue = &report["issues"][0];
        let place = (&issue["file"], &issue["line_start"], &issue["line_end"]);
        assert_eq!(place, (&json!("src/a.py"), &json!(lines.0), &json!(lines.1)), "{report:#}");
    }
}

/// 000-071, 002-022, 002-023, 002-024, 002-025
#[test]
fn priority_category_and_texts_come_out_as_they_are_given() {
    let severities = ["critical", "high", "medium", "low"];
    let categories = ["security", "bug", "error_handling", "performance", "style", "logic"];
    let text: String = (0..6).map(|n| format!("value_{n} = {n}\n")).collect();
    let findings: Vec<Value> = (0_u32..6)
        .map(|n| {
            let one = finding("a.py", (n + 1, n + 1), &format!("value_{n} = {n}"));
            let priority = n % 4;
            let one = with(one, "priority", json!(priority));
            let one = with(one, "title", json!(format!("[P{priority}] Step {n}")));
            let one = with(one, "suggestion", json!(if n == 0 { "" } else { "Do it." }));
            with(one, "category", json!(categories[n as usize]))
        })
        .collect();
    let report = reported(adding(&[("a.py", &text)]), &findings);
    let issues = report["issues"].as_array().unwrap();
    assert_eq!(issues.len(), 6, "{report:#}");
    for issue in issues {
        let n = issue["line_start"].as_u64().unwrap() - 1;
        let (priority, severity) = (n % 4, severities[(n % 4) as usize]);
        assert_eq!((&issue["priority"], &issue["severity"]), (&json!(priority), &json!(severity)));
        assert_eq!(issue["category"], categories[n as usize]);
        assert_eq!(issue["title"], format!("[P{priority}] Step {n}"));
        assert!(issue["body"].as_str().unwrap().starts_with("a.py:"), "{issue:#}");
        assert_eq!(issue["suggestion"], if n == 0 { Value::Null } else { json!("Do it.") });
    }
    let schema = changed().output(&["schema", "review-result"], b"").stdout;
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let mut allowed: Vec<&str> = Vec::new();
    let kinds = &schema["$defs"]["Category"];
    let one_of = kinds["oneOf"].as_array().or(kinds["anyOf"].as_array());
    allowed.extend(one_of.into_iter().flatten().filter_map(|it| it["const"].as_str()));
    allowed.extend(kinds["enum"].as_array().into_iter().flatten().filter_map(Value::as_str));
    allowed.sort_unstable();
    let mut expected = categories;
    expected.sort_unstable();
    assert_eq!(allowed, expected, "{kinds:#}");
}

/// 002-029
#[test]
fn the_language_is_that_of_the_file() {
    let files = ["a.py", "b.js", "c.jsx", "d.ts", "e.tsx", "f.rs", "g.unknown"];
    let texts: Vec<(&str, &str)> = files.iter().map(|file| (*file, "start\n")).collect();
    let findings: Vec<Value> = files.iter().map(|file| finding(file, (1, 1), "start")).collect();
    let report = reported(adding(&texts), &findings);
    let mut languages: Vec<(&str, Option<&str>)> = report["issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["file"].as_str().unwrap(), it["language"].as_str()))
        .collect();
    languages.sort_unstable();
    let expected = [
        ("a.py", Some("python")),
        ("b.js", Some("javascript")),
        ("c.jsx", Some("javascript")),
        ("d.ts", Some("typescript")),
        ("e.tsx", Some("typescript")),
        ("f.rs", Some("rust")),
        ("g.unknown", None),
    ];
    assert_eq!(languages, expected, "{report:#}");
}

/// 002-026, 002-085
#[test]
fn evidence_is_code_that_is_there() {
    let text = "def f(a):\n    a.first()\n\n    a.second()\n";
    let whole = "    a.first()\n\n    a.second()";
    let report = reported(adding(&[("a.py", text)]), &[finding("a.py", (2, 4), whole)]);
    assert_eq!(report["issues"][0]["evidence_snippet"], whole, "{report:#}");
    // An unchanged file that a tool shows.
    let read = ModelAnswer::call("read_file", json!({"path": "app.py"}));
    let elsewhere = finding("app.py", (2, 2), "return n and 1 / n");
    let server = ModelServer::steps(vec![read.into(), found(std::slice::from_ref(&elsewhere))]);
    let world = with_server(adding(&[("a.py", text)]), &server);
    let (_, report) = review(&world, &["--no-save"]);
    assert_eq!(report["issues"][0]["file"], "app.py", "{report:#}");
}

/// 000-078
#[test]
fn a_finding_at_no_place_is_dropped_with_a_warning() {
    for wrong in [finding("nope.py", (1, 1), "x"), finding("a.py", (50, 50), "a.go()")] {
        let sound = finding("a.py", (5, 5), "    return a");
        let report = reported(adding(&[("a.py", EQUAL)]), &[sound, wrong]);
        let lines: Vec<&Value> =
            report["issues"].as_array().unwrap().iter().map(|it| &it["line_start"]).collect();
        assert_eq!(lines, [&json!(5)], "{report:#}");
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("dropped a finding"), "{warnings}");
    }
}

/// 000-079
#[test]
fn a_path_in_another_form_is_that_of_the_changed_file() {
    let old = "old/app.py";
    for path in ["b/new/app.py", "a/new/app.py", "/new/app.py", "./new/app.py", old] {
        let server = ModelServer::steps(vec![
            found(&[with(finding(path, (2, 2), "    return 1 / n"), "priority", json!(1))]),
            holds(),
        ]);
        let world = with_server(changed(), &server);
        let rest: String = (0..20).map(|n| format!("value_{n} = {n}\n")).collect();
        world.git(&["checkout", "-q", "."]).commit_file(old, format!("{BEFORE}\n\n{rest}"));
        std::fs::create_dir_all(world.folder().join("new")).unwrap();
        world.git(&["mv", old, "new/app.py"]).write("new/app.py", format!("{AFTER}\n\n{rest}"));
        let (code, report) = review(&world, &["--no-save"]);
        assert_eq!((code, &report["issues"][0]["file"]), (1, &json!("new/app.py")), "{path}");
    }
    // A path that leads to no file of the tree is asked for again, and never a pass.
    for path in ["nope.py", "/etc/passwd", "../app.py"] {
        let wrong = || found(&[with(finding(path, (1, 1), "x"), "priority", json!(1))]);
        let (code, report, server) = reviewed(vec![wrong(), says(PASS)], &["--no-save"]);
        assert_eq!((code, server.requests().len()), (2, 2), "{path}: {report:#}");
        let sound = with(finding("app.py", (2, 2), "return 1 / n"), "priority", json!(1));
        let (code, report, _) = reviewed(vec![wrong(), found(&[sound])], &["--no-save"]);
        assert_eq!(code, 1, "{path}: {report:#}");
    }
}

/// 002-027
#[test]
fn the_key_of_a_finding_survives_edits_and_other_words() {
    let key = |text: &str, symbol_line: u32, title: &str, category: &str| {
        let one = finding("a.py", (symbol_line, symbol_line), "return a / b");
        let one = with(with(one, "title", json!(title)), "category", json!(category));
        let report = reported(adding(&[("a.py", text)]), &[one]);
        report["issues"][0]["dedupe_key"].as_str().unwrap().to_owned()
    };
    let text = "def f(a, b):\n    return a / b\n";
    let first = key(text, 2, "[P2] Division by zero", "bug");
    assert_eq!(key(text, 2, "[P2] Division by zero", "bug"), first);
    let below = format!("import os\nimport sys\n\n\n{text}");
    assert_eq!(key(&below, 6, "[P2] It raises when b is 0", "bug"), first);
    assert_ne!(key(text, 2, "[P2] Division by zero", "logic"), first);
    assert_ne!(key(&text.replace("f(a", "g(a"), 2, "[P2] Division by zero", "bug"), first);
}

/// 002-028
#[test]
fn confidence_is_a_number_from_0_to_1() {
    for confidence in [0.0, 1.0] {
        let one = with(finding("a.py", (5, 5), "return a"), "confidence", json!(confidence));
        let report = reported(adding(&[("a.py", EQUAL)]), &[one]);
        assert_eq!(report["issues"][0]["confidence"].as_f64(), Some(confidence), "{report:#}");
    }
    for confidence in [json!(-0.1), json!(1.1), json!("high")] {
        let wrong = || {
            found(&[with(
                finding("app.py", (2, 2), "return 1 / n"),
                "confidence",
                confidence.clone(),
            )])
        };
        let (code, report, server) = reviewed(vec![wrong(), wrong()], &["--no-save"]);
        assert_eq!((code, server.requests().len()), (2, 2), "{confidence}: {report:#}");
        assert_eq!(report["parse_error"], "invalid format", "{confidence}");
    }
}

/// 000-080, 000-134
#[test]
fn an_answer_alone_needs_no_nonce() {
    let quoted = json!({"output": PASS}).to_string();
    for answer in [
        PASS.to_owned(),
        format!("```json\n{PASS}\n```"),
        format!("{{\"output\": {PASS}}}"),
        quoted,
        PASS.replacen('{', "{\"remarks\": [1, 2], ", 1),
    ] {
        let (code, report, server) = reviewed(vec![says(answer.as_str())], &["--no-save"]);
        assert_eq!((code, server.requests().len()), (0, 1), "{answer}: {report:#}");
        assert_eq!(report["stats"]["answers_read"].as_object().unwrap().len(), 1, "{answer}");
    }
}

/// 002-038
#[test]
fn the_time_of_a_review_has_the_time_of_its_models_in_it() {
    let late = says(PASS).after(Duration::from_secs(1));
    let (code, report, _) = reviewed(vec![late], &["--no-save"]);
    assert_eq!(code, 0, "{report:#}");
    let seconds = |name: &str| report["stats"][name].as_f64().unwrap();
    let (all, models) = (seconds("latency_seconds_e2e"), seconds("latency_seconds_llm"));
    assert!(models >= 1.0 && all >= models, "{all} {models}");
}
