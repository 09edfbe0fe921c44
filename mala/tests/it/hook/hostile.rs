//! Whatever is on stdin, on the command line and on disk: one JSON object, and the agent can always stop.

use super::bench::{BAD, HookWorld, asking, blocks, message, only_object};
use insta::assert_snapshot;
use proptest::prelude::*;
use std::process::Stdio;
use std::time::Instant;

#[test]
fn everything_that_can_be_wrong_has_an_answer() {
    let bench = HookWorld::new("judge");
    bench.repo.write("a.py", BAD);
    for stdin in [&b""[..], b"{", b"[]", b"\xff\xfe", b"{\"cwd\":7,\"session_id\":null}"] {
        let answer = bench.stop_with(&[], stdin);
        let known = ["1 finding, block", "stopping with 1 unresolved finding"];
        let is_released = answer == serde_json::json!({});
        let is_known = known.iter().any(|words| message(&answer).contains(words));
        assert!(is_known || is_released, "{stdin:?}: {answer}");
    }
    let long = format!("{{\"last_assistant_message\":\"{}\"}}", "x".repeat(20 << 20));
    bench.repo.write("a.py", format!("{BAD}\n"));
    assert!(!message(&bench.stop_with(&[], long.as_bytes())).is_empty());
    let usage = bench.stop_with(&["--bogus"], &asking(bench.repo.root(), false));
    assert_snapshot!(bench.shown(&usage), @r#"
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: invalid arguments of the hook: unexpected argument found.\nThis says nothing about the work. Change only what the reason asks for and stop again: the review is repeated.",
      "systemMessage": "mala: not reviewed, block 1 of 3: invalid arguments of the hook: unexpected argument found. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    "#);
    let mut said = String::new();
    for args in [
        &["hook", "--color=x", "stop"][..],
        &["--color=x", "hook", "--x", "stop"],
        &["hook", "stop", "--timeout", "never"],
    ] {
        let usage = only_object(&bench.world.output(args, b"{}"));
        said.push_str(&format!("{}\n", message(&usage)));
    }
    assert_snapshot!(said, @"
    mala: not reviewed, block 2 of 3: invalid arguments of the hook: one of the values isn't valid for an argument. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off.
    mala: not reviewed, block 3 of 3: invalid arguments of the hook: one of the values isn't valid for an argument. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off.
    mala: warning: stopping without a review: invalid arguments of the hook: invalid value for one of the arguments; blocked 3 times for this work.
    ");
}

#[test]
fn a_folder_that_is_no_repository_is_left_alone() {
    let bench = HookWorld::new("judge");
    let world = crate::world();
    assert_snapshot!(world.run_with_stdin(&["hook", "stop"], b"{}"), @r#"
    [exit 0]
    [stdout]
    {"systemMessage":"mala: not in a git repository: nothing was reviewed"}
    "#);
    assert_snapshot!(world.run(&["hook", "off"]), @"
    [exit 64]
    [stderr]
    error: not in a git repository
    ");
    assert_eq!(std::fs::read_dir(world.folder()).unwrap().count(), 0, "nothing is written");
    // A folder that is gone, and one that a host made up.
    for folder in ["/no/such/folder", "relative", "/\u{1b}[2J"] {
        let answer = bench.stop_with(&[], &asking(folder.as_ref(), false));
        assert!(!message(&answer).contains('\u{1b}'), "{answer}");
    }
}

#[test]
fn a_broken_configuration_and_a_broken_repository_fail_closed_and_let_go() {
    let bench = HookWorld::with_config("gate: {consensus: most}\n");
    bench.repo.write("a.py", BAD);
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: mala.yaml at [COMMIT]:1:19: `most` is none of unanimous, majority, any, quorum:N (N from 1 to 100).\nThis says nothing about the work. Change only what the reason asks for and stop again: the review is repeated.",
      "systemMessage": "mala: not reviewed, block 1 of 3: mala.yaml at [COMMIT]:1:19: `most` is none of unanimous, majority, any, quorum:N (N from 1 to 100). To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    "#);
    bench.repo.write(".git/HEAD", "garbage");
    let played = [true, true, true].map(|it| blocks(&bench.stop(it)));
    assert_eq!(played, [true, true, false]);
    assert_snapshot!(bench.shown(&bench.stop(true)), @r#"
    {
      "systemMessage": "mala: warning: stopping without a review: the repository at [WORK] is damaged: not a git repository (or any of the parent directories): .git; blocked 3 times for this work."
    }
    "#);
}

#[test]
fn a_host_that_never_closes_stdin_is_answered() {
    let bench = HookWorld::new("judge");
    let started = Instant::now();
    let mut child = bench
        .world
        .command(env!("CARGO_BIN_EXE_mala"))
        .args(["hook", "stop"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held = child.stdin.take();
    only_object(&child.wait_with_output().unwrap());
    drop(held);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn an_interrupted_hook_says_so() {
    let bench = HookWorld::new("never");
    bench.repo.write("a.py", BAD);
    let mut command = bench.world.command(env!("CARGO_BIN_EXE_mala"));
    command.args(["hook", "stop"]).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while bench.sessions().iter().all(|name| name.starts_with('.')) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let answer = only_object(&child.wait_with_output().unwrap());
    assert_snapshot!(bench.shown(&answer), @r#"
    {
      "systemMessage": "mala: interrupted: nothing was reviewed"
    }
    "#);
    std::thread::sleep(std::time::Duration::from_millis(200));
    bench.cancel();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_one_object(bytes in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        "\\{\"(session_id|cwd|stop_hook_active)\":[ -~]{0,20}\\}".prop_map(String::into_bytes),
    ]) {
        let bench = crate::world();
        bench.git(&["init", "-q", "."]);
        only_object(&bench.output(&["hook", "stop"], &bytes));
    }
}

#[test]
fn the_other_commands_of_the_hook_need_a_repository() {
    let world = crate::world();
    let mut shown = String::new();
    for args in
        [&["hook", "accept"][..], &["hook", "on"], &["hook", "start"], &["hook", "pre-push"]]
    {
        let said = world.run_with_stdin(args, b"{}");
        shown.push_str(&format!("$ mala {}\n{said}", args.join(" ")));
    }
    assert_snapshot!(shown, @"
    $ mala hook accept
    [exit 64]
    [stderr]
    error: not in a git repository
    $ mala hook on
    [exit 64]
    [stderr]
    error: not in a git repository
    $ mala hook start
    [exit 0]
    $ mala hook pre-push
    [exit 64]
    [stderr]
    error: not in a git repository
    ");
    let bench = HookWorld::new("judge");
    let asking = asking(bench.repo.root(), false);
    assert_snapshot!(bench.world.run_with_stdin(&["hook", "start"], &asking), @"[exit 0]");
    assert_snapshot!(bench.world.run_with_stdin(&["hook", "pre-push"], b""), @"[exit 0]");
}
