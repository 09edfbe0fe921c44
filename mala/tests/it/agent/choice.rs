//! Which reviewer reviews, and the message when none can.

use super::*;
use insta::assert_snapshot;

#[test]
fn with_a_key_and_nothing_said_the_agent_reviews() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server).with_env("MALA_LOG", "info");
    let output = world.output(&["review", "--json"], b"");
    assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"
    INFO Initializing code reviewer: agent-sdk
    INFO Starting review for the working tree against HEAD with agent-sdk
    INFO Reviewing with Claude Agent SDK... model=claude-sonnet-5-5
    ");
    assert_eq!(server.requests().len(), 2, "two drafts");
}

/// 000-018
#[test]
fn without_a_key_the_built_in_analyzers_review_and_say_so_first() {
    assert_snapshot!(changed().run(&["review", "--no-save"]), @"
    [exit 0]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    no findings.

    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    PASS  no findings
    ");
}

#[test]
fn only_a_missing_key_with_nothing_said_leaves_it_to_the_built_in_analyzers() {
    let key = ("ANTHROPIC_API_KEY", "test-key");
    type Row<'r> = (&'r [(&'r str, &'r str)], &'r str, &'r [&'r str]);
    let rows: &[Row<'_>] = &[
        (&[key], "", &["--model", "nonsense-1"]),
        (&[key], "agent_sdk_reviewer_model: nonsense\n", &[]),
        (&[key, ("ANTHROPIC_BASE_URL", "notaurl")], "", &[]),
        (&[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "notaurl")], "", &[]),
        (&[], "", &["--model", "sonnet"]),
        (&[], "agent_sdk_reviewer_model: gpt-4.1\n", &[]),
        (&[], "agent_sdk_escalation_model: opus\n", &[]),
        (&[], "", &["--profile", "thorough"]),
        (&[], "review: {budget: {profile: quick}}\n", &[]),
        (&[], "", &["--record", "tape"]),
        (&[], "", &["--replay", "tape"]),
    ];
    let mut all = String::new();
    for (variables, config, args) in rows {
        let world =
            variables.iter().fold(changed(), |world, (name, value)| world.with_env(name, *value));
        if !config.is_empty() {
            world.commit_file("mala.yaml", config);
        }
        let args: Vec<&str> = ["review", "--no-save"].iter().chain(*args).copied().collect();
        let variables: String =
            variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        all.push_str(&format!("{variables}{config:?} {args:?}\n{}", world.run(&args)));
        assert!(!world.folder().join("tape").exists(), "{args:?}");
    }
    assert_snapshot!(all);
    // Without a key, the address does not matter.
    let without_key = changed().run(&["review", "--no-save"]);
    for address in ["https://models.example", "notaurl"] {
        let shown = changed().with_env("ANTHROPIC_BASE_URL", address).run(&["review", "--no-save"]);
        assert_eq!(shown, without_key);
    }
}

/// 000-019, 000-021
#[test]
fn a_reviewer_that_is_named_never_falls_back() {
    let by_flag = changed().run(&["review", "--reviewer", "agent-sdk"]);
    assert_snapshot!(by_flag, @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  app.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  agent-sdk: could not review: ANTHROPIC_API_KEY is not set, 0
               findings, 0 dropped
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    COULD NOT REVIEW  no reviewer available: ANTHROPIC_API_KEY is not set
    [stderr]
    error: cannot run the reviewer agent_sdk: ANTHROPIC_API_KEY is not set
    hint: set ANTHROPIC_API_KEY, or models.key_commands.anthropic in ~/.config/mala/config.yaml
    ");
    let world = changed();
    world.commit_file("mala.yaml", "reviewer_type: agent_sdk\n");
    assert_eq!(world.run(&["review"]), by_flag);
}

#[test]
fn a_model_that_is_named_never_falls_back() {
    let with_model =
        |name: &str| changed().run(&["review", "--reviewer", "agent_sdk", "--model", name]);
    assert_snapshot!(with_model("gpt-4.1-mini"), @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  app.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  agent-sdk: could not review: OPENAI_API_KEY is not set, 0 findings, 0
               dropped
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    COULD NOT REVIEW  no reviewer available: OPENAI_API_KEY is not set
    [stderr]
    error: cannot run the reviewer agent_sdk: OPENAI_API_KEY is not set
    hint: set OPENAI_API_KEY, or models.key_commands.openai in ~/.config/mala/config.yaml
    ");
    assert_snapshot!(with_model("sonet"), @"
    [exit 4]
    [stdout]
    The change could not be reviewed.

    not reviewed:  app.py (1 hunk)
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  agent-sdk: could not review: unknown model 'sonet', 0 findings, 0
               dropped
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1
    report:  [WORK]/.mala/runs/[RUN]/review.md

    COULD NOT REVIEW  no reviewer available: unknown model 'sonet'
    [stderr]
    error: unknown model 'sonet'
    hint: did you mean `sonnet`?
    ");
}

/// 000-057
#[test]
fn the_configuration_names_the_reviewer_and_its_model() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    world.commit_file("mala.yaml", "reviewer_type: agent-sdk\nagent_sdk_reviewer_model: haiku\n");
    let (_, report) = review(&world, &[]);
    assert_eq!(report["model_used"], "claude-haiku-5-5");
    assert_eq!(server.requests()[0].model(), "claude-haiku-5-5");
    world.commit_file("mala.yaml", "reviewer_type: cerberus\n");
    assert!(world.run(&["review"]).starts_with("[exit 4]"), "another reviewer is another one");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn the_key_of_another_provider_brings_its_model() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world =
        changed().with_env("OPENAI_API_KEY", "test-key").with_env("OPENAI_BASE_URL", server.url());
    let output = world.output(&["review", "--json"], b"");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(server.requests()[0].model(), "gpt-4.1-mini");
    assert_eq!(report["passed"], true);
}

/// 000-001, 000-090
#[test]
fn it_needs_no_program_but_git() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server).with_only_programs(&["git"]);
    let (code, _) = review(&world, &[]);
    assert_eq!((code, server.requests().len()), (0, 1));
}

#[test]
fn a_dry_run_calls_no_model() {
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let world = with_server(changed(), &server);
    assert_snapshot!(plan(&world), @"
    [exit 0]
    [stdout]
    model      claude-sonnet-5-5
    profile    standard
    looks      draft, second draft
    hunks      1 of 1 would be sent, with 0 hints
    prompt     NNNN bytes in N part, about NNNN tokens
    reserved   $N.NNNN at most for the first calls
    limits     60 model calls, 80 tool calls, 6000000 tokens, $5.00, 600 s
               No model was called.
    ");
    let output = world.output(&["review", "--dry-run", "--json", "--profile", "thorough"], b"");
    let outlook: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outlook["looks"], json!(["draft", "second draft", "follow-up"]));
    assert_eq!(outlook["parts"][0]["files"], json!(["app.py"]));
    assert!(outlook["prompt_bytes"].as_u64() > Some(1_000), "{outlook:#}");
    assert!(outlook["reserved_usd"].as_f64() > Some(0.0), "{outlook:#}");
    assert_eq!(server.requests().len(), 0);
    assert!(!world.folder().join(".mala").exists(), "nothing is kept");
}

/// The output of a dry run, without the sizes that follow from the prompts.
fn plan(world: &World) -> String {
    let shown = world.run(&["review", "--reviewer", "agent_sdk", "--dry-run"]);
    let sizeless = |line: &str| match line.split_whitespace().next() {
        Some("prompt" | "reserved") => line.replace(|c: char| c.is_ascii_digit(), "N"),
        _ => line.to_owned(),
    };
    shown.lines().map(sizeless).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_dry_run_says_that_the_review_would_be_refused() {
    assert_snapshot!(plan(&changed()), @"
    [exit 0]
    [stdout]
    model      claude-sonnet-5-5
    profile    standard
    looks      draft, second draft
    hunks      1 of 1 would be sent, with 0 hints
    prompt     NNNN bytes in N part, about NNNN tokens
    reserved   $N.NNNN at most for the first calls
    limits     60 model calls, 80 tool calls, 6000000 tokens, $5.00, 600 s
    warning    the review would be refused: cannot run the reviewer agent_sdk: ANTHROPIC_API_KEY is not set
               No model was called.
    ");
    let clean = changed();
    clean.git(&["stash", "-q"]);
    assert_snapshot!(plan(&clean), @"
    [exit 0]
    [stdout]
    model      claude-sonnet-5-5
    profile    standard
    looks      none
    hunks      0 of 0 would be sent, with 0 hints
    prompt     N bytes in N parts, about N tokens
    reserved   $N.NN at most for the first calls
    limits     60 model calls, 80 tool calls, 6000000 tokens, $5.00, 600 s
               No model was called.
    ");
}

#[test]
fn flags_that_a_reviewer_has_no_use_for_are_said() {
    let shown = changed().run(&[
        "review",
        "--reviewer",
        "builtin",
        "--model",
        "sonnet",
        "--profile",
        "quick",
        "--record",
        "tape",
        "--no-save",
    ]);
    assert_snapshot!(shown, @"
    [exit 0]
    [stdout]
    builtin reviewed 1 hunk in 1 file: no findings.

    warning:  --model has no effect: builtin uses no model of mala
    warning:  --profile has no effect: builtin uses no model of mala
    warning:  --record has no effect: builtin uses no model of mala
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    PASS  no findings
    ");
}

#[test]
fn several_reviewers_must_all_pass_a_change() {
    let several = |world: &World| {
        let output = world.output(&["review", "--reviewer", "builtin,agent_sdk", "--json"], b"");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code().unwrap(), report)
    };
    let verdicts = |report: &Value| -> Vec<(String, Value)> {
        let all = report["reviewers"].as_array().unwrap().iter();
        all.map(|it| (it["reviewer"].as_str().unwrap().to_owned(), it["verdict"].clone())).collect()
    };
    let of = |builtin: Value, agent: Value| {
        vec![("builtin".to_owned(), builtin), ("agent-sdk".to_owned(), agent)]
    };

    let server = ModelServer::always(ModelAnswer::text(PASS));
    let (code, report) = several(&with_server(changed(), &server));
    assert_eq!((code, verdicts(&report)), (0, of(json!("PASS"), json!("PASS"))), "{report:#}");
    assert_eq!(report["consensus"]["needed"], 2, "{report:#}");

    let server = ModelServer::steps(vec![says(PLAIN), says(PASS), holds()]);
    let (code, report) = several(&with_server(changed(), &server));
    assert_eq!((code, verdicts(&report)), (1, of(json!("PASS"), json!("FAIL"))), "{report:#}");
    assert_eq!(report["issues"][0]["verification"]["outcome"], "verified", "{report:#}");

    let server = ModelServer::always(ModelAnswer::text("I looked at it."));
    let (code, report) = several(&with_server(changed(), &server));
    assert_eq!((code, verdicts(&report)), (2, of(json!("PASS"), json!(null))), "{report:#}");
    let error = report["parse_error"].as_str().unwrap();
    assert!(error.starts_with("agent-sdk: invalid json"), "{error}");

    let world = changed();
    world.write("app.py", "def half(n):\n    breakpoint()\n    return 1 / n\n");
    let server = ModelServer::always(ModelAnswer::text(PASS));
    let args = ["review", "--reviewer", "builtin,agent_sdk", "--json", "--fail-on", "P3"];
    let output = with_server(world, &server).output(&args, b"");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{report:#}");
    assert_eq!(report["issues"].as_array().unwrap().len(), 1, "once: {report:#}");
}

#[test]
fn a_named_reviewer_that_is_not_available_never_passes_and_the_others_run() {
    let world = changed();
    let pairs = ["builtin,agent_sdk", "agent_sdk,builtin", "builtin,cerberus", "command,builtin"];
    for named in pairs {
        let output = world.output(&["review", "--reviewer", named, "-o", ".git/out.json"], b"");
        let report = std::fs::read(world.folder().join(".git/out.json")).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        assert_eq!(output.status.code(), Some(4), "{named}: {report:#}");
        assert_eq!(report["consensus"]["needed"], 2, "{named}: {report:#}");
        let reviewers = report["reviewers"].as_array().unwrap();
        let absent: Vec<bool> = reviewers.iter().map(|it| it["verdict"].is_null()).collect();
        assert_eq!(absent, [false, true], "{named}: {report:#}");
        assert_eq!(reviewers[0]["reviewer"], "builtin", "{named}: {report:#}");
    }
    assert_snapshot!(world.run(&["review", "--reviewer", "builtin,builtin"]), @"
    [exit 64]
    [stderr]
    error: --reviewer names builtin twice
    ");
}

#[test]
fn the_order_of_reviewers_does_not_matter_and_the_profile_does() {
    let id = |named: &str, profile: &str| {
        let server = ModelServer::always(ModelAnswer::text(PASS));
        let args = ["review", "--reviewer", named, "--profile", profile, "--json", "--no-save"];
        let output = with_server(changed(), &server).output(&args, b"");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["review_id"].clone()
    };
    let quick = id("builtin,agent_sdk", "quick");
    assert_eq!(id("agent_sdk,builtin", "quick"), quick);
    assert_ne!(id("builtin,agent_sdk", "thorough"), quick);
}
