//! `review-gate` from the outside: real processes as lanes, every exit code, every way to go wrong.

mod bench;
mod canary;
mod checker;
mod checks;
mod commands;
mod contract;
mod faults;
mod last;
mod members;
mod objections;
mod panel;
pub(crate) mod real;
mod scope;
mod scratch;
mod sessions;
mod trees;
mod trust;
mod waiting;

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

// Rows 001-012, 001-017, 001-040.
#[test]
fn a_command_line_that_makes_no_sense_ends_with_a_code_that_callers_know() {
    for (args, code) in [
        (&["spawn-code-review"][..], 1),
        (&["spawn-code-review", "--uncommitted", "--codex-reasoning", "xhigh"], 1),
        (&["spawn-code-review", "--uncommitted", "--timeout", "0"], 1),
        (&["wait", "--timeout", "-1"], 5),
        (&["wait", "--sesion-key", "a"], 5),
        (&["list", "--nothing"], 64),
        (&["waits"], 64),
        (&[], 64),
    ] {
        let shown = gate_world().run(args);
        assert!(shown.starts_with(&format!("[exit {code}]\n[stderr]\n")), "{args:?}: {shown}");
    }
    for args in [&["spawn-code-review", "--help"][..], &["wait", "--help"]] {
        assert!(gate_world().run(args).starts_with("[exit 0]\n[stdout]\n"));
    }
}
