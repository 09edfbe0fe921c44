//! The hooks for pre-commit, run by the pre-commit that scripts/install-tools installs.

use crate::world;
use mala_testkit::{TestRepo, World};
use std::path::Path;

const CLEAN: &str = "def ask():\n    return 1\n";
const FLAW: &str = "def ask():\n    breakpoint()\n    return 1\n";
const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/bin");
const HOOKS: &str = include_str!("../../../.pre-commit-hooks.yaml");

/// Runs git, and returns whether it succeeds and what it prints.
fn git(world: &World, args: &[&str]) -> (bool, String) {
    let output = world.command("git").args(args).output().unwrap();
    let shown = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.success(), String::from_utf8_lossy(&shown).into_owned())
}

#[test]
fn pre_commit_reviews_commits_and_pushes() {
    let program = Path::new(TOOLS).join("pre-commit");
    assert!(program.exists(), "run scripts/install-tools");
    let hooks = TestRepo::with_files(&[(".pre-commit-hooks.yaml", HOOKS), ("README.md", "\n")]);
    hooks.git(&["tag", "v1"]);
    let config = format!(
        "repos:\n- repo: {}\n  rev: v1\n  hooks: [{{id: mala}}, {{id: mala-push}}]\n",
        hooks.root().display()
    );
    let repo = TestRepo::with_files(&[("app.py", CLEAN), (".pre-commit-config.yaml", &config)]);
    let remote = repo.beside("remote.git");
    repo.git(&["init", "-q", "--bare", &remote.display().to_string()]);
    repo.git(&["remote", "add", "origin", &remote.display().to_string()]);
    let script = format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_mala"));
    let world = world().in_folder(repo.root()).with_program("mala", &script);
    let install = ["install", "--hook-type", "pre-commit", "--hook-type", "pre-push"];
    let installed = world.command(&program).args(install).output().unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    assert!(git(&world, &["checkout", "-q", "-b", "topic"]).0);

    repo.write("app.py", FLAW);
    repo.stage();
    let commit = ["commit", "-m", "change"];
    let (is_done, shown) = git(&world, &commit);
    assert!(!is_done && shown.contains("Breakpoint left in"), "{shown}");
    assert!(git(&world, &["commit", "--no-verify", "-m", "a flaw"]).0);
    let push = ["push", "-q", "origin", "topic"];
    let (is_done, shown) = git(&world, &push);
    assert!(!is_done && shown.contains("Breakpoint left in"), "{shown}");

    repo.write("app.py", "def ask():\n    return 2\n");
    repo.stage();
    let (is_done, shown) = git(&world, &commit);
    assert!(is_done && shown.contains("mala review of the staged changes"), "{shown}");
    let (is_done, shown) = git(&world, &push);
    assert!(is_done && shown.contains("mala review of the branch"), "{shown}");
}
