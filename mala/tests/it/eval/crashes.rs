//! A run that is killed at any moment goes on, with the same result, and pays for no answer twice.

use super::agent::{cases, slowly, with_server};
use super::*;
use mala_domain::eval::seeded::Seeded;
use mala_testkit::ModelServer;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const N_CASES: usize = 200;
const N_KILLS: usize = 20;
const JOBS: &str = "4";

fn arguments() -> Vec<&'static str> {
    let args = ["run", "--set", "set.jsonl", "--reviewer", "agent_sdk", "--model", "haiku"];
    args.into_iter().chain(["--jobs", JOBS, "--format", "json"]).collect()
}

#[test]
fn twenty_kills_change_nothing_and_repeat_no_paid_call() {
    let server = ModelServer::new(slowly);
    let world = with_server(world(), &server);
    world.write("set.jsonl", lines(&cases(N_CASES)));
    let mut chance = Seeded::new(20);
    let mut n_kills = 0;
    let mut args = arguments();
    let mut run = String::new();
    while n_kills < N_KILLS {
        // Killed when a random number of further calls have come, or a little later.
        let more = 1 + chance.below(2 * N_CASES / N_KILLS);
        let grace = Duration::from_millis(chance.below(60) as u64);
        if !killed(&world, &args, &server, more, grace) {
            break;
        }
        n_kills += 1;
        if run.is_empty() {
            run = only_run(&world);
            args = vec!["run", "--resume", run.clone().leak(), "--jobs", JOBS, "--format", "json"];
        }
        let traffic = world.folder().join(".mala/eval").join(&run).join("traffic");
        let (kept, lost) = counted(&traffic);
        let asked = server.requests().len();
        assert!(
            asked <= kept + lost,
            "{asked} calls, {kept} answers, {lost} lost: one was repeated"
        );
        assert!(lost <= n_kills * 4, "{lost} lost calls after {n_kills} kills of 4 jobs");
    }
    assert_eq!(n_kills, N_KILLS, "the run was over before it could be killed so often");
    let (code, result) = eval(&world, &args);
    assert_eq!((code, &result["is_complete"]), (0, &json!(true)));
    let traffic = world.folder().join(".mala/eval").join(&run).join("traffic");
    let (kept, lost) = counted(&traffic);
    assert_eq!(kept, 2 * N_CASES, "a draft and a check for each case");
    let asked = server.requests().len();
    assert!(asked <= kept + lost, "{asked} calls for {kept} answers and {lost} lost ones");
    let left: Vec<_> = std::fs::read_dir(world.home().join("tmp")).unwrap().collect();
    assert!(left.is_empty(), "nothing stays behind: {left:?}");
    let (_, whole) = eval(&with_server(fresh(), &server), &arguments());
    assert_eq!(without_times(result), without_times(whole));
}

fn fresh() -> World {
    let world = world();
    world.write("set.jsonl", lines(&cases(N_CASES)));
    world
}

/// Runs until so many more calls have come, and kills it then; `false` when it was over before.
fn killed(
    world: &World,
    args: &[&str],
    server: &ModelServer,
    more: usize,
    grace: Duration,
) -> bool {
    let wanted = server.requests().len() + more;
    let mut child = world
        .command(env!("CARGO_BIN_EXE_mala"))
        .arg("eval")
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(300);
    while server.requests().len() < wanted && Instant::now() < patience {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(grace);
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

fn only_run(world: &World) -> String {
    let entries = std::fs::read_dir(world.folder().join(".mala/eval")).unwrap();
    let names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names.into_iter().next().unwrap()
}

/// The answers that are kept, and the calls that were under way when the run was killed.
fn counted(folder: &Path) -> (usize, usize) {
    let (mut kept, mut lost) = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if end == "json" && path.file_name().unwrap() != "recording.json" {
                kept += 1;
            } else if end.starts_with("lost")
                || (end == "asked" && !path.with_extension("json").exists())
            {
                lost += 1;
            }
        }
    }
    (kept, lost)
}

/// A result without what differs between any two runs.
fn without_times(mut result: Value) -> Value {
    for field in ["run_id", "started_at"] {
        result["run"][field] = Value::Null;
    }
    result["run"]["sets"][0]["source"] = Value::Null;
    result["latency_seconds"] = Value::Null;
    for field in ["seconds_mean", "seconds_p50", "seconds_p95"] {
        result["scores"]["spent"][field] = Value::Null;
    }
    result
}
