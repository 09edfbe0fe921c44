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
    let php = world.run(&["rules", "list", "--language", "php"]);
    let but_secrets: Vec<&str> = php.lines().filter(|it| !it.starts_with("secrets/")).collect();
    assert_snapshot!(but_secrets.join("\n"), @"
    [exit 0]
    [stdout]
    ci/failure-ignored                         P2  default   error_handling  CI step that cannot fail
    ci/floating-action                         P2  default   security        Action taken from a moving branch
    ci/pipe-to-shell                           P2  default   security        Workflow runs a download unseen
    cross-file/changed-signature               P2  default   bug             A call does not fit the changed parameters
    cross-file/removed-symbol                  P2  default   bug             Something that no longer exists is still used
    cross-file/unhandled-member                P2  default   bug             A new variant is not handled
    cross-file/unresolved-import               P2  default   bug             An import leads nowhere
    debug/debugger-statement                   P1  default   bug             Debugger statement left in
    debug/php-dump                             P1  default   bug             Variable dump left in
    debug/python-breakpoint                    P1  default   bug             Breakpoint left in
    debug/ruby-breakpoint                      P1  default   bug             Breakpoint left in
    debug/rust-dbg                             P2  default   style           `dbg!` left in
    deps/cargo-any-version                     P2  default   bug             Dependency with any version
    deps/cargo-unpinned-source                 P2  default   security        Dependency from a moving source
    deps/npm-floating-version                  P2  default   security        Dependency without a version
    deps/npm-unpinned-source                   P2  default   security        Dependency from a moving source
    deps/pip-unpinned-source                   P2  default   security        Dependency from a moving source
    deps/version-dropped                       P2  default   bug             Dependency loses its version
    diff/conflict-marker                       P0  default   bug             Merge conflict marker left in the file
    diff/test-removed                          P3  default   bug             Test removed while the code it tests stays
    docker/floating-image                      P2  default   bug             Base image without a version
    docker/pipe-to-shell                       P2  default   security        Build runs a download unseen
    php/duplicate-case                         P2  extended  logic           Case repeats an earlier one
    php/duplicate-condition                    P2  extended  logic           Condition repeats an earlier one of the same chain
    php/duplicate-key                          P2  extended  bug             Key is there twice
    php/identical-branches                     P2  extended  logic           Both branches do the same
    php/identical-operands                     P2  extended  logic           Both sides of an operator are the same
    php/self-assignment                        P2  extended  bug             Value is assigned to itself
    php/unreachable                            P2  extended  logic           Code is never reached
    tests/disabled-go                          P2  default   bug             Test switched off
    tests/disabled-java                        P2  default   bug             Test switched off
    tests/disabled-js                          P2  default   bug             Test switched off
    tests/disabled-python                      P2  default   bug             Test switched off
    tests/disabled-rust                        P2  default   bug             Test switched off
    tests/focused                              P1  default   bug             Focused test keeps all others from running
    ");
    let python = world.run(&["rules", "list", "--language", "python"]);
    assert!(python.contains("own/no-print"), "{python}");
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

    When the library is used, `X` lands on the user's stdout.

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
fn a_rule_can_be_read_by_programs() {
    let world = world();
    world.write(".mala/rules/no-print.yaml", OWN);
    assert_snapshot!(world.run(&["rules", "show", "own/no-print", "--format", "json"]), @r#"
    [exit 0]
    [stdout]
    {
      "rule": {
        "category": "style",
        "confidence": 0.9,
        "examples": {
          "bad": [
            "print(1)",
            "print(x)"
          ],
          "good": [
            "log(1)",
            "pprint(x)"
          ]
        },
        "id": "own/no-print",
        "languages": [
          "python"
        ],
        "message": "When the library is used, `{{X}}` lands on the user's stdout.",
        "priority": 3,
        "set": "default",
        "source": ".mala/rules/no-print.yaml",
        "suggestion": "Use logging.",
        "title": "Print in a library"
      },
      "schema_version": 1
    }
    "#);
}

#[test]
fn an_unknown_rule_names_the_nearest_one() {
    assert_snapshot!(world().run(&["rules", "show", "python/mutable-defualt"]), @"
    [exit 64]
    [stderr]
    error: no rule `python/mutable-defualt`
    hint: did you mean `python/mutable-default`?
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
    assert_snapshot!(listed.split("[stderr]\n").nth(1).unwrap_or(&listed), @"
    warning: .mala/rules/bad.yaml:7:1: unknown key `prority`; did you mean `priority`?
    warning: .mala/rules/bytes.yaml: not valid UTF-8
    ");
    assert_snapshot!(world.run(&["rules", "test", "nowhere"]), @"
    [exit 64]
    [stderr]
    error: nowhere does not exist
    ");
}
