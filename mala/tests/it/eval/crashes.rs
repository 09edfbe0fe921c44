//! A run that is killed at any moment goes on, with the same result, and pays for no answer twice.

use super::agent::{answer, cases, slowly, with_server};
use super::*;
use mala_eval::random::SeededRandom;
use mala_testkit::ModelServer;
use mala_testkit::model_server::ServerStep;
use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const N_CASES: usize = 200;
const N_KILLS: usize = 20;
const JOBS: &str = "4";

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(300);

fn arguments() -> Vec<&'static str> {
    let args = [
        "run",
        "--set",
        "set.jsonl",
        "--reviewer",
        "agent_sdk",
        "--model",
        "haiku",
        "--profile",
        "lean",
    ];
    args.into_iter().chain(["--jobs", JOBS, "--format", "json"]).collect()
}

fn going_on(run: &str) -> Vec<&str> {
    vec!["run", "--resume", run, "--jobs", JOBS, "--format", "json"]
}

#[test]
fn twenty_kills_change_nothing_and_repeat_no_paid_call() {
    let server = ModelServer::new(slowly);
    let world = world_with(N_CASES, &server);
    let whole = std::thread::spawn(|| {
        let server = ModelServer::new(|request| answer(request).into());
        eval(&world_with(N_CASES, &server), &arguments()).1
    });
    let mut chance = SeededRandom::new(20);
    let mut run = String::new();
    for kill in 0..N_KILLS {
        // Killed when a random number of further calls have come, or a little later.
        let more = 1 + chance.below(2 * N_CASES / N_KILLS);
        let grace = Duration::from_millis(chance.below(60) as u64);
        let args = if kill == 0 { arguments() } else { going_on(&run) };
        let mut child = start(&world, &args);
        assert!(has_asked(&server, server.n_requests() + more, &mut child), "over too early");
        std::thread::sleep(grace);
        child.kill().unwrap();
        child.wait().unwrap();
        if kill == 0 {
            run = only_run(&world);
        }
    }
    let (code, result) = eval(&world, &going_on(&run));
    assert_eq!((code, &result["is_complete"]), (0, &json!(true)));
    assert_eq!(repeated(&server), 0, "no call was paid for twice");
    assert_eq!(server.n_requests(), 2 * N_CASES, "a draft and a check for each case");
    assert_eq!(lost_calls(&world, &run), Vec::<String>::new());
    let left: Vec<_> = std::fs::read_dir(world.home().join("tmp")).unwrap().collect();
    assert!(left.is_empty(), "nothing stays behind: {left:?}");
    assert_eq!(without_times(result), without_times(whole.join().unwrap()));
}

#[test]
fn going_on_waits_until_the_answers_under_way_are_kept() {
    let server = ModelServer::new(|request| late(request, Duration::from_millis(1500)));
    let world = world_with(4, &server);
    let mut child = start(&world, &arguments());
    assert!(has_asked(&server, 4, &mut child));
    child.kill().unwrap();
    child.wait().unwrap();
    let run = only_run(&world);
    let output = world.output(&["eval", "run", "--resume", &run, "--jobs", JOBS], b"");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("waiting up to"), "{told}");
    assert_eq!((output.status.code(), repeated(&server), server.n_requests()), (Some(0), 0, 8));
}

#[test]
fn a_killed_run_prints_nothing_later() {
    let server = ModelServer::new(|request| late(request, Duration::from_millis(1500)));
    let world = world_with(4, &server);
    let mut child = start(&world, &arguments());
    assert!(has_asked(&server, 4, &mut child));
    child.kill().unwrap();
    // This reads to the end of both pipes.
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.stdout, output.stderr), (Vec::new(), Vec::new()));
    until("the worker is gone", || lost_calls(&world, &only_run(&world)).is_empty());
    assert_eq!(server.n_requests(), 4, "it began no further call");
}

#[test]
fn one_interrupt_keeps_the_answers_under_way() {
    let server = ModelServer::new(|request| late(request, Duration::from_millis(500)));
    let world = world_with(20, &server);
    let mut child = start(&world, &arguments());
    assert!(has_asked(&server, 4, &mut child));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let (told, run) = (String::from_utf8_lossy(&output.stderr).into_owned(), only_run(&world));
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("waiting for the model calls in progress"), "{told}");
    assert!(told.contains(&format!("continue with: mala eval run --resume {run}")), "{told}");
    assert!(lost_calls(&world, &run).is_empty());
    let (code, result) = eval(&world, &going_on(&run));
    assert_eq!((code, &result["scores"]["cases"]["reviewed"]), (0, &json!(20)));
    assert_eq!((repeated(&server), server.n_requests()), (0, 40));
}

#[test]
fn a_second_interrupt_ends_the_calls() {
    let server = ModelServer::new(|request| {
        let by = Duration::from_secs(if request.number < 4 { 120 } else { 0 });
        late(request, by)
    });
    let world = world_with(4, &server);
    let started = Instant::now();
    let mut child = start(&world, &arguments());
    assert!(has_asked(&server, 4, &mut child));
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it waits for the calls");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(started.elapsed() < Duration::from_secs(100), "{:?}", started.elapsed());
    let run = only_run(&world);
    assert_eq!(lost_calls(&world, &run).len(), 4, "each may have been paid for");
    let output = world.output(&["eval", "run", "--resume", &run], b"");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("4 model calls were interrupted"), "{told}");
    assert_eq!((output.status.code(), server.n_requests()), (Some(0), 12), "{told}");
}

fn world_with(n_cases: usize, server: &ModelServer) -> World {
    let world = with_server(world(), server);
    world.write("set.jsonl", lines(&cases(n_cases)));
    world
}

fn late(request: &mala_testkit::model_server::ModelRequest, by: Duration) -> ServerStep {
    ServerStep::from(answer(request)).after(by)
}

pub(super) fn start(world: &World, args: &[&str]) -> Child {
    let mut command = world.command(env!("CARGO_BIN_EXE_mala"));
    command.arg("eval").args(args).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for so many requests; `false` when the program is over before.
pub(super) fn has_asked(server: &ModelServer, wanted: usize, child: &mut Child) -> bool {
    let patience = Instant::now() + PATIENCE;
    while server.n_requests() < wanted && Instant::now() < patience {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    server.n_requests() >= wanted
}

pub(super) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(super) fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

pub(super) fn only_run(world: &World) -> String {
    let entries = std::fs::read_dir(world.folder().join(".mala/eval")).unwrap();
    let names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names.into_iter().next().unwrap()
}

/// How many requests said what another one had said.
pub(super) fn repeated(server: &ModelServer) -> usize {
    let mut bodies: HashMap<String, usize> = HashMap::new();
    for request in server.requests() {
        *bodies.entry(request.body.to_string()).or_default() += 1;
    }
    bodies.into_values().map(|n| n - 1).sum()
}

/// The calls that have no answer.
fn lost_calls(world: &World, run: &str) -> Vec<String> {
    let mut lost = Vec::new();
    let mut folders = vec![world.folder().join(".mala/eval").join(run).join("traffic")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if end == "asked" || end.starts_with("lost") {
                lost.push(path.display().to_string());
            }
        }
    }
    lost
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
