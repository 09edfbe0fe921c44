//! The reviewers of a run: a gate program, the agent and the built-in rules, through the binary.

use super::{add_issue, git, issues, name_issues, repository, text};
use insta::assert_snapshot;
use mala_testkit::World;
use mala_testkit::model_server::{ModelAnswer, ModelServer};
use serde_json::Value;

/// Commits a file of its own, and corrects it when a review complains.
const CODER: &str = r#"
prefix=$(sed -n 's/.*starts with `\([^`]*\)`.*/\1/p' "$1" | head -1)
value=1
if grep -q 'External Review Failed' "$1"; then echo resumed >> "$HOME/coders"; value=2; fi
echo "value = $value" > work.py
git add -A && git commit -q -m "${prefix}work"
"#;

const PASS: &str = r#"{"status": "resolved", "consensus": {"verdict": "PASS", "iteration": 1}, "reviewers": {"codex": {"verdict": "PASS", "summary": "", "issues": [], "error": null}}, "issues": [], "parse_errors": []}"#;

/// A gate that finds a P1 in this file.
fn fail(file: &str) -> String {
    format!(
        r#"{{"status": "resolved", "consensus": {{"verdict": "FAIL", "iteration": 1}}, "reviewers": {{"codex": {{"verdict": "FAIL", "summary": "", "issues": [], "error": null}}}}, "issues": [{{"reviewer": "codex", "file": "{file}", "line_start": 1, "line_end": 1, "priority": 1, "title": "Wrong value", "body": "It is wrong."}}], "parse_errors": []}}"#
    )
}

fn config(trigger: &str, review: &str) -> String {
    format!(
        "review: {{cerberus: {{command: [fake-gate]}}}}
validation_triggers:
  {trigger}: {{code_review: {{enabled: true, {review}}}}}
run:
  coder: scripted
  max_agents: 2
  coders: {{scripted: {{command: [sh, agent.sh, '{{prompt_file}}', '{{issue}}']}}}}
"
    )
}

/// A repository with a gate whose `wait` does this.
fn gate(config: &str, wait: &str) -> World {
    let script = format!(
        "printf '%s\\n' \"$*\" >> \"$HOME/calls\"\necho \"DEBUG=$DEBUG\" >> \"$HOME/variables\"\ncase \"$1\" in\n\
         spawn-code-review) echo '{{\"session_key\": \"k\", \"reviewers_spawned\": [\"codex\"]}}' ;;\nwait) {wait} ;;\nesac"
    );
    repository(config, CODER).with_program("fake-gate", &script)
}

/// The calls of a gate with this subcommand.
fn calls(world: &World, name: &str) -> Vec<String> {
    let all = std::fs::read_to_string(world.home().join("calls")).unwrap_or_default();
    all.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
}

fn report(world: &World) -> Value {
    serde_json::from_str(&world.read(".mala/run/report.json")).unwrap()
}

/// Rows 003-019 and 001-129.
#[test]
fn each_issue_is_reviewed_by_its_own_commits() {
    let world = gate(&config("session_end", "reviewer_type: cerberus"), &format!("echo '{PASS}'"));
    world.write("agent.sh", CODER.replace("work.py", "$2.py")).git(&["commit", "-qam", "coder"]);
    let ids = [add_issue(&world, "One"), add_issue(&world, "Two")];
    let output = world.output(&["run"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let ranges: Vec<String> = calls(&world, "spawn-code-review")
        .iter()
        .map(|call| call.split(' ').nth(2).unwrap().to_owned())
        .collect();
    assert_eq!(ranges.len(), 2, "{ranges:?}");
    let mut reviewed: Vec<String> = ranges
        .iter()
        .map(|range| git(&world, &["log", "--format=%s", range]).trim().to_owned())
        .collect();
    reviewed.sort();
    let mut expected = ids.map(|id| format!("bd-{id}: work"));
    expected.sort();
    assert_eq!(reviewed, expected, "003-019, 001-129");
}

/// Rows 003-040, 003-041, 003-044 and 001-137.
#[test]
fn settings_of_a_trigger_reach_its_gate() {
    let more = "reviewer_type: cerberus, cerberus: {timeout: 90, spawn_args: [--verbose], wait_args: [--timeout, '600'], env: {DEBUG: \"1\"}}";
    let world = gate(&config("session_end", more), &format!("echo '{PASS}'"));
    add_issue(&world, "One");
    let output = world.output(&["run"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let (spawn, wait) = (calls(&world, "spawn-code-review"), calls(&world, "wait"));
    assert!(
        spawn[0].ends_with(" --verbose") && !spawn[0].contains("--timeout"),
        "003-040: {spawn:?}"
    );
    assert!(
        wait[0].contains("--timeout 600") && !wait[0].contains("--verbose"),
        "003-041: {wait:?}"
    );
    let variables = std::fs::read_to_string(world.home().join("variables")).unwrap();
    assert!(variables.lines().all(|line| line == "DEBUG=1"), "003-044: {variables}");

    let world = gate(&config("session_end", "reviewer_type: cerberus"), &format!("echo '{PASS}'"));
    add_issue(&world, "One");
    world.output(&["run"], b"");
    let wait = calls(&world, "wait");
    assert!(
        wait[0].contains("--timeout 299") || wait[0].contains("--timeout 300"),
        "001-137: {wait:?}"
    );
    assert!(!calls(&world, "spawn-code-review")[0].contains("--verbose"), "003-040");
}

/// Rows 003-155, 003-156, 003-157, 003-158, 001-136 and 003-216: each is an error, and none is a pass.
#[test]
fn reviews_that_could_not_be_done_are_errors() {
    let rows = [
        ("003-155, 001-136", "sleep 60", "timeout", &["--review-timeout", "3"][..]),
        ("003-156", "kill -SEGV $$", "crash", &[]),
        ("003-157", "exit 3", "timeout", &[]),
        ("003-157", "exit 4", "no_reviewers", &[]),
        ("003-157", "exit 5", "internal", &[]),
    ];
    let mut shown = String::new();
    for (row, wait, kind, flags) in rows {
        let world = gate(&config("session_end", "reviewer_type: cerberus, max_retries: 0"), wait)
            .with_env("MALA_LOG", "info");
        let id = add_issue(&world, "One");
        let args: Vec<&str> = ["run", &id].into_iter().chain(flags.iter().copied()).collect();
        let output = world.output(&args, b"");
        let log = text(&output).1;
        let wanted = format!("Reviewer error trigger_type=session_end error_type={kind}");
        assert!(log.contains(&wanted), "{row}: {wanted}: {log}");
        let entry = &report(&world)["issues"][0];
        assert_eq!(
            (&entry["review"], &entry["status"]),
            (&"failed".into(), &"succeeded".into()),
            "{row}"
        );
        assert_eq!(issues(&world).lines().count(), 1, "{row}: nothing is filed");
        shown.push_str(&format!("{wait}: {}", world.clean(&text(&output).0)));
    }
    assert_snapshot!(shown, @"
    sleep 60: # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | succeeded | NOT REVIEWED: the review could not be done: timeout | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID] was merged WITHOUT A REVIEW: `mala run logs [ID]`

    kill -SEGV $$: # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | succeeded | NOT REVIEWED: the review could not be done: killed: the gate says nothing | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID] was merged WITHOUT A REVIEW: `mala run logs [ID]`

    exit 3: # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | succeeded | NOT REVIEWED: the review could not be done: timeout | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID] was merged WITHOUT A REVIEW: `mala run logs [ID]`

    exit 4: # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | succeeded | NOT REVIEWED: the review could not be done: no reviewers | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID] was merged WITHOUT A REVIEW: `mala run logs [ID]`

    exit 5: # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | succeeded | NOT REVIEWED: the review could not be done: the gate failed | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID] was merged WITHOUT A REVIEW: `mala run logs [ID]`
    ");
    let wait = format!("echo '{}'; exit 1", fail("work.py"));
    let world =
        gate(&config("session_end", "reviewer_type: cerberus, finding_threshold: none"), &wait);
    let id = add_issue(&world, "One");
    let output = world.output(&["run", &id], b"");
    assert_eq!(
        report(&world)["issues"][0]["review"],
        "success",
        "003-157: {}",
        world.show(&output)
    );
    assert_eq!(report(&world)["issues"][0]["findings"], 1, "003-157");
}

/// With `remediate`, work that no try can review is not merged, and the run goes on.
#[test]
fn work_that_cannot_be_reviewed_is_not_merged_with_remediate() {
    let garbled =
        CODER.replace("echo \"value = $value\"", "echo 1 > one.txt; printf 'breakpoint()\\n#\\0'");
    assert_ne!(garbled, CODER);
    let remediate = |reviewer: &str| {
        config(
            "session_end",
            &format!("reviewer_type: {reviewer}, failure_mode: remediate, max_retries: 2"),
        )
    };
    let mut shown = String::new();
    for (what, world) in [
        ("no reviewer", gate(&remediate("cerberus"), "exit 4")),
        ("bytes that are no text", repository(&remediate("builtin"), &garbled)),
    ] {
        let id = add_issue(&world, "One");
        let output = world.output(&["run", &id], b"");
        shown.push_str(&format!("{what}: {}", name_issues(&world).show(&output)));
        assert!(git(&world, &["ls-tree", "--name-only", "main", "work.py"]).is_empty(), "{what}");
        assert!(calls(&world, "wait").len() <= 1, "{what}: another try is of no use");
    }
    assert_snapshot!(shown, @"
    no reviewer: [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 1 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | failed: the review could not be done: no reviewers | NOT REVIEWED: no reviewers | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID] failed: the review could not be done: no reviewers: `git log -p mala/[ID]`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: releasing
    [ID]: cleaning up
    [ID]: failed: the review could not be done: no reviewers
    report: [WORK]/.mala/run/report.md
    bytes that are no text: [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 1 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | failed: the review could not be done: work.py is not reviewed: a source with bytes that are no text | NOT REVIEWED: work.py is not reviewed: a source with bytes that are no text | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID] failed: the review could not be done: work.py is not reviewed: a source with bytes that are no text: `git log -p mala/[ID]`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: releasing
    [ID]: cleaning up
    [ID]: failed: the review could not be done: work.py is not reviewed: a source with bytes that are no text
    report: [WORK]/.mala/run/report.md
    ");
}

/// A port on which nothing listens.
fn closed_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// Rows 003-047, 003-049, 003-050, 003-158, 000-013 and 000-094.
#[test]
fn the_reviewer_follows_from_the_trigger_and_the_key() {
    let passes =
        || ModelServer::always(ModelAnswer::text(r#"{"verdict": "PASS", "findings": []}"#));
    for (row, review) in [
        ("003-047, 000-013", "max_retries: 0"),
        ("000-013, 000-094", "max_retries: 0, reviewer_type: agent-sdk"),
    ] {
        let server = passes();
        let world = gate(&config("session_end", review), "exit 5")
            .with_env("ANTHROPIC_API_KEY", "test-key")
            .with_env("ANTHROPIC_BASE_URL", server.url())
            .with_env("MALA_LOG", "info");
        add_issue(&world, "Name of the task");
        let output = world.output(&["run"], b"");
        let log = text(&output).1;
        assert_eq!(output.status.code(), Some(0), "{row}: {log}");
        assert!(log.contains("Initializing code reviewer: agent-sdk"), "{row}: {log}");
        assert!(server.n_requests() > 0, "{row}");
        assert!(server.requests()[0].prompt().contains("Name of the task"), "000-014");
        assert!(calls(&world, "").is_empty(), "{row}: the gate is not called");
    }
    // 003-049
    let world = gate(&config("session_end", "max_retries: 0, reviewer_type: agent_sdk"), "exit 5");
    add_issue(&world, "One");
    assert_snapshot!(name_issues(&world).run(&["run"]), @r"
    [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | succeeded | NOT REVIEWED: the review could not be done: ANTHROPIC\_API\_KEY is not set | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID] was merged WITHOUT A REVIEW: `mala run logs [ID]`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: merging
    [ID]: closing
    [ID]: cleaning up
    [ID]: succeeded
    report: [WORK]/.mala/run/report.md
    ");
    // 003-050
    let world = gate(&config("session_end", "max_retries: 0"), "exit 5");
    add_issue(&world, "One");
    assert_snapshot!(name_issues(&world).run(&["run"]), @"
    [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | succeeded | reviewed by builtin | 0 | 0 | $0.00 |

    - [ID]: Built-in analyzers only: no model key is set.

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    warning: [ID]: Built-in analyzers only: no model key is set.
    [ID]: merging
    [ID]: closing
    [ID]: cleaning up
    [ID]: succeeded
    report: [WORK]/.mala/run/report.md
    ");
    let world = gate(&config("session_end", "max_retries: 0, reviewer_type: agent_sdk"), "exit 5")
        .with_env("ANTHROPIC_API_KEY", "test-key")
        .with_env("ANTHROPIC_BASE_URL", closed_port())
        .with_env("MALA_LOG", "info");
    add_issue(&world, "One");
    let output = world.output(&["run"], b"");
    let log = text(&output).1;
    assert!(log.contains("Reviewer error trigger_type=session_end"), "003-158: {log}");
    assert_eq!(report(&world)["issues"][0]["review"], "failed", "003-158");
}

/// Rows 000-017 and 001-128: the same scenario with the agent and with a gate.
#[test]
fn the_agent_and_a_panel_are_treated_alike() {
    let review =
        |kind: &str| format!("reviewer_type: {kind}, finding_threshold: P1, max_retries: 1");
    let wait = format!(
        "if [ -e \"$HOME/found\" ]; then echo '{PASS}'; else touch \"$HOME/found\"; echo '{}'; exit 1; fi",
        fail("work.py")
    );
    let panel =
        gate(&config("session_end", &review("cerberus")), &wait).with_env("MALA_LOG", "debug");
    let found = r#"{"verdict": "FAIL", "findings": [{"file_path": "work.py", "line_start": 1, "line_end": 1, "priority": 1, "title": "Wrong value", "body": "It is wrong."}]}"#;
    let holds = r#"{"checks": [{"id": "c1", "outcome": "holds", "why": "it is wrong"}]}"#;
    let passes = r#"{"verdict": "PASS", "findings": []}"#;
    let answers = [found, passes, holds, passes, passes, passes];
    let server = ModelServer::steps(answers.map(|it| ModelAnswer::text(it).into()));
    let agent = gate(&config("session_end", &review("agent_sdk")), "exit 5")
        .with_env("ANTHROPIC_API_KEY", "test-key")
        .with_env("ANTHROPIC_BASE_URL", server.url());
    let outcome = |world: &World| {
        let id = add_issue(world, "One");
        let output = world.output(&["run", &id], b"");
        let log = text(&output).1;
        assert_eq!(output.status.code(), Some(0), "{log}");
        let resumed = std::fs::read_to_string(world.home().join("coders")).unwrap_or_default();
        let entry = report(world)["issues"][0].clone();
        assert!(!log.contains("Codex"), "001-128: {log}");
        (entry["status"].clone(), entry["fixed"].clone(), resumed.lines().count())
    };
    assert_eq!(outcome(&panel), outcome(&agent), "000-017");
}

/// Row 003-092: the target moves while the reviewer works.
#[test]
fn the_stored_baseline_is_what_was_reviewed() {
    let moves = format!(
        "cd \"$(cat \"$HOME/repository\")\"; new=$(git commit-tree -p main -m later 'main^{{tree}}'); git update-ref refs/heads/main $new; echo '{PASS}'"
    );
    let review = "reviewer_type: cerberus, baseline: since_run_start";
    let world = gate(&config("run_end", review), &moves).with_env("MALA_LOG", "info");
    std::fs::write(world.home().join("repository"), world.folder().display().to_string()).unwrap();
    add_issue(&world, "One");
    let output = world.output(&["run"], b"");
    let log = text(&output).1;
    assert_eq!(output.status.code(), Some(0), "{log}");
    let head = log.split("head_sha=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let metadata: Value = serde_json::from_str(&world.read(".mala/run/run_metadata.json")).unwrap();
    assert_eq!(metadata["last_cumulative_review_commits"]["run_end"], head, "003-092");
    assert_ne!(git(&world, &["rev-parse", "main"]).trim(), head, "003-092: the target moved");
}

/// Row 003-118: a range with a merge commit is compared by its two ends.
#[test]
fn a_range_with_a_merge_is_reviewed_as_a_whole() {
    let server = ModelServer::always(ModelAnswer::text(r#"{"verdict": "PASS", "findings": []}"#));
    let review = "reviewer_type: agent_sdk, baseline: since_run_start";
    let world = gate(&config("run_end", review), "exit 5")
        .with_env("ANTHROPIC_API_KEY", "test-key")
        .with_env("ANTHROPIC_BASE_URL", server.url());
    world.output(&["run"], b"");
    world.git(&["checkout", "-q", "-b", "side"]).commit_file("side.py", "from_the_side = 1\n");
    world.git(&["checkout", "-q", "main"]).commit_file("other.py", "from_the_main_line = 1\n");
    world.git(&["merge", "-q", "--no-edit", "side"]);
    let output = world.output(&["run", "--resume"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    let prompt = server.requests().last().unwrap().prompt();
    for line in ["from_the_side = 1", "from_the_main_line = 1"] {
        assert_eq!(prompt.matches(line).count(), 1, "003-118: {prompt}");
    }
}

/// Rows 003-131, 003-132 and 003-135: the same finding in other words and with another spelling of its path.
#[test]
fn a_finding_is_filed_once_however_it_is_worded() {
    let wait = format!(
        "if [ -e \"$HOME/again\" ]; then echo '{}'; else touch \"$HOME/again\"; echo '{}'; fi; exit 1",
        fail("./work.py").replace("Wrong value", "This value is not right"),
        fail("work.py"),
    );
    let review = "reviewer_type: cerberus, baseline: since_run_start";
    let world = gate(&config("run_end", review), &wait);
    add_issue(&world, "One");
    world.output(&["run"], b"");
    let list = || text(&world.output(&["issue", "list", "--all"], b"")).0;
    let found = list();
    let filed: Vec<&str> = found.lines().filter(|line| line.contains("Wrong value")).collect();
    assert_eq!(filed.len(), 1, "{found}");
    let id = filed[0].split(' ').next().unwrap();
    world.output(&["issue", "close", id, "--reason", "wontfix"], b"");
    world.commit_file("other.txt", "1\n");
    let output = world.output(&["run", "--resume"], b"");
    let triggers = report(&world)["triggers"].clone();
    assert_eq!(triggers.as_array().unwrap().len(), 2, "{}", world.show(&output));
    assert_eq!(triggers[1]["findings"], 1, "{}", world.show(&output));
    assert_eq!(
        list().lines().count(),
        found.lines().count(),
        "003-131, 003-132, 003-135: {}",
        list()
    );
}
