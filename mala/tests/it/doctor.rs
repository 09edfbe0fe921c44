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
    configuration  ok      no mala.yaml: the defaults hold ('mala init' writes one)
    state folder   ok      [WORK]/.mala can be written
    ledger         ok      empty: the first review creates it

    model keys: none is needed; with one of them, an agent reviews
      ANTHROPIC_API_KEY  not set    review by an agent with Claude
      OPENAI_API_KEY     set        review by an agent with GPT
      GEMINI_API_KEY     not set    review by an agent with Gemini

    linters: those that the project is set up for take part in a review
      ruff           0.6.9          Python: what the project's ruff rules say
      eslint         [HOME]/bin/eslint  JavaScript and TypeScript: what the project's eslint rules say
      biome          not found      JavaScript and TypeScript: what the project's biome rules say
      oxlint         not found      JavaScript and TypeScript: correctness
      tsc            not found      TypeScript: type errors; add it to review.linters.also
      clippy         not found      Rust: what clippy and the compiler say; add it to review.linters.also
      golangci-lint  not found      Go: what the project's linters say; add it to review.linters.also
      shellcheck     not found      shell scripts: quoting, portability, mistakes
      semgrep        not found      many languages: what the project's semgrep rules say
      hadolint       not found      Dockerfiles: mistakes and pinning
      actionlint     not found      GitHub workflows: mistakes and injection

    lanes: without gate.panel, those that can be used and all of your own review
      claude         not usable     claude: not found on the path
      codex          not usable     codex: not found on the path
      gemini         not usable     gemini: not found on the path
    ");
    assert!(!world.folder().join(".mala").exists(), "looking leaves nothing behind");
}

#[test]
fn programs_can_read_it() {
    let world = machine();
    world.git(&["init", "-q", "-b", "main"]);
    let output = world.output(&["doctor", "--format", "json"], b"");
    let health: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(health["schema_version"], 1);
    assert_eq!(health["checks"][1]["state"], "note", "no commit yet");
    assert_eq!(health["linters"][0]["found"], "0.6.9");
    assert_eq!(health["model_keys"][0]["set"], false);
}

#[test]
fn outside_of_a_repository_only_patches_can_be_reviewed() {
    let shown = machine().run(&["doctor"]);
    assert!(shown.starts_with("[exit 0]\n"), "{shown}");
    assert!(shown.contains("repository     note    not in a repository"), "{shown}");
    let world = machine();
    world.git(&["init", "-q", "--bare", "."]);
    let shown = world.run(&["doctor"]);
    assert!(
        shown.contains("repository     note    a bare repository: only commits and"),
        "{shown}"
    );
}

#[test]
fn without_git_it_is_broken() {
    let shown = world().with_only_programs(&[]).run(&["doctor"]);
    assert!(shown.starts_with("[exit 2]\n"), "{shown}");
    assert!(shown.contains("git            broken  git: not found on the path"), "{shown}");
}

#[test]
fn a_broken_configuration_is_told() {
    let world = machine();
    world.git(&["init", "-q"]).write("mala.yaml", "review: {fail_onn: P1}\n");
    let shown = world.run(&["doctor"]);
    assert!(shown.starts_with("[exit 78]\n"), "{shown}");
    assert!(
        shown.contains("configuration  broken  mala.yaml:1:10: unknown key `fail_onn`"),
        "{shown}"
    );
}

#[test]
fn a_repository_that_git_cannot_read_is_told() {
    let world = machine();
    world.git(&["init", "-q"]);
    std::fs::write(world.folder().join(".git/HEAD"), "garbage").unwrap();
    let shown = world.run(&["doctor"]);
    assert!(shown.starts_with("[exit 2]\n"), "{shown}");
    assert!(shown.contains("repository     broken  [WORK]: git cannot read it"), "{shown}");
}

#[test]
fn a_linter_that_leaves_something_running_does_not_hang_the_doctor() {
    let script = "echo Version 1.9.4; /bin/sleep 1000 &";
    let shown = machine().with_program("biome", script).run(&["doctor"]);
    assert!(shown.contains("biome          1.9.4"), "{shown}");
}
