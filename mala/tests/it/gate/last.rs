//! Which session is the last one, and what came of it: no copy, edit or hidden file
//! takes its place.

use super::bench::GateWorld;
use insta::assert_snapshot;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn file(bench: &GateWorld, key: &str, name: &str) -> PathBuf {
    bench.repo.path(".mala/gate").join(key).join(name)
}

/// The key of a session whose reviewers never answer.
fn running(bench: &GateWorld) -> String {
    bench.spawn(&["--lanes", "never"])["session_key"].as_str().unwrap().to_owned()
}

#[test]
fn a_result_of_another_session_is_none() {
    let bench = GateWorld::new();
    let passed = bench.review("pass", &[]);
    let key = running(&bench);
    let (from, to) = (file(&bench, &passed.key, "result.json"), file(&bench, &key, "result.json"));
    std::fs::copy(from, to).unwrap();
    let ended = bench.wait(&key);
    assert_eq!(ended.code, 5, "{:#}", ended.json);
    assert_snapshot!(bench.world.run(&["cancel", "--session-key", &key]), @"
    [exit 0]
    [stderr]
    [KEY] is cancelled
    ");
    let ended = bench.wait(&key);
    assert_eq!(ended.json["parse_errors"][0], "the session was cancelled");
    ended.assert_nothing_left();
}

#[test]
fn a_session_replaces_what_is_no_result_of_its_own() {
    let bench = GateWorld::new();
    let failed = bench.review("fail", &[]);
    let from = file(&bench, &failed.key, "result.json");
    let spawned = bench.spawn_apart(&["--lanes", "slow"]);
    let key = spawned["session_key"].as_str().unwrap();
    std::fs::copy(from, file(&bench, key, "result.json")).unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut code = 5;
    while code == 5 && std::time::Instant::now() < end {
        code = bench.wait(key).code;
    }
    assert_eq!(code, 0, "what its reviewer said");
}

#[test]
fn an_edited_result_does_not_count() {
    let bench = GateWorld::new();
    let failed = bench.review("fail", &[]);
    let path = file(&bench, &failed.key, "result.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"FAIL\"", "\"PASS\"")).unwrap();
    assert_eq!(bench.wait(&failed.key).code, 5);
    std::fs::write(&path, text).unwrap();
    assert_eq!(bench.wait(&failed.key).code, 1);
}

#[test]
fn a_session_by_another_name_is_none() {
    let bench = GateWorld::new();
    let passed = bench.review("pass", &[]);
    let other = "aaaaaaaa-0000-0000-0000-000000000000";
    let sessions = bench.repo.path(".mala/gate");
    let mut copy = bench.world.command("cp");
    copy.arg("-r").args([sessions.join(&passed.key), sessions.join(other)]);
    assert!(copy.status().unwrap().success());
    assert_eq!(bench.wait(other).code, 5);
}

#[test]
fn an_edited_session_does_not_count() {
    let bench = GateWorld::new();
    let passed = bench.review("pass", &[]);
    let path = file(&bench, &passed.key, "session.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (old, new) in [
        ("\"created\": \"20", "\"created\": \"21"),
        ("\"diff_hash\": \"", "\"diff_hash\": \"0"),
        ("\"timeout_seconds\": 300", "\"timeout_seconds\": 301"),
    ] {
        assert!(text.contains(old), "{text}");
        std::fs::write(&path, text.replacen(old, new, 1)).unwrap();
        assert_eq!(bench.wait(&passed.key).code, 5, "{old}");
    }
    bench.spawn(&["--lanes", "fail"]);
    assert_eq!(bench.run(&["wait"]).0, 1);
    std::fs::write(&path, text).unwrap();
    assert_eq!(bench.wait(&passed.key).code, 0);
}

#[test]
fn a_session_whose_key_cannot_be_printed_is_stopped() {
    let bench = GateWorld::new();
    let mut spawn = bench.world.command(env!("CARGO_BIN_EXE_review-gate"));
    spawn.args(["spawn-code-review", "--diff", "HEAD~1..HEAD", "--lanes", "never"]);
    spawn.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    assert_eq!(spawn.status().unwrap().code(), Some(1));
    let (_, listed, _) = bench.run(&["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["state"], "done", "{listed:#}");
    bench.wait(listed[0]["session_key"].as_str().unwrap()).assert_nothing_left();
}

#[test]
fn what_is_not_committed_does_not_choose_its_panel() {
    let bench = GateWorld::with_config("");
    bench.repo.git(&["rm", "-q", "mala.yaml"]);
    bench.repo.commit_staged("no settings");
    bench.repo.write("a.py", "def f(x):\n    return x.bad\n");
    bench.repo.write("mala.yaml", "gate: {lanes: {mine: {command: [lane, pass]}}}\n");
    let (_, _, stderr) = bench.run(&["spawn-code-review", "--uncommitted"]);
    let first = stderr.lines().next();
    let expected = "note: mala.yaml is not at the base of this change: using the defaults";
    assert_eq!(first, Some(expected), "{stderr}");
    assert_ne!(bench.run(&["wait"]).0, 0);
}

#[test]
fn copies_are_for_their_owner_alone() {
    let bench = GateWorld::new();
    let key = running(&bench);
    let text = std::fs::read_to_string(file(&bench, &key, "session.json")).unwrap();
    let session: serde_json::Value = serde_json::from_str(&text).unwrap();
    let scratch = std::fs::metadata(session["scratch"].as_str().unwrap()).unwrap();
    assert_eq!(scratch.permissions().mode() & 0o777, 0o700);
    bench.run(&["cancel"]);
}
