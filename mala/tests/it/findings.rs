//! The ledger from the outside: findings over several reviews, what people decide about them, and what
//! happens when the ledger cannot be used.

mod commands;
mod mixed;
mod recorded;
mod rounds;
mod storage;
mod waivers;

use crate::world;
use mala_testkit::World;
use serde_json::Value;
use std::path::PathBuf;

/// One P1 of a built-in rule.
const FLAW: &str = "def ask():\n    breakpoint()\n    return 1\n";
const CLEAN: &str = "def ask():\n    return 1\n";

/// A repository whose branch `topic` adds a flaw to `app.py`.
fn repo() -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]);
    world.write("app.py", CLEAN);
    commit(&world, "start");
    world.git(&["checkout", "-q", "-b", "topic"]);
    world.write("app.py", FLAW);
    commit(&world, "flaw");
    world
}

fn commit(world: &World, message: &str) {
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", message]);
}

/// Reviews the branch with the built-in rules; gives the exit code and the report.
fn review(world: &World, args: &[&str]) -> (i32, Value) {
    let fixed = ["review", "--base", "main", "--reviewer", "builtin", "--json"];
    let args: Vec<&str> = fixed.into_iter().chain(args.iter().copied()).collect();
    json(world, &args)
}

/// Runs a command; gives the exit code and its JSON.
fn json(world: &World, args: &[&str]) -> (i32, Value) {
    let output = world.output(args, b"");
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{args:?}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    (output.status.code().unwrap(), value)
}

/// The ids of all findings in the ledger.
fn ids(world: &World) -> Vec<String> {
    let (_, list) = json(world, &["findings", "--format", "json"]);
    let findings = list["findings"].as_array().unwrap();
    findings.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

/// The standings of the issues of a report.
fn standings(report: &Value) -> Vec<String> {
    let issues = report["tracking"]["issues"].as_array().unwrap();
    issues.iter().map(|it| it["standing"].as_str().unwrap().to_owned()).collect()
}

fn ledger_file(world: &World) -> PathBuf {
    world.folder().join(".git/mala/ledger.db")
}
