//! What the model sees of a change and around it, and what the limits leave, row by row of the
//! specification of the review agent.

use super::*;
use mala_domain::agent::prompts;

/// A repository with these files, whose working tree has others.
fn rewritten(files: &[(&str, String, String)]) -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]);
    for (path, before, _) in files {
        world.write(path, before);
    }
    world.git(&["add", "-A"]).git(&["commit", "-qm", "start"]);
    for (path, _, after) in files {
        world.write(path, after);
    }
    world
}

/// The first request of a review that passes.
fn first_request(world: World) -> ModelRequest {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let (code, report) = review(&with_server(world, &server), &["--no-save"]);
    assert_eq!(code, 0, "{report:#}");
    server.requests().remove(0)
}

/// Lines `NAME_N = N`, of which some are changed.
fn flat(name: &str, n_lines: usize, changed: &[usize]) -> String {
    let line = |n: usize| match changed.contains(&n) {
        true => format!("{name}_{n} = 0\n"),
        false => format!("{name}_{n} = {n}\n"),
    };
    (1..=n_lines).map(line).collect()
}

/// Whether a prompt shows a line of `flat` as it is at head.
fn shows(told: &str, name: &str, line: usize) -> bool {
    told.contains(&format!("\n{line} {name}_{line} = "))
}

/// 002-080
#[test]
fn the_full_diff_is_in_the_first_request() {
    let hunks = [("a", &[10, 90][..]), ("b", &[10, 90]), ("c", &[50])];
    let files = hunks
        .map(|(name, lines)| (format!("{name}.py"), flat(name, 100, &[]), flat(name, 100, lines)));
    let files = files
        .each_ref()
        .map(|(path, before, after)| (path.as_str(), before.clone(), after.clone()));
    let told = first_request(rewritten(&files)).user_text();
    for (name, lines) in hunks {
        for n in lines {
            assert!(told.contains(&format!("{n}+{name}_{n} = 0\n")), "{name} {n}: {told}");
            assert!(told.contains(&format!("-{name}_{n} = {n}\n")), "{name} {n}: {told}");
        }
    }
}

/// 002-081
#[test]
fn flat_code_is_shown_with_20_lines_around_the_change() {
    let file = ("a.py", flat("v", 200, &[]), flat("v", 200, &[100]));
    let told = first_request(rewritten(&[file])).user_text();
    let shown = [79, 80, 99, 101, 120, 121].map(|line| shows(&told, "v", line));
    assert_eq!(shown, [false, true, true, true, true, false], "{told}");
}

/// A function of so many lines; `last` is its last one.
fn function(name: &str, n_lines: usize, last: &str) -> String {
    let body: String = (2..n_lines).map(|n| format!("    {name}_{n}()\n")).collect();
    format!("def {name}():\n{body}    {last}\n\n")
}

/// 002-004, 002-082
#[test]
fn code_in_a_function_is_shown_with_its_function_and_no_other() {
    let text = |last: &str| {
        let rest: String = (0..150).map(|n| function(&format!("other{n}"), 12, "pass")).collect();
        let own = function("own", 60, last);
        format!("{}{own}{}{rest}", function("before", 5, "pass"), function("after", 5, "pass"))
    };
    let file = ("a.py", text("return 1"), text("return 2"));
    let told = first_request(rewritten(&[file])).user_text();
    for part in ["def own():", "    own_2()", "    own_59()", "+    return 2"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    for part in ["def before", "before_2", "def after", "after_2", "other0", "other149"] {
        assert!(!told.contains(part), "{part}: {told}");
    }
}

/// 002-083
#[test]
fn symbols_are_shown_where_the_language_is_known() {
    let text = |value: u32| {
        let method = |name: &str, value: u32| {
            let body: String = (0..30).map(|n| format!("        {name}_{n}()\n")).collect();
            format!("    def {name}(self):\n{body}        return {value}\n\n")
        };
        format!("class Box:\n{}{}{}", method("open", 1), method("fill", value), method("close", 1))
    };
    let told = first_request(rewritten(&[("a.py", text(1), text(2))])).user_text();
    for part in ["@@ in Box.fill", "    def fill(self):", "fill_0()", "fill_29()"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("open_0") && !told.contains("close_29"), "{told}");
    let file = ("a.unknown", flat("v", 200, &[]), flat("v", 200, &[100]));
    let told = first_request(rewritten(&[file])).user_text();
    assert!(shows(&told, "v", 80) && !shows(&told, "v", 79), "{told}");
}

/// 002-044, 002-058
#[test]
fn the_first_request_has_the_task_the_change_the_function_and_the_tools() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    let text = world.home().join("text.md");
    std::fs::write(&text, "It halves numbers.\n").unwrap();
    let flags = ["--pr-title", "Halve faster", "--pr-text", text.to_str().unwrap()];
    let (code, report) = review(&world, &flags);
    assert_eq!((code, &report["stats"]["llm_calls"]), (0, &json!(1)), "{report:#}");
    let request = &server.requests()[0];
    assert!(!request.system().is_empty());
    assert_eq!(request.tools().len(), 10);
    let told = request.user_text();
    for part in ["Halve faster", "It halves numbers.", "2+    return 1 / n", "1 def half(n):"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// A draft with one urgent and doubtful finding in `a.py`.
fn doubtful() -> ServerStep {
    let finding = json!({
        "file_path": "a.py", "line_start": 50, "line_end": 50, "priority": 1,
        "title": "[P1] Wrong value", "body": "a_50 is 0.", "category": "bug", "when": "always",
        "then": "it is wrong", "evidence": "a_50 = 0", "suggestion": "", "confidence": 0.3,
    });
    says(json!({"verdict": "FAIL", "findings": [finding]}).to_string())
}

fn two_files() -> World {
    rewritten(&[
        ("a.py", flat("a", 100, &[]), flat("a", 100, &[50])),
        ("b.py", flat("b", 100, &[]), flat("b", 100, &[50])),
    ])
}

/// 002-062
#[test]
fn the_stronger_model_gets_the_file_of_the_finding_alone() {
    let server = ModelServer::steps(vec![doubtful(), holds(), holds()]);
    let world = with_server(two_files(), &server);
    let config = "agent_sdk_escalation_model: opus\nreview: {budget: {max_llm_calls: 3}}\n";
    world.commit_file("mala.yaml", config);
    let (_, report) = review(&world, &["--no-save", "a.py", "b.py"]);
    let request = server.requests().remove(2);
    assert_eq!(request.model(), "claude-opus-5-5", "{report:#}");
    let told = request.user_text();
    assert!(told.contains("50+a_50 = 0") && !told.contains("b_50"), "{told}");
}

/// 002-061, 002-064
#[test]
fn what_no_call_is_left_for_is_not_escalated_and_named() {
    let read = || ServerStep::from(ModelAnswer::call("read_file", json!({"path": "a.py"})));
    let server = ModelServer::steps(vec![read(), doubtful()]);
    let world = with_server(two_files(), &server);
    world.commit_file("mala.yaml", "agent_sdk_escalation_model: opus\n");
    let (code, report) = review(&world, &["--no-save", "a.py", "b.py"]);
    assert_eq!((code, server.requests().len()), (1, 2), "{report:#}");
    assert_eq!(report["model_used"], "claude-sonnet-5-5");
    insta::assert_snapshot!(report["warnings"].to_string(), @r#"["agent-sdk: 1 claim not checked: all 2 model calls are spent","agent-sdk: 1 doubtful claim not escalated, the calls are spent: a.py:50"]"#);
    // Without a stronger model there is nothing to escalate to.
    let server = ModelServer::steps(vec![doubtful(), holds()]);
    let (_, report) = review(&with_server(two_files(), &server), &["--no-save"]);
    assert_eq!(report["model_used"], "claude-sonnet-5-5", "{report:#}");
}

/// 002-057
#[test]
fn with_one_call_there_is_a_draft_only() {
    let server = ModelServer::steps(vec![doubtful()]);
    let world = with_server(two_files(), &server);
    world.commit_file("mala.yaml", "review: {budget: {max_llm_calls: 1}}\n");
    let (code, report) = review(&world, &["--no-save", "a.py", "b.py"]);
    assert_eq!((code, server.requests().len()), (1, 1), "{report:#}");
    assert_eq!(report["status"], "truncated", "{report:#}");
    let verification = &report["issues"][0]["verification"];
    assert_eq!(verification["outcome"], "not_checked");
    assert_eq!(verification["how"], "not checked: all 1 model calls are spent");
}

/// 002-089, 002-092
#[test]
fn tokens_are_limited_before_a_call_and_counted_by_the_provider() {
    use mala_testkit::model_server::AnswerUsage;
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(two_files(), &server);
    world.commit_file("mala.yaml", "review: {budget: {max_tokens: 900}}\n");
    let (code, report) = review(&world, &["--no-save", "a.py", "b.py"]);
    assert_eq!((code, server.requests().len()), (2, 0), "{report:#}");
    assert_eq!(report["passed"], false, "{report:#}");
    let said = AnswerUsage::Said { input: 1_234, cached: 0, output: 66 };
    let server = ModelServer::always(ModelAnswer::text(PASS).usage(said));
    let (code, report) = review(&with_server(two_files(), &server), &["--no-save"]);
    assert_eq!((code, &report["stats"]["tokens_used"]), (0, &json!(1_300)), "{report:#}");
}

/// 002-091
#[test]
fn what_is_cut_is_cut_between_hunks_and_between_characters() {
    let text = |n: usize| -> String {
        (0..n).map(|line| format!("täglich_{line} = '日本語 {line}'\n")).collect()
    };
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(
        rewritten(&[
            ("a.py", String::new(), text(60)),
            ("b.py", String::new(), text(9_000)),
            ("c.py", String::new(), text(40)),
        ]),
        &server,
    );
    let (code, report) = review(&world, &["--no-save"]);
    assert_eq!((code, &report["status"]), (2, &json!("truncated")), "{report:#}");
    let told = server.requests()[0].user_text();
    assert!(!told.contains('\u{fffd}'), "a broken character");
    assert!(told.contains("täglich_59 = '日本語 59'"), "{told}");
    assert!(!told.contains("täglich_60 = "), "half a hunk: {told}");
}

/// A change of 36 hunks and 287 lines, as it stood in a real project.
#[test]
fn a_change_of_many_hunks_is_read_in_full() {
    let lines: Vec<usize> = (1..=36).map(|n| n * 40).collect();
    let after: String = flat("v", 1_500, &lines)
        .lines()
        .map(|line| match line.ends_with(" = 0") {
            true => format!("{line}\n{}", "extra_line = 1\n".repeat(6)),
            false => format!("{line}\n"),
        })
        .collect();
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(rewritten(&[("a.py", flat("v", 1_500, &[]), after)]), &server);
    let (code, report) = review(&world, &["--no-save", "--profile", "standard"]);
    assert_eq!((code, &report["status"]), (0, &json!("ok")), "{report:#}");
    assert_eq!(report["coverage"]["hunks_accounted"], 36, "{report:#}");
}

/// Every part of the context stands once in a request: rules in drafts alone, no uses in files that tools
/// write, and none of a lock file.
#[test]
fn rules_and_uses_are_told_once_and_no_noise_with_them() {
    let server = ModelServer::new(|request| {
        let system = request.system();
        if system == prompts::VERIFY {
            holds()
        } else if system == prompts::EDIT {
            says(r#"{"findings": []}"#)
        } else {
            says(PLAIN)
        }
    });
    let world = with_server(changed(), &server);
    world.git(&["checkout", "-q", "."]).write("REVIEW.md", "Never divide by zero.\n");
    world.write("user.py", "from app import half\n\nprint(half(4))\n");
    world.write("other.py", "def half(n):\n    return n // 2\n\n\nhalf(2)\n");
    world.write("dist/app.min.js", format!("var a={};half(1);\n", "1,".repeat(3_000)));
    world.write("poetry.lock", "[[package]]\nname = \"half\"\n");
    world.git(&["add", "-A"]).git(&["commit", "-qm", "more"]);
    world.write("app.py", AFTER).write("poetry.lock", "[[package]]\nname = \"half-more\"\n");
    let (code, report) = review(&world, &["--no-save", "--profile", "thorough"]);
    assert_eq!(code, 1, "{report:#}");
    for request in server.requests() {
        let told = request.user_text();
        let n_rules = told.matches("Never divide by zero.").count();
        assert_eq!(n_rules, usize::from(request.system() == prompts::SYSTEM), "{told}");
        for noise in ["app.min.js", "other.py", "half-more"] {
            assert!(!told.contains(noise), "{noise}: {told}");
        }
    }
    let told = server.requests()[0].user_text();
    assert_eq!(told.matches("user.py:3").count(), 1, "{told}");
}

/// Tool calls of the draft leave calls for the check, which has tools too.
#[test]
fn standard_explores_and_still_checks_what_it_reports() {
    let read = || ServerStep::from(ModelAnswer::call("read_file", json!({"path": "app.py"})));
    let server = ModelServer::new(move |request| {
        let (system, n_results) = (request.system(), request.tool_results().len());
        if system == prompts::EDIT {
            return says(r#"{"findings": []}"#);
        }
        let is_check = system == prompts::VERIFY;
        match (is_check, n_results) {
            (false, 0..8) | (true, 0..3) => read(),
            (false, _) => says(PLAIN),
            (true, _) => holds(),
        }
    });
    let world = with_server(changed(), &server);
    let (code, report) = review(&world, &["--no-save", "--profile", "standard"]);
    assert_eq!((code, &report["status"]), (1, &json!("ok")), "{report:#}");
    assert_eq!(report["issues"][0]["verification"]["outcome"], "verified", "{report:#}");
    assert_eq!(report["stats"]["tool_calls"], 19, "{report:#}");
    assert_eq!(report["warnings"], json!([]), "{report:#}");
    assert!(server.requests()[0].user_text().contains("Budget: You have "));
}

/// An answer may be as long as the profile and the model allow.
#[test]
fn the_length_of_answers_follows_the_profile_and_the_model() {
    for (profile, model, tokens) in [
        ("lean", "sonnet", 8_000),
        ("standard", "sonnet", 32_000),
        ("thorough", "opus", 32_000),
        ("standard", "gpt-4.1-mini", 32_000),
    ] {
        let server = ModelServer::always(ModelAnswer::text(PASS));
        let world = with_all_keys(changed(), &server);
        review(&world, &["--no-save", "--profile", profile, "--model", model]);
        let sent = server.requests()[0].max_output_tokens();
        assert_eq!(sent, Some(tokens), "{profile} {model}");
    }
}
