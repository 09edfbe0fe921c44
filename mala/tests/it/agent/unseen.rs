//! What a review may not lose on the way: a true claim, a hidden line, a secret, and what a
//! model may not start.

use super::*;

const KEY_LINE: &str = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpJ";

fn claim(file: &str, line: u32, title: &str) -> String {
    let finding = json!({
        "file_path": file, "line_start": line, "line_end": line, "priority": 0, "title": title,
        "body": "It fails.",
    });
    json!({"verdict": "FAIL", "findings": [finding]}).to_string()
}

/// A repository with one more file in its working tree.
fn with_file(file: &str, before: Option<&str>, after: &str) -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]);
    world.write("README", "r\n");
    if let Some(before) = before {
        world.write(file, before);
    }
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", "start"]);
    world.write(file, after);
    world
}

#[test]
fn only_a_definition_refutes_that_something_is_missing() {
    let python = "def other(config):\n    return config\n\ndef main():\n    return config.path\n";
    let rows = [
        ("a.js", "const a = 1;\nconst total = sum(prices);\n", 2, "`prices` is not defined", false),
        ("b.py", python, 5, "`config` is not defined", false),
        ("c.js", "let user;\nlog(user.id);\n", 2, "`user` is undefined before login", false),
        ("d.py", "if x:\n    import os\nos.getcwd()\n", 3, "`os` is not imported", false),
        ("e.py", "import os\n\nos.getcwd()\n", 3, "`os` is not imported", true),
    ];
    for (file, text, line, title, refuted) in rows {
        let title = format!("[P0] {title}");
        let server = ModelServer::steps(vec![says(claim(file, line, &title)), holds()]);
        let world = with_server(with_file(file, None, text), &server);
        let (code, report) = review(&world, &["--no-save"]);
        let list = if refuted { "refuted" } else { "issues" };
        let outcome = &report[list][0]["verification"]["outcome"];
        let expected = if refuted { (0, "refuted") } else { (1, "verified") };
        assert_eq!((code, outcome.as_str().unwrap()), expected, "{file}: {report:#}");
    }
}

#[test]
fn markers_of_a_key_hide_no_code() {
    let code = "// -----BEGIN RSA PRIVATE KEY-----\nexport function pay(user) {\n  return steal(user);\n}\n// -----END RSA PRIVATE KEY-----\n";
    let server = ModelServer::steps(vec![
        ModelAnswer::call("read_file", json!({"path": "pay.js"})).into(),
        says(PASS),
    ]);
    let world = with_server(with_file("pay.js", None, code), &server);
    let (code, _) = review(&world, &["--no-save"]);
    assert_eq!(code, 0);
    let requests = server.requests();
    assert!(requests[0].user_text().contains("return steal(user);"));
    assert!(requests[1].tool_results()[0].contains("return steal(user);"));
}

#[test]
fn a_hidden_key_is_a_finding_or_unread() {
    let lines = format!("{KEY_LINE}\n").repeat(8);
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\n");
    for (text, accounted, said) in [
        (key, 1, None),
        (lines, 0, Some("key.txt: 8 changed lines are hidden as a secret and not reviewed")),
    ] {
        let server = ModelServer::always(ModelAnswer::text(PASS));
        let world = with_server(with_file("key.txt", None, &text), &server);
        let (code, report) = review(&world, &["--no-save"]);
        assert_eq!(code, if accounted == 1 { 1 } else { 2 }, "{report:#}");
        assert_eq!(report["coverage"]["hunks_accounted"], accounted, "{report:#}");
        let warnings = report["warnings"].to_string();
        let expected = said.unwrap_or("hidden as a secret");
        assert_eq!(warnings.contains(expected), said.is_some(), "{warnings}");
        assert_eq!(report["issues"].as_array().unwrap().len(), accounted, "{report:#}");
    }
}

/// 002-091
#[test]
fn a_changed_line_is_sent_whole_or_counts_as_unread() {
    let long = |n: usize| format!("x = [{}]; the_end = 7\n", "1, ".repeat(n));
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(with_file("a.py", Some("x = []\n"), &long(1_500)), &server);
    let (code, report) = review(&world, &["--no-save"]);
    assert_eq!((code, &report["status"]), (0, &json!("ok")), "{report:#}");
    assert!(server.requests()[0].user_text().contains("the_end = 7"));
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(with_file("a.py", Some("x = []\n"), &long(400_000)), &server);
    let (code, report) = review(&world, &["--no-save"]);
    assert_eq!((code, &report["passed"]), (2, &json!(false)), "{report:#}");
    assert_eq!(report["coverage"]["hunks_accounted"], 0, "{report:#}");
}

#[test]
fn no_line_of_a_key_leaves_in_a_piece_of_it() {
    let key = |middle: &str| {
        let line = format!("{KEY_LINE}\n");
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}{middle}\n{}-----END RSA PRIVATE KEY-----\n",
            line.repeat(8),
            line.repeat(8)
        )
    };
    let other = KEY_LINE.replace("MIIE", "mIIe");
    let world = with_file("deploy.key", Some(&key(KEY_LINE)), &key(&other));
    world.git(&["commit", "-qam", "rotate"]);
    let patch = world.command("git").args(["diff", "HEAD~1", "HEAD"]).output().unwrap().stdout;
    let id = world.command("git").args(["rev-parse", "HEAD"]).output().unwrap().stdout;
    let id = String::from_utf8(id).unwrap();
    let asks = ModelAnswer::call("git_diff", json!({}))
        .and_call("git_show", json!({"commit": id.trim()}))
        .and_call("read_file", json!({"path": "deploy.key"}));
    let leaks = |server: &ModelServer| {
        server.requests().iter().any(|request| {
            let sent = request.body.to_string();
            sent.contains("AKCAQEA0Z3VS5JJ") || sent.contains("mIIe")
        })
    };
    let server = ModelServer::steps(vec![asks.into(), says(PASS)]);
    let world = with_server(world, &server);
    review(&world, &["--no-save", "HEAD~1..HEAD"]);
    assert_eq!(server.requests()[1].tool_results().len(), 3);
    assert!(!leaks(&server));
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(crate::world(), &server);
    world.write("key.patch", patch);
    review(&world, &["--no-save", "--patch", "key.patch"]);
    assert_eq!(server.requests().len(), 1);
    assert!(!leaks(&server));
}

#[test]
fn half_a_secret_in_a_message_does_not_leave() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let world = changed();
    world.git(&["commit", "-qam", &format!("{} {token}", "x".repeat(975))]);
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(world, &server);
    review(&world, &["--no-save", "HEAD~1..HEAD"]);
    assert!(!server.requests()[0].body.to_string().contains("ghp_"));
}

#[test]
fn a_model_starts_no_linter_that_runs_code_of_the_tree() {
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let lint =
        || ModelAnswer::call("run_linter", json!({"linter": "clippy", "path": "src/lib.rs"}));
    for (config, runs) in [("", false), ("review: {linters: {also: [clippy]}}\n", true)] {
        let server = ModelServer::steps(vec![lint().into(), says(PASS)]);
        let world = with_file("src/lib.rs", Some("pub fn f() {}\n"), "pub fn g() {}\n");
        world.write("Cargo.toml", manifest);
        let script = "echo ran >> \"$HOME/ran\"; exit 0";
        let world = world.with_program("cargo-clippy", script).with_program("cargo", script);
        if !config.is_empty() {
            world.commit_file("mala.yaml", config);
        }
        let world = with_server(world, &server);
        let ran = world.home().join("ran");
        review(&world, &["--no-save", "src/lib.rs"]);
        let said = server.requests()[1].tool_results()[0].clone();
        assert_eq!(ran.exists(), runs, "{said}");
        assert_eq!(said.contains("add it to review.linters.also"), !runs, "{said}");
    }
}

#[test]
fn a_change_does_not_put_itself_out_of_review() {
    let marked = "# Code generated by x. DO NOT EDIT.\ndef pay(user):\n    return user\n";
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(with_file("pay.py", None, marked), &server);
    world.write("logo.bin", b"\0\0\x01");
    world.write("wide.txt", [0xff, 0xfe, b'a', 0, b'b', 0]);
    let (code, report) = review(&world, &["--no-save"]);
    assert_eq!((code, &report["files_reviewed"]), (0, &json!(["pay.py"])), "{report:#}");
    assert!(server.requests()[0].user_text().contains("def pay(user):"));
    insta::assert_snapshot!(report["warnings"].to_string(), @r#"["not reviewed: binary: logo.bin, wide.txt"]"#);
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let edited = marked.replace("return user", "return None");
    let world = with_server(with_file("pay.py", Some(marked), &edited), &server);
    let (code, report) = review(&world, &["--no-save"]);
    assert_eq!((code, server.requests().len()), (2, 0), "{report:#}");
    assert_eq!(report["errors"][1], "pay.py is not reviewed: generated");
}
