//! Evals of reviewers that are other programs: a command of the user, and a panel behind the real gate.

use super::crashes::{only_run, start, until};
use super::*;

/// Each time that it is asked, it notes so, takes its time, and objects to line 3.
fn with_command(seconds: &str) -> World {
    let world = world();
    let calls = world.home().join("calls");
    let reviewer = format!(
        "cat >/dev/null; echo asked >>'{}'; sleep {seconds}; echo 'app.py:3 [P1] wrong value'",
        calls.display()
    );
    let issue = r#"{"file": "app.py", "line_start": 3, "line_end": 3, "priority": 1, "title": "[P1] wrong", "body": "wrong value"}"#;
    let parser = format!(
        "cat >/dev/null; echo '{{\"result\": \"NEEDS_REVISION\", \"issues\": [{issue}], \"summary\": \"no\", \"blocking\": false}}'"
    );
    let world = world.with_program("reviewer", &reviewer).with_program("parser", &parser);
    world.write("mala.yaml", "review:\n  command: {run: [reviewer], parser: [parser]}\n");
    let cases: Vec<Value> =
        (0..3).map(|at| case(&format!("case-{at}"), 50, &[([3, 5, 40][at], "bug")])).collect();
    world.write("set.jsonl", lines(&cases));
    world
}

fn n_asked(world: &World) -> usize {
    let calls = std::fs::read_to_string(world.home().join("calls")).unwrap_or_default();
    calls.lines().count()
}

const COMMAND: [&str; 6] = ["--set", "set.jsonl", "--reviewer", "command", "--jobs", "2"];

#[test]
fn a_command_is_scored_and_what_it_costs_is_unknown() {
    let world = with_command("0");
    let (code, result) = ran(&world, &COMMAND);
    assert_eq!(code, 0, "{result:#}");
    let rates = &result["scores"]["strict"]["rates"];
    assert_eq!(
        (&rates["found"], &rates["truths"], &rates["right"]),
        (&json!(2), &json!(3), &json!(2)),
        "{result:#}"
    );
    assert_eq!((&result["cost_usd"], n_asked(&world)), (&Value::Null, 3));
}

#[test]
fn a_command_that_is_under_way_when_the_run_is_killed_is_not_asked_again() {
    let world = with_command("1");
    let args: Vec<&str> = ["run"].into_iter().chain(COMMAND).collect();
    let mut child = start(&world, &args);
    until("two are asked", || n_asked(&world) == 2 || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, result) = ran(&world, &["--resume", &only_run(&world)]);
    assert_eq!((code, &result["scores"]["cases"]["reviewed"]), (0, &json!(3)), "{result:#}");
    assert_eq!(n_asked(&world), 3);
}

#[test]
fn a_panel_reviews_by_the_settings_of_the_project() {
    let lane = include_str!("../gate/lane.sh").replace("a.py", "app.py");
    let world = world().with_program("lane", &lane);
    world.write(
        "mala.yaml",
        "gate:\n  lanes:\n    fail: {command: [lane, fail]}\n  panel: [fail]\n",
    );
    let mut one = case("case-0", 50, &[(3, "bug")]);
    // A case's own settings do not count.
    one["files"]["mala.yaml"] = json!("gate:\n  panel: [unknown]\n");
    world.write("set.jsonl", lines(&[one]));
    let (code, result) = ran(&world, &["--set", "set.jsonl", "--reviewer", "cerberus"]);
    assert_eq!(code, 0, "{result:#}");
    assert_eq!(result["scores"]["strict"]["rates"]["found"], 1, "{result:#}");
}
