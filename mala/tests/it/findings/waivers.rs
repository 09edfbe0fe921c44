//! A waiver keeps a finding quiet for as long as its code stays: in a review, in the gate and in the hook.

use super::{FLAW, commit, ids, json, repo, review};
use crate::{gate_world, world};
use mala_testkit::{TestRepo, World};
use serde_json::{Value, json};

/// Commits that do not touch the line of the flaw.
const ELSEWHERE: [&str; 5] = [
    "import os\n\ndef ask():\n    breakpoint()\n    return 1\n",
    "import os\nimport sys\n\ndef ask():\n    breakpoint()\n    return 1\n",
    "import os\nimport sys\n\ndef ask():\n        breakpoint()\n        return 1\n",
    "import os\nimport sys\n\ndef ask():\n    breakpoint()\n    return 2\n",
    "import os\nimport sys\n\ndef ask():\n    breakpoint()\n    return 2\n\nx = 1\n",
];

#[test]
fn a_waived_finding_is_quiet_in_reviews_until_its_code_changes() {
    let world = repo();
    assert_eq!(review(&world, &[]).0, 1);
    let id = ids(&world).remove(0);
    assert_eq!(
        world.output(&["findings", "waive", &id, "--reason", "debug build"], b"").status.code(),
        Some(0)
    );
    for (text, number) in ELSEWHERE.iter().zip(1..) {
        world.write("app.py", text);
        commit(&world, "elsewhere");
        let (code, report) = review(&world, &[]);
        assert_eq!((code, report["issues"].as_array().unwrap().len()), (0, 0), "commit {number}");
        let aside = &report["tracking"]["set_aside"][0];
        assert_eq!((&aside["standing"], &aside["id"]), (&json!("waived"), &json!(id)));
        assert_eq!(aside["reason"], "debug build");
    }
    world.write("app.py", ELSEWHERE[4].replace("breakpoint()", "breakpoint()  # here"));
    commit(&world, "its code");
    let (code, report) = review(&world, &[]);
    assert_eq!((code, report["issues"].as_array().unwrap().len()), (1, 1), "{report:#}");
    assert_eq!(report["issues"][0]["line_start"], 5);
}

/// A panel of one lane that fails every change of a tree with `bad` in it.
fn panel(world: World) -> (TestRepo, World) {
    let config = "gate: {lanes: {judge: {command: [lane, judge]}}}\n";
    let repo =
        TestRepo::with_files(&[("mala.yaml", config), ("a.py", "def f(x):\n    return x\n")]);
    let world = world.with_program("lane", include_str!("../gate/lane.sh")).in_folder(repo.root());
    (repo, world)
}

const BAD: &str = "def f(x):\n    return x.bad\n";

/// The findings commands, in the repository of another world.
fn mala(repo: &TestRepo) -> World {
    world().in_folder(repo.root())
}

fn waive_all(world: &World) {
    for id in ids(world) {
        let args = ["findings", "waive", &id, "--reason", "accepted"];
        assert_eq!(world.output(&args, b"").status.code(), Some(0));
    }
}

#[test]
fn a_waived_finding_is_quiet_in_the_gate_until_its_code_changes() {
    let (repo, gate) = panel(gate_world());
    let base = repo.git(&["rev-parse", "HEAD"]);
    let range = format!("{base}..HEAD");
    let reviewed = |text: &str| {
        repo.write("a.py", text);
        repo.commit("change");
        let (_, spawned) = json(&gate, &["spawn-code-review", "--diff", &range]);
        let key = spawned["session_key"].as_str().unwrap();
        json(&gate, &["wait", "--json", "--session-key", key, "--timeout", "60"])
    };
    assert_eq!(reviewed(BAD).0, 1);
    waive_all(&mala(&repo));
    let mut text = BAD.to_owned();
    for number in 1..=5 {
        text.push_str(&format!("x{number} = {number}\n"));
        let (code, said) = reviewed(&text);
        assert_eq!((code, &said["issues"]), (0, &json!([])), "commit {number}");
    }
    let (code, said) = reviewed(&text.replace("x.bad", "x.bad.bad"));
    assert_eq!((code, said["issues"].as_array().map(Vec::len)), (1, Some(1)), "{said:#}");
}

#[test]
fn a_waived_finding_is_quiet_in_the_hook_until_its_code_changes() {
    let (repo, world) = panel(world());
    repo.git(&["config", "user.email", "ada@example.org"]);
    assert!(world.output(&["init", "--hooks"], b"").status.success());
    // What hosts read of the hook is not part of the work.
    for folder in [".claude", ".codex"] {
        std::fs::remove_dir_all(repo.path(folder)).unwrap();
    }
    let stopped = |text: &str| -> Value {
        repo.write("a.py", text);
        repo.commit("change");
        let asking = json!({
            "session_id": "conversation", "transcript_path": "/t.jsonl", "cwd": repo.root(),
            "hook_event_name": "Stop", "stop_hook_active": false, "permission_mode": "default",
        });
        let output = world.output(&["hook", "stop"], asking.to_string().as_bytes());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(stopped(BAD)["decision"], "block");
    waive_all(&mala(&repo));
    assert_eq!(stopped(BAD).get("decision"), None, "the same work, after the decision");
    let mut text = BAD.to_owned();
    for number in 1..=5 {
        text.push_str(&format!("x{number} = {number}\n"));
        let answer = stopped(&text);
        assert_eq!(answer.get("decision"), None, "commit {number}: {answer:#}");
    }
    let answer = stopped(&text.replace("x.bad", "x.bad.bad"));
    assert_eq!(answer["decision"], "block", "{answer:#}");
}

#[test]
fn a_waiver_does_not_cover_a_new_copy_of_its_code() {
    let world = repo();
    assert!(world.run(&["findings", "baseline"]).starts_with("[exit 0]"));
    world.git(&["checkout", "-q", "main"]).git(&["merge", "-q", "topic"]);
    world.git(&["checkout", "-q", "-b", "copy"]);
    world.write(
        "app.py",
        FLAW.replace("    breakpoint()\n", "    breakpoint()\n    x = 1\n    breakpoint()\n"),
    );
    commit(&world, "a copy above");
    let (code, report) = review(&world, &[]);
    assert_eq!((code, report["issues"].as_array().map(Vec::len)), (1, Some(1)), "{report:#}");
}

#[test]
fn a_waiver_ends_on_its_date() {
    let world = repo();
    review(&world, &[]);
    let id = ids(&world).remove(0);
    let waive =
        |date: &str| world.run(&["findings", "waive", &id, "--reason", "later", "--until", date]);
    assert!(waive("2020-01-01").starts_with("[exit 64]"), "a day in the past");
    assert!(waive("tomorrow").starts_with("[exit 64]"), "no day");
    assert!(waive("2999-12-31").starts_with("[exit 0]"));
    assert_eq!(review(&world, &[]).0, 0);
    let export = world.output(&["findings", "export"], b"").stdout;
    let expired = String::from_utf8(export).unwrap().replace("2999-12-31", "2020-01-01");
    world.write("expired.jsonl", expired);
    assert!(world.run(&["findings", "import", "expired.jsonl"]).starts_with("[exit 0]"));
    assert_eq!(review(&world, &[]).0, 1);
}

#[test]
fn a_shared_waiver_applies_once_it_is_on_the_base() {
    let world = repo();
    review(&world, &[]);
    let id = ids(&world).remove(0);
    let waive = ["findings", "waive", &id, "--reason", "debug build", "--shared"];
    assert!(world.run(&waive).starts_with("[exit 0]"));
    commit(&world, "waive");
    assert_eq!(review(&world, &[]).0, 1, "a change cannot waive its own findings");
    let file = world.read(".mala/waivers.yaml");
    world.git(&["checkout", "-q", "main"]);
    world.write(".mala/waivers.yaml", &file);
    world.git(&["add", "-f", ".mala/waivers.yaml"]).git(&["commit", "-q", "-m", "accept"]);
    world.git(&["checkout", "-q", "topic"]).git(&["rebase", "-q", "main"]);
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["tracking"]["set_aside"][0]["reason"], "debug build");
    world.write("app.py", FLAW.replace("breakpoint()", "breakpoint()  # here"));
    commit(&world, "its code");
    assert_eq!(review(&world, &[]).0, 1, "the code changed");
}

#[test]
fn an_invalid_waiver_file_waives_nothing_and_is_named() {
    for (text, says) in [
        ("version: 1\nwaivers: [oops", ".mala/waivers.yaml at "),
        ("version: 7\n", "version 7 is not known"),
        ("waivers: []\n", "`version: 1` is missing"),
        ("version: 1\nwaivers:\n- finding: 0123456789abcdef\n", "missing field"),
    ] {
        let world = repo();
        world.git(&["checkout", "-q", "main"]);
        world.write(".mala/waivers.yaml", text);
        world.git(&["add", "-f", ".mala/waivers.yaml"]).git(&["commit", "-q", "-m", "accept"]);
        world.git(&["checkout", "-q", "topic"]).git(&["rebase", "-q", "main"]);
        let (code, report) = review(&world, &[]);
        let warnings = report["warnings"].to_string();
        assert!(code == 1 && warnings.contains(says), "{text}: {code} {warnings}");
        let id = ids(&world).remove(0);
        let shown = world.run(&["findings", "waive", &id, "--reason", "x", "--shared"]);
        assert!(shown.starts_with("[exit 78]"), "{text}: {shown}");
    }
}
