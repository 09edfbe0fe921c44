//! What holds for every command: version, help, usage errors, pipes that close.

use crate::world;
use insta::assert_snapshot;
use std::io::Read;
use std::process::Stdio;

#[test]
fn version_is_data() {
    assert_snapshot!(world().run(&["--version"]), @"
    [exit 0]
    [stdout]
    mala 0.1.0
    ");
}

#[test]
fn no_command_is_a_usage_error() {
    assert_snapshot!(world().run(&[]), @"
    [exit 64]
    [stderr]
    The review gate for code that agents and people write

    Usage: mala [OPTIONS] <COMMAND>

    Commands:
      review       Review a change
      pr           Review a pull request on GitHub, or a merge request on GitLab
      ci           Review the change of the current CI job
      context      Show the context of a change that reviewers get
      demo         Review a flawed change in a sample repository
      init         Write a mala.yaml for this project, or install hooks
      hook         Review the work of a coding agent when it stops, or of a push
      doctor       Check git, the repository, the configuration, model keys, linters and lanes
      config       Check or show the configuration
      models       List the available models, and why others are not available
      rules        List, show and test the rules of the built-in reviewer
      findings     List findings, and accept, dispute or reopen them
      stats        Show statistics of all reviews and findings
      runs         List and show saved reviews
      run          Work on ready issues with coding agents, review their commits, and merge them
      issue        Add, list, show, close, import and export the issues that `mala run` works on
      task         Work on tasks that are complete when a review approves them
      events       Print the log of events of tasks
      notify       Try the notifications of `tasks.notify`
      eval         Measure a reviewer on cases with known problems
      serve        Review pull requests when GitHub or GitLab reports a change
      schema       Print the JSON Schema of a file or an output of mala
      completions  Print a shell completion script
      man          Print the manual page, or write one page per command
      help         Print this message or the help of the given subcommand(s)

    Options:
          --color <WHEN>  When to color the output [default: auto] [possible values: auto, always,
                          never]
      -h, --help          Print help
      -V, --version       Print version
    ");
}

#[test]
fn an_unknown_command_is_a_usage_error_with_the_nearest_one() {
    assert_snapshot!(world().run(&["shcema"]), @"
    [exit 64]
    [stderr]
    error: unrecognized subcommand 'shcema'

      tip: a similar subcommand exists: 'schema'

    Usage: mala [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn a_command_without_its_subcommand_or_argument_is_a_usage_error() {
    let shown = ["config", "rules", "runs", "hook", "schema"].map(|name| world().run(&[name]));
    assert_snapshot!(shown.concat());
    assert_snapshot!(world().run(&["schema", "nope"]), @"
    [exit 64]
    [stderr]
    error: invalid value 'nope' for '<NAME>'
      [possible values: review-result, mala-config, rule, gate-spawned, gate-waited, task, eval-case, eval-record, eval-result, eval-case-view, eval-comparison]

    For more information, try '--help'.
    ");
}

#[test]
fn an_unknown_flag_is_a_usage_error() {
    assert_snapshot!(world().run(&["schema", "--nope"]), @"
    [exit 64]
    [stderr]
    error: unexpected argument '--nope' found

      tip: to pass '--nope' as a value, use '-- --nope'

    Usage: mala schema [OPTIONS] <NAME>

    For more information, try '--help'.
    ");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = world();
    let mut child = world
        .command(env!("CARGO_BIN_EXE_mala"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn completions_exist_for_every_shell() {
    assert_snapshot!(world().run(&["completions", "tcsh"]), @"
    [exit 64]
    [stderr]
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let shown = world().run(&["completions", shell]);
        assert!(shown.starts_with("[exit 0]\n[stdout]\n"), "{shell}: {shown}");
        assert!(shown.contains("completions"), "{shell}: {shown}");
    }
}

#[test]
fn the_manual_is_one_page_or_one_per_command() {
    let world = world();
    let page = world.run(&["man"]);
    assert!(page.contains(".TH mala 1"), "{page}");
    assert_snapshot!(world.run(&["man", "--dir", "pages"]), @"
    [exit 0]
    [stderr]
    wrote the manual pages into pages
    ");
    for page in ["pages/mala.1", "pages/mala-schema.1"] {
        assert!(world.read(page).contains(".TH"), "{page}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let world = world();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = world
        .command(env!("CARGO_BIN_EXE_mala"))
        .args(["completions", "bash"])
        .stdout(full)
        .output()
        .unwrap();
    assert_snapshot!(world.show(&output), @"
    [exit 2]
    [stderr]
    error: writing to stdout: No space left on device (os error 28)
    ");
}

#[test]
fn what_cannot_be_printed_says_why() {
    let world = world();
    world.write("file", "");
    let mut shown = String::new();
    for args in [
        &["man", "--dir", "file"][..],
        &["config", "schema", "nope"],
        &["config", "show", "--format", "toml"],
        &["context", "nowhere..HEAD"],
        &["doctor", "--format", "xml"],
        &["eval", "leaderboard", "nope"],
        &["eval", "list", "nope"],
        &["serve"],
    ] {
        shown.push_str(&format!("$ mala {}\n{}", args.join(" "), world.run(args)));
    }
    assert_snapshot!(shown, @"
    $ mala man --dir file
    [exit 2]
    [stderr]
    error: creating file: File exists (os error 17)
    $ mala config schema nope
    [exit 64]
    [stderr]
    error: unexpected argument 'nope' found

    Usage: mala config schema [OPTIONS]

    For more information, try '--help'.
    $ mala config show --format toml
    [exit 64]
    [stderr]
    error: invalid value 'toml' for '--format <FORMAT>'
      [possible values: yaml, json]

    For more information, try '--help'.
    $ mala context nowhere..HEAD
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    hint: run mala in a git repository, or review a diff with --patch
    $ mala doctor --format xml
    [exit 64]
    [stderr]
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: text, json]

    For more information, try '--help'.
    $ mala eval leaderboard nope
    [exit 64]
    [stderr]
    error: unexpected argument 'nope' found

    Usage: mala eval leaderboard [OPTIONS]

    For more information, try '--help'.
    $ mala eval list nope
    [exit 64]
    [stderr]
    error: unexpected argument 'nope' found

    Usage: mala eval list [OPTIONS]

    For more information, try '--help'.
    $ mala serve
    [exit 64]
    [stderr]
    error: the following required arguments were not provided:
      --webhooks

    Usage: mala serve --webhooks

    For more information, try '--help'.
    ");
}
