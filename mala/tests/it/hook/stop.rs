//! Findings block, a pass does not, nobody reviewed is no pass, and nobody is kept for ever.

use super::bench::{BAD, Bench, GOOD, asking, blocks, message};
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn findings_keep_an_agent_until_they_are_fixed() {
    let bench = Bench::new("judge");
    assert_eq!(bench.stop(false), json!({}), "nothing changed");
    bench.repo.write("a.py", BAD);
    let answer = bench.stop(false);
    assert_snapshot!(bench.shown(&answer), @r#"
    {
      "decision": "block",
      "reason": "The review of your work does not pass: 1 finding.\n- a.py:2: [P1] this is bad (judge)\nFull report: [WORK]/.mala/gate/[KEY]/report.md\nFix what is right, say of the rest why it is wrong, then stop again.",
      "systemMessage": "mala: 1 finding, block 1 of 3. Report: [WORK]/.mala/gate/[KEY]/report.md. To let it stop anyway: mala hook off, or MALA_HOOK=off."
    }
    "#);
    let report = message(&answer).split("Report: ").nth(1).unwrap().split(". ").next().unwrap();
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("this is bad") && report.contains("return x.bad"), "{report}");
    bench.repo.write("a.py", GOOD);
    assert_snapshot!(bench.shown(&bench.stop(true)), @r#"
    {
      "systemMessage": "mala: this work passes (judge)"
    }
    "#);
    assert_eq!(bench.sessions().len(), 2);
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "systemMessage": "mala: this work passes (judge)"
    }
    "#);
    assert_eq!(bench.sessions().len(), 2, "what is known is not asked again");
    assert_eq!(bench.repo.git(&["status", "--short"]), "M a.py", "the state is not in git");
}

#[test]
fn the_same_findings_keep_it_three_times_and_other_work_again() {
    let bench = Bench::new("judge");
    bench.repo.write("a.py", BAD);
    let played: Vec<bool> =
        [false, true, true, true, false].map(|it| blocks(&bench.stop(it))).to_vec();
    assert_eq!(played, [true, true, true, false, false]);
    assert_eq!(bench.sessions().len(), 1, "one review is enough for the same work");
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "systemMessage": "mala: LET GO WITH 1 FINDING: it was kept from stopping 3 times for this. Report: [WORK]/.mala/gate/[KEY]/report.md"
    }
    "#);
    bench.repo.write("a.py", BAD.replace("x.bad", "x.bad.bad"));
    assert!(blocks(&bench.stop(false)), "other work arms the hook");
}

#[test]
fn another_conversation_has_its_own_count() {
    let bench =
        Bench::with_config("gate: {max_blocks: 1, lanes: {judge: {command: [lane, judge]}}}\n");
    bench.repo.write("a.py", BAD);
    assert!(blocks(&bench.stop(false)));
    assert!(!blocks(&bench.stop(true)));
    let other = br#"{"session_id":"another","stop_hook_active":false}"#;
    assert!(blocks(&bench.stop_with(&[], other)));
}

#[test]
fn what_nobody_reviewed_fails_closed_and_then_lets_go_loudly() {
    let bench = Bench::new("prose");
    bench.repo.write("a.py", GOOD);
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: prose: invalid json: expected value at line 1 column 1.\nMore: [WORK]/.mala/gate/[KEY]/report.md.\nThis says nothing about the work. Change nothing that the reason does not ask for and stop again: the review is tried again.",
      "systemMessage": "mala: NOT REVIEWED, block 1 of 3: prose: invalid json: expected value at line 1 column 1. More: [WORK]/.mala/gate/[KEY]/report.md. To let it stop anyway: mala hook off, or MALA_HOOK=off."
    }
    "#);
    assert!(blocks(&bench.stop(true)) && blocks(&bench.stop(true)));
    assert_eq!(bench.sessions().len(), 3, "it is tried again each time");
    assert_snapshot!(bench.shown(&bench.stop(true)), @r#"
    {
      "systemMessage": "mala: NOTHING WAS REVIEWED: prose: invalid json: expected value at line 1 column 1. Let go: it was kept from stopping 3 times for this. More: [WORK]/.mala/gate/[KEY]/report.md."
    }
    "#);
}

#[test]
fn a_machine_without_reviewers_passes_nothing() {
    let bench = Bench::with_config("");
    bench.repo.write("a.py", GOOD);
    let answer = bench.stop(false);
    assert!(blocks(&answer), "{answer}");
    let why = "NOT REVIEWED, block 1 of 3: no reviewer is available; claude is not in";
    assert!(message(&answer).contains(why), "{answer}");
}

#[test]
fn a_review_that_takes_longer_goes_on_and_is_read_later() {
    let bench = Bench::new("never");
    bench.repo.write("a.py", GOOD);
    for is_continued in [false, true] {
        let started = std::time::Instant::now();
        let answer = bench.stop_with(&["--timeout", "3"], &asking(bench.repo.root(), is_continued));
        assert!(blocks(&answer) && message(&answer).contains("the review still runs"), "{answer}");
        assert!(started.elapsed().as_secs() < 20);
        assert_eq!(bench.sessions().len(), 1, "one session for both");
    }
    let gate = bench.world.command(env!("CARGO_BIN_EXE_review-gate")).arg("cancel").output();
    assert!(gate.unwrap().status.success());
}

#[test]
fn a_person_gets_out_by_a_variable_and_by_a_file() {
    let mut bench = Bench::new("judge");
    bench.repo.write("a.py", BAD);
    assert_snapshot!(bench.world.run(&["hook", "off"]), @"
    [exit 0]
    [stderr]
    wrote [WORK]/.git/mala-hook-off: the stop hook is off
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
    the stop hook is already on
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
    let mut bench = Bench::new("judge");
    bench.repo.write("a.py", BAD);
    bench.world = bench.world.with_env("MALA_GATE", "session/lane/");
    assert_eq!(bench.stop(false), json!({}));
    assert!(bench.sessions().is_empty(), "and starts no other gate");
}
