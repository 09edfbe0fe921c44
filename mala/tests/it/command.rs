//! `mala review --reviewer command` from the outside: scripts as reviewers and as parsers, and the
//! model server in the parser's place.

use crate::world;
use insta::assert_snapshot;
use mala_testkit::model_server::{ModelAnswer, ModelServer, ServerStep};
use mala_testkit::{TestRepo, World};
use serde_json::{Value, json};

struct CommandWorld {
    repo: TestRepo,
    world: World,
}

impl CommandWorld {
    /// A repository whose last commit changes `a.py`, and these settings of the command.
    fn new(block: &str) -> Self {
        let config = format!("review:\n  command: {{{block}}}\n");
        let repo =
            TestRepo::with_files(&[("mala.yaml", &config), ("a.py", "def f(x):\n    return x\n")]);
        repo.write("a.py", "def f(x):\n    return x + 1\n");
        repo.commit("add one");
        let world = world()
            .with_program("reviewer", include_str!("command/reviewer.sh"))
            .with_program("parser", include_str!("command/parser.sh"))
            .with_env("SECRET_TOKEN", "not for the command")
            .in_folder(repo.root());
        Self { repo, world }
    }

    fn with_server(self, server: &ModelServer) -> Self {
        let world = self.world.with_env("ANTHROPIC_API_KEY", "test-key");
        Self { world: world.with_env("ANTHROPIC_BASE_URL", server.url()), repo: self.repo }
    }

    fn review(&self, more: &[&str]) -> (i32, Value) {
        let mut args = vec!["review", "--reviewer", "command", "--json", "HEAD~1..HEAD"];
        args.extend(more);
        let output = self.world.output(&args, b"");
        let code = output.status.code().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let json = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("exit {code}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
        });
        (code, json)
    }
}

#[track_caller]
fn check(reviewer: &str, parser: &str, code: i32, says: &str) -> Value {
    let desk =
        CommandWorld::new(&format!("run: [reviewer, {reviewer}], parser: [parser, {parser}]"));
    let (got, json) = desk.review(&["--timeout", "8"]);
    let case = format!("{reviewer}, {parser}: {json:#}");
    assert_eq!(got, code, "{case}");
    assert!(json["parse_error"].as_str().unwrap_or_default().contains(says), "{case}");
    assert_eq!(json["passed"], code == 0, "{case}");
    assert_eq!(desk.repo.git(&["status", "--porcelain"]), "", "{case}");
    json
}

#[test]
fn a_proven_approval_passes() {
    let json = check("approve", "approved", 0, "");
    assert_eq!(
        (&json["verdict"], &json["coverage"]["hunks_accounted"]),
        (&"PASS".into(), &1.into())
    );
    assert_eq!(json["reviewers"][0]["reviewer"], "command");
    check("breaks_after", "approved", 0, "");
    check("hangs_after", "approved", 0, "");
}

#[test]
fn an_objection_blocks_with_what_it_names() {
    let json = check("object", "revision", 1, "");
    let issue = &json["issues"][0];
    assert_eq!(
        (&issue["reviewer"], &issue["evidence_snippet"]),
        (&"command".into(), &"    return x + 1".into())
    );
    assert_eq!(check("object", "words", 1, "")["issues"][0]["priority"], 0);
    assert_eq!(check("reject", "rejected", 1, "")["issues"][0]["priority"], 1);
    assert_eq!(check("unproven_object", "revision", 1, "")["coverage"]["hunks_accounted"], 0);
}

#[test]
fn without_proof_there_is_no_pass() {
    let no_proof = "the answer does not prove that it is a review";
    check("unproven", "approved", 2, no_proof);
    check("other_head", "approved", 2, no_proof);
    check("no_result", "approved", 2, no_proof);
    check("echo", "approved", 2, "it only repeats the prompt");
    check("partial", "approved", 2, "1 of 1 hunks were not reviewed");
    check("empty", "approved", 2, "without an answer");
}

#[test]
fn a_parser_decides_nothing() {
    check("object", "approved", 2, "the review says NEEDS_REVISION and its parser APPROVED");
    check("approve", "revision", 2, "the review says APPROVED and its parser NEEDS_REVISION");
    check("object", "invents", 2, "names no file and line");
    check("approve", "garbage", 2, "parser: invalid json");
    check("approve", "crash", 2, "exit 3");
    check("approve", "never", 3, "timeout");
}

#[test]
fn a_command_that_goes_wrong_is_no_review() {
    check("crash", "approved", 2, "exit 7 without an answer: cannot go on");
    check("never", "approved", 3, "timeout");
    check("writes", "approved", 2, "it wrote to the tree that it reviews: new.py");
    check("flood", "approved", 2, "no answer in the first");
}

#[test]
fn its_settings_reach_the_command() {
    let desk = CommandWorld::new(
        "run: [reviewer, approve_with, '{model}'], parser: [parser, approved], model: big, keep: [KEPT], env: {DEBUG: secret-value}",
    );
    let desk = CommandWorld { world: desk.world.with_env("KEPT", "kept-value"), repo: desk.repo };
    let (code, json) = desk.review(&["--debug"]);
    assert_eq!(code, 0, "{json:#}");
    let log = json["review_log_path"].as_str().unwrap();
    let said = std::fs::read_to_string(format!("{log}/debug-command-review-answer.txt")).unwrap();
    assert!(said.starts_with("I used big and big, home /"), "{said}");
    assert!(said.contains("kept-value") && !said.contains("not for the command"), "{said}");
    assert!(!said.contains(&desk.world.home().display().to_string()), "a home of its own: {said}");
    let shown = desk.world.run(&["config", "show"]);
    assert!(shown.contains("DEBUG") && !shown.contains("secret-value"), "{shown}");

    let desk = CommandWorld::new("run: [reviewer, task], parser: [parser, approved]");
    let task = desk.world.home().join("task.txt");
    std::fs::write(&task, "the task at hand").unwrap();
    let (code, json) = desk.review(&["--context-file", &task.display().to_string()]);
    assert_eq!(code, 0, "{json:#}");
}

#[test]
fn the_working_tree_is_reviewed_too_and_the_index_is_not() {
    let desk = CommandWorld::new("run: [reviewer, approve], parser: [parser, approved]");
    desk.repo.write("a.py", "def f(x):\n    return x + 2\n");
    let shown = desk.world.run(&["review", "--reviewer", "command", "--no-save"]);
    assert!(shown.starts_with("[exit 0]"), "{shown}");
    desk.repo.git(&["add", "a.py"]);
    assert_snapshot!(desk.world.run(&["review", "--reviewer", "command", "--staged"]), @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  a.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  command: could not review: it reviews commits or the working tree,
               not the index or a patch, 0 findings, 0 dropped
    scope:  the index against HEAD ([COMMIT] to the index), 1 file, 1 hunk, +1
            -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    COULD NOT REVIEW  no reviewer available: it reviews commits or the working tree,
                      not the index or a patch
    [stderr]
    error: cannot run the reviewer command: it reviews commits or the working tree, not the index or a patch
    ");
}

#[test]
fn a_command_that_is_not_there_is_named() {
    let desk = CommandWorld::new("run: [no-such-reviewer], parser: [parser, approved]");
    assert_snapshot!(desk.world.run(&["review", "--reviewer", "command", "HEAD~1..HEAD"]), @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  a.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  command: could not review: no-such-reviewer not found, 0 findings, 0
               dropped
    scope:  HEAD~1..HEAD ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    COULD NOT REVIEW  no reviewer available: no-such-reviewer not found
    [stderr]
    error: cannot run the reviewer command: no-such-reviewer not found
    hint: add it to PATH, or set its full path
    ");
    let desk = CommandWorld::new("parser: [parser, approved]");
    assert_snapshot!(desk.world.run(&["review", "--reviewer", "command", "HEAD~1..HEAD"]), @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  a.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  command: could not review: no command is set, 0 findings, 0 dropped
    scope:  HEAD~1..HEAD ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    COULD NOT REVIEW  no reviewer available: no command is set
    [stderr]
    error: cannot run the reviewer command: no command is set
    hint: set review.command.run in mala.yaml
    ");
    let desk = CommandWorld::new("run: [reviewer, approve]");
    assert_snapshot!(desk.world.run(&["review", "--reviewer", "command", "HEAD~1..HEAD"]), @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  a.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  command: could not review: without review.command.parser, its parser
               is a model: ANTHROPIC_API_KEY is not set, 0 findings, 0 dropped
    scope:  HEAD~1..HEAD ([COMMIT] to [COMMIT]), 1 file, 1 hunk, +1 -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    COULD NOT REVIEW  no reviewer available: without review.command.parser, its
                      parser is a model: ANTHROPIC_API_KEY is not set
    [stderr]
    error: cannot run the reviewer command: without review.command.parser, its parser is a model: ANTHROPIC_API_KEY is not set
    hint: set ANTHROPIC_API_KEY, or models.key_commands.anthropic in ~/.config/mala/config.yaml
    ");
}

fn says(json: Value) -> ServerStep {
    ModelAnswer::text(json.to_string()).into()
}

fn revision() -> Value {
    json!({"result": "NEEDS_REVISION", "issues": [{"file": "a.py", "line_start": 2, "line_end": 2,
           "priority": 1, "title": "breaks", "body": "breaks when x is None"}],
           "summary": "no", "blocking": false})
}

fn approved() -> Value {
    json!({"result": "APPROVED", "issues": [], "summary": "", "blocking": false})
}

fn modelled(reviewer: &str, steps: Vec<ServerStep>) -> (i32, Value, ModelServer) {
    let server = ModelServer::steps(steps);
    let desk = CommandWorld::new(&format!("run: [reviewer, {reviewer}]")).with_server(&server);
    let (code, json) = desk.review(&[]);
    (code, json, server)
}

#[test]
fn without_a_parser_the_agents_model_brings_it_into_form() {
    let (code, json, server) = modelled("approve", vec![says(approved())]);
    assert_eq!(code, 0, "{json:#}");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(
        (&json["stats"]["llm_calls"], &json["stats"]["cost_usd"]),
        (&1.into(), &Value::Null)
    );
    assert_snapshot!(json["warnings"].to_string(), @r#"["command: claude-sonnet-5-5 was asked 1 times: 594 tokens, $0.0015"]"#);

    let check = |outcome: &str| {
        says(json!({"checks": [{"id": "c1", "outcome": outcome, "why": "looked"}]}))
    };
    let (code, json, _) = modelled("object", vec![says(revision()), check("holds")]);
    assert_eq!(code, 1, "{json:#}");
    assert_eq!(json["issues"][0]["verification"]["outcome"], "verified");
    let (code, json, _) = modelled("object", vec![says(revision()), check("refuted")]);
    assert_eq!((code, &json["issues"]), (0, &json!([])), "{json:#}");
    assert_eq!(json["refuted"][0]["verification"]["outcome"], "refuted");
}

#[test]
fn a_model_decides_nothing_either() {
    let (code, json, _) = modelled("unproven", vec![says(approved())]);
    assert_eq!(code, 2, "{json:#}");
    let (code, json, _) = modelled("object", vec![says(approved())]);
    assert_eq!(code, 2, "{json:#}");
    let prose: ServerStep = ModelAnswer::text("It is APPROVED.").into();
    let (code, json, _) = modelled("approve", vec![prose.clone(), prose]);
    assert_eq!(code, 2, "{json:#}");
    let (_, _, server) = modelled("echo", vec![]);
    assert_eq!(server.requests().len(), 0, "no model is asked about an echo");
}
