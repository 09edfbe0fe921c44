//! Children that hang, flood, fork, ignore their stdin or die.

use mala_adapters::process::{
    FinishedProcess, MARKER, ProcessEnvironment, ProcessError, ProcessLimits, ProcessSpec, run,
};
use std::time::{Duration, Instant};

fn sh(script: &str) -> ProcessSpec {
    ProcessSpec::new("sh", "/", ProcessEnvironment::filtered(std::env::vars_os()))
        .args(["-c", script])
}

fn seconds(n: u64) -> ProcessLimits {
    ProcessLimits::within(Duration::from_secs(n))
}

fn run_now(spec: ProcessSpec, limits: ProcessLimits) -> Result<FinishedProcess, ProcessError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run(spec, limits))
}

fn is_alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

/// A process exits a moment after its signal.
fn dies(pid: &str) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !is_alive(pid)
    })
}

#[test]
fn output_and_exit_code_come_back() {
    let finished = run_now(sh("echo out; echo err >&2; exit 7"), seconds(20)).unwrap();
    assert_eq!(finished.code(), Some(7));
    assert_eq!(finished.output.stdout, b"out\n");
    assert_eq!(finished.output.stderr, b"err\n");
    assert!(!finished.output.stdout_cut && !finished.output.stderr_cut);
}

#[test]
fn what_is_fed_comes_through_while_output_is_read() {
    // Larger than both pipes together: writing all before reading would hang.
    let bytes = vec![b'x'; 3 << 20];
    let finished = run_now(sh("cat").stdin(bytes.clone()), seconds(20)).unwrap();
    assert_eq!(finished.output.stdout, bytes);
}

#[test]
fn without_input_stdin_is_at_its_end() {
    let finished = run_now(sh("cat; echo done"), seconds(20)).unwrap();
    assert_eq!(finished.output.stdout, b"done\n");
}

#[test]
fn a_child_that_does_not_read_its_input_is_no_failure() {
    let finished = run_now(sh("exec true").stdin(vec![b'x'; 3 << 20]), seconds(20)).unwrap();
    assert_eq!(finished.code(), Some(0));
}

#[test]
fn a_child_that_hangs_is_stopped_and_its_output_kept() {
    let before = Instant::now();
    let limits = ProcessLimits::within(Duration::from_millis(300));
    let error = run_now(sh("echo early; sleep 1000 & sleep 1000"), limits).unwrap_err();
    let ProcessError::TimedOut { output, .. } = &error else { panic!("{error:?}") };
    assert_eq!(output.stdout, b"early\n");
    assert_eq!(error.to_string(), "sh: stopped after 0.3 s");
    assert!(before.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_silent_child_is_stopped() {
    let limits = seconds(20).idle(Duration::from_millis(200));
    let error = run_now(sh("echo early; sleep 1000"), limits).unwrap_err();
    assert!(matches!(&error, ProcessError::Idle { output, .. } if output.stdout == b"early\n"));
}

#[test]
fn a_child_that_talks_is_not_idle() {
    let limits = seconds(20).idle(Duration::from_millis(2000));
    let script = "for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.4; done; echo end";
    let finished = run_now(sh(script), limits).unwrap();
    assert_eq!(finished.output.stdout, b"end\n");
}

#[test]
fn a_flood_is_cut_and_stopped() {
    let limits = seconds(60).stdout(1000);
    let finished = run_now(sh("head -c 1000000000 /dev/zero; sleep 1000"), limits).unwrap();
    assert_eq!(finished.output.stdout.len(), 1000);
    assert!(finished.output.stdout_cut);
}

#[test]
fn a_flood_of_complaints_is_cut_and_the_child_goes_on() {
    let script = "head -c 100000000 /dev/zero >&2; echo fine";
    let finished = run_now(sh(script), seconds(60)).unwrap();
    assert_eq!(finished.output.stdout, b"fine\n");
    assert!(finished.output.stderr_cut);
    assert_eq!(finished.output.stderr.len(), seconds(1).stderr);
}

#[test]
fn exactly_the_limit_is_not_cut() {
    let finished = run_now(sh("printf 12345"), seconds(20).stdout(5)).unwrap();
    assert_eq!(finished.output.stdout, b"12345");
    assert!(!finished.output.stdout_cut);
}

#[test]
fn an_orphan_in_the_group_dies_with_the_child() {
    let before = Instant::now();
    let finished = run_now(sh("sleep 1000 & echo $!"), seconds(60)).unwrap();
    assert!(before.elapsed() < Duration::from_secs(10), "the orphan holds stdout open");
    let pid = String::from_utf8(finished.output.stdout).unwrap();
    assert!(dies(pid.trim()));
}

#[test]
fn an_orphan_out_of_the_group_is_not_waited_for() {
    let before = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("started");
    let script = "setsid sh -c 'echo here; touch FILE; exec sleep 25' &
        while [ ! -e FILE ]; do sleep 0.05; done";
    let script = script.replace("FILE", file.to_str().unwrap());
    let finished = run_now(sh(&script), seconds(60)).unwrap();
    assert!(before.elapsed() < Duration::from_secs(20), "the orphan holds stdout open");
    assert_eq!(finished.code(), Some(0));
    assert_eq!(finished.output.stdout, b"here\n");
}

#[test]
fn a_limit_reaches_who_left_the_group() {
    let limits = ProcessLimits::within(Duration::from_secs(3));
    let script = "setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000";
    let error = run_now(sh(script), limits).unwrap_err();
    let ProcessError::TimedOut { output, .. } = &error else { panic!("{error:?}") };
    let pid = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(dies(pid.trim()));
}

#[test]
fn dropping_the_run_kills_the_group() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display());
    runtime.block_on(async {
        let running = run(sh(&script), seconds(100));
        let written = async {
            while !file.exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! { _ = running => panic!("ended"), () = written => {} }
    });
    assert!(dies(std::fs::read_to_string(&file).unwrap().trim()));
}

#[test]
fn a_killed_child_says_its_signal() {
    let finished = run_now(sh("kill -9 $$"), seconds(20)).unwrap();
    assert_eq!((finished.code(), finished.signal()), (None, Some(9)));
}

#[test]
fn a_missing_program_is_told_from_one_that_cannot_start() {
    let environment = ProcessEnvironment::filtered(std::env::vars_os());
    let missing = ProcessSpec::new("no-such-program", "/", environment.clone());
    let error = run_now(missing, seconds(20)).unwrap_err();
    assert_eq!(error.to_string(), "`no-such-program` is not on PATH");
    let nowhere = ProcessSpec::new("sh", "/no/such/folder", environment);
    assert!(matches!(run_now(nowhere, seconds(20)), Err(ProcessError::NotStarted { .. })));
}

#[test]
fn the_environment_is_what_was_given_and_the_marker() {
    let environment = ProcessEnvironment::default().with("PATH", "/usr/bin:/bin").with("A", "1");
    let spec = ProcessSpec::new("env", "/", environment);
    let finished = run_now(spec, seconds(20)).unwrap();
    let printed = String::from_utf8(finished.output.stdout).unwrap();
    let mut names: Vec<_> = printed.lines().map(|line| line.split('=').next().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["A", MARKER, "PATH"]);
}

#[test]
fn what_a_starter_starts_goes_on_and_it_is_asked_before_it_is_killed() {
    let spec = sh("sleep 1009 >/dev/null 2>&1 & echo $!");
    let finished = run_now(spec, seconds(20).keep_group()).unwrap();
    let pid = String::from_utf8(finished.output.stdout).unwrap();
    assert!(is_alive(pid.trim()), "{pid}");
    std::process::Command::new("kill").arg(pid.trim()).status().unwrap();

    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("cleaned");
    let script = format!("trap 'echo done >{}; exit' TERM; sleep 1010 & wait", note.display());
    let limits = ProcessLimits::within(Duration::from_millis(500)).keep_group();
    assert!(matches!(run_now(sh(&script), limits), Err(ProcessError::TimedOut { .. })));
    assert!(note.exists(), "it had time to clean up");

    let started = Instant::now();
    let deaf = sh("trap '' TERM; while :; do sleep 1; done");
    assert!(matches!(run_now(deaf, limits), Err(ProcessError::TimedOut { .. })));
    assert!(started.elapsed() < Duration::from_secs(10), "one that does not listen is killed");
}
