//! `mala eval` from the outside: the real binary over sets of cases.

mod agent;
mod capture;
mod commands;
mod crashes;
mod dummies;
mod import;
mod others;
mod page;
mod plant;
mod progress;
mod replayed_answers;
mod semantic;
mod sets;
mod starter;

use crate::world;
use mala_testkit::World;
use serde_json::{Value, json};

/// The exit code and the JSON that a command prints.
fn eval(world: &World, args: &[&str]) -> (i32, Value) {
    let args: Vec<&str> = ["eval"].into_iter().chain(args.iter().copied()).collect();
    let output = world.output(&args, b"");
    let code = output.status.code().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let parsed = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("exit {code}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    (code, parsed)
}

/// A run with its result.
fn ran(world: &World, args: &[&str]) -> (i32, Value) {
    let args: Vec<&str> =
        ["run", "--format", "json"].into_iter().chain(args.iter().copied()).collect();
    eval(world, &args)
}

/// A case that adds one Python file, with problems on these lines.
fn case(id: &str, n_lines: usize, problems: &[(usize, &str)]) -> Value {
    let text: String = (1..=n_lines).map(|line| format!("value_{line} = {line}\n")).collect();
    let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let truths: Vec<Value> = problems
        .iter()
        .map(|(line, category)| {
            json!({"file": "app.py", "line_start": line, "line_end": line, "category": category,
                   "severity": "high", "description": format!("problem on {line}")})
        })
        .collect();
    json!({
        "id": id, "language": "python", "pr_title": format!("Add {id}"),
        "diff": format!("diff --git a/app.py b/app.py\nnew file mode 100644\n--- /dev/null\n+++ b/app.py\n@@ -0,0 +1,{n_lines} @@\n{added}"),
        "files": {"app.py": text},
        "ground_truth": truths,
        "meta": {"source": "made for a test", "licence": "MIT"},
    })
}

fn lines(cases: &[Value]) -> String {
    cases.iter().map(|case| format!("{case}\n")).collect()
}

/// What a command prints, with the names of runs and the times replaced.
fn shown(world: &World, args: &[&str], runs: &[(&str, &str)]) -> String {
    let args: Vec<&str> = ["eval"].into_iter().chain(args.iter().copied()).collect();
    let mut shown = world.run(&args);
    for (run, name) in runs {
        shown = shown.replace(run, name);
    }
    let timeless = |line: &str| match line.split_once(" model calls, ") {
        Some((before, _)) => format!("{before} model calls, [TIMES]"),
        None => line.to_owned(),
    };
    shown.lines().map(timeless).collect::<Vec<_>>().join("\n")
}
