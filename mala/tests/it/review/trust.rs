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
    assert_snapshot!(report["warnings"].to_string(), @r#"["mala.yaml is not at the base of this change: using the defaults"]"#);
}

#[test]
fn configuration_of_the_base_is_obeyed() {
    let world = repo();
    world.write("mala.yaml", OFF);
    commit(&world, "configure");
    world.write("app.py", FLAW);
    assert_eq!(review(&world, &[]).0, 0);
}

/// An agent that edits the working tree cannot switch off its own review.
#[test]
fn uncommitted_configuration_has_no_effect() {
    for config in [OFF, "review:\n  ignore: ['*']\n", "review:\n  fail_on: none\n"] {
        let world = repo();
        world.write("app.py", FLAW).write("mala.yaml", config);
        for args in [&[][..], &["--staged"]] {
            world.git(&["add", "-A"]);
            let (code, report) = review(&world, args);
            assert_eq!((code, findings(&report)), (1, vec![FOUND.to_owned()]), "{config}");
            assert_eq!(
                report["warnings"][0],
                "mala.yaml is not at the base of this change: using the defaults"
            );
        }
    }
}

/// A rule with the id of a built-in one replaces it.
#[test]
fn uncommitted_rules_replace_no_built_in_rule() {
    let world = repo();
    let rule = RULE.replace("own/no-ask", "debug/python-breakpoint");
    world.write("app.py", FLAW).write(".mala/rules/mine.yaml", rule);
    assert_eq!(findings(&review(&world, &["app.py"]).1), [FOUND]);
    world.write(".mala/rules/mine.yaml", RULE).write("b.py", "def g():\n    return 1\n");
    let found = findings(&review(&world, &["b.py"]).1);
    assert_eq!(found, ["b.py:2 own/no-ask"], "others apply");
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
