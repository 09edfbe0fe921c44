//! The results of the checks as text and as JSON.

use super::{CheckState, DoctorCheck, DoctorReport, LaneState, LinterState, ModelKey};
use crate::console::harmless;
use serde_json::{Value, json};

/// The results as text.
pub(super) fn text(report: &DoctorReport) -> String {
    let mut text: String = report.checks.iter().map(check_line).collect();
    text.push_str("\nmodel keys: with one of them, an agent reviews; none is required\n");
    text.extend(report.keys.iter().map(key_line));
    text.push_str("\nlinters: a review runs those that the project is configured for\n");
    text.extend(report.linters.iter().map(linter_line));
    text.push_str(
        "\nlanes: without gate.panel, a panel has the usable lanes and all custom lanes\n",
    );
    text.extend(report.lanes.iter().map(lane_line));
    text
}

fn check_line(check: &DoctorCheck) -> String {
    format!("{:13}  {:6}  {}\n", check.name, word(check.state), harmless(&check.detail))
}

fn key_line(key: &ModelKey) -> String {
    let state = if key.is_set { "set" } else { "not set" };
    format!("  {:17}  {state:9}  {}\n", key.name, key.adds)
}

fn linter_line(linter: &LinterState) -> String {
    let found = linter.found.as_deref().unwrap_or("not found");
    let listed = if linter.is_slow { "; add it to review.linters.also" } else { "" };
    format!("  {:13}  {:13}  {}{listed}\n", linter.name, harmless(found), linter.adds)
}

fn lane_line(lane: &LaneState) -> String {
    let state = if lane.is_usable { "usable" } else { "not usable" };
    format!("  {:13}  {state:13}  {}\n", lane.name, harmless(&lane.detail))
}

fn word(state: CheckState) -> &'static str {
    match state {
        CheckState::Ok => "ok",
        CheckState::Note => "note",
        CheckState::Broken | CheckState::Misconfigured => "broken",
    }
}

/// The results as JSON.
pub(super) fn json(report: &DoctorReport) -> String {
    let checks: Vec<Value> = report
        .checks
        .iter()
        .map(|check| {
            json!({ "name": check.name, "state": word(check.state), "detail": check.detail })
        })
        .collect();
    let keys: Vec<Value> = report
        .keys
        .iter()
        .map(|key| json!({ "name": key.name, "set": key.is_set, "adds": key.adds }))
        .collect();
    let linters: Vec<Value> = report
        .linters
        .iter()
        .map(|linter| json!({ "name": linter.name, "found": linter.found, "adds": linter.adds }))
        .collect();
    let lanes: Vec<Value> = report
        .lanes
        .iter()
        .map(|lane| json!({ "name": lane.name, "usable": lane.is_usable, "detail": lane.detail }))
        .collect();
    let output = json!({
        "schema_version": 1,
        "checks": checks,
        "model_keys": keys,
        "linters": linters,
        "lanes": lanes,
    });
    format!("{output:#}\n")
}
