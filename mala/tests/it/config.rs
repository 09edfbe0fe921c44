//! `mala config`: check, show and schema, and the order in which the layers hold.

use crate::world;
use insta::assert_snapshot;
use mala_testkit::World;

#[test]
fn no_file_means_the_defaults() {
    assert_snapshot!(world().run(&["config", "check"]), @"
    [exit 0]
    [stdout]
    no mala.yaml: using the defaults
    ");
}

#[test]
fn a_valid_file_passes() {
    let world = world();
    world.write("mala.yaml", "review:\n  fail_on: P2\n");
    assert_snapshot!(world.run(&["config", "check"]), @"
    [exit 0]
    [stdout]
    mala.yaml is valid
    ");
}

#[test]
fn a_broken_file_is_a_configuration_error_with_a_frame_and_a_way_out() {
    let world = world();
    world.write("mala.yaml", "review:\n  fail_onn: P2\n");
    assert_snapshot!(world.run(&["config", "check"]), @"
    [exit 78]
    [stderr]
    error: mala.yaml:2:3: unknown key `fail_onn` in `review`
     --> mala.yaml:2:3
      |
    1 | review:
    2 |   fail_onn: P2
      |   ^^^^^^^^ unknown key
    hint: did you mean `fail_on`?
    ");
    assert_snapshot!(world.run(&["config", "check", "--format", "json"]), @r#"
    [exit 78]
    [stdout]
    {
      "error": {
        "column": 3,
        "hint": "did you mean `fail_on`?",
        "line": 2,
        "message": "unknown key `fail_onn` in `review`"
      },
      "file": "mala.yaml",
      "schema_version": 1,
      "valid": false,
      "warnings": []
    }
    "#);
}

/// 000-006, 000-052, 000-053
#[test]
fn the_reviewer_is_one_word_at_the_top_of_the_file() {
    let check = |config: &str| {
        let world = world();
        world.write("mala.yaml", config);
        world.run(&["config", "check"])
    };
    assert_snapshot!(check("reviewer_type: [agent_sdk, cerberus]\n"), @"
    [exit 78]
    [stderr]
    error: mala.yaml:1:16: expected a single value
     --> mala.yaml:1:16
      |
    1 | reviewer_type: [agent_sdk, cerberus]
      |                ^ here
    ");
    assert_snapshot!(check("reviewer_type: gpt\n"), @"
    [exit 78]
    [stderr]
    error: mala.yaml:1:16: invalid value `gpt`
     --> mala.yaml:1:16
      |
    1 | reviewer_type: gpt
      |                ^^^ invalid value
    hint: valid values: agent-sdk, agent_sdk, cerberus, command, builtin
    ");
    assert_snapshot!(check("review: {reviewer_type: cerberus}\n"), @"
    [exit 78]
    [stderr]
    error: mala.yaml:1:10: unknown key `reviewer_type` in `review`
     --> mala.yaml:1:10
      |
    1 | review: {reviewer_type: cerberus}
      |          ^^^^^^^^^^^^^ unknown key
    hint: valid keys: fail_on, timeout, base, max_findings, ignore, generated, suppressions, rules, linters, cerberus, command, budget, rounds
    ");
}

#[test]
fn the_legacy_reviewer_type_is_warned_of() {
    let world = world();
    world.write(
        "mala.yaml",
        "reviewer_type: cerberus\nvalidation_triggers:\n  run_end:\n    commands: []\n",
    );
    assert_snapshot!(world.run(&["config", "check"]), @"
    [exit 0]
    [stdout]
    mala.yaml is valid, with 1 warning
    [stderr]
    warning: mala.yaml:1:1: DEPRECATION: Top-level 'reviewer_type' is deprecated for per-issue reviews.
    Add 'validation_triggers.session_end.code_review.enabled: true' to preserve current behavior.
    Legacy implicit reviews will be removed in the next major version.
    ");
}

#[test]
fn a_setting_for_no_rule_is_warned_of() {
    let world = world();
    let rules = "{python/mutable-defualt: off, python/*: on, zzz: off, conflict-marker: off, ruff/E501: off}";
    world.write("mala.yaml", format!("review:\n  rules: {rules}\n"));
    assert_snapshot!(world.run(&["config", "check"]), @"
    [exit 0]
    [stdout]
    mala.yaml is valid, with 3 warnings
    [stderr]
    warning: mala.yaml:2:11: unknown rule `python/mutable-defualt`: did you mean `python/mutable-default`?
    warning: mala.yaml:2:54: unknown rule `zzz`: run 'mala rules list' to see all rules
    warning: mala.yaml:2:64: unknown rule `conflict-marker`: did you mean `diff/conflict-marker`?
    ");
}

#[test]
fn a_file_that_is_named_has_to_be_there() {
    assert_snapshot!(world().run(&["config", "check", "other.yaml"]), @"
    [exit 78]
    [stderr]
    error: other.yaml does not exist
    ");
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let world = world();
    world.write("mala.yaml", b"review: \xff\xfe\n");
    assert_snapshot!(world.run(&["config", "check"]), @"
    [exit 78]
    [stderr]
    error: mala.yaml:1:9: invalid UTF-8
     --> mala.yaml:1:9
      |
    1 | review: ��
      |         ^ here
    hint: save the file as UTF-8
    ");
}

#[test]
fn show_says_where_each_value_comes_from() {
    let world = world().with_env("MALA_FAIL_ON", "p0");
    world.git(&["init", "-q"]);
    world.write(
        "mala.yaml",
        "reviewer_type: builtin\nreview:\n  fail_on: P3\n  ignore: ['*.md', docs]\n  rules: {python/*: off}\n\
         gate: {consensus: majority, lanes: {codex: {args: [-q]}}}\n",
    );
    world.git(&["add", "."]).git(&["commit", "-qm", "configure"]);
    std::fs::create_dir_all(world.home().join(".config/mala")).unwrap();
    std::fs::write(
        world.home().join(".config/mala/config.yaml"),
        "review: {linters: {timeout: 5}, rules: {python/eval: on}}\n\
         gate: {lanes: {mine: {command: [my-reviewer]}}}\n",
    )
    .unwrap();
    assert_snapshot!(world.run(&["config", "show"]), @r#"
    [exit 0]
    [stdout]
    reviewer_type: builtin                   # mala.yaml at HEAD
    agent_sdk_review_timeout: 600            # default
    agent_sdk_reviewer_model: sonnet         # default
    agent_sdk_escalation_model: null         # default
    pull_requests:
      api_url: null                          # default
      fork_commands: false                   # default
      could_not_review: neutral              # default
    review:
      fail_on: P0                            # environment variable MALA_FAIL_ON
      timeout: null                          # default
      base: null                             # default
      max_findings: null                     # default
      ignore: ["*.md","docs"]                # mala.yaml at HEAD
      generated: []                          # default
      suppressions: all                      # default
      linters:
        enabled: auto                        # default
        timeout: 5                           # [HOME]/.config/mala/config.yaml
        off: []                              # default
        also: []                             # default
      rounds:
        bars: ["P2","P1"]                    # default
        max_rounds: 6                        # default
        plateau_rounds: 2                    # default
        recurring_rounds: 3                  # default
        max_cost_usd: null                   # default
      cerberus: null                         # default
      command: null                          # default
      budget:
        profile: standard                    # default
        max_llm_calls: null                  # default
        max_tool_calls: null                 # default
        max_verify_candidates: null          # default
        max_output_issues: null              # default
        max_wall_time_seconds: null          # default
        max_cost_usd: null                   # default
        max_tokens: null                     # default
        allow_unknown_price: false           # default
      rules:
        - {"rule":"python/*","use":"off"}    # mala.yaml at HEAD
        - {"rule":"python/eval","use":"on"}  # [HOME]/.config/mala/config.yaml
    gate:
      consensus: majority                    # mala.yaml at HEAD
      timeout: 300                           # default
      panel: null                            # default
      max_blocks: 3                          # default
      agent_checks: false                    # default
      canaries:
        every_days: null                     # default
        count: 5                             # default
        max_cost_usd: 2.0                    # default
      lanes:
        codex: {"args":["-q"]}               # mala.yaml at HEAD
        mine: {"command":["my-reviewer"]}    # [HOME]/.config/mala/config.yaml
    tasks:
      review:
        enabled: true                        # default
        command: "/review-task"              # default
        reviewer: null                       # default
        parser: "/parse-review"              # default
        agent: null                          # default
        model: null                          # default
        max_revisions: 3                     # default
        trigger: script_completion           # default
        context:
          include_task_definition: true      # default
          include_git_diff: true             # default
          include_test_results: true         # default
          include_lint_results: false        # default
          include_session_log: false         # default
      tests: null                            # default
      lint: null                             # default
      timeout: 600                           # default
      notify: []                             # default
    "#);
}

#[test]
fn show_as_json_has_the_value_and_the_origin_of_each_key() {
    let world = world();
    world.write("mala.yaml", "review: {fail_on: P2}\n");
    let shown = world.output(&["config", "show", "--format", "json"], b"");
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_snapshot!(format!("{shown:#}"));
}

#[test]
fn what_show_prints_is_a_valid_file() {
    let world = world();
    world.write("mala.yaml", "review: {base: \"a: #b\", rules: {x: {use: P1, paths: [a]}}}\n");
    let shown = world.output(&["config", "show"], b"");
    world.write("shown.yaml", &shown.stdout);
    assert_snapshot!(world.run(&["config", "check", "shown.yaml"]), @"
    [exit 0]
    [stdout]
    shown.yaml is valid, with 1 warning
    [stderr]
    warning: shown.yaml:41:7: unknown rule `x`: run 'mala rules list' to see all rules
    ");
}

#[test]
fn an_uncommitted_file_is_shown_with_a_note() {
    let world = world();
    world.git(&["init", "-q"]);
    world.write("mala.yaml", "review: {fail_on: none}\n");
    assert_snapshot!(without_defaults(&world), @"
    [exit 0]
    [stdout]
    pull_requests:
    review:
      fail_on: none                      # mala.yaml
      linters:
      rounds:
      budget:
    gate:
      canaries:
    tasks:
      review:
        context:
    [stderr]
    note: mala.yaml is not committed: reviews do not use it yet
    ");
    world.git(&["add", "."]).git(&["commit", "-qm", "configure"]);
    world.write("mala.yaml", "review: {fail_on: P3}\n");
    assert_snapshot!(without_defaults(&world), @"
    [exit 0]
    [stdout]
    pull_requests:
    review:
      fail_on: none                      # mala.yaml at HEAD
      linters:
      rounds:
      budget:
    gate:
      canaries:
    tasks:
      review:
        context:
    [stderr]
    note: mala.yaml in the work tree differs: using mala.yaml at HEAD
    ");
}

/// The output of `config show` without the lines of defaults.
fn without_defaults(world: &World) -> String {
    let shown = world.run(&["config", "show"]);
    shown
        .lines()
        .filter(|line| !line.ends_with("# default"))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn a_variable_that_makes_no_sense_is_a_configuration_error() {
    let values = [
        ("MALA_REVIEWER", "robot"),
        ("MALA_FAIL_ON", "P9"),
        ("MALA_TIMEOUT", "0"),
        ("MALA_BASE", "--exec=x"),
        ("MALA_LINTERS", "maybe"),
    ];
    let shown = values.map(|(name, value)| world().with_env(name, value).run(&["config", "show"]));
    assert_snapshot!(shown.concat(), @"
    [exit 78]
    [stderr]
    error: environment variable MALA_REVIEWER: 'robot' is not one of builtin, agent_sdk, cerberus, command
    [exit 78]
    [stderr]
    error: environment variable MALA_FAIL_ON: 'P9' is none of P0, P1, P2, P3, none
    [exit 78]
    [stderr]
    error: environment variable MALA_TIMEOUT: '0' is not a number of seconds between 1 and 604800
    [exit 78]
    [stderr]
    error: environment variable MALA_BASE: '--exec=x' is not a branch
    [exit 78]
    [stderr]
    error: environment variable MALA_LINTERS: 'maybe' is not one of auto, off
    ");
}

#[test]
fn the_file_is_found_from_a_folder_below() {
    let world = world();
    world.git(&["init", "-q"]).write("mala.yaml", "nope: 1\n").write("a/b/c", "");
    let world = {
        let below = world.folder().join("a/b");
        world.in_folder(below)
    };
    assert_snapshot!(world.run(&["config", "check"]), @"
    [exit 78]
    [stderr]
    error: mala.yaml:1:1: unknown key `nope`
     --> mala.yaml:1:1
      |
    1 | nope: 1
      | ^^^^ unknown key
    hint: valid keys: reviewer_type, agent_sdk_review_timeout, agent_sdk_reviewer_model, agent_sdk_escalation_model, review, models, gate, pull_requests, run, tasks, validation_triggers, commands
    ");
}

#[test]
fn the_schema_describes_what_is_accepted() {
    let world = world();
    let output = world.output(&["config", "schema"], b"");
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (text, valid) in [
        (
            r#"{"review": {"fail_on": "P1", "rules": {"a": "off", "b": {"use": "P2", "paths": ["x"]}}}}"#,
            true,
        ),
        (r#"{"review": {"rules": [{"rule": "a", "use": "on"}]}, "commands": {"test": "x"}}"#, true),
        (r#"{"validation_triggers": {"run_end": {"code_review": {"enabled": true}}}}"#, true),
        (r#"{"review": null}"#, true),
        (r#"{"review": {"fail_onn": "P1"}}"#, false),
        (r#"{"review": {"timeout": 0}}"#, false),
        (r#"{"validation_triggers": {"run_endd": {}}}"#, false),
    ] {
        let instance: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(validator.is_valid(&instance), valid, "{text}");
        let read = mala_domain::config::Config::parse("x", text);
        assert_eq!(read.is_ok(), valid, "{text}: {read:?}");
    }
}
