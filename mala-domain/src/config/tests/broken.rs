//! Errors in configuration files, with position and hint.

use super::show;
use insta::assert_snapshot;

#[test]
fn an_unknown_key_names_the_nearest_one_and_its_block() {
    assert_snapshot!(show("review:\n  linters:\n    enabeld: auto\n"), @"
    error: mala.yaml:3:5: unknown key `enabeld` in `review.linters`
     --> mala.yaml:3:5
      |
    1 | review:
    2 |   linters:
    3 |     enabeld: auto
      |     ^^^^^^^ unknown key
    hint: did you mean `enabled`?
    ");
}

#[test]
fn an_unknown_key_lists_all_valid_ones() {
    assert_snapshot!(show("review:\r\n  fail_on: P1\r\n  zzz: 1\r\n"), @"
    error: mala.yaml:3:3: unknown key `zzz` in `review`
     --> mala.yaml:3:3
      |
    1 | review:
    2 |   fail_on: P1
    3 |   zzz: 1
      |   ^^^ unknown key
    hint: valid keys: fail_on, timeout, base, max_findings, ignore, generated, suppressions, rules, linters, cerberus, command, budget, rounds
    ");
}

#[test]
fn invalid_values() {
    for (text, place) in [
        ("reviewer_type: [builtin, agent_sdk]\n", "1:16: expected a single value"),
        ("review:\n  budget: {max_llm_calls: 0}\n", "2:27: must be at least 1"),
        ("review:\n  budget: {max_output_issues: 0}\n", "2:31: must be at least 1"),
        ("review:\n  rounds: {max_rounds: 0}\n", "2:24: must be at least 1"),
        ("review:\n  budget: {max_cost_usd: -1}\n", "2:26: must be greater than 0"),
        ("review:\n  budget: {max_cost_usd: .nan}\n", "1:1: must be greater than 0"),
        ("agent_sdk_escalation_model: ' '\n", "1:29: the model name is empty"),
        ("review:\n  cerberus: {command: []}\n", "2:23: the command is empty"),
        ("review:\n  cerberus: {env: {'A=B': x}}\n", "2:27: invalid environment variable `A=B`"),
    ] {
        let shown = show(text);
        assert!(shown.starts_with(&format!("error: mala.yaml:{place}")), "{shown}");
    }
    let shown = show("review:\n  budget: {profile: slow}\n");
    assert!(shown.contains("valid values: lean, quick, standard, thorough"), "{shown}");
}

#[test]
fn invalid_panels() {
    for (text, place) in [
        ("gate:\n  panel: []\n", "2:10: the panel has no lanes"),
        ("gate:\n  canaries: {every_days: 0}\n", "2:26: must be between 1 and 365"),
        ("gate:\n  canaries: {count: 51}\n", "2:21: must be between 1 and 50"),
        ("gate:\n  lanes:\n    mine: {}\n", "3:11: the lane `mine` has no command"),
        ("gate:\n  lanes:\n    a/b: {command: [x]}\n", "3:10: invalid lane name `a/b`"),
        (
            "gate:\n  lanes:\n    ok: {command: [x]}\n    mine: {like: codx}\n",
            "4:11: no lane is named `codx`: did you mean `codex`?",
        ),
        ("gate:\n  consensus: most\n", "2:14: `most` is none of unanimous, majority, any"),
        ("gate:\n  lanes:\n    mine: {comand: [x]}\n", "3:12: unknown key `comand`"),
    ] {
        let shown = show(text);
        assert!(shown.starts_with(&format!("error: mala.yaml:{place}")), "{shown}");
    }
}

#[test]
fn an_unknown_key_at_the_top() {
    assert_snapshot!(show("# mine\nreviewr_type: builtin\n"), @"
    error: mala.yaml:2:1: unknown key `reviewr_type`
     --> mala.yaml:2:1
      |
    1 | # mine
    2 | reviewr_type: builtin
      | ^^^^^^^^^^^^ unknown key
    hint: did you mean `reviewer_type`?
    ");
}

#[test]
fn an_unknown_trigger() {
    assert_snapshot!(show("validation_triggers:\n  sesion_end:\n    commands: []\n"), @"
    error: mala.yaml:2:3: unknown key `sesion_end` in `validation_triggers`
     --> mala.yaml:2:3
      |
    1 | validation_triggers:
    2 |   sesion_end:
      |   ^^^^^^^^^^ unknown key
    3 |     commands: []
      |
    hint: did you mean `session_end`?
    ");
}

#[test]
fn an_unknown_key_in_a_list_entry() {
    assert_snapshot!(show("review:\n  rules:\n    - rule: x\n      us: off\n"), @"
    error: mala.yaml:4:7: unknown key `us` in `review.rules`
     --> mala.yaml:4:7
      |
    2 |   rules:
    3 |     - rule: x
    4 |       us: off
      |       ^^ unknown key
    hint: did you mean `use`?
    ");
}

#[test]
fn a_missing_key() {
    assert_snapshot!(show("review:\n  rules:\n    - rule: x\n"), @"
    error: mala.yaml:3:7: missing key `use`
     --> mala.yaml:3:7
      |
    1 | review:
    2 |   rules:
    3 |     - rule: x
      |       ^^^^ in this entry
    ");
}

#[test]
fn an_invalid_value() {
    assert_snapshot!(show("review:\n  fail_on: P9\n"), @"
    error: mala.yaml:2:12: invalid value `P9`
     --> mala.yaml:2:12
      |
    1 | review:
    2 |   fail_on: P9
      |            ^^ invalid value
    hint: valid values: P0, P1, P2, P3, none
    ");
}

#[test]
fn an_invalid_rule_level_is_marked_at_the_value() {
    assert_snapshot!(show("review:\n  rules:\n    py-eval: of\n"), @"
    error: mala.yaml:3:14: invalid value `of`
     --> mala.yaml:3:14
      |
    1 | review:
    2 |   rules:
    3 |     py-eval: of
      |              ^^ invalid value
    hint: did you mean `off`?
    ");
}

#[test]
fn a_misspelt_reviewer() {
    assert_snapshot!(show("reviewer_type: agnt_sdk\n"), @"
    error: mala.yaml:1:16: invalid value `agnt_sdk`
     --> mala.yaml:1:16
      |
    1 | reviewer_type: agnt_sdk
      |                ^^^^^^^^ invalid value
    hint: did you mean `agent_sdk`?
    ");
}

#[test]
fn a_misspelt_linter() {
    assert_snapshot!(show("review:\n  linters:\n    off: [ruff, eslnt]\n"), @"
    error: mala.yaml:3:17: invalid value `eslnt`
     --> mala.yaml:3:17
      |
    1 | review:
    2 |   linters:
    3 |     off: [ruff, eslnt]
      |                 ^^^^^ invalid value
    hint: did you mean `eslint`?
    ");
}

#[test]
fn a_value_where_a_block_belongs() {
    assert_snapshot!(show("review: 5\n"), @"
    error: mala.yaml:1:9: expected a block of keys
     --> mala.yaml:1:9
      |
    1 | review: 5
      |         ^ here
    hint: write the keys indented below, as `key: value`
    ");
}

#[test]
fn a_list_where_the_file_needs_keys() {
    assert_snapshot!(show("- review\n"), @"
    error: mala.yaml:1:1: expected a block of keys
     --> mala.yaml:1:1
      |
    1 | - review
      | ^ here
    hint: write the keys indented below, as `key: value`
    ");
}

#[test]
fn a_word_where_a_number_belongs() {
    assert_snapshot!(show("review: {timeout: ten}\n"), @"
    error: mala.yaml:1:19: expected an integer
     --> mala.yaml:1:19
      |
    1 | review: {timeout: ten}
      |                   ^^^ here
    ");
}

#[test]
fn a_number_outside_of_its_limits() {
    assert_snapshot!(show("review:\n  timeout: 0\n"), @"
    error: mala.yaml:2:12: 0 is not a number of seconds between 1 and 604800
     --> mala.yaml:2:12
      |
    1 | review:
    2 |   timeout: 0
      |            ^ here
    ");
}

#[test]
fn a_duplicate_key() {
    assert_snapshot!(show("review: {fail_on: P1}\nreview: {fail_on: P2}\n"), @"
    error: mala.yaml:2:1: duplicate key `review`
     --> mala.yaml:2:1
      |
    1 | review: {fail_on: P1}
    2 | review: {fail_on: P2}
      | ^^^^^^ second occurrence
    hint: remove one of them
    ");
}

#[test]
fn an_invalid_path_glob() {
    assert_snapshot!(show("review:\n  ignore:\n    - docs\n    - '!docs/keep.md'\n"), @"
    error: mala.yaml:4:7: `!docs/keep.md` is not a valid path glob: patterns cannot be negated
     --> mala.yaml:4:7
      |
    2 |   ignore:
    3 |     - docs
    4 |     - '!docs/keep.md'
      |       ^^^^^^^^^^^^^^^ here
    ");
}

#[test]
fn a_rule_with_an_invalid_path_glob() {
    assert_snapshot!(show("review:\n  rules:\n    a: off\n    b: {use: off, paths: ['x[']}\n"), @"
    error: mala.yaml:4:5: `x[` is not a valid path glob: unclosed character class; missing ']'
     --> mala.yaml:4:5
      |
    2 |   rules:
    3 |     a: off
    4 |     b: {use: off, paths: ['x[']}
      |     ^ here
    ");
}

#[test]
fn a_branch_that_is_an_option_of_git() {
    assert_snapshot!(show("review:\n  base: --upload-pack=touch\n"), @"
    error: mala.yaml:2:9: `--upload-pack=touch` is not a valid branch name
     --> mala.yaml:2:9
      |
    1 | review:
    2 |   base: --upload-pack=touch
      |         ^^^^^^^^^^^^^^^^^^^ here
    ");
}

#[test]
fn an_empty_command() {
    assert_snapshot!(show("commands:\n  test: ''\n"), @"
    error: mala.yaml:2:9: the command `test` is empty
     --> mala.yaml:2:9
      |
    1 | commands:
    2 |   test: ''
      |         ^^ here
    ");
}

#[test]
fn invalid_yaml() {
    assert_snapshot!(show("review:\n\tfail_on: P1\n"), @"
    error: mala.yaml:2:2: tabs are not allowed for indentation
     --> mala.yaml:2:2
      |
    1 | review:
    2 |     fail_on: P1
      |     ^ here
    hint: indent with spaces
    ");
}

#[test]
fn an_unclosed_list() {
    assert_snapshot!(show("review:\n  ignore: [docs\n"), @"
    error: mala.yaml:2:11: unclosed bracket '['
     --> mala.yaml:2:11
      |
    1 | review:
    2 |   ignore: [docs
      |           ^ here
    hint: close it with `]`, or write one `- entry` per line below the key
    ");
}

#[test]
fn wide_characters_do_not_move_the_mark() {
    assert_snapshot!(show("commands: {prüfe: 'ls', été: ''}\n"), @"
    error: mala.yaml:1:30: the command `été` is empty
     --> mala.yaml:1:30
      |
    1 | commands: {prüfe: 'ls', été: ''}
      |                              ^^ here
    ");
}

#[test]
fn control_characters_of_a_key_are_escaped() {
    assert_snapshot!(show("\"\\e[31mred\": 1\n"), @r#"
    error: mala.yaml:1:1: unknown key `\u{1b}[31mred`
     --> mala.yaml:1:1
      |
    1 | "\e[31mred": 1
      | ^^^^^^^^^^^ unknown key
    hint: valid keys: reviewer_type, agent_sdk_review_timeout, agent_sdk_reviewer_model, agent_sdk_escalation_model, review, models, gate, pull_requests, run, tasks, validation_triggers, commands
    "#);
}

#[test]
fn a_key_command_needs_a_program() {
    assert_snapshot!(show("models:\n  key_commands:\n    openai: []\n"), @"
    error: mala.yaml:3:13: the command is empty
     --> mala.yaml:3:13
      |
    1 | models:
    2 |   key_commands:
    3 |     openai: []
      |             ^ here
    ");
}

#[test]
fn yaml_errors_have_hints() {
    assert_snapshot!(show("review: [\n"), @"
    error: mala.yaml:1:9: unclosed bracket '['
     --> mala.yaml:1:9
      |
    1 | review: [
      |         ^ here
    hint: close it with `]`, or write one `- entry` per line below the key
    ");
    assert_snapshot!(show("review:\n  fail_on: P1\n bad: [\n"), @"
    error: mala.yaml:3:2: the indentation does not match any block above
     --> mala.yaml:3:2
      |
    1 | review:
    2 |   fail_on: P1
    3 |  bad: [
      |  ^ here
    hint: indent all keys of a block by the same number of spaces
    ");
    assert_snapshot!(show("review:\n\tfail_on: P1\n"), @"
    error: mala.yaml:2:2: tabs are not allowed for indentation
     --> mala.yaml:2:2
      |
    1 | review:
    2 |     fail_on: P1
      |     ^ here
    hint: indent with spaces
    ");
    assert_snapshot!(show("review: \"abc\n"), @r#"
    error: mala.yaml:1:13: invalid indentation in multiline quoted scalar
     --> mala.yaml:1:13
      |
    1 | review: "abc
      |             ^ here
    hint: close the quote on the same line
    "#);
    assert_snapshot!(show("review: []\n"), @"
    error: mala.yaml:1:9: expected a block of keys
     --> mala.yaml:1:9
      |
    1 | review: []
      |         ^ here
    hint: write the keys indented below, as `key: value`
    ");
}
