//! `mala review` from the outside: what it reviews, what it says, and how it ends.

mod cross_file;
mod faults;
mod limits;
mod outputs;
mod scope;
mod thorough;
mod trust;

use crate::world;
use mala_testkit::World;
use serde_json::Value;

/// A change that every reviewer must notice: one P1.
const FLAW: &str = "def ask():\n    breakpoint()\n    return 1\n";
const CLEAN: &str = "def ask():\n    return 1\n";

/// A repository with one commit that holds `app.py`, clean.
fn repo() -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]);
    world.write("app.py", CLEAN);
    commit(&world, "start");
    world
}

fn commit(world: &World, message: &str) {
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", message]);
}

/// The exit code and the report as JSON.
fn review(world: &World, args: &[&str]) -> (i32, Value) {
    let args: Vec<&str> =
        ["review", "--format", "json"].into_iter().chain(args.iter().copied()).collect();
    let output = world.output(&args, b"");
    let code = output.status.code().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let report = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("exit {code}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    (code, report)
}

/// The findings as `file:line rule`.
fn findings(report: &Value) -> Vec<String> {
    let issues = report["issues"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    issues
        .iter()
        .map(|it| format!("{}:{} {}", text(&it["file"]), it["line_start"], text(&it["rule"])))
        .collect()
}

const FOUND: &str = "app.py:2 debug/python-breakpoint";
