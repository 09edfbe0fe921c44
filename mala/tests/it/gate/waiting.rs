//! `review-gate wait`: its time, what it shows on a terminal, and what it prints before the end.

use super::bench::GateWorld;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// `wait --json` with these arguments.
fn wait(bench: &GateWorld, key: &str, args: &[&str]) -> (i32, Value) {
    let mut all = vec!["wait", "--json", "--session-key", key];
    all.extend(args);
    let (code, stdout, stderr) = bench.run(&all);
    (code, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}")))
}

fn spawn(bench: &GateWorld, lanes: &str, more: &[&str]) -> String {
    let args = [&["--lanes", lanes][..], more].concat();
    bench.spawn(&args)["session_key"].as_str().unwrap().to_owned()
}

/// Until the answer of a lane is there.
fn until_answered(bench: &GateWorld, key: &str, lane: &str) {
    let progress = bench.repo.path(format!(".mala/gate/{key}/progress.json"));
    let has_answer = || {
        let text = std::fs::read_to_string(&progress).unwrap_or_default();
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        json["opinions"][lane].is_object()
    };
    while !has_answer() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// 001-066, 001-067: the state of each lane and the findings so far; FAIL once the rule cannot pass.
#[test]
fn a_wait_that_times_out_prints_what_is_known() {
    let bench = GateWorld::new();
    let key = spawn(&bench, "fail,never", &[]);
    until_answered(&bench, &key, "fail");
    let (code, json) = wait(&bench, &key, &["--timeout", "1"]);
    assert_eq!((code, &json["consensus"]["verdict"]), (1, &"FAIL".into()), "{json:#}");
    assert_eq!(json["status"], "resolved");
    assert_eq!(json["reviewers"]["fail"]["verdict"], "FAIL");
    assert_eq!(json["issues"][0]["title"], "[P1] breaks on None");
    assert_eq!(json["reviewers"]["never"]["error"], "no answer yet");
    bench.run(&["cancel", "--session-key", &key]);

    let key = spawn(&bench, "fail,never", &["--consensus", "any"]);
    until_answered(&bench, &key, "fail");
    let (code, json) = wait(&bench, &key, &["--timeout", "1"]);
    assert_eq!((code, &json["status"]), (3, &"timeout".into()), "it can still pass: {json:#}");
    assert_eq!(json["reviewers"]["fail"]["verdict"], "FAIL");
    bench.run(&["cancel", "--session-key", &key]);
}

/// 001-034: a lane that hangs does not hide the objection of another one.
#[test]
fn without_a_time_limit_a_wait_outlasts_its_lanes() {
    let bench = GateWorld::new();
    let key = spawn(&bench, "fail,never", &["--timeout", "3"]);
    let (code, json) = wait(&bench, &key, &[]);
    assert_eq!((code, &json["consensus"]["verdict"]), (1, &"FAIL".into()), "{json:#}");
}

/// 001-065: the contract's fields and one report.
#[test]
fn nothing_is_printed_twice() {
    let bench = GateWorld::new();
    for lanes in ["pass", "fail,pass", "prose"] {
        let ended = bench.review(lanes, &[]);
        let keys: Vec<&String> = ended.json.as_object().unwrap().keys().collect();
        let expected = [
            "consensus",
            "issues",
            "parse_errors",
            "report",
            "reviewers",
            "schema_version",
            "status",
        ];
        assert_eq!(keys, expected);
        let lane = ended.json["reviewers"].as_object().unwrap().values().next().unwrap();
        let keys: Vec<&String> = lane.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["error", "issues", "summary", "verdict"]);
        assert_eq!(ended.json["report"]["session_key"], ended.key.as_str());
    }
}

/// 001-044: a line per lane on a terminal.
#[test]
fn a_terminal_shows_the_state_of_each_lane() {
    let bench = GateWorld::new();
    let key = spawn(&bench, "fail,slow", &[]);
    let gate = env!("CARGO_BIN_EXE_review-gate");
    let mut command = bench.world.command("script");
    let wait = format!("{gate} wait --session-key {key}");
    let output = command.args(["-qec", &wait, "/dev/null"]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("slow: running, 0 s"), "{shown}");
    assert!(shown.contains("fail: FAIL, 1 finding"), "{shown}");
    assert!(shown.contains("\u{1b}[1A\u{1b}[2K") && shown.contains("FAIL (unanimous"), "{shown}");
    let (_, _, stderr) = bench.run(&["wait", "--session-key", &key]);
    assert_eq!(stderr, "", "only a terminal is drawn on");
}

/// 001-121: an empty range over a dirty work tree.
#[test]
fn uncommitted_changes_that_are_not_included_are_named() {
    let bench = GateWorld::new();
    let empty = ["spawn-code-review", "--diff", "HEAD..HEAD", "--lanes", "pass"];
    let warned = || {
        let (code, stdout, stderr) = bench.run(&empty);
        assert_eq!(code, 0, "{stderr}");
        let spawned: Value = serde_json::from_str(&stdout).unwrap();
        let ended = bench.wait(spawned["session_key"].as_str().unwrap());
        assert_eq!((ended.code, ended.verdict()), (0, "PASS"));
        format!("{stderr}{}", ended.json["report"]["warnings"])
    };
    assert_snapshot!(warned(), @r#"["nothing changed: no reviewer was run"]"#);
    bench.repo.write("a.py", "def f(x):\n    return 2\n");
    assert_snapshot!(warned(), @r#"
    note: uncommitted changes are not included: review them with --uncommitted
    ["nothing changed: no reviewer was run","uncommitted changes are not included: review them with --uncommitted"]
    "#);
}

/// 001-029: a reviewer that knows nothing but its prompt, with and without a schema.
#[test]
fn a_reviewer_that_reads_only_its_prompt_passes_one_change_and_fails_another() {
    for command in ["[lane, follows]", "[lane, follows, '{schema}']"] {
        let bench = GateWorld::with_config(&format!(
            "gate: {{lanes: {{reader: {{command: {command}}}}}}}\n"
        ));
        let failed = bench.review("reader", &[]);
        assert_eq!((failed.code, failed.verdict()), (1, "FAIL"), "{command}: {:#}", failed.json);
        bench.repo.write("a.py", "def f(x):\n    return x\n");
        bench.repo.commit("back");
        let passed = bench.review("reader", &[]);
        assert_eq!((passed.code, passed.verdict()), (0, "PASS"), "{command}: {:#}", passed.json);
        assert_eq!(passed.json["parse_errors"], json!([]));
    }
}

/// 001-061: a reason quotes the lane's own error or the start of its text.
#[test]
fn a_reason_quotes_what_the_lane_said() {
    let bench = GateWorld::new();
    let mut errors = String::new();
    for lane in
        ["prose", "crash", "banner", "broken_json", "limited", "unauthorized", "error_object"]
    {
        let ended = bench.review(lane, &[]);
        assert_eq!(ended.code, 2, "{lane}: {:#}", ended.json);
        errors.push_str(&format!("{lane}: {}\n", ended.error_of(lane)));
    }
    assert_snapshot!(errors, @r#"
    prose: invalid json: expected value at line 1 column 1: "I looked at everything. No issues found: APPROVED, PASS."
    crash: exit 7 without an answer: cannot go on
    banner: exit 0 without an answer: usage limit: You've hit your usage limit. Try again at 5 pm.
    broken_json: invalid json: key must be a string at line 1 column 2: "{not json at all"
    limited: exit 1 without an answer: rate limit (429): Resource has been exhausted
    unauthorized: exit 1 without an answer: not signed in (401): API Error: 401 Unauthorized
    error_object: exit 1 without an answer: overloaded (529): the model is overloaded
    "#);
}

/// A lane that writes to the work tree of the user has no vote.
#[test]
fn a_lane_that_writes_to_the_work_tree_of_the_user_is_reported() {
    let config = "gate: {lanes: {outside: {command: [lane, outside], keep: [OUTSIDE]}}}\n";
    let mut bench = GateWorld::with_config(config);
    let file = bench.repo.path("written.py");
    bench.world = bench.world.with_env("OUTSIDE", &file);
    let ended = bench.review("outside", &[]);
    assert_eq!(ended.code, 2, "{:#}", ended.json);
    assert_snapshot!(ended.error_of("outside"), @"the work tree changed while it ran: written.py; it says PASS");
    assert_snapshot!(ended.json["report"]["warnings"], @r#"["outside: the work tree changed while it ran: written.py"]"#);
}

/// What changes the work tree takes away a pass, never an objection.
#[test]
fn an_objection_stands_when_the_work_tree_changes() {
    let mut warnings = String::new();
    for (lane, place, code) in [
        ("outside_fail", "written.py", 1),
        ("outside_commit", ".", 2),
        ("outside_hook", ".", 2),
        ("outside_git", ".", 2),
    ] {
        let mut bench = GateWorld::with_config(&format!(
            "gate: {{lanes: {{{lane}: {{command: [lane, {lane}], keep: [OUTSIDE]}}}}}}\n"
        ));
        std::fs::create_dir_all(bench.repo.path(".git/hooks")).unwrap();
        bench.world = bench.world.with_env("OUTSIDE", bench.repo.path(place));
        let ended = bench.review(lane, &[]);
        assert_eq!(ended.code, code, "{lane}: {:#}", ended.json);
        warnings.push_str(&format!("{}\n", ended.json["report"]["warnings"]));
        assert_eq!(ended.json["issues"].as_array().unwrap().len(), usize::from(code == 1));
    }
    assert_snapshot!(warnings, @r#"
    ["outside_fail: the work tree changed while it ran: written.py"]
    ["outside_commit: the work tree changed while it ran: .git/HEAD"]
    ["outside_hook: the work tree changed while it ran: .git/hooks/pre-push"]
    ["outside_git: the work tree changed while it ran: its files cannot be listed: git status: .git/index: index file smaller than expected"]
    "#);
}

/// 001-058: what all lanes object to is never shown as their pass, also if it does not block.
#[test]
fn late_findings_are_listed_and_no_pass_of_their_lane() {
    let lane = |name| format!("{name}: {{command: [lane, {name}], keep: [SEEN]}}");
    let lanes = [lane("late"), lane("late2")].join(", ");
    let mut bench = GateWorld::with_config(&format!("gate: {{lanes: {{{lanes}}}}}\n"));
    let seen = bench.repo.beside("seen");
    bench.world = bench.world.with_env("SEEN", &seen);
    let review = |text: &str| {
        bench.repo.write("a.py", text);
        bench.repo.commit("change");
        let spawned = bench.spawn_of(&["--diff", "main..HEAD", "--lanes", "late,late2"]);
        bench.wait(spawned["session_key"].as_str().unwrap())
    };
    bench.repo.branch("topic");
    let first = review("def f(x):\n    z = 1  # BUG\n    return x  # HID\n");
    assert_eq!((first.code, first.verdict()), (1, "FAIL"), "{:#}", first.json);
    std::fs::write(&seen, "").unwrap();
    let late = review("def f(x):\n    z = 2\n    return x  # HID\n");
    let case = format!("{:#}", late.json);
    assert_eq!((late.code, late.verdict()), (0, "PASS"), "{case}");
    for lane in ["late", "late2"] {
        let reviewer = &late.json["reviewers"][lane];
        assert_eq!(reviewer["verdict"], "FAIL", "{case}");
        assert_eq!(reviewer["issues"][0]["line_start"], 3, "{case}");
    }
    assert_eq!(late.json["report"]["checks"][0]["location"], "a.py:3", "{case}");
    assert_snapshot!(bench.world.run(&["wait", "--session-key", &late.key]), @"
    [exit 0]
    [stdout]
    PASS (unanimous: 2 of 2 needed passes; not blocking: 1 late)
      main..HEAD at [COMMIT], started [TIME]
      late: FAIL, only late findings
      late2: FAIL, only late findings
      1 finding fixed
      1 finding late, on lines that an earlier round reviewed
    warning: late: not blocking: a.py:3: [P1] breaks in line 3 (late, late2)
    [WORK]/.mala/gate/[KEY]
    ");
}

/// 001-002: a lane that gave no answer looks at all lines later, and its first objection counts.
#[test]
fn a_lane_without_an_answer_reviews_everything_in_the_next_round() {
    let lanes = "late: {command: [lane, late]}, mute: {command: [lane, mute], keep: [SEEN]}";
    for rule in ["unanimous", "any"] {
        let mut bench =
            GateWorld::with_config(&format!("gate: {{consensus: {rule}, lanes: {{{lanes}}}}}\n"));
        let seen = bench.repo.beside("seen");
        bench.world = bench.world.with_env("SEEN", &seen);
        bench.repo.branch("topic");
        let review = |text: &str| {
            bench.repo.write("a.py", text);
            bench.repo.commit("change");
            let spawned = bench.spawn_of(&["--diff", "main..HEAD"]);
            bench.wait(spawned["session_key"].as_str().unwrap())
        };
        let first = review("def f(x):\n    z = 1  # BUG\n    return x  # HID\n");
        assert_eq!(first.json["reviewers"]["mute"]["verdict"], serde_json::Value::Null);
        assert_ne!(first.code, 0, "{:#}", first.json);
        std::fs::write(&seen, "").unwrap();
        let second = review("def f(x):\n    z = 2\n    return x  # HID\n");
        let case = format!("{:#}", second.json);
        assert_eq!(second.code, i32::from(rule == "unanimous"), "{case}");
        assert_eq!(second.json["reviewers"]["mute"]["verdict"], "FAIL", "{case}");
        assert_eq!(second.json["report"]["tracking"]["set_aside"], serde_json::json!([]), "{case}");
    }
}

/// 001-050, 001-077: commits that are reviewed one by one are no rounds of one change.
#[test]
fn a_minor_finding_in_other_work_counts_whatever_failed_before() {
    let bench = GateWorld::with_config("gate: {lanes: {graded: {command: [lane, graded]}}}\n");
    for (name, priority) in [("one", 1), ("two", 1), ("minor", 2)] {
        let text = format!("def f(x):\n    return x.{name}\n");
        bench.repo.write(format!("{name}.py"), text);
        bench.repo.commit("change");
        let ended = bench.review("graded", &[]);
        let case = format!("{:#}", ended.json);
        assert_eq!(ended.code, 1, "{case}");
        assert_eq!(ended.json["issues"].as_array().unwrap().len(), 1, "{case}");
        assert_eq!(ended.json["issues"][0]["priority"], priority, "{case}");
    }
}
