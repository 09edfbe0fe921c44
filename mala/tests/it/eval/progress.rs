//! What a person sees while an eval runs in a terminal.

use super::agent::{answer, cases, with_server};
use super::*;
use mala_testkit::model_server::ModelServer;
use std::time::Duration;

/// Runs the rest of its arguments in a terminal of its own.
const IN_TERMINAL: &str = "import pty, sys, os
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

#[test]
fn a_terminal_shows_how_far_it_is_and_what_time_and_money_are_left() {
    let server = ModelServer::new(|request| {
        std::thread::sleep(Duration::from_millis(250));
        answer(request).into()
    });
    let world = with_server(world(), &server).with_env("TERM", "xterm");
    world.write("set.jsonl", lines(&cases(3)));
    let run = [
        "eval",
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
    let output = world
        .command("python3")
        .args(["-c", IN_TERMINAL, env!("CARGO_BIN_EXE_mala")])
        .args(run)
        .args(["--jobs", "1", "--max-cost", "5"])
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    for part in ["0/3 reviewed", "2/3 reviewed, about ", " s left, $", " spent or reserved, $"] {
        assert!(shown.contains(part), "{part}: {shown:?}");
    }
    assert!(!shown.contains("0/0"), "{shown:?}");
}
