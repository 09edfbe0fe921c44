//! `mala rules`: what the built-in reviewer looks for, and the rules of a repository.

use crate::world;
use insta::assert_snapshot;
use serde_json::Value;

const OWN: &str = "\
id: own/no-print
languages: [python]
title: Print in a library
message: When the library is used, `{{X}}` lands on the user's stdout.
suggestion: Use logging.
category: style
priority: 3
confidence: 0.9
rule:
  pattern: print($X)
examples:
  bad:
    - print(1)
    - print(x)
  good:
    - log(1)
    - pprint(x)
";

#[test]
fn own_rules_are_listed_beside_the_built_in_ones() {
    let world = world();
    world.write(".mala/rules/no-print.yaml", OWN).write(".mala/rules/README.md", "# Rules");
    let shown = world.run(&["rules", "list", "--language", "python"]);
    for line in ["own/no-print", "python/mutable-default"] {
        assert!(shown.contains(line), "{shown}");
    }
    assert!(!shown.contains("\njavascript/"), "{shown}");
    assert!(!shown.contains("[stderr]"), "{shown}");
}

#[test]
fn a_list_can_be_read_by_programs() {
    let output = world().output(&["rules", "list", "--format", "json"], b"");
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rules = list["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["id"].is_string() && rule["priority"].is_u64()));
    assert!(rules.iter().any(|rule| rule["id"] == "python/mutable-default"));
}

#[test]
fn a_rule_is_shown_with_its_examples() {
    let world = world();
    world.write(".mala/rules/no-print.yaml", OWN);
    assert_snapshot!(world.run(&["rules", "show", "own/no-print"]), @"
    [exit 0]
    [stdout]
    own/no-print
    Print in a library

    languages   python
    category    style
    priority    P3
    confidence  0.9
    set         default
    from        .mala/rules/no-print.yaml

    When the library is used, `{{X}}` lands on the user's stdout.

    Instead: Use logging.

    Reported:
        print(1)

        print(x)

    Not reported:
        log(1)

        pprint(x)

    To turn it off, in mala.yaml:

        review:
          rules:
            own/no-print: off
    ");
}

#[test]
fn an_unknown_rule_names_the_nearest_one() {
    assert_snapshot!(world().run(&["rules", "show", "python/mutable-defualt"]), @"
    [exit 64]
    [stderr]
    error: unknown rule 'python/mutable-defualt'
    hint: did you mean 'python/mutable-default'?
    ");
}

#[test]
fn an_unknown_language_is_a_usage_error() {
    assert_snapshot!(world().run(&["rules", "list", "--language", "cobol"]), @"
    [exit 64]
    [stderr]
    error: invalid value 'cobol' for '--language <LANGUAGE>': unknown language; expected one of python, javascript, typescript, tsx, rust, go, java, c, cpp, ruby, csharp, php

    For more information, try '--help'.
    ");
}

#[test]
fn rules_of_a_repository_are_tested_by_their_examples() {
    let world = world();
    world.write(".mala/rules/no-print.yaml", OWN);
    assert_snapshot!(world.run(&["rules", "test", ".mala/rules"]), @"
    [exit 0]
    [stdout]
    1 rule, 4 examples: all passed
    ");
    world.write(".mala/rules/no-print.yaml", OWN.replace("pprint(x)", "print(y)"));
    assert_snapshot!(world.run(&["rules", "test", ".mala/rules"]), @"
    [exit 1]
    [stdout]
    own/no-print: good example 2 (python): it matches on line 1
    1 rule, 4 examples: 1 failed
    ");
}

#[test]
fn the_built_in_rules_hold() {
    let shown = world().run(&["rules", "test"]);
    assert!(shown.starts_with("[exit 0]\n"), "{shown}");
    assert!(shown.ends_with("examples: all passed\n"), "{shown}");
}

#[test]
fn a_file_that_is_no_rule_says_where() {
    let world = world();
    world.write(".mala/rules/bad.yaml", OWN.replace("priority", "prority"));
    world.write(".mala/rules/bytes.yaml", b"\xff");
    assert_snapshot!(world.run(&["rules", "test", ".mala/rules"]), @"
    [exit 78]
    [stderr]
    error: .mala/rules/bytes.yaml: not valid UTF-8
    error: .mala/rules/bad.yaml:7:1: unknown key `prority`; did you mean `priority`?
    ");
    let listed = world.run(&["rules", "list"]);
    assert!(listed.starts_with("[exit 0]\n[stdout]\n"), "{listed}");
    assert!(listed.contains("[stderr]\nwarning: "), "{listed}");
    assert_snapshot!(world.run(&["rules", "test", "nowhere"]), @"
    [exit 64]
    [stderr]
    error: nowhere does not exist
    ");
}
