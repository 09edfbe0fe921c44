//! `review-gate` from the outside: real processes as lanes, every exit code, every way to go wrong.

mod bench;
mod canary;
mod checker;
mod checks;
mod commands;
mod faults;
mod last;
mod objections;
mod panel;
mod real;
mod scope;
mod scratch;
mod sessions;
mod trees;
mod trust;

use crate::gate_world;
use insta::assert_snapshot;

#[test]
fn it_says_its_version() {
    assert_snapshot!(gate_world().run(&["--version"]), @"
    [exit 0]
    [stdout]
    review-gate 0.1.0
    ");
}

#[test]
fn a_missing_range_is_a_usage_error() {
    let shown = gate_world().run(&["spawn-code-review"]);
    assert!(shown.starts_with("[exit 64]\n[stderr]\n"), "{shown}");
}
