//! `mala demo`: the README's first command.

use crate::world;
use insta::assert_snapshot;
use serde_json::Value;
use std::collections::BTreeSet;

/// 000-002
#[test]
fn the_demo_shows_findings_of_many_kinds_and_a_report_that_opens() {
    let world = world();
    let shown = world.run(&["demo", "--dir", "shop"]);
    // The commit of the demo has the time of the run.
    let (before, after) = shown.split_once("HEAD (").unwrap();
    let (_, after) = after.split_once(" to the").unwrap();
    assert_snapshot!(format!("{before}HEAD ([COMMIT] to the{after}"));
    let runs = world.folder().join("shop/.mala/runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    assert!(run.join("review.md").is_file());
    let report = std::fs::read_to_string(run.join("review.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let issues = report["issues"].as_array().unwrap();
    let rules: BTreeSet<&str> = issues.iter().filter_map(|it| it["rule"].as_str()).collect();
    for family in ["secrets/", "ci/", "tests/", "cross-file/", "python/", "javascript/"] {
        assert!(rules.iter().any(|rule| rule.starts_with(family)), "{family} in {rules:?}");
    }
    for issue in issues {
        for field in ["evidence_snippet", "suggestion", "body"] {
            assert!(!issue[field].as_str().unwrap_or_default().is_empty(), "{field}: {issue:#}");
        }
    }
}

#[test]
fn a_folder_that_is_not_empty_is_left_alone() {
    let world = world();
    world.write("shop/mine.txt", "mine");
    assert_snapshot!(world.run(&["demo", "--dir", "shop"]), @"
    [exit 2]
    [stderr]
    error: [WORK]/shop is not empty
    ");
    assert_eq!(world.read("shop/mine.txt"), "mine");
}
