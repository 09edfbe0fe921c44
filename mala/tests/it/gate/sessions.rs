//! Many sessions at once, and supervisors that die at any moment.

use super::bench::{GateWorld, processes};
use insta::assert_snapshot;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

/// The process that supervises a session.
fn supervisor(spawned: &Value) -> Option<String> {
    let folder = spawned["session_dir"].as_str().unwrap();
    let beat = std::fs::read_to_string(format!("{folder}/heartbeat.json")).ok()?;
    let beat: Value = serde_json::from_str(&beat).unwrap();
    Some(beat["pid"].to_string())
}

// Rows 001-036, 001-043.
#[test]
fn twenty_sessions_at_once_are_not_mixed_up() {
    let bench = GateWorld::new();
    let cases = [("pass", 0), ("fail", 1), ("prose", 2), ("slow", 0)];
    let ended: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|number| {
                let (lane, code) = cases[number % cases.len()];
                let bench = &bench;
                scope.spawn(move || (lane, code, bench.review_apart(lane)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let keys: BTreeSet<&str> = ended.iter().map(|(_, _, ended)| ended.key.as_str()).collect();
    assert_eq!(keys.len(), 20);
    for (lane, code, ended) in &ended {
        assert_eq!(ended.code, *code, "{lane}: {:#}", ended.json);
        assert_eq!(ended.json["report"]["session_key"], ended.key.as_str());
        let names: Vec<&String> = ended.json["reviewers"].as_object().unwrap().keys().collect();
        assert_eq!(names, [lane]);
        ended.assert_nothing_left();
    }
}

// Rows 001-042.
#[test]
fn several_can_wait_for_one_session() {
    let bench = GateWorld::new();
    let spawned = bench.spawn(&["--lanes", "slow"]);
    let key = spawned["session_key"].as_str().unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.wait(key).json)).collect();
        let said: Vec<Value> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(said.iter().all(|json| json["status"] == "resolved" && *json == said[0]));
    });
}

// Rows 001-037.
#[test]
fn without_a_key_the_most_recent_session_is_waited_for() {
    let bench = GateWorld::new();
    bench.review("fail", &[]);
    let spawned = bench.spawn_apart(&["--lanes", "pass"]);
    let (code, stdout, _) = bench.run(&["wait", "--json"]);
    let json: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &json["report"]["session_key"]), (0, &spawned["session_key"]));
}

/// Every answer after a kill is true: a result that the panel came to, or that the supervisor died.
// Rows 001-081.
#[test]
fn a_supervisor_that_is_killed_at_any_moment_leaves_a_true_answer() {
    let bench = GateWorld::new();
    let number: u64 =
        std::env::var("MALA_GATE_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(50);
    let next = std::sync::atomic::AtomicU64::new(0);
    let codes = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if at >= number {
                        return;
                    }
                    let spawned = bench.spawn(&["--lanes", "slow,pass"]);
                    // From the first moment until long after the result.
                    std::thread::sleep(Duration::from_millis(at * 977 % 1400));
                    if let Some(pid) = supervisor(&spawned) {
                        // It may be gone already.
                        Command::new("kill").args(["-9", &pid]).output().unwrap();
                    }
                    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
                    let case = format!("{:#}", ended.json);
                    match ended.code {
                        0 => assert_eq!(ended.verdict(), "PASS", "{case}"),
                        5 => {
                            assert_eq!(ended.verdict(), "no_reviewers", "{case}");
                            assert_eq!(ended.json["status"], "error", "{case}");
                        }
                        other => panic!("exit {other}: {case}"),
                    }
                    ended.assert_nothing_left();
                    codes.lock().unwrap().push(ended.code);
                }
            });
        }
    });
    let codes = codes.into_inner().unwrap();
    assert_eq!(codes.len() as u64, number);
    assert!(codes.contains(&0) && codes.contains(&5), "both were seen: {codes:?}");
}

/// The next command cleans up, though what is left has neither marker nor parent.
#[test]
fn a_killed_supervisor_leaves_nothing_to_those_who_come_after() {
    let bench = GateWorld::new();
    let left = || {
        let all = processes(|_, command| command.starts_with("sleep 100"));
        all.iter().filter(|it| ["sleep 1005 ", "sleep 1006 "].contains(&it.as_str())).count()
    };
    let spawned = bench.spawn(&["--lanes", "leaver"]);
    let folder = spawned["session_dir"].as_str().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let noted = || std::fs::read_to_string(format!("{folder}/processes.json")).unwrap_or_default();
    while (left() < 2 || noted().matches("pid").count() < 3) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(left(), 2);
    // All that it started is written down by now.
    std::thread::sleep(Duration::from_secs(2));
    let pid = supervisor(&spawned).unwrap();
    Command::new("kill").args(["-9", &pid]).output().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(left(), 2, "no command ran yet");
    assert_snapshot!(bench.world.run(&["list"]), @"
    [exit 0]
    [stdout]
    [KEY]  dead  HEAD~1..HEAD  0 of 1 lanes over
    ");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(left(), 0);
}

#[test]
fn a_supervisor_that_is_stopped_is_not_waited_for() {
    let bench = GateWorld::new();
    let spawned = bench.spawn(&["--lanes", "never"]);
    let pid = supervisor(&spawned).unwrap();
    Command::new("kill").args(["-STOP", &pid]).output().unwrap();
    let started = Instant::now();
    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
    assert_eq!(ended.code, 5, "{:#}", ended.json);
    assert!(started.elapsed() < Duration::from_secs(40));
    ended.assert_nothing_left();
    assert_snapshot!(bench.world.run(&["wait", "--session-key", &ended.key]), @"
    [exit 5]
    [stdout]
    no verdict
      HEAD~1..HEAD at [COMMIT], started [TIME]
      never: no vote: no answer yet
      the supervisor of the session died
    [WORK]/.mala/gate/[KEY]
    ");
    let left = processes(|_, command| command.contains(&ended.key));
    assert!(left.is_empty(), "{left:?}");
}

/// A process that is there and does nothing is no supervisor, once its time is over since long ago.
#[test]
fn a_supervisor_that_hangs_is_ended_by_the_next_command() {
    let bench = GateWorld::new();
    let spawned = bench.spawn(&["--lanes", "never", "--timeout", "50"]);
    let folder = spawned["session_dir"].as_str().unwrap();
    let key = spawned["session_key"].as_str().unwrap();
    let pid = supervisor(&spawned).unwrap();
    Command::new("kill").args(["-9", &pid]).output().unwrap();
    let mut hung = Command::new("sleep").arg("1007").spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", hung.id())).unwrap();
    let started = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
    let beat = format!(r#"{{"pid": {}, "started": {started}}}"#, hung.id());
    let age = |file: &str, seconds: u64| {
        let file = std::fs::File::options().append(true).open(format!("{folder}/{file}")).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    for (silent, old, is_dead) in [(1000, 300, false), (20, 9000, false), (1000, 9000, true)] {
        std::fs::write(format!("{folder}/heartbeat.json"), &beat).unwrap();
        age("heartbeat.json", silent);
        age("session.json", old);
        let (code, stdout, _) =
            bench.run(&["wait", "--json", "--session-key", key, "--timeout", "1"]);
        assert_eq!(code, if is_dead { 5 } else { 3 }, "silent {silent}, old {old}: {stdout}");
        assert_eq!(hung.try_wait().unwrap().is_some(), is_dead);
    }
    bench.wait(key).assert_nothing_left();
}

// Rows 001-026.
#[test]
fn the_supervisor_survives_its_caller() {
    let bench = GateWorld::new();
    let gate = env!("CARGO_BIN_EXE_review-gate");
    let script = format!("{gate} spawn-code-review --diff HEAD~1..HEAD --lanes slow; kill -9 0");
    let mut shell = bench.world.command("setsid");
    let output = shell.args(["sh", "-c", &script]).output().unwrap();
    let spawned: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(bench.wait(spawned["session_key"].as_str().unwrap()).code, 0);
}
