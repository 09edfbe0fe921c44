//! What the doctor found, as text and as JSON.

use super::lanes::LaneState;
use super::{Check, Health, Key, Linter, State};
use crate::console::harmless;
use serde_json::{Value, json};

/// For a person.
pub(super) fn text(health: &Health) -> String {
    let mut text: String = health.checks.iter().map(check_line).collect();
    text.push_str("\nmodel keys: none is needed; with one of them, an agent reviews\n");
    text.extend(health.keys.iter().map(key_line));
    text.push_str("\nlinters: those that the project is set up for take part in a review\n");
    text.extend(health.linters.iter().map(linter_line));
    text.push_str(
        "\nlanes: without gate.panel, those that can be used and all of your own review\n",
    );
    text.extend(health.lanes.iter().map(lane_line));
    text
}

fn check_line(check: &Check) -> String {
    format!("{:13}  {:6}  {}\n", check.name, word(check.state), harmless(&check.detail))
}

fn key_line(key: &Key) -> String {
    let state = if key.is_set { "set" } else { "not set" };
    format!("  {:17}  {state:9}  {}\n", key.name, key.adds)
}

fn linter_line(linter: &Linter) -> String {
    let found = linter.found.as_deref().unwrap_or("not found");
    let listed = if linter.is_slow { "; add it to review.linters.also" } else { "" };
    format!("  {:13}  {:13}  {}{listed}\n", linter.name, harmless(found), linter.adds)
}

fn lane_line(lane: &LaneState) -> String {
    let state = if lane.is_usable { "usable" } else { "not usable" };
    format!("  {:13}  {state:13}  {}\n", lane.name, harmless(&lane.detail))
}

fn word(state: State) -> &'static str {
    match state {
        State::Fine => "ok",
        State::Note => "note",
        State::Broken | State::Misconfigured => "broken",
    }
}

/// For a program.
pub(super) fn json(health: &Health) -> String {
    let checks: Vec<Value> = health
        .checks
        .iter()
        .map(|check| {
            json!({ "name": check.name, "state": word(check.state), "detail": check.detail })
        })
        .collect();
    let keys: Vec<Value> = health
        .keys
        .iter()
        .map(|key| json!({ "name": key.name, "set": key.is_set, "adds": key.adds }))
        .collect();
    let linters: Vec<Value> = health
        .linters
        .iter()
        .map(|linter| json!({ "name": linter.name, "found": linter.found, "adds": linter.adds }))
        .collect();
    let lanes: Vec<Value> = health
        .lanes
        .iter()
        .map(|lane| json!({ "name": lane.name, "usable": lane.is_usable, "detail": lane.detail }))
        .collect();
    let report = json!({
        "schema_version": 1,
        "checks": checks,
        "model_keys": keys,
        "linters": linters,
        "lanes": lanes,
    });
    format!("{report:#}\n")
}
