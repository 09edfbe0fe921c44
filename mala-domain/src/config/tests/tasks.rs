//! `tasks`: structure, defaults and checks.

use super::{parse, show};
use crate::config::*;

fn policy_of(text: &str) -> TaskPolicy {
    task_policy(&[ConfigLayer { origin: ConfigOrigin::Default, config: parse(text) }])
}

#[test]
fn the_documented_example_is_accepted_as_written() {
    let text = "
tasks:
  review:
    enabled: true
    command: /review-task
    parser: null
    agent: claude
    model: null
    max_revisions: 3
    trigger: script_completion
    context: { include_task_definition: true, include_git_diff: true, include_test_results: true, include_lint_results: false, include_session_log: false }
  tests: 'cargo test'
  notify: [desktop, bell, {webhook: 'http://127.0.0.1:1/'}, {command: [note, -x]}]
";
    assert_eq!(show(text), "ok");
    let policy = policy_of(text);
    let channels = policy.notify.value;
    assert_eq!(channels.len(), 4);
    assert_eq!(channels[3], NotificationChannel::Command(vec!["note".into(), "-x".into()]));
}

/// Rows 004-048, 004-053, 004-079, 004-080, 004-081, 004-082, 004-083.
#[test]
fn an_empty_block_has_the_defaults() {
    for text in ["", "tasks:", "tasks: {review: }", "tasks: {review: {context: null}}"] {
        let policy = policy_of(text);
        assert_eq!(policy, task_policy(&[]), "{text}");
        assert!(policy.enabled.value, "004-079");
        assert_eq!(policy.command.value.to_string(), "/review-task", "004-048");
        assert_eq!(policy.parser.value.to_string(), "/parse-review", "004-053");
        assert_eq!((policy.model.value, policy.max_revisions.value), (None, 3), "004-080, 004-081");
        assert_eq!(policy.trigger.value, TaskTrigger::ScriptCompletion, "004-082");
    }
}

/// Rows 004-041, 004-042, 004-043, 004-044, 004-045, 004-046 and 004-084.
#[test]
fn a_context_block_keeps_the_defaults_of_what_it_does_not_name() {
    let flags = |text: &str| {
        let it = policy_of(text);
        [
            it.include_task_definition.value,
            it.include_git_diff.value,
            it.include_test_results.value,
            it.include_lint_results.value,
            it.include_session_log.value,
        ]
    };
    let context = |flag: &str| flags(&format!("tasks: {{review: {{context: {{{flag}}}}}}}"));
    assert_eq!(context(""), [true, true, true, false, false], "004-046");
    assert_eq!(context("include_lint_results: true"), [true, true, true, true, false], "004-084");
    assert_eq!(context("include_session_log: true"), [true, true, true, false, true], "004-045");
    assert_eq!(context("include_git_diff: false"), [true, false, true, false, false], "004-042");
}

#[test]
fn a_command_is_a_slash_command_or_a_program() {
    let command =
        |text: &str| policy_of(&format!("tasks: {{review: {{command: {text}}}}}")).command.value;
    assert_eq!(command("/look"), TaskCommand::slash("/look"));
    assert_eq!(
        command("[rev, '{model}']"),
        TaskCommand::Program(vec!["rev".into(), "{model}".into()])
    );
}

/// Rows 004-051, 004-078 and 004-085.
#[test]
fn invalid_values_are_rejected_with_their_position() {
    for (keys, expected) in [
        ("review: {trigger: always}", "script_completion, session_idle, explicit"),
        ("review: {enabled: perhaps}", "perhaps"),
        ("review: {max_revision: 3}", "did you mean `max_revisions`?"),
        ("review: {max_revisions: -1}", "-1"),
        ("review: {reviewer: builtin, command: [rev]}", "`reviewer` and `command` are both set"),
        ("review: {reviewer: command}", "must be builtin, agent_sdk or cerberus"),
        (
            "review: {command: rev}",
            "`rev` is not a slash command; write a program as a list: [rev]",
        ),
        ("review: {command: []}", "the command is empty"),
        ("review: {parser: ['']}", "the command is empty"),
        ("review: {agent: claud}", "unknown agent `claud`: did you mean `claude`?"),
        ("review: {context: {include_diff: true}}", "include_git_diff"),
        ("tests: ' '", "the command is empty"),
        ("notify: [pager]", "pager"),
        ("notify: [{webhook: 'ftp://x'}]", "`ftp://x` is not an http or https URL"),
        ("notify: [{command: []}]", "the command is empty"),
        ("timeout: 0", "not a number of seconds"),
    ] {
        let shown = show(&format!("tasks: {{{keys}}}"));
        let has_position = shown.contains("mala.yaml:1:");
        assert!(shown.starts_with("error: ") && has_position, "{keys}: {shown}");
        assert!(shown.contains(expected), "{keys}: {shown}");
    }
    assert_eq!(show("tasks: {review: {max_revisions: 0}}"), "ok", "004-085");
}
