//! The commands beside `wait`, and what they say when something is wrong.

use super::bench::GateWorld;
use insta::assert_snapshot;
use serde_json::Value;

// Rows 001-019, 001-020, 001-025, 001-041.
#[test]
fn spawning_prints_the_contract_and_returns_before_the_lanes_do() {
    let bench = GateWorld::new();
    let started = std::time::Instant::now();
    let spawned = bench.spawn(&["--lanes", "never,missing,pass", "--timeout", "20"]);
    assert!(started.elapsed().as_secs() < 10);
    assert_eq!(spawned["session_key"].as_str().unwrap().len(), 36);
    let mut names: Vec<&str> =
        spawned["reviewers_spawned"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["never", "pass"], "only those that were really started");
    assert_eq!(spawned["reviewers_missing"]["missing"], "`no-such-program` is not on PATH");
    let (code, stdout, _) = bench.run(&["wait", "--json", "--timeout", "0"]);
    let json: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, &json["status"]),
        (3, &"timeout".into()),
        "waiting ends, the session goes on"
    );
    let key = spawned["session_key"].as_str().unwrap();
    let shown = |args: &[&str]| bench.world.run(args).replace(key, "[KEY]");
    assert_snapshot!(shown(&["cancel"]), @"
    [exit 0]
    [stderr]
    [KEY] is cancelled
    ");
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!(
        (ended.code, &ended.json["parse_errors"][0]),
        (5, &"the session was cancelled".into())
    );
    ended.assert_nothing_left();
    assert_snapshot!(shown(&["cancel"]), @"
    [exit 0]
    [stderr]
    [KEY] was over already
    ");
}

#[test]
fn spawning_lets_go_of_what_its_caller_holds() {
    let bench = GateWorld::new();
    let gate = env!("CARGO_BIN_EXE_review-gate");
    let lock = bench.repo.beside("lock");
    let script = format!(
        "exec 9>{lock}; flock 9; {gate} spawn-code-review --diff HEAD~1..HEAD --lanes never --timeout 20 10>&1 >&2; \
         exec 9>&-; exec 8>{lock}; flock -n 8 && echo free",
        lock = lock.display()
    );
    let started = std::time::Instant::now();
    // The shell that tests have everywhere knows no descriptors above 9.
    let output = bench.world.command("bash").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "free\n", "{said}");
    assert!(started.elapsed().as_secs() < 15, "no process holds the pipe");
    bench.run(&["cancel"]);
}

// Rows 001-013, 001-014, 001-016, 001-024.
#[test]
fn what_cannot_be_started_says_why() {
    let bench = GateWorld::new();
    let spawn = |args: &[&str]| {
        let mut all = vec!["spawn-code-review"];
        all.extend(args);
        bench.world.run(&all)
    };
    assert_snapshot!(spawn(&["--diff", "nowhere..HEAD"]), @"
    [exit 1]
    [stderr]
    error: unknown revision: nowhere
    ");
    assert_snapshot!(spawn(&["--diff", "HEAD"]), @"
    [exit 1]
    [stderr]
    error: `HEAD` is not a range
    hint: write it as BASELINE..HEAD
    ");
    assert_snapshot!(spawn(&["--diff", "..HEAD"]), @"
    [exit 1]
    [stderr]
    error: `..HEAD` has no baseline
    hint: write it as BASELINE..HEAD
    ");
    assert_snapshot!(spawn(&["--diff", "HEAD~1..HEAD", "--lanes", "pas"]), @"
    [exit 1]
    [stderr]
    error: no lane is named `pas`: did you mean `pass`?
    ");
    assert_snapshot!(spawn(&["--diff", "HEAD~1..HEAD", "--lanes", "pass,pass"]), @"
    [exit 1]
    [stderr]
    error: the lane `pass` is named twice
    ");
    assert_snapshot!(spawn(&["--diff", "HEAD~1..HEAD", "--context-file", "none.txt"]), @"
    [exit 1]
    [stderr]
    error: reading the context file none.txt: No such file or directory (os error 2)
    ");
    assert_snapshot!(spawn(&["--diff", "HEAD~1..HEAD", "--consensus", "most"]), @"
    [exit 1]
    [stderr]
    error: invalid value 'most' for '--consensus <RULE>': `most` is none of unanimous, majority, any, quorum:N (N from 1 to 100)

    For more information, try '--help'.
    ");
}

// Rows 001-039.
#[test]
fn waiting_without_a_session_is_an_internal_error() {
    let bench = GateWorld::new();
    for args in [&["wait", "--json"][..], &["wait", "--json", "--session-key", "../../x"]] {
        let (code, stdout, _) = bench.run(args);
        let json: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((code, &json["status"]), (5, &"error".into()));
        assert_eq!(json["consensus"]["verdict"], "no_reviewers");
    }
    let args = ["wait", "--json", "--timeout", "18446744073709551615"];
    assert_snapshot!(bench.world.run(&args), @"
    [exit 5]
    [stderr]
    error: invalid value '18446744073709551615' for '--timeout <SECONDS>': 18446744073709551615 is not in 0..=604800

    For more information, try '--help'.
    ");
    let error = "error: no session in this repository\n\
        hint: run `review-gate spawn-code-review --diff BASE..HEAD` to start one\n";
    for command in ["wait", "status"] {
        assert_eq!(bench.run(&[command]), (5, String::new(), error.to_owned()), "{command}");
    }
}

#[test]
fn sessions_are_listed_and_cleaned() {
    let bench = GateWorld::new();
    assert_eq!(bench.run(&["list"]), (0, String::new(), String::new()));
    let ended = bench.review("pass", &[]);
    let (_, stdout, _) = bench.run(&["list"]);
    assert_eq!(stdout, format!("{}  done, PASS  HEAD~1..HEAD  1 of 1 lanes over\n", ended.key));
    let (_, _, said) = bench.run(&["clean"]);
    assert_eq!(said, "0 sessions removed\n", "a week is kept");
    let running = bench.spawn(&["--lanes", "never"]);
    let (_, _, said) = bench.run(&["clean", "--older-than", "0s"]);
    assert_eq!(said, "1 session removed\n", "one that runs stays");
    let (_, stdout, _) = bench.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(listed[0]["session_key"], running["session_key"]);
    assert_eq!(listed[0]["state"], "reviewing");
    bench.run(&["cancel"]);
}

#[test]
fn sessions_of_last_month_are_gone_when_another_one_starts() {
    let bench = GateWorld::new();
    let (old, recent) = (bench.review("pass", &[]), bench.review("pass", &[]));
    let file = bench.repo.path(format!(".mala/gate/{}/session.json", old.key));
    let mut session: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    session["created"] = "2020-01-02T03:04:05.000000000Z".into();
    std::fs::write(&file, session.to_string()).unwrap();
    let newest = bench.review("pass", &[]);
    let (_, listed, _) = bench.run(&["list"]);
    let keys: Vec<&str> = listed.lines().filter_map(|line| line.split("  ").next()).collect();
    assert_eq!(keys, [newest.key.as_str(), recent.key.as_str()]);
}

// Rows 001-022.
#[test]
fn lanes_are_shown_with_the_reason_why_they_can_be_used_or_not() {
    let bench = GateWorld::with_config("gate: {lanes: {mine: {command: [lane, pass]}}}\n");
    let world = bench.world.with_only_programs(&["sh", "git"]).with_program("claude", "echo 1.2.3");
    let world = world.with_program("lane", "");
    assert_snapshot!(world.run(&["lanes"]), @"
    [exit 0]
    [stdout]
    claude: not usable
      program: [HOME]/bin/claude
      version: 1.2.3
      why not: not signed in: none of $ANTHROPIC_API_KEY, $ANTHROPIC_AUTH_TOKEN, $CLAUDE_CODE_OAUTH_TOKEN, $CLAUDE_CONFIG_DIR/.credentials.json, ~/.claude/.credentials.json is there
    codex: not usable
      why not: `codex` is not on PATH
      install: npm install -g @openai/codex
    gemini: not usable
      why not: `gemini` is not on PATH
      install: npm install -g @google/gemini-cli
    mine: usable
      program: [HOME]/bin/lane
    agent: not usable
      why not: ANTHROPIC_API_KEY is not set
    builtin: usable
    ");
}

// Rows 001-031, 001-032.
#[test]
fn a_persons_answer_is_text() {
    let bench = GateWorld::new();
    bench.review("pass,fail,prose", &[]);
    let shown = bench.world.run(&["wait"]);
    let shown = shown.replace(&bench.repo.head()[..12], "[HEAD]");
    let shown: Vec<&str> = shown.lines().take_while(|line| !line.contains(".mala")).collect();
    assert_snapshot!(shown.join("\n"), @r#"
    [exit 1]
    [stdout]
    FAIL (unanimous: 1 of 3 needed passes)
      HEAD~1..HEAD at [COMMIT], started [TIME]
      fail: FAIL
      pass: PASS
      prose: no vote: invalid json: expected value at line 1 column 1: "I looked at everything. No issues found: APPROVED, PASS."
    a.py:2: [P1] breaks on None
        when x is None it fails
        found by fail, confirmed by pass
    "#);
}

#[test]
fn sessions_are_started_listed_and_removed() {
    let bench = GateWorld::new();
    let spawn = ["spawn-code-review", "--diff", "HEAD~1..HEAD", "--lanes", "pass"];
    assert_snapshot!(bench.world.run(&spawn), @r#"
    [exit 0]
    [stdout]
    {
      "schema_version": 1,
      "session_key": "[KEY]",
      "reviewers_spawned": [
        "pass"
      ],
      "reviewers_missing": {},
      "session_dir": "[WORK]/.mala/gate/[KEY]",
      "head": "[SHA]"
    }
    "#);
    bench.run(&["wait"]);
    assert_snapshot!(bench.world.run(&["list"]), @"
    [exit 0]
    [stdout]
    [KEY]  done, PASS  HEAD~1..HEAD  1 of 1 lanes over
    ");
    assert_snapshot!(bench.world.run(&["clean", "--older-than", "0s"]), @"
    [exit 0]
    [stderr]
    1 session removed
    ");
    assert_snapshot!(bench.world.run(&["clean", "--older-than", "soon"]), @"
    [exit 64]
    [stderr]
    error: invalid value 'soon' for '--older-than <TIME>': `soon` is not a duration such as 7d, 12h, 30m or 45s

    For more information, try '--help'.
    ");
}

#[test]
fn a_gate_needs_a_repository_and_a_command() {
    let world = crate::gate_world();
    let mut shown = String::new();
    for args in [
        &["spawn-code-review", "--uncommitted"][..],
        &["wait"],
        &["status"],
        &["list"],
        &["cancel"],
        &["clean"],
        &["lanes", "--nope"],
        &["canary"],
        &["help"],
    ] {
        shown.push_str(&format!("$ review-gate {}\n{}", args.join(" "), world.run(args)));
    }
    assert_snapshot!(shown, @"
    $ review-gate spawn-code-review --uncommitted
    [exit 1]
    [stderr]
    error: [WORK] is not in a git repository
    $ review-gate wait
    [exit 5]
    [stderr]
    error: [WORK] is not in a git repository
    $ review-gate status
    [exit 5]
    [stderr]
    error: [WORK] is not in a git repository
    $ review-gate list
    [exit 5]
    [stderr]
    error: [WORK] is not in a git repository
    $ review-gate cancel
    [exit 5]
    [stderr]
    error: [WORK] is not in a git repository
    $ review-gate clean
    [exit 5]
    [stderr]
    error: [WORK] is not in a git repository
    $ review-gate lanes --nope
    [exit 64]
    [stderr]
    error: unexpected argument '--nope' found

    Usage: review-gate lanes [OPTIONS]

    For more information, try '--help'.
    $ review-gate canary
    [exit 5]
    [stderr]
    error: [WORK] is not in a git repository
    $ review-gate help
    [exit 0]
    [stdout]
    Review a change with several reviewers and combine their verdicts

    `spawn-code-review` starts the reviewers and returns at once; `wait` prints their joint verdict.
    Exit codes of `wait`: 0 pass, 1 findings, 2 no usable answer, 3 timeout, 4 no reviewers, 5 internal
    error. Invalid arguments: 1 for `spawn-code-review`, 5 for `wait`, 64 for other commands.

    Usage: review-gate <COMMAND>

    Commands:
      spawn-code-review  Start the reviewers of a change
      wait               Wait for the reviewers and print the verdict
      status             Show the progress of a session
      list               List sessions, newest first
      cancel             Stop a session and all of its processes
      clean              Remove old sessions
      lanes              List the reviewers, and why each can be used or not
      canary             Measure the lanes on planted defects
      help               Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version
    ");
    assert!(world.run(&[]).starts_with("[exit 64]"), "{}", world.run(&[]));
    assert_snapshot!(world.run(&["--version"]), @"
    [exit 0]
    [stdout]
    review-gate 0.1.0
    ");
}
