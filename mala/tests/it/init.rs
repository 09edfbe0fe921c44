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
    note: `mala run` needs a coding agent: none of claude, codex, gemini is on PATH
    wrote [WORK]/mala.yaml
    added .mala/ to [WORK]/.gitignore
    ");
    assert_snapshot!(world.read("mala.yaml"), @"
    # How mala reviews this repository. Values of `review` are defaults, except `base`.
    # `mala config check` checks this file; `mala config show` shows the effective settings.

    # Reviewer: builtin (analyzers, no model), agent_sdk, cerberus or command. The default is
    # agent_sdk, or builtin if no model key is set.
    # reviewer_type: builtin

    review:
      # Lowest priority of findings that fail the review: P0, P1, P2, P3 or none.
      fail_on: P1

      # Default branch of `mala review --base`.
      base: main

      # Files to skip, as patterns of a .gitignore.
      ignore: []

      # More generated files, which are skipped too.
      generated: []

      # Rules to turn off or on, or to give another priority; see `mala rules list`.
      # rules:
      #   python/mutable-default: off
      #   javascript/*: {use: P3, paths: [scripts]}

      # Linters: runs those that are installed and configured in the project.
      # Not installed: tsc.
      linters:
        enabled: auto
        # Time limit of one linter, in seconds.
        timeout: 60
        # off: [eslint]
        # Slow linters run only if they are listed.
        # also: [tsc]

    # The project's commands, for triggers.
    commands:
      test: npm run test  # package.json
      lint: npm run lint  # package.json

    # What `mala run` checks before it merges the work of a coding agent.
    validation_triggers:
      session_end:
        commands:
          - ref: test
        # Failed commands go back to the coder.
        failure_mode: remediate
        max_retries: 2
        code_review:
          enabled: true
          # P0 and P1 go back to the coder; others are filed as issues.
          finding_threshold: P1
          failure_mode: remediate
          max_retries: 3
      run_end:
        code_review:
          enabled: true
          baseline: since_run_start

    run:
      # claude, codex, gemini, or an entry of `coders`.
      coder: claude
      max_agents: 2
      # max_cost_usd: 20
    ");
    assert_snapshot!(world.read(".gitignore"), @"
    # mala: reviews are local, rules and waivers are committed
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
    note: `mala run` needs a coding agent: none of claude, codex, gemini is on PATH
    [WORK]/mala.yaml already exists (use --force to replace it)
    added .mala/ to [WORK]/.gitignore
    ");
    assert_eq!(world.read("mala.yaml"), "review: {fail_on: P0}\n");
    assert!(world.read(".gitignore").starts_with("node_modules\r\n# mala"));
    assert_snapshot!(world.run(&["init", "--force"]), @"
    [exit 0]
    [stderr]
    languages: typescript, python
    commands: npm run test (package.json), npm run lint (package.json)
    linters: tsc (not installed)
    note: `mala run` needs a coding agent: none of claude, codex, gemini is on PATH
    the old mala.yaml is saved as [WORK]/.mala/old/mala.yaml.1
    wrote [WORK]/mala.yaml
    .mala/ is already in [WORK]/.gitignore
    ");
    assert_eq!(world.read(".mala/old/mala.yaml.1"), "review: {fail_on: P0}\n");
    assert_snapshot!(world.run(&["init", "--force"]), @"
    [exit 0]
    [stderr]
    languages: typescript, python
    commands: npm run test (package.json), npm run lint (package.json)
    linters: tsc (not installed)
    note: `mala run` needs a coding agent: none of claude, codex, gemini is on PATH
    wrote [WORK]/mala.yaml
    .mala/ is already in [WORK]/.gitignore
    ");
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
    assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @"
    ?? .gitignore
    ?? .mala/rules/own.yaml
    ?? mala.yaml
    ");
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
    note: `mala run` needs a coding agent: none of claude, codex, gemini is on PATH
    wrote [WORK]/mala.yaml
    not in a git repository: .gitignore is not changed
    ");
    assert!(!world.folder().join(".gitignore").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_left_as_it_is() {
    let world = world();
    world.write("mala.yaml/in-the-way", "");
    assert_snapshot!(world.run(&["init", "--force"]), @"
    [exit 2]
    [stderr]
    languages: none
    commands: none
    linters: none
    note: `mala run` needs a coding agent: none of claude, codex, gemini is on PATH
    error: writing [WORK]/mala.yaml: Is a directory (os error 21)
    ");
    let names: Vec<_> = std::fs::read_dir(world.folder()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing half-written stays");
}
