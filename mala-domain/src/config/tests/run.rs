//! `run`: structure, defaults and checks.

use super::{parse, show};
use crate::config::*;

#[test]
fn the_documented_example_is_accepted_as_written() {
    let text = "
run:
  tracker: builtin
  coder: scripted
  coders:
    scripted:
      command: [./agent.sh, '{prompt_file}']
      resume: [./agent.sh, --resume, '{session}', '{prompt_file}']
  target: main
  setup: ''
  max_agents: 2
  max_cost_usd: 20
  max_minutes: 90
  per_issue: {max_cost_usd: 2, max_minutes: 30}
  commit_prefix: 'bd-{id}: '
";
    assert_eq!(show(text), "ok");
    let layer = ConfigLayer { origin: ConfigOrigin::Default, config: parse(text) };
    let policy = run_policy(&[layer]);
    assert_eq!(policy.tracker.value, Some(TrackerKind::Builtin));
    assert_eq!(policy.coders["scripted"].command, ["./agent.sh", "{prompt_file}"]);
    assert_eq!((policy.max_agents.value, policy.issue_minutes.value), (2, 30.0));
    assert_eq!(policy.issue_cost_usd.value, Some(2.0));
}

#[test]
fn an_empty_block_has_the_defaults() {
    let policy = run_policy(&[]);
    assert_eq!((policy.coder.value.as_str(), policy.max_agents.value), ("claude", 2));
    assert_eq!(policy.commit_prefix.value, "bd-{id}: ");
    assert_eq!((policy.tracker.value, policy.target.value), (None, None));
    assert!(!policy.group_findings.value && !policy.work_on_findings.value);
}

#[test]
fn invalid_values_are_rejected_with_their_position() {
    for (keys, expected) in [
        ("coder: claud", "unknown coder `claud`: did you mean `claude`?"),
        ("coders: {x: {command: []}}", "the command is empty"),
        ("coders: {x: {command: [a], resume: ['']}}", "the command is empty"),
        ("coders: {x: {command: [a], env: {'a=b': c}}}", "invalid environment variable"),
        ("max_agents: 0", "must be between 1 and 64"),
        ("max_cost_usd: 0", "must be greater than 0"),
        ("per_issue: {max_minutes: 0}", "must be between 0.01 and 10080"),
        ("target: -x", "is not a valid branch name"),
        ("commit_prefix: 'x: '", "must be one line and contain `{id}`"),
        ("tracker: jira", "jira"),
        ("max_agent: 1", "max_agents"),
    ] {
        let shown = show(&format!("run: {{{keys}}}"));
        let has_position = shown.contains("mala.yaml:1:");
        assert!(shown.starts_with("error: ") && has_position, "{keys}: {shown}");
        assert!(shown.contains(expected), "{keys}: {shown}");
    }
}

#[test]
fn a_trigger_command_is_a_reference_or_a_command() {
    let shown = |commands: &str| {
        show(&format!(
            "commands: {{test: cargo test}}\nvalidation_triggers: {{run_end: {{commands: {commands}}}}}"
        ))
    };
    for valid in ["[{ref: test}]", "[{command: make check, timeout: 60}]", "[]"] {
        assert_eq!(shown(valid), "ok", "{valid}");
    }
    for invalid in ["[{}]", "[{ref: test, command: x}]", "[{command: ' '}]", "[{timeout: 3}]"] {
        assert!(shown(invalid).starts_with("error: "), "{invalid}");
    }
    assert!(shown("[{ref: tset}]").contains("`commands` has no `tset`"));
}
