//! `validation_triggers`: structure, defaults and checks.

use super::{parse, show};
use crate::config::*;
use crate::verdict::Threshold;
use insta::assert_snapshot;

/// The warnings for this text.
fn warnings(text: &str) -> Vec<String> {
    let (_, warnings) = Config::parse("mala.yaml", text).unwrap();
    warnings.into_iter().map(|warning| warning.to_string()).collect()
}

fn in_trigger(trigger: &str, keys: &str) -> String {
    let mut text = format!("validation_triggers:\n  {trigger}:\n    code_review:\n");
    for key in keys.split(';') {
        text.push_str(&format!("      {}\n", key.trim()));
    }
    text
}

/// Row 003-195.
#[test]
fn the_documented_example_is_accepted_as_written() {
    let text = "
commands:
  test: cargo test
validation_triggers:
  session_end:
    commands:
      - ref: test
    failure_mode: continue
    code_review:
      enabled: true
      reviewer_type: cerberus
      failure_mode: remediate
      finding_threshold: P1
      max_retries: 3
      cerberus:
        timeout: 300
        spawn_args: []
        wait_args: []
  epic_completion:
    commands:
      - ref: test
    failure_mode: continue
    epic_depth: top_level
    fire_on: success
    code_review:
      enabled: true
      reviewer_type: cerberus
      baseline: since_last_review
      failure_mode: continue
      max_retries: 3
      cerberus:
        timeout: 600
  run_end:
    commands: []
    failure_mode: continue
    fire_on: success
    code_review:
      enabled: true
      reviewer_type: cerberus
      baseline: since_run_start
      failure_mode: continue
      max_retries: 3
";
    assert_snapshot!(show(text), @"ok");
    let triggers = parse(text).validation_triggers;
    let session = triggers.session_end.unwrap().code_review.unwrap();
    assert_eq!(session.failure_mode, FailureMode::Remediate);
    assert_eq!(session.finding_threshold, Threshold::P1);
    let epic = triggers.epic_completion.unwrap().code_review.unwrap();
    assert_eq!(epic.cerberus.unwrap().timeout, Seconds::new(600));
    assert_eq!(epic.baseline, Some(Baseline::SinceLastReview));
}

#[test]
fn an_empty_review_block_is_disabled() {
    let block = CodeReviewSettings::default();
    assert!(!block.enabled);
    assert_eq!(block.reviewer_type, None);
    assert_eq!(block.failure_mode, FailureMode::Continue);
    assert_eq!(block.retries(), 3);
    assert_eq!(block.finding_threshold, Threshold::None);
    assert_eq!(block.baseline, None);
    let text = in_trigger("run_end", "{}");
    assert_eq!(parse(&text).validation_triggers.run_end.unwrap().code_review.unwrap(), block);
    assert_eq!(parse(&text).validation_triggers.run_end.unwrap().fire_on, FireOn::Success);
}

#[test]
fn baseline_in_session_end_is_warned_of_and_ignored() {
    let text = in_trigger("session_end", "enabled: true; baseline: since_run_start");
    assert_eq!(
        warnings(&text),
        [
            "mala.yaml:5:7: `baseline` has no effect in `session_end`, which reviews the commits of its issue"
        ]
    );
}

#[test]
fn a_missing_baseline_of_a_cumulative_review_is_warned_of() {
    for trigger in ["epic_completion", "run_end"] {
        assert_eq!(
            warnings(&in_trigger(trigger, "enabled: true")),
            [format!("mala.yaml:3:5: `{trigger}` has no `baseline`: using `since_run_start`")]
        );
        assert!(
            warnings(&in_trigger(trigger, "enabled: true; baseline: since_run_start")).is_empty()
        );
    }
}

#[test]
fn an_invalid_reviewer_is_an_error() {
    let text = in_trigger("session_end", "enabled: true; reviewer_type: cerbreus");
    assert_snapshot!(show(&text), @"
    error: mala.yaml:5:22: invalid value `cerbreus`
     --> mala.yaml:5:22
      |
    3 |     code_review:
    4 |       enabled: true
    5 |       reviewer_type: cerbreus
      |                      ^^^^^^^^ invalid value
    hint: did you mean `cerberus`?
    ");
}

#[test]
fn a_disabled_review_with_other_keys_is_fine() {
    for trigger in ["session_end", "epic_completion", "run_end"] {
        let keys =
            "enabled: false; reviewer_type: cerberus; failure_mode: remediate; max_retries: 0";
        assert_eq!(warnings(&in_trigger(trigger, keys)), [""; 0], "{trigger}");
    }
}

#[test]
fn cerberus_without_settings_has_defaults() {
    let text = in_trigger("session_end", "enabled: true; reviewer_type: cerberus; cerberus: null");
    assert_eq!(warnings(&text), [""; 0]);
    let end = parse(&text).validation_triggers.session_end.unwrap();
    assert_eq!(end.code_review.unwrap().cerberus, None);
}

#[test]
fn negative_retries_are_an_error() {
    let text = in_trigger("session_end", "enabled: true; max_retries: -1");
    assert_snapshot!(show(&text), @"
    error: mala.yaml:5:20: -1 is not a number of retries between 0 and 100
     --> mala.yaml:5:20
      |
    3 |     code_review:
    4 |       enabled: true
    5 |       max_retries: -1
      |                    ^^ here
    ");
    let text = "validation_triggers: {run_end: {max_retries: -1}}";
    assert!(show(text).starts_with("error: mala.yaml:1:46: -1 is not a number of retries"));
}

#[test]
fn remediation_without_retries_is_warned_of() {
    let expected = "`remediate` with `max_retries: 0` behaves like `continue`";
    let text = in_trigger("session_end", "enabled: true; failure_mode: remediate; max_retries: 0");
    assert_eq!(warnings(&text), [format!("mala.yaml:5:7: {expected}")]);
    let text =
        "validation_triggers:\n  run_end:\n    failure_mode: remediate\n    max_retries: 0\n";
    assert_eq!(warnings(text), [format!("mala.yaml:3:5: {expected}")]);
}

#[test]
fn an_unknown_command_reference_is_warned_of() {
    let trigger = "validation_triggers: {session_end: {commands: [{ref: tset}]}}\n";
    assert_eq!(warnings(trigger), ["mala.yaml:1:37: `commands` has no `tset`: define it there"]);
    assert_eq!(
        warnings(&format!("{trigger}commands: {{test: x, lint: y}}\n")),
        ["mala.yaml:1:37: `commands` has no `tset`: did you mean `test`?"]
    );
}

#[test]
fn the_environment_of_reviewers_takes_numbers_too() {
    let text = in_trigger("session_end", "cerberus: {env: {DEBUG: 1, NAME: x}}");
    let end = parse(&text).validation_triggers.session_end.unwrap();
    let env = end.code_review.unwrap().cerberus.unwrap().env;
    assert_eq!(env.get("DEBUG").map(String::as_str), Some("1"));
}

#[test]
fn the_code_review_block_precedes_the_legacy_key() {
    let block = "validation_triggers: {session_end: {code_review: {enabled: false}}}\n";
    let legacy = "reviewer_type: cerberus\n";
    let both = parse(&format!("{block}{legacy}"));
    assert!(matches!(session_review(&both), SessionReview::Configured(block) if !block.enabled));
    assert_eq!(session_review(&parse(legacy)), SessionReview::Legacy(ReviewerType::Cerberus));
    assert_eq!(session_review(&parse("")), SessionReview::Absent);
    assert_eq!(warnings(&format!("{block}{legacy}")), [""; 0]);
    assert_eq!(warnings(legacy), [format!("mala.yaml:1:1: {LEGACY_REVIEWER_TYPE}")]);
}

#[test]
fn an_interval_of_zero_is_an_error() {
    assert_snapshot!(show("validation_triggers:\n  periodic:\n    interval: 0\n"), @"
    error: mala.yaml:3:15: must be at least 1
     --> mala.yaml:3:15
      |
    1 | validation_triggers:
    2 |   periodic:
    3 |     interval: 0
      |               ^ here
    ");
}
