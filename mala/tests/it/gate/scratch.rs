//! The folders that sessions throw away: unused ones are removed, used ones stay.

use super::bench::GateWorld;
use mala_testkit::World;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Kills the process that calls it for the diff in a copy, and tells the folder of the copy.
fn deadly_git(world: World) -> World {
    let path = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&path).map(|it| it.join("git")).find(|it| it.is_file());
    let script = format!(
        "case \" $* \" in *\" diff \"*) pwd >\"$HOME/copy\"; kill -9 $PPID; exit 1 ;; esac\n\
         exec '{}' \"$@\"\n",
        git.unwrap().display()
    );
    world.with_program("git", &script)
}

/// The scratch folder of a `spawn-code-review` that was killed before its session was there.
fn left_by_a_killed_spawn() -> (GateWorld, PathBuf) {
    let GateWorld { repo, world } = GateWorld::new();
    let bench = GateWorld { world: deadly_git(world), repo };
    let args = ["spawn-code-review", "--diff", "HEAD~1..HEAD", "--lanes", "pass"];
    let (code, stdout, stderr) = bench.run(&args);
    assert_eq!(code, -1, "killed: {stdout}{stderr}");
    let copy = std::fs::read_to_string(bench.world.home().join("copy")).unwrap();
    let is_scratch = |path: &&Path| {
        path.file_name().is_some_and(|name| name.to_str().unwrap().starts_with("mala-gate-"))
    };
    let scratch = Path::new(copy.trim_end()).ancestors().find(is_scratch).unwrap().to_owned();
    assert!(scratch.is_dir(), "{}", scratch.display());
    (bench, scratch)
}

#[test]
fn what_a_killed_spawn_leaves_is_removed_by_the_next_one() {
    let (_killed, scratch) = left_by_a_killed_spawn();
    // Another repository of the same user will do.
    let other = GateWorld::new();
    other.review("pass", &[]);
    assert!(!scratch.exists(), "{} is still there", scratch.display());
}

#[test]
fn what_a_killed_spawn_leaves_is_removed_by_clean() {
    let (bench, scratch) = left_by_a_killed_spawn();
    let (code, _, said) = bench.run(&["clean"]);
    assert_eq!((code, said.as_str()), (0, "0 sessions removed\n"));
    assert!(!scratch.exists(), "{} is still there", scratch.display());
}

#[test]
fn a_folder_in_use_stays() {
    let bench = GateWorld::new();
    let spawned = bench.spawn(&["--lanes", "never"]);
    let folder = PathBuf::from(spawned["session_dir"].as_str().unwrap());
    let session = std::fs::read(folder.join("session.json")).unwrap();
    let session: Value = serde_json::from_slice(&session).unwrap();
    let scratch = PathBuf::from(session["scratch"].as_str().unwrap());
    // The supervisor holds it, though its session seems to be gone.
    let aside = bench.repo.beside("aside");
    std::fs::rename(&folder, &aside).unwrap();
    bench.run(&["clean"]);
    assert!(scratch.exists());
    std::fs::rename(&aside, &folder).unwrap();
    bench.run(&["cancel", "--session-key", session["key"].as_str().unwrap()]);
    assert!(!scratch.exists());
}
