//! A change never chooses the rules that it is reviewed by.

use super::{FLAW, FOUND, commit, findings, repo, review};
use insta::assert_snapshot;

const OFF: &str = "review:\n  rules:\n    debug/python-breakpoint: off\n";
const RULE: &str = "id: own/no-ask
languages: [python]
title: No asking
message: When this runs, the user is asked.
suggestion: Do not ask.
category: bug
priority: 1
confidence: 0.9
rule:
  pattern: return 1
examples:
  bad: ['def f(): return 1', 'return 1']
  good: ['return 2', 'x = 1']
";

#[test]
fn configuration_of_the_head_is_not_obeyed() {
    let world = repo();
    world.git(&["checkout", "-q", "-b", "topic"]).write("app.py", FLAW).write("mala.yaml", OFF);
    commit(&world, "flaw with an excuse");
    let (code, report) = review(&world, &["--base", "main"]);
    assert_eq!((code, findings(&report)), (1, vec![FOUND.to_owned()]));
    assert_snapshot!(report["warnings"].to_string(), @r#"["mala.yaml is not at the base of this change: the defaults hold"]"#);
}

#[test]
fn configuration_of_the_base_is_obeyed() {
    let world = repo();
    world.write("mala.yaml", OFF);
    commit(&world, "configure");
    world.write("app.py", FLAW);
    assert_eq!(review(&world, &[]).0, 0);
}

#[test]
fn ones_own_uncommitted_configuration_is_used_and_said() {
    let world = repo();
    world.write("app.py", FLAW).write("mala.yaml", OFF);
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 0, "{report:#}");
    assert_snapshot!(report["warnings"].to_string(), @r#"["mala.yaml is not committed: using the one in the work tree"]"#);
}

#[test]
fn rules_come_from_the_base() {
    let world = repo();
    world.git(&["checkout", "-q", "-b", "topic"]);
    world.write(".mala/rules/no-ask.yaml", RULE).write("b.py", "def g():\n    return 1\n");
    commit(&world, "rule and code");
    assert!(findings(&review(&world, &["--base", "main"]).1).is_empty(), "the change brings it");
    world.write("c.py", "def h():\n    return 1\n");
    commit(&world, "more code");
    assert_eq!(findings(&review(&world, &["HEAD~1..HEAD"]).1), ["c.py:2 own/no-ask"]);
}

#[test]
fn a_named_reviewer_never_falls_back() {
    let world = repo().with_only_programs(&["git"]);
    world.write("app.py", FLAW);
    for reviewer in ["agent_sdk", "agent-sdk", "cerberus", "command"] {
        let shown = world.run(&["review", "--no-save", "--reviewer", reviewer]);
        assert_snapshot!(format!("without_{}", reviewer.replace('-', "_")), shown);
    }
}
