//! Answers that come in two forms, or with something left open: the kinder one never decides.

use super::*;

/// A finding of the plain form in `app.py`.
fn finding(line: u32, priority: u8, title: &str) -> Value {
    json!({
        "file_path": "app.py",
        "line_start": line,
        "line_end": line,
        "priority": priority,
        "title": title,
        "body": "n may be zero",
    })
}

fn answer(verdict: &str, findings: &[Value]) -> String {
    json!({"verdict": verdict, "findings": findings}).to_string()
}

fn warnings(report: &Value) -> String {
    report["warnings"].to_string()
}

#[test]
fn what_another_call_brings_into_form_can_block_and_never_pass() {
    let p1 = "app.py at line 2: [P1] n may be zero. Priority 1.";
    let p3 = "app.py at line 2: [P3] n may be zero.";
    let both = "app.py line 2: [P0] n may be zero. Also line 1: [P3] n may be zero.";
    let titled = |priority: u8| finding(2, priority, &format!("[P{priority}] n may be zero"));
    for (prose, restructured, code, n_issues) in [
        (p1, answer("FAIL", &[titled(1)]), 1, 1),
        (p1, answer("NEEDS_WORK", &[titled(3)]), 2, 0),
        (p3, answer("NEEDS_WORK", &[titled(3)]), 2, 1),
        (p3, answer("FAIL", &[titled(0)]), 2, 0),
        (both, answer("NEEDS_WORK", &[finding(1, 3, "[P3] n may be zero")]), 2, 1),
        (both, PASS.to_owned(), 2, 0),
    ] {
        let server = ModelServer::new(move |request| {
            let system = request.system();
            if system.starts_with("You bring a text") {
                ModelAnswer::text(restructured.clone()).into()
            } else if system.starts_with("You check claims") {
                holds()
            } else {
                ModelAnswer::text(prose).into()
            }
        });
        let world = with_server(changed(), &server);
        let (found, report) = review(&world, &["--no-save", "--profile", "thorough"]);
        let issues = report["issues"].as_array().unwrap();
        assert_eq!((found, issues.len()), (code, n_issues), "{prose}: {report:#}");
        assert_eq!(report["coverage"]["hunks_accounted"], 0, "{prose}: {report:#}");
        assert_ne!(report["status"], "ok", "{prose}");
    }
}

/// 000-082, 002-048
#[test]
fn an_objection_is_not_gone_because_its_form_was_wrong() {
    let mut bodiless = finding(2, 1, "[P1] Division by zero");
    bodiless.as_object_mut().unwrap().remove("body");
    let mut unquoted = finding(2, 1, "[P1] Division by zero");
    unquoted["when"] = json!("n is 0");
    unquoted["evidence"] = json!("");
    let sound = finding(2, 1, "[P1] Division by zero");
    let unbound = format!("I object: {}", answer("FAIL", std::slice::from_ref(&sound)));
    for (first, problem) in [
        (answer("FAIL", &[bodiless]), "missing field: body"),
        (answer("FAIL", &[unquoted]), "missing field: evidence"),
        (answer("PASS", std::slice::from_ref(&sound)), "invalid verdict: PASS with findings"),
        (answer("FAIL", &[]), "invalid verdict: FAIL without findings"),
        (unbound, "invalid json: text around JSON that lacks the nonce"),
    ] {
        let (code, report, server) = reviewed(vec![says(&*first), says(PASS)], &["--no-save"]);
        let expected = (2, &json!(problem), &json!(false));
        assert_eq!((code, &report["parse_error"], &report["passed"]), expected, "{first}");
        assert!(warnings(&report).contains(&format!("{problem}; asked again")), "{report:#}");
        assert_eq!(server.requests().len(), 2, "{first}");
        let again = answer("FAIL", std::slice::from_ref(&sound));
        let (code, report, _) = reviewed(vec![says(first), says(again)], &["--no-save"]);
        assert_eq!((code, report["issues"].as_array().unwrap().len()), (1, 1), "{report:#}");
        assert!(warnings(&report).contains(&format!("{problem}; asked again")), "{report:#}");
    }
    let broken =
        answer("FAIL", std::slice::from_ref(&sound)).replace("\"findings\":[", "\"findings\":[,");
    let milder = answer("NEEDS_WORK", &[finding(2, 3, "[P3] Division by zero")]);
    for first in [
        broken,
        "app.py:2 divides by zero. Verdict: FAIL".to_owned(),
        "This is a FAIL: app.py:2 divides by zero.".to_owned(),
        r#"{"verdict": "BLOCK"}"#.to_owned(),
        r#"{"verdict": "BLOCK", "findings": []}"#.to_owned(),
        answer("FAIL", &[json!({"file_path": "app.py", "priority": 1, "title": "no lines"})]),
    ] {
        for then in [PASS, milder.as_str()] {
            let (code, report, _) = reviewed(vec![says(&*first), says(then)], &["--no-save"]);
            assert_eq!((code, &report["passed"]), (2, &json!(false)), "{first}: {report:#}");
        }
    }
    // Where nothing was objected, only the form was wrong, and that is said.
    let (code, report, _) = reviewed(vec![says("Looks good!"), says(PASS)], &["--no-save"]);
    assert_eq!((code, &report["status"]), (0, &json!("ok")), "{report:#}");
    insta::assert_snapshot!(warnings(&report), @r#"["agent-sdk: draft: invalid json: expected value at line 1 column 1; asked again"]"#);
}

#[test]
fn answers_that_contradict_each_other_are_none() {
    let server = ModelServer::new(|request| {
        let told = request.user_text();
        let nonce = told.split_once("nonce: ").unwrap().1.get(..32).unwrap();
        let sound = finding(2, 1, "[P1] Division by zero");
        let fail = json!({"nonce": nonce, "verdict": "FAIL", "findings": [sound]});
        let pass = json!({"nonce": nonce, "verdict": "PASS", "findings": []});
        ModelAnswer::text(format!("{fail}\nOn second thought:\n{pass}")).into()
    });
    let (code, report) = review(&with_server(changed(), &server), &["--no-save"]);
    let error = json!("invalid json: answers that contradict each other");
    assert_eq!((code, &report["parse_error"]), (2, &error), "{report:#}");
}

#[test]
fn an_answer_that_still_wants_tools_is_cut_short() {
    let path = || json!({"path": "app.py"});
    let look = ModelAnswer::call("read_file", path());
    let (code, report, _) = reviewed(
        vec![look.into(), ModelAnswer::text(PASS).and_call("read_file", path()).into()],
        &["--no-save"],
    );
    assert_eq!((code, &report["status"]), (0, &json!("truncated")), "{report:#}");
    insta::assert_snapshot!(warnings(&report), @r#"["agent-sdk: draft: 1 tool call not made: no model call is left for what they show"]"#);
}
