//! `mala init`: writes a file that is valid, once, and keeps the state out of git.

use crate::world;
use insta::assert_snapshot;
use mala_testkit::World;

/// A repository with a project of two languages, on a machine without linters.
fn project() -> World {
    let world = world();
    world
        .git(&["init", "-q", "-b", "main"])
        .write("package.json", r#"{"scripts": {"test": "vitest", "lint": "eslint ."}}"#)
        .write("tsconfig.json", "{}")
        .write("src/a.ts", "")
        .write("src/b.ts", "")
        .write("tools/x.py", "")
        .write("node_modules/y/z.js", "");
    world.git(&["add", "."]).git(&["commit", "-qm", "start"]);
    world.with_only_programs(&["git"])
}

#[test]
fn a_project_gets_a_commented_file() {
    let world = project();
    assert_snapshot!(world.run(&["init"]), @"
    [exit 0]
    [stderr]
    languages: typescript, python
    commands: npm run test (package.json), npm run lint (package.json)
    linters: tsc (not installed)
    wrote [WORK]/mala.yaml
    added .mala/ to [WORK]/.gitignore
    ");
    assert_snapshot!(world.read("mala.yaml"), @"
    # How mala reviews this repository. The values are the defaults; `base` is what was found here.
    # Check it with `mala config check`; see what holds with `mala config show`.

    # Who reviews: builtin (analyzers, no model), agent_sdk, cerberus or command. With nothing
    # said it is agent_sdk, or builtin when no model key is set.
    # reviewer_type: builtin

    review:
      # From which priority on findings fail the review: P0, P1, P2, P3 or none.
      fail_on: P1

      # The branch that `mala review --base` compares with when it is given no name.
      base: main

      # Files that are left out of the review, as in a .gitignore.
      ignore: []

      # Files that tools write, beyond those that mala knows.
      generated: []

      # Rules turned off, on, or to another priority; `mala rules list` lists them.
      # rules:
      #   python/mutable-default: off
      #   javascript/*: {use: P3, paths: [scripts]}

      # The linters that are installed and that the project is set up for.
      # Not installed: tsc.
      linters:
        enabled: auto
        # Seconds for one linter.
        timeout: 60
        # off: [eslint]
        # Slow ones run only when they are listed.
        # also: [tsc]

    # The project's commands, for triggers. Nothing in this version runs them.
    # commands:
    #   test: npm run test  # package.json
    #   lint: npm run lint  # package.json
    ");
    assert_snapshot!(world.read(".gitignore"), @"
    # mala keeps reviews here; its rules and waivers are part of the project
    .mala/*
    !.mala/rules/
    !.mala/waivers.yaml
    ");
    assert_snapshot!(world.run(&["config", "check"]), @"
    [exit 0]
    [stdout]
    mala.yaml is valid
    ");
}

#[test]
fn nothing_is_overwritten_without_force() {
    let world = project();
    world.write("mala.yaml", "review: {fail_on: P0}\n").write(".gitignore", "node_modules\r\n");
    assert_snapshot!(world.run(&["init"]), @"
    [exit 0]
    [stderr]
    languages: typescript, python
    commands: npm run test (package.json), npm run lint (package.json)
    linters: tsc (not installed)
    kept [WORK]/mala.yaml, which is already there (--force replaces it)
    added .mala/ to [WORK]/.gitignore
    ");
    assert_eq!(world.read("mala.yaml"), "review: {fail_on: P0}\n");
    assert!(world.read(".gitignore").starts_with("node_modules\r\n# mala"));
    let again = world.run(&["init", "--force"]);
    assert!(again.contains("wrote [WORK]/mala.yaml\n"), "{again}");
    assert!(again.contains(".mala/ is already in [WORK]/.gitignore\n"), "{again}");
    assert!(world.read("mala.yaml").contains("fail_on: P1"));
    let kept = "the old mala.yaml is kept as [WORK]/.mala/old/mala.yaml.1\n";
    assert!(again.contains(kept), "{again}");
    assert_eq!(world.read(".mala/old/mala.yaml.1"), "review: {fail_on: P0}\n");
    let same = world.run(&["init", "--force"]);
    assert!(!same.contains("is kept as"), "nothing is lost: {same}");
    world.write("mala.yaml", "review: {fail_on: P2}\n").run(&["init", "--force"]);
    assert_eq!(world.read(".mala/old/mala.yaml.1"), "review: {fail_on: P0}\n");
    assert_eq!(world.read(".mala/old/mala.yaml.2"), "review: {fail_on: P2}\n");
}

#[test]
fn rules_stay_in_git_and_reviews_do_not() {
    let world = project();
    world.run(&["init"]);
    world.write(".mala/rules/own.yaml", "").write(".mala/runs/x/review.json", "{}");
    let output = world.command("git").args(["status", "--short", "-uall"]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("?? .mala/rules/own.yaml"), "{shown}");
    assert!(!shown.contains("runs"), "{shown}");
}

#[test]
fn a_folder_that_is_no_repository_gets_only_the_file() {
    let world = world();
    assert_snapshot!(world.run(&["init"]), @"
    [exit 0]
    [stderr]
    languages: none
    commands: none
    linters: none
    wrote [WORK]/mala.yaml
    this is no git repository: .gitignore is left alone
    ");
    assert!(!world.folder().join(".gitignore").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_left_as_it_is() {
    let world = world();
    world.write("mala.yaml/in-the-way", "");
    let shown = world.run(&["init", "--force"]);
    assert!(shown.starts_with("[exit 2]\n"), "{shown}");
    assert!(shown.contains("error: writing [WORK]/mala.yaml: "), "{shown}");
    let names: Vec<_> = std::fs::read_dir(world.folder()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing half-written stays");
}
