//! The rows of the trigger configuration that a text alone decides.

use super::{parse, show};
use crate::config::*;
use serde_json::Value;

fn block(trigger: &str, keys: &str) -> String {
    format!("validation_triggers: {{{trigger}: {{{keys}}}}}")
}

fn review(keys: &str) -> String {
    block("run_end", &format!("code_review: {{baseline: since_run_start, {keys}}}"))
}

#[test]
fn valid_texts_have_no_warnings() {
    let full = "code_review: {enabled: true, reviewer_type: cerberus, failure_mode: remediate, \
                max_retries: 3, finding_threshold: P1, baseline: since_run_start, cerberus: {}}";
    let disabled = "code_review: {enabled: false, reviewer_type: cerberus, \
                    failure_mode: remediate, max_retries: 0}";
    let migrated = "code_review: {enabled: true, reviewer_type: cerberus, \
                    failure_mode: remediate, max_retries: 3}";
    let mut texts = vec![
        ("003-001", block("epic_completion", full)),
        ("003-001", block("run_end", full)),
        ("003-205", block("epic_completion", disabled)),
        ("003-206", review("enabled: true, reviewer_type: cerberus, cerberus: null")),
        ("003-245", format!("reviewer_type: cerberus\n{}", block("session_end", migrated))),
        ("003-066", "validation_triggers: {session_end: {}, epic_completion: {}, periodic: {}, run_end: {}}".to_owned()),
        ("003-045", review("enabled: true, reviewer_type: builtin, cerberus: {spawn_args: [x]}")),
    ];
    for reviewer in ["cerberus", "agent_sdk", "agent-sdk", "command", "builtin"] {
        texts.push(("003-048", review(&format!("reviewer_type: {reviewer}"))));
    }
    for mode in ["abort", "continue", "remediate"] {
        texts.push(("003-052", review(&format!("failure_mode: {mode}"))));
    }
    for threshold in ["P0", "P1", "P2", "P3", "none"] {
        texts.push(("003-055", review(&format!("finding_threshold: {threshold}"))));
    }
    for baseline in ["since_run_start", "since_last_review"] {
        let text = block("run_end", &format!("code_review: {{baseline: {baseline}}}"));
        texts.push(("003-056", text));
    }
    for (row, text) in texts {
        assert_eq!(show(&text), "ok", "{row}: {text}");
    }
}

#[test]
fn invalid_texts_are_rejected_with_position_and_hint() {
    for (row, text, hint) in [
        ("003-002", review("eighth: 1"), "unknown key"),
        ("003-007", review("thinking_mode: x"), "unknown key"),
        ("003-043", review("cerberus: {spawn_args: --verbose}"), ""),
        ("003-052", review("failure_mode: retry"), "remediate"),
        ("003-055", review("finding_threshold: P4"), "none"),
        ("003-055", review("finding_threshold: high"), "none"),
        ("003-056", block("run_end", "code_review: {baseline: since_start}"), "since_run_start"),
        ("003-060", block("session_end", "fire_on: success"), "unknown key"),
        ("003-064", block("run_end", "epic_depth: top_level"), "unknown key"),
        ("003-065", block("run_end", "fire_on: always"), "both"),
        ("003-068", review("enabeld: true"), "enabled"),
        ("003-125", review("large_diff_threshold: 1"), "unknown key"),
        ("003-199", "code_review: {enabled: true}".to_owned(), "unknown key"),
        ("003-203", review("enabled: true, reviewer_type: cerbreus"), "cerberus"),
        ("003-204", review("enabled: false, reviewer_type: cerbreus"), "cerberus"),
        ("003-207", review("max_retries: -1"), "retries"),
        ("003-207", block("run_end", "max_retries: -1"), "retries"),
    ] {
        let shown = show(&text);
        assert!(shown.starts_with("error: ") && shown.contains("mala.yaml:1:"), "{row}: {shown}");
        assert!(shown.contains(hint), "{row}: {shown}");
    }
}

#[test]
fn the_schema_has_one_review_block_for_all_triggers() {
    let schema = Config::schema().to_value();
    let keys = |name: &str| -> Vec<String> {
        let properties = schema["$defs"][name]["properties"].as_object();
        properties.unwrap().keys().cloned().collect()
    };
    let mut review = keys("CodeReviewSettings");
    review.sort();
    let expected = [
        "baseline",
        "cerberus",
        "enabled",
        "failure_mode",
        "finding_threshold",
        "max_retries",
        "reviewer_type",
    ];
    assert_eq!(review, expected, "003-002");
    for trigger in
        ["SessionEndTrigger", "EpicCompletionTrigger", "RunEndTrigger", "PeriodicTrigger"]
    {
        let keys = keys(trigger);
        for key in ["failure_mode", "commands", "max_retries", "code_review"] {
            assert!(keys.iter().any(|it| it == key), "003-057: {trigger}.{key}");
        }
        let retries = &schema["$defs"][trigger]["properties"]["max_retries"];
        assert!(retries.get("default").is_none_or(Value::is_null), "003-059: {retries}");
    }
    let timeout = &schema["$defs"]["CerberusSettings"]["properties"]["timeout"]["default"];
    assert_eq!(*timeout, 300, "003-038");
}

#[test]
fn settings_of_the_gate_are_read_per_trigger() {
    let text = "validation_triggers: {session_end: {code_review: {cerberus: {timeout: 300}}}, \
                epic_completion: {code_review: {baseline: since_run_start, cerberus: {timeout: 600, \
                spawn_args: ['a b; touch x', $HOME], wait_args: [--timeout, '600'], env: {DEBUG: '1'}}}}}";
    let triggers = parse(text).validation_triggers;
    let cerberus = |review: Option<CodeReviewSettings>| review.unwrap().cerberus.unwrap();
    let session = cerberus(triggers.session_end.unwrap().code_review);
    let epic = cerberus(triggers.epic_completion.unwrap().code_review);
    let limits = (session.time_limit(), epic.time_limit());
    assert_eq!(limits, (Seconds::new(300), Seconds::new(600)), "003-039");
    assert_eq!(epic.spawn_args, ["a b; touch x", "$HOME"], "003-042: no shell parses them");
    assert_eq!(epic.wait_args, ["--timeout", "600"]);
    assert_eq!(epic.env["DEBUG"], "1");
    assert!(session.spawn_args.is_empty() && session.env.is_empty());
}

#[test]
fn warned_of_and_ignored() {
    let text = block("session_end", "code_review: {enabled: true, baseline: since_run_start}");
    let shown = show(&text);
    assert!(
        shown.starts_with("ok\nwarning: mala.yaml:1:") && shown.contains("`baseline`"),
        "003-201"
    );
}
