//! `mala init --hooks=pre-push`: git refuses a push that does not pass, with the same ways out.

use super::bench::{BAD, GOOD, HookWorld};
use std::path::Path;
use std::process::Output;

/// A repository with a remote and the hook of git.
fn bench(lane: &str) -> HookWorld {
    let bench = HookWorld::published(lane);
    let shown = bench.world.run(&["init", "--hooks=pre-push"]);
    assert!(shown.starts_with("[exit 0]") && shown.contains(".git/hooks/pre-push"), "{shown}");
    bench
}

fn push(bench: &HookWorld, args: &[&str]) -> (bool, String) {
    let mala = Path::new(env!("CARGO_BIN_EXE_mala")).parent().unwrap().to_owned();
    let mut command = bench.world.command("git");
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let path = path.unwrap().to_owned();
    let path = std::iter::once(mala).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(path).unwrap());
    let output: Output = command.args(["push", "-q"]).args(args).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_push_with_findings_is_refused_until_they_are_fixed() {
    let bench = bench("judge");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    let (is_pushed, said) = push(&bench, &["origin", "main"]);
    assert!(!is_pushed && said.contains("a.py:2: [P1] this is bad (judge)"), "{said}");
    assert!(said.contains("mala hook accept") && said.contains("--no-verify"), "{said}");
    bench.repo.write("a.py", GOOD);
    bench.repo.commit("good");
    let (is_pushed, said) = push(&bench, &["origin", "main"]);
    assert!(is_pushed && said.contains("the review passed (judge)"), "{said}");
    bench.repo.git(&["branch", "other"]);
    let (is_pushed, said) = push(&bench, &["origin", "other"]);
    assert!(is_pushed && !said.contains("mala:"), "nothing new is reviewed: {said}");
    assert!(push(&bench, &["origin", ":other"]).0, "a deleted branch has nothing to review");
}

#[test]
fn a_push_has_the_same_ways_out() {
    let bench = bench("judge");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    assert!(!push(&bench, &["--dry-run", "origin", "main"]).0);
    assert!(bench.world.run(&["hook", "off"]).starts_with("[exit 0]"));
    assert!(push(&bench, &["--dry-run", "origin", "main"]).0);
    assert!(bench.world.run(&["hook", "on"]).starts_with("[exit 0]"));
    assert!(push(&bench, &["--dry-run", "--no-verify", "origin", "main"]).0);
    assert!(bench.world.run(&["hook", "accept"]).starts_with("[exit 0]"));
    assert!(push(&bench, &["origin", "main"]).0);
}

#[test]
fn a_hook_of_others_stays() {
    let bench = HookWorld::new("judge");
    let hook = bench.repo.path(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
    let shown = bench.world.run(&["init", "--hooks=pre-push"]);
    assert!(shown.starts_with("[exit 2]") && shown.contains("mala hook pre-push"), "{shown}");
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "#!/bin/sh\nexit 0\n");
    std::fs::remove_file(&hook).unwrap();
    assert!(bench.world.run(&["init", "--hooks=pre-push"]).starts_with("[exit 0]"));
    assert!(bench.world.run(&["init", "--hooks=pre-push"]).contains("already"));
    assert!(bench.world.run(&["init", "--hooks=pre-push", "--remove"]).starts_with("[exit 0]"));
    assert!(!hook.exists());
}
