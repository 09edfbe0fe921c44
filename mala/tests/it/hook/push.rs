//! `mala init --hooks=pre-push`: git refuses a push that does not pass, with the same ways out.

use super::bench::{BAD, GOOD, HookWorld};
use insta::assert_snapshot;
use std::path::Path;
use std::process::Output;

/// A repository with a remote and the hook of git.
fn bench(lane: &str) -> HookWorld {
    let bench = HookWorld::published(lane);
    let shown = bench.world.run(&["init", "--hooks=pre-push"]);
    assert!(shown.starts_with("[exit 0]"), "{shown}");
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

/// What mala says of a push, without the words of git and which other reviewers the machine has.
fn words(bench: &HookWorld, said: &str) -> String {
    let is_own = |line: &&str| !line.starts_with("note: ") && !line.starts_with("error: failed");
    let lines: Vec<&str> = said.lines().filter(is_own).collect();
    bench.world.clean(&lines.join("\n"))
}

#[test]
fn a_push_with_findings_is_refused_until_they_are_fixed() {
    let bench = bench("judge");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    let (is_pushed, said) = push(&bench, &["origin", "main"]);
    assert!(!is_pushed, "{said}");
    assert_snapshot!(words(&bench, &said), @"
    mala: the review of the push did not pass: 1 finding
    - a.py:2: [P1] this is bad (judge, on refs/heads/main)
    Full report: [WORK]/.mala/gate/[KEY]/report.md
    hint: to push anyway, run `git push --no-verify`, `mala hook accept` or `mala hook off`
    ");
    bench.repo.write("a.py", GOOD);
    bench.repo.commit("good");
    let (is_pushed, said) = push(&bench, &["origin", "main"]);
    assert!(is_pushed, "{said}");
    assert_snapshot!(words(&bench, &said), @"mala: the review passed (judge)");
    bench.repo.git(&["branch", "other"]);
    let (is_pushed, said) = push(&bench, &["origin", "other"]);
    assert!(is_pushed, "{said}");
    assert_eq!(words(&bench, &said), "", "nothing new is reviewed");
    assert!(push(&bench, &["origin", ":other"]).0, "a deleted branch has nothing to review");
}

#[test]
fn a_push_has_the_same_ways_out() {
    let bench = bench("judge");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    assert!(!push(&bench, &["--dry-run", "origin", "main"]).0);
    assert_snapshot!(bench.world.run(&["hook", "off"]), @"
    [exit 0]
    [stderr]
    wrote [WORK]/.git/mala-hook-off: the hooks are off
    ");
    assert!(push(&bench, &["--dry-run", "origin", "main"]).0);
    assert_snapshot!(bench.world.run(&["hook", "on"]), @"
    [exit 0]
    [stderr]
    removed [WORK]/.git/mala-hook-off
    ");
    assert!(push(&bench, &["--dry-run", "--no-verify", "origin", "main"]).0);
    assert_snapshot!(bench.world.run(&["hook", "accept"]), @"
    [exit 0]
    [stderr]
    accepted: later reviews of the hook start from here
    ");
    assert!(push(&bench, &["origin", "main"]).0);
}

#[test]
fn a_hook_of_others_stays() {
    let bench = HookWorld::new("judge");
    let hook = bench.repo.path(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let install = ["init", "--hooks=pre-push"];
    let mut shown = String::new();
    for command in ["# mala hook pre-push", "mala hook pre-push \"$@\""] {
        let script = format!("#!/bin/sh\n{command}\nexit 0\n");
        std::fs::write(&hook, &script).unwrap();
        shown = bench.world.run(&install);
        assert_eq!(std::fs::read_to_string(&hook).unwrap(), script, "{shown}");
    }
    assert_snapshot!(shown, @r#"
    [exit 2]
    [stderr]
    error: [WORK]/.git/hooks/pre-push: there is another hook
    hint: it needs this line before all others (it reads all of stdin): mala hook pre-push "$@" || exit 1
    "#);
    std::fs::remove_file(&hook).unwrap();
    assert_snapshot!(bench.world.run(&install), @"
    [exit 0]
    [stderr]
    wrote [WORK]/.git/hooks/pre-push
    reviewers: judge (a second opinion: gate.panel: [judge, builtin] in mala.yaml)
    warning: `mala` is not on PATH, where hosts look for it
    ");
    assert_snapshot!(bench.world.run(&install), @"
    [exit 0]
    [stderr]
    [WORK]/.git/hooks/pre-push: the hook is already there
    reviewers: judge (a second opinion: gate.panel: [judge, builtin] in mala.yaml)
    warning: `mala` is not on PATH, where hosts look for it
    ");
    assert_snapshot!(bench.world.run(&["init", "--hooks=pre-push", "--remove"]), @"
    [exit 0]
    [stderr]
    removed [WORK]/.git/hooks/pre-push
    ");
    assert!(!hook.exists());
}

/// Tags, names with spaces, and commits of other users.
#[test]
fn no_push_is_overlooked() {
    let others = ["-c", "user.email=bot@example.org", "-c", "user.name=Bot"];
    for (what, prepare, pushed) in [
        ("an annotated tag", &["tag", "-a", "v1", "-m", "v1"][..], "v1"),
        ("a name with spaces", &[], "HEAD^{/my bug}:refs/heads/x"),
        ("another committer", &["commit", "-q", "--amend", "--no-edit"], "main"),
    ] {
        let bench = bench("judge");
        bench.repo.write("a.py", BAD);
        bench.repo.commit("my bug");
        let mut git = bench.world.command("git");
        git.env_remove("GIT_COMMITTER_EMAIL").args(others).args(prepare);
        assert!(prepare.is_empty() || git.status().unwrap().success(), "{what}");
        for _ in 0..5 {
            let (is_pushed, said) = push(&bench, &["origin", pushed]);
            assert!(!is_pushed && said.contains("this is bad (judge"), "{what}: {said}");
        }
    }
}

#[test]
fn a_push_that_is_not_reviewed_is_told_each_time() {
    let mut told = String::new();
    for (config, file) in [
        ("gate: {panel: [codex]}\n", "a.py"),
        ("gate: {lanes: {pass: {command: [lane, pass]}}}\n", "Cargo.lock"),
    ] {
        let bench = HookWorld::with_config(config);
        let origin = bench.repo.beside("origin.git");
        bench.repo.git(&["clone", "-q", "--bare", ".", origin.to_str().unwrap()]);
        bench.repo.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
        bench.repo.git(&["fetch", "-q", "origin"]);
        assert!(bench.world.run(&["init", "--hooks=pre-push"]).starts_with("[exit 0]"));
        bench.repo.write(file, "x = 2\n");
        bench.repo.commit("change");
        for _ in 0..2 {
            let (is_pushed, said) = push(&bench, &["--dry-run", "origin", "main"]);
            assert!(is_pushed, "{file}: {said}");
            told.push_str(&(words(&bench, &said) + "\n"));
        }
    }
    assert_snapshot!(told, @"
    mala: warning: nothing was reviewed: refs/heads/main was not reviewed: no reviewer is usable (codex: `codex` is not on PATH). Run `review-gate lanes` to see why
    mala: warning: nothing was reviewed: refs/heads/main was not reviewed: no reviewer is usable (codex: `codex` is not on PATH). Run `review-gate lanes` to see why
    mala: warning: nothing was reviewed; Cargo.lock is not reviewed: lock file
    mala: warning: nothing was reviewed; Cargo.lock is not reviewed: lock file
    ");
}

#[test]
fn the_hook_is_for_one_repository_and_is_removed_with_the_others() {
    let bench = bench("judge");
    assert_snapshot!(bench.world.run(&["init", "--hooks", "--remove"]), @"
    [exit 0]
    [stderr]
    [WORK]/.claude/settings.json: no such file
    [WORK]/.codex/hooks.json: no such file
    removed [WORK]/.git/hooks/pre-push
    ");
    assert!(!bench.repo.path(".git/hooks/pre-push").exists());
    let shared = bench.world.home().join("hooks");
    bench.repo.git(&["config", "core.hooksPath", shared.to_str().unwrap()]);
    assert_snapshot!(bench.world.run(&["init", "--hooks=pre-push"]), @r#"
    [exit 2]
    [stderr]
    error: [HOME]/hooks/pre-push is in a folder that other repositories use too (core.hooksPath): add `mala hook pre-push "$@" || exit 1` to the hook yourself
    "#);
    assert!(!shared.exists());
}

/// Commits that were there before the hooks, work that was released, and work that was accepted.
#[test]
fn a_push_names_what_is_left_out() {
    let bench = HookWorld::published("judge");
    bench.world.run(&["init", "--hooks", "--remove"]);
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    assert_snapshot!(bench.world.run(&["init", "--hooks=pre-push"]), @"
    [exit 0]
    [stderr]
    wrote [WORK]/.git/hooks/pre-push
    reviewers: judge (a second opinion: gate.panel: [judge, builtin] in mala.yaml)
    not reviewed: 1 of your commits is not pushed yet
    warning: `mala` is not on PATH, where hosts look for it
    ");
    let (is_pushed, said) = push(&bench, &["--dry-run", "origin", "main"]);
    assert!(is_pushed, "{said}");
    assert_snapshot!(words(&bench, &said), @"mala: warning: 1 commit was not reviewed: it was accepted, or there when the hooks were installed");
    bench.repo.write("a.py", GOOD);
    bench.repo.commit("good");
    let (is_pushed, said) = push(&bench, &["origin", "main"]);
    assert!(is_pushed, "{said}");
    assert_snapshot!(words(&bench, &said), @"mala: the review passed (judge); 1 commit was not reviewed: it was accepted, or there when the hooks were installed");

    bench.repo.branch("bad");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad again");
    let stops = [false, true, true, true].map(|it| super::bench::blocks(&bench.stop(it)));
    assert_eq!(stops, [true, true, true, false], "released by the stop hook");
    bench.repo.checkout("main");
    bench.repo.branch("good");
    bench.repo.write("a.py", format!("{GOOD}\n"));
    bench.repo.commit("good again");
    let (is_pushed, said) = push(&bench, &["--dry-run", "origin", "bad", "good"]);
    assert!(is_pushed, "{said}");
    assert_snapshot!(words(&bench, &said), @"mala: the review passed (judge); refs/heads/bad was not reviewed: released or accepted before");
}

/// A branch that is not checked out is accepted too, with what is committed on it later left to review.
#[test]
fn a_refused_branch_can_be_accepted() {
    let bench = bench("judge");
    bench.repo.branch("topic");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    bench.repo.checkout("main");
    assert!(!push(&bench, &["origin", "topic"]).0);
    assert!(bench.world.run(&["hook", "accept"]).starts_with("[exit 0]"));
    let (is_pushed, said) = push(&bench, &["--dry-run", "origin", "topic"]);
    assert!(is_pushed, "{said}");
    assert_snapshot!(words(&bench, &said), @"mala: warning: 1 commit was not reviewed: it was accepted, or there when the hooks were installed");
    bench.repo.checkout("topic");
    bench.repo.write("a.py", format!("# bad\n{BAD}"));
    bench.repo.commit("more");
    assert!(!push(&bench, &["origin", "topic"]).0);
}

/// 001-050: refused pushes of one branch are no rounds of another one.
#[test]
fn the_branches_of_a_push_have_their_own_rounds() {
    let bench = bench("graded");
    for name in ["one", "two", "three"] {
        bench.repo.write("a.py", format!("def f(x):\n    return x.{name}\n"));
        bench.repo.commit(name);
        assert!(!push(&bench, &["origin", "main"]).0);
    }
    bench.repo.git(&["checkout", "-q", "-b", "other", "origin/main"]);
    bench.repo.write("a.py", "def f(x):\n    return x.minor\n");
    bench.repo.commit("minor");
    bench.repo.checkout("main");
    let (is_pushed, said) = push(&bench, &["origin", "other"]);
    assert!(!is_pushed, "{said}");
    assert_snapshot!(words(&bench, &said), @"
    mala: the review of the push did not pass: 1 finding
    - a.py:2: [P2] slow on lists (graded, on refs/heads/other)
    Full report: [WORK]/.mala/gate/[KEY]/report.md
    hint: to push anyway, run `git push --no-verify`, `mala hook accept` or `mala hook off`
    ");
}
