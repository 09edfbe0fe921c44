//! A change never chooses the rules that it is reviewed by.

use super::{FLAW, FOUND, commit, findings, repo, review};

const OFF: &str = "review:\n  rules:\n    debug/python-breakpoint: off\n";
const RULE: &str = "id: own/no-ask
languages: [python]
title: Nothing is asked
message: When this runs, a question is asked.
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
    assert!(report["warnings"].to_string().contains("mala.yaml"), "{report:#}");
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
    assert!(report["warnings"].to_string().contains("not committed"), "{report:#}");
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
    let world = repo();
    world.write("app.py", FLAW);
    for reviewer in ["agent_sdk", "agent-sdk", "cerberus", "command"] {
        let shown = world.run(&["review", "--reviewer", reviewer]);
        assert!(shown.starts_with("[exit 4]"), "{shown}");
    }
    let shown = world.run(&["review", "--reviewer", "agent_sdk"]);
    assert!(shown.contains("ANTHROPIC_API_KEY"), "{shown}");
    let unnamed = world.run(&["review"]);
    assert!(unnamed.contains("Built-in analyzers only: no model key is set."), "{unnamed}");
}
