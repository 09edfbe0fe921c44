//! Reviews that are not allowed to end: stopped by the user, by the time or by the disk. Nothing is
//! left half-written, and nothing goes on running.

use super::{FLAW, repo, review};
use mala_testkit::World;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A repository with a changed shell script, on a machine whose linter for it never ends.
fn endless() -> World {
    let world = repo();
    let note = world.home().join("linter.pid");
    let script = format!(
        "case \"$1\" in --version) echo 'version: 0.9.0'; exit;; esac\n\
         echo $$ > '{note}.part'; mv '{note}.part' '{note}'\nexec /bin/sleep 1000",
        note = note.display()
    );
    let world = world.with_program("shellcheck", &script);
    world.write("app.py", FLAW).write("run.sh", "#!/bin/sh\necho $1\n");
    world
}

fn linter_pid(world: &World) -> u32 {
    let note = world.home().join("linter.pid");
    let waiting = Instant::now();
    while !note.exists() {
        assert!(waiting.elapsed() < Duration::from_secs(60), "the linter never started");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::read_to_string(note).unwrap().trim().parse().unwrap()
}

fn assert_is_gone(pid: u32) {
    let process = format!("/proc/{pid}");
    let waiting = Instant::now();
    while Path::new(&process).exists() {
        assert!(waiting.elapsed() < Duration::from_secs(20), "process {pid} goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kept_runs(world: &World) -> usize {
    std::fs::read_dir(world.folder().join(".mala/runs")).map_or(0, Iterator::count)
}

#[test]
fn an_interrupt_ends_the_review_and_its_children() {
    let world = endless();
    let args = ["review", "--output", "json=report.json"];
    let child = world
        .command(env!("CARGO_BIN_EXE_mala"))
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let linter = linter_pid(&world);
    let sent = world.command("/bin/sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", world.show(&output));
    assert!(output.stdout.is_empty(), "{}", world.show(&output));
    assert!(!world.folder().join("report.json").exists());
    assert_eq!(kept_runs(&world), 0);
    assert_is_gone(linter);
}

#[test]
fn a_review_that_takes_too_long_is_no_pass() {
    let world = endless();
    let (code, report) = review(&world, &["--timeout", "2", "--fail-on", "none"]);
    assert_eq!(code, 3, "{report}");
    assert_eq!(report["passed"], false);
    assert_eq!(report["parse_error"], "timeout");
    assert_eq!(report["fatal_error"], false);
    assert_is_gone(linter_pid(&world));
}

#[test]
fn a_full_disk_leaves_no_half_of_a_report() {
    let world = repo();
    world.write("app.py", FLAW);
    // A write beyond the limit fails as it does on a full disk, after its first part.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" review --output json=report.json";
    let output = world
        .command("/bin/bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_mala")])
        .output()
        .unwrap();
    let shown = world.show(&output);
    assert_eq!(output.status.code(), Some(2), "{shown}");
    insta::assert_snapshot!(shown, @"
    [exit 2]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

    app.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ app.py:2 in ask
    1 │ def ask():
    2 │     breakpoint()
      │     ━━━━━━━━━━━━
    3 │     return 1
      ╰╴
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    warning:  ledger [WORK]/.git/mala/ledger.db: disk I/O
              error: the whole change is reviewed as in a first review, and this
              review is not stored
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -0

    FAIL  1 finding at or above P1 (1 P1)
    [stderr]
    warning: cannot save the review: writing [WORK]/.mala/runs/[PART]/review.md: File too large (os error 27)
    error: cannot write report.json: file too large
    ");
    assert!(!world.folder().join("report.json").exists(), "{shown}");
    assert_eq!(kept_runs(&world), 0, "{shown}");
}
