//! `review-gate` has no panel in this version, and must never look as if it passed.

use crate::gate_world;
use insta::assert_snapshot;

#[test]
fn it_says_its_version() {
    assert_snapshot!(gate_world().run(&["--version"]), @"
    [exit 0]
    [stdout]
    review-gate 0.1.0
    ");
}

#[test]
fn spawning_fails_with_1() {
    assert_snapshot!(gate_world().run(&["spawn-code-review", "--diff", "main..HEAD"]), @"
    [exit 1]
    [stderr]
    error: the panel of external reviewers is not in this version of review-gate
    hint: 'mala review --reviewer builtin' reviews a change without it
    ");
}

#[test]
fn waiting_fails_with_5_in_the_documented_shape() {
    assert_snapshot!(gate_world().run(&["wait", "--json", "--timeout", "1"]), @r#"
    [exit 5]
    [stdout]
    {"consensus":{"iteration":0,"verdict":"no_reviewers"},"issues":[],"parse_errors":["the panel of external reviewers is not in this version of review-gate"],"reviewers":{},"schema_version":1,"status":"error"}
    [stderr]
    error: the panel of external reviewers is not in this version of review-gate
    hint: 'mala review --reviewer builtin' reviews a change without it
    "#);
}

#[test]
fn the_other_commands_fail_with_5() {
    for command in ["status", "cancel", "list", "wait"] {
        let shown = gate_world().run(&[command]);
        assert!(shown.starts_with("[exit 5]\n[stderr]\nerror: "), "{command}: {shown}");
    }
}

#[test]
fn a_missing_range_is_a_usage_error() {
    let shown = gate_world().run(&["spawn-code-review"]);
    assert!(shown.starts_with("[exit 64]\n[stderr]\n"), "{shown}");
}
