//! Findings block, a pass does not, no review is no pass, and the agent is not kept for ever.

use super::bench::{BAD, GOOD, HookWorld, asking, blocks, message};
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn findings_keep_an_agent_until_they_are_fixed() {
    let bench = HookWorld::new("judge");
    assert_eq!(bench.stop(false), json!({}), "nothing changed");
    bench.repo.write("a.py", BAD);
    let answer = bench.stop(false);
    assert_snapshot!(bench.shown(&answer), @r#"
    {
      "decision": "block",
      "reason": "The review of your work did not pass: 1 finding.\n- a.py:2: [P1] this is bad (judge)\nFull report: [WORK]/.mala/gate/[KEY]/report.md\nFix the findings that are right. For those that are wrong, say why. Then stop again.",
      "systemMessage": "mala: 1 finding, block 1 of 3. Report: [WORK]/.mala/gate/[KEY]/report.md. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    "#);
    let report = message(&answer).split("Report: ").nth(1).unwrap().split(". ").next().unwrap();
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("this is bad") && report.contains("return x.bad"), "{report}");
    bench.repo.write("a.py", GOOD);
    assert_snapshot!(bench.shown(&bench.stop(true)), @r#"
    {
      "systemMessage": "mala: the review passed (judge)"
    }
    "#);
    assert_eq!(bench.stop(false), json!({}), "nothing changed since it passed");
    assert_eq!(bench.sessions().len(), 2, "what is known is not asked again");
    assert_eq!(bench.repo.git(&["status", "--short"]), "M a.py", "the state is not in git");
}

#[test]
fn the_same_findings_keep_it_three_times_and_other_work_again() {
    let bench = HookWorld::new("judge");
    bench.repo.write("a.py", BAD);
    let played: Vec<bool> = [false, true, true].map(|it| blocks(&bench.stop(it))).to_vec();
    assert_eq!(played, [true, true, true]);
    assert_eq!(bench.sessions().len(), 1, "one review is enough for the same work");
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "systemMessage": "mala: warning: stopping with 1 unresolved finding: blocked 3 times for this work. Report: [WORK]/.mala/gate/[KEY]/report.md"
    }
    "#);
    assert_eq!(bench.stop(false), json!({}), "it stays released");
    let other = br#"{"session_id":"another","stop_hook_active":false}"#;
    assert_eq!(bench.stop_with(&[], other), json!({}), "in another conversation too");
    bench.repo.write("a.py", BAD.replace("x.bad", "x.bad.bad"));
    assert!(blocks(&bench.stop(false)), "until its diff changes");
}

#[test]
fn a_person_accepts_work_as_it_is() {
    let bench = HookWorld::new("judge");
    bench.begin();
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    bench.repo.write("b.py", "b = 1\n");
    assert!(blocks(&bench.stop(false)));
    assert_snapshot!(bench.world.run(&["hook", "accept"]), @"
    [exit 0]
    [stderr]
    accepted: later reviews of the hook start from here
    ");
    let answer = bench.stop(true);
    assert!(!blocks(&answer), "{answer}");
    let other = br#"{"session_id":"another","stop_hook_active":false}"#;
    assert_eq!(bench.stop_with(&[], other), json!({}), "in another conversation too");
    bench.repo.write("a.py", BAD.replace("x.bad", "x.bad.bad"));
    assert!(blocks(&bench.stop(false)), "later work is reviewed");
}

#[test]
fn accepted_work_stays_accepted_when_it_is_committed() {
    let bench = HookWorld::new("judge");
    bench.begin();
    bench.repo.write("a.py", BAD);
    assert!(blocks(&bench.stop(false)));
    assert!(bench.world.run(&["hook", "accept"]).starts_with("[exit 0]"));
    let told = "mala: warning: work that did not pass was accepted (mala hook accept)";
    assert_eq!(bench.stop(true), json!({ "systemMessage": told }), "it is still there");
    bench.repo.commit("bad");
    assert_eq!(bench.stop(false), json!({}), "the same diff in a commit");
    bench.repo.git(&["commit", "-q", "--amend", "-m", "other words"]);
    assert_eq!(bench.stop(false), json!({}), "and in another one");
}

#[test]
fn errors_do_not_use_up_the_blocks_of_findings() {
    let bench = HookWorld::new("judge");
    bench.begin();
    let config = bench.world.home().join(".config/mala/config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "gate: {consensus: most}\n").unwrap();
    bench.repo.write("a.py", BAD);
    let played = [false, true, true, true].map(|it| blocks(&bench.stop(it)));
    assert_eq!(played, [true, true, true, false], "nothing is reviewed");
    std::fs::remove_file(config).unwrap();
    let answer = bench.stop(false);
    assert!(blocks(&answer) && message(&answer).contains("1 finding, block 1 of 3"), "{answer}");
}

/// Findings that a person disputes, or that are late, do not block, and no reviewer is said to pass them.
#[test]
fn findings_that_do_not_block_are_told() {
    let config = "gate: {lanes: {late: {command: [lane, late], keep: [SEEN]}}}\n";
    let mut bench = HookWorld::with_config(config);
    let seen = bench.repo.beside("seen");
    bench.world = bench.world.with_env("SEEN", &seen);
    bench.begin();
    bench.repo.write("a.py", "def f(x):\n    z = 1  # BUG\n    return x  # HID\n");
    assert!(blocks(&bench.stop(false)));
    let listed = bench.world.output(&["findings", "--format", "json"], b"").stdout;
    let listed: serde_json::Value = serde_json::from_slice(&listed).unwrap();
    let id = listed["findings"][0]["id"].as_str().unwrap();
    let dispute = ["findings", "dispute", id, "--reason", "it is right"];
    assert!(bench.world.run(&dispute).starts_with("[exit 0]"));
    let told = |answer: &serde_json::Value, words: &str| {
        let expected = format!("mala: the review passed; not blocking: {words}");
        assert!(message(answer).starts_with(&expected), "{answer}");
        assert!(message(answer).contains("Report: ") && !blocks(answer), "{answer}");
    };
    told(&bench.stop(true), "1 disputed");
    std::fs::write(&seen, "").unwrap();
    bench.repo.write("a.py", "def f(x):\n    z = 2\n    return x  # HID\n");
    told(&bench.stop(true), "1 late");
}

#[test]
fn unreviewed_work_blocks_and_is_released_with_a_warning() {
    let bench = HookWorld::new("prose");
    bench.repo.write("a.py", GOOD);
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: prose: invalid json: expected value at line 1 column 1: \"I looked at everything. No issues found: APPROVED, PASS.\". More: [WORK]/.mala/gate/[KEY]/report.md.\nThis says nothing about the work. Change only what the reason asks for and stop again: the review is repeated.",
      "systemMessage": "mala: not reviewed, block 1 of 3: prose: invalid json: expected value at line 1 column 1: \"I looked at everything. No issues found: APPROVED, PASS.\". More: [WORK]/.mala/gate/[KEY]/report.md. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    "#);
    assert!(blocks(&bench.stop(true)) && blocks(&bench.stop(true)));
    assert_eq!(bench.sessions().len(), 3, "it is tried again each time");
    assert_snapshot!(bench.shown(&bench.stop(true)), @r#"
    {
      "systemMessage": "mala: warning: stopping without a review: prose: invalid json: expected value at line 1 column 1: \"I looked at everything. No issues found: APPROVED, PASS.\"; blocked 3 times for this work. More: [WORK]/.mala/gate/[KEY]/report.md."
    }
    "#);
}

#[test]
fn without_a_reviewer_the_person_is_told_once() {
    let bench = HookWorld::with_config("gate: {panel: [codex]}\n");
    bench.repo.write("a.py", GOOD);
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "systemMessage": "mala: warning: nothing was reviewed: no reviewer is usable (codex: `codex` is not on PATH). Run `review-gate lanes` to see why"
    }
    "#);
    assert_eq!(bench.stop(false), json!({}));
    bench.repo.write("a.py", BAD);
    assert_eq!(bench.stop(false), json!({}), "once per conversation");
    let other = br#"{"session_id":"another","stop_hook_active":false}"#;
    assert_snapshot!(bench.shown(&bench.stop_with(&[], other)), @r#"
    {
      "systemMessage": "mala: warning: nothing was reviewed: no reviewer is usable (codex: `codex` is not on PATH). Run `review-gate lanes` to see why"
    }
    "#);
    assert!(bench.sessions().is_empty());
}

#[test]
fn a_review_that_takes_longer_goes_on_and_is_read_later() {
    let bench = HookWorld::new("never");
    bench.repo.write("a.py", GOOD);
    for is_continued in [false, true] {
        let started = std::time::Instant::now();
        let answer = bench.stop_with(&["--timeout", "3"], &asking(bench.repo.root(), is_continued));
        assert!(
            blocks(&answer) && message(&answer).contains("the review is still running"),
            "{answer}"
        );
        assert!(started.elapsed().as_secs() < 20);
        assert_eq!(bench.sessions().len(), 1, "one session for both");
    }
    bench.cancel();
}

#[test]
fn a_person_gets_out_by_a_variable_and_by_a_file() {
    let mut bench = HookWorld::new("judge");
    bench.repo.write("a.py", BAD);
    assert_snapshot!(bench.world.run(&["hook", "off"]), @"
    [exit 0]
    [stderr]
    wrote [WORK]/.git/mala-hook-off: the hooks are off
    ");
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "systemMessage": "mala: the stop hook is off ([WORK]/.git/mala-hook-off): nothing was reviewed"
    }
    "#);
    assert_eq!(bench.repo.git(&["status", "--short"]), "M a.py", "the file is not in git");
    assert_snapshot!(bench.world.run(&["hook", "on"]), @"
    [exit 0]
    [stderr]
    removed [WORK]/.git/mala-hook-off
    ");
    assert_snapshot!(bench.world.run(&["hook", "on"]), @"
    [exit 0]
    [stderr]
    the hooks were on already
    ");
    assert!(blocks(&bench.stop(false)));
    bench.world = bench.world.with_env("MALA_HOOK", "OFF");
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "systemMessage": "mala: the stop hook is off (MALA_HOOK=off): nothing was reviewed"
    }
    "#);
}

#[test]
fn a_reviewer_of_a_gate_is_not_gated() {
    let mut bench = HookWorld::new("judge");
    bench.repo.write("a.py", BAD);
    bench.world = bench.world.with_env("MALA_GATE", "session/lane/");
    assert_eq!(bench.stop(false), json!({}));
    assert!(bench.sessions().is_empty(), "and starts no other gate");
}

/// A pass names those that objected, were outvoted or gave no answer.
#[test]
fn a_pass_names_the_reviewers_that_do_not_pass() {
    let mut shown = String::new();
    for (lanes, rule) in [
        ("fail: {command: [lane, fail]}, two: {command: [lane, pass, refuted]}", "unanimous"),
        ("fail: {command: [lane, fail]}, two: {command: [lane, pass]}", "any"),
        ("empty: {command: [lane, empty]}, two: {command: [lane, pass]}", "any"),
    ] {
        let config = format!("gate: {{consensus: {rule}, lanes: {{{lanes}}}}}\n");
        let bench = HookWorld::with_config(&config);
        bench.repo.write("a.py", GOOD);
        let answer = bench.stop(false);
        shown.push_str(&(bench.shown(&answer) + "\n"));
    }
    assert_snapshot!(shown, @r#"
    {
      "systemMessage": "mala: the review passed (two); fail: objected, refuted by two. Report: [WORK]/.mala/gate/[KEY]/report.md"
    }
    {
      "systemMessage": "mala: the review passed (two); fail: FAIL. Report: [WORK]/.mala/gate/[KEY]/report.md"
    }
    {
      "systemMessage": "mala: the review passed (two); empty: no vote: exit 0 without an answer. Report: [WORK]/.mala/gate/[KEY]/report.md"
    }
    "#);
}

/// `review.ignore` leaves nothing to review, and no reviewer is said to pass it.
#[test]
fn a_change_without_a_reviewed_file_is_told() {
    let config = "review: {ignore: ['*.md']}\ngate: {lanes: {pass: {command: [lane, pass]}}}\n";
    let bench = HookWorld::with_config(config);
    bench.repo.write("x.md", "text\n");
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "systemMessage": "mala: warning: nothing was reviewed; x.md is not reviewed: ignored by configuration"
    }
    "#);
}
