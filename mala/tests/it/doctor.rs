//! `mala doctor`: what is here and what is missing, on a machine that the test makes up.

use crate::world;
use insta::assert_snapshot;
use mala_testkit::World;

/// A machine with git and two linters.
fn machine() -> World {
    world()
        .with_only_programs(&["git"])
        .with_program("ruff", "echo ruff 0.6.9")
        .with_program("eslint", "exit 3")
}

/// What the doctor says, with git's version as a word.
fn doctor(world: &World) -> String {
    let output = world.command("git").arg("--version").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    world.run(&["doctor"]).replace(said.trim().trim_start_matches("git version "), "[GIT]")
}

/// The first part of the output: exit code and checks, without keys and linters.
fn checks(world: &World) -> String {
    doctor(world).split("\n\n").next().unwrap().to_owned()
}

#[test]
fn a_healthy_repository() {
    let world = machine().with_env("OPENAI_API_KEY", "sk-hidden");
    world.git(&["init", "-q", "-b", "main"]).write("a.py", "");
    world.git(&["add", "."]).git(&["commit", "-qm", "start"]);
    let shown = doctor(&world);
    assert!(!shown.contains("sk-hidden"));
    assert_snapshot!(shown, @"
    [exit 0]
    [stdout]
    git            ok      [GIT]
    repository     ok      [WORK], on main
    configuration  ok      no mala.yaml: using the defaults ('mala init' writes one)
    state folder   ok      [WORK]/.mala is writable
    ledger         ok      empty: the first review creates it

    model keys: with one of them, an agent reviews; none is required
      ANTHROPIC_API_KEY  not set    review by an agent with Claude
      OPENAI_API_KEY     set        review by an agent with GPT
      GEMINI_API_KEY     not set    review by an agent with Gemini

    linters: a review runs those that the project is configured for
      ruff           0.6.9          Python: the project's ruff rules
      eslint         [HOME]/bin/eslint  JavaScript and TypeScript: the project's eslint rules
      biome          not found      JavaScript and TypeScript: the project's biome rules
      oxlint         not found      JavaScript and TypeScript: correctness
      tsc            not found      TypeScript: type errors; add it to review.linters.also
      clippy         not found      Rust: clippy and compiler warnings; add it to review.linters.also
      golangci-lint  not found      Go: the project's linters; add it to review.linters.also
      shellcheck     not found      shell scripts: quoting, portability, mistakes
      semgrep        not found      many languages: the project's semgrep rules
      hadolint       not found      Dockerfiles: mistakes and pinning
      actionlint     not found      GitHub workflows: mistakes and injection

    lanes: without gate.panel, a panel has the usable lanes and all custom lanes
      claude         not usable     `claude` is not on PATH
      codex          not usable     `codex` is not on PATH
      gemini         not usable     `gemini` is not on PATH
    ");
    assert!(!world.folder().join(".mala").exists(), "looking leaves nothing behind");
}

#[test]
fn programs_can_read_it() {
    let world = machine();
    world.git(&["init", "-q", "-b", "main"]);
    let output = world.output(&["doctor", "--format", "json"], b"");
    let mut health: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    health["checks"][0]["detail"] = "[GIT]".into();
    let linters = health["linters"].as_array_mut().unwrap();
    linters.truncate(3);
    assert_snapshot!(world.clean(&format!("{health:#}")));
}

#[test]
fn outside_of_a_repository_only_patches_can_be_reviewed() {
    assert_snapshot!(checks(&machine()), @"
    [exit 0]
    [stdout]
    git            ok      [GIT]
    repository     note    not in a repository: only a patch can be reviewed
    configuration  ok      no mala.yaml: using the defaults ('mala init' writes one)
    ");
    let world = machine();
    world.git(&["init", "-q", "--bare", "."]);
    assert_snapshot!(checks(&world), @"
    [exit 0]
    [stdout]
    git            ok      [GIT]
    repository     note    bare repository: only commits and patches can be reviewed
    configuration  ok      no mala.yaml: using the defaults ('mala init' writes one)
    ");
}

#[test]
fn without_git_it_is_broken() {
    let shown = world().with_only_programs(&[]).run(&["doctor"]);
    assert_snapshot!(shown.split("\n\n").next().unwrap(), @"
    [exit 2]
    [stdout]
    git            broken  `git` is not on PATH: only a patch can be reviewed
    repository     note    not in a repository: only a patch can be reviewed
    configuration  ok      no mala.yaml: using the defaults ('mala init' writes one)
    ");
}

#[test]
fn a_broken_configuration_is_told() {
    let world = machine();
    world.git(&["init", "-q"]).write("mala.yaml", "review: {fail_onn: P1}\n");
    assert_snapshot!(checks(&world), @"
    [exit 78]
    [stdout]
    git            ok      [GIT]
    repository     note    [WORK]: no commit yet
    configuration  broken  mala.yaml:1:10: unknown key `fail_onn` in `review`
    state folder   ok      [WORK]/.mala is writable
    ledger         ok      empty: the first review creates it
    ");
}

#[test]
fn a_repository_that_git_cannot_read_is_told() {
    let world = machine();
    world.git(&["init", "-q"]);
    std::fs::write(world.folder().join(".git/HEAD"), "garbage").unwrap();
    assert_snapshot!(checks(&world), @"
    [exit 2]
    [stdout]
    git            ok      [GIT]
    repository     broken  [WORK]: git cannot read it
    configuration  ok      no mala.yaml: using the defaults ('mala init' writes one)
    state folder   ok      [WORK]/.mala is writable
    ledger         ok      empty: the first review creates it
    ");
}

#[test]
fn a_linter_that_leaves_something_running_does_not_hang_the_doctor() {
    let script = "echo Version 1.9.4; /bin/sleep 1000 &";
    let shown = machine().with_program("biome", script).run(&["doctor"]);
    let biome = shown.lines().find(|line| line.trim_start().starts_with("biome "));
    assert_snapshot!(biome.unwrap_or(&shown), @"  biome          1.9.4          JavaScript and TypeScript: the project's biome rules");
}
