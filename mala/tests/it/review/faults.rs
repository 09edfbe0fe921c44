//! Bad input: a clear error, the documented exit code, and nothing half-written.

use super::{FLAW, commit, findings, repo, review};
use crate::world;
use insta::assert_snapshot;
use std::os::unix::fs::PermissionsExt;

#[test]
fn targets_that_do_not_exist_are_errors() {
    let world = repo();
    assert_snapshot!(world.run(&["review", "nope..HEAD"]), @"
    [exit 64]
    [stderr]
    error: unknown revision: nope
    ");
    assert_snapshot!(world.run(&["review", "--commit", "--output=x"]), @"
    [exit 64]
    [stderr]
    error: a value is required for '--commit <SHA>...' but none was supplied

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run(&["review", "--staged", "main..HEAD"]), @"
    [exit 64]
    [stderr]
    error: a range and an option both set the target
    hint: use either a range, or --staged, --commit, --base or --patch
    ");
    assert_snapshot!(world.run(&["review", "../outside.py"]), @"
    [exit 64]
    [stderr]
    error: ../outside.py is outside the repository at [WORK]
    ");
    assert_snapshot!(world.run(&["review", "--patch", "missing.diff"]), @"
    [exit 64]
    [stderr]
    error: patch missing.diff does not exist
    ");
    assert_snapshot!(world.run_with_stdin(&["review", "--patch", "-"], b"\x00\xff\x00garbage"), @"
    [exit 2]
    [stderr]
    error: cannot parse the diff: no diff found in the input
    ");
}

#[test]
fn invalid_options_are_errors() {
    let world = repo();
    assert_snapshot!(world.run(&["review", "--fail-on", "P9"]), @"
    [exit 64]
    [stderr]
    error: invalid value 'P9' for '--fail-on <PRIORITY>': 'P9' is none of P0, P1, P2, P3, none

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run(&["review", "--nope"]), @"
    [exit 64]
    [stderr]
    error: unexpected argument '--nope' found

      tip: to pass '--nope' as a value, use '-- --nope'

    Usage: mala review [OPTIONS] [RANGE|PATH]...

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run(&["review", "--reviewer", "robot"]), @"
    [exit 64]
    [stderr]
    error: invalid value 'robot' for '--reviewer <NAME,...>': 'robot' is not one of builtin, agent_sdk, cerberus, command

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run(&["review", "--format", "pdf"]), @"
    [exit 64]
    [stderr]
    error: invalid value 'pdf' for '--format <FORMAT>'
      [possible values: text, markdown, json, sarif, rdjson, gitlab, junit, github]

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run(&["review", "--output", "pdf=x"]), @"
    [exit 64]
    [stderr]
    error: cannot determine the format of 'pdf=x'
    hint: use --output FORMAT=FILE, such as --output sarif=review.out
    ");
    assert_snapshot!(world.run(&["review", "missing.py"]), @"
    [exit 64]
    [stderr]
    error: missing.py does not exist before or after the change
    ");
    assert_snapshot!(world.run(&["review", "*.zzz"]), @"
    [exit 64]
    [stderr]
    error: no file matches '*.zzz'
    hint: globs start at the current folder; `**/*.py` also matches below it
    ");
    assert_snapshot!(world.run(&["review", "HEAD"]), @"
    [exit 64]
    [stderr]
    error: 'HEAD' is a revision, not a range or a path
    hint: run `mala review --base HEAD`, or `mala review HEAD..HEAD`
    ");
    assert_snapshot!(world.run(&["review", "--context-file", "none.md"]), @"
    [exit 64]
    [stderr]
    error: cannot read the context file none.md: no such file
    ");
    assert_snapshot!(world.run(&["pr", "foo"]), @"
    [exit 64]
    [stderr]
    error: 'foo' is not a pull request
    hint: use OWNER/REPO#N, GROUP/PROJECT!N or a URL; GITHUB_API_URL and GITLAB_API_URL set the host
    ");
}

#[test]
fn a_folder_without_a_repository() {
    assert_snapshot!(world().run(&["review"]), @"
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    hint: run mala in a git repository, or review a diff with --patch
    ");
}

#[test]
fn a_corrupt_repository() {
    let world = repo();
    world.write("app.py", FLAW).write(".git/HEAD", "garbage\n");
    assert_snapshot!(world.run(&["review"]), @"
    [exit 2]
    [stderr]
    error: the repository at [WORK] is damaged: not a git repository (or any of the parent directories): .git
    hint: run `git fsck` to see what is broken
    ");
}

#[test]
fn a_machine_without_git() {
    let world = repo().with_only_programs(&[]);
    assert_snapshot!(world.run(&["review"]), @"
    [exit 2]
    [stderr]
    error: git is not installed
    hint: install git, or review a diff with --patch
    ");
}

#[test]
fn a_broken_configuration_names_the_place() {
    let world = repo();
    world.write("app.py", FLAW).commit_file("mala.yaml", "review:\n  fail_onn: P1\n");
    assert_snapshot!(world.run(&["review"]), @"
    [exit 78]
    [stderr]
    error: mala.yaml at [COMMIT]:2:3: unknown key `fail_onn` in `review`
     --> mala.yaml at [COMMIT]:2:3
      |
    1 | review:
    2 |   fail_onn: P1
      |   ^^^^^^^^ unknown key
    hint: did you mean `fail_on`?
    ");
}

#[test]
fn a_broken_rule_names_the_place() {
    let world = repo();
    world.write("app.py", FLAW).write(".mala/rules/bad.yaml", "id: own/bad\nlanguages: [pyton]\n");
    assert_snapshot!(world.run(&["review"]), @"
    [exit 78]
    [stderr]
    error: .mala/rules/bad.yaml:2:13: unknown value `pyton`, it is one of `python`, `javascript`, `typescript`, `tsx`, `rust`, `go`, `java`, `c`, `cpp`, `ruby`, `csharp`, `php`; did you mean `python`?
    ");
}

#[test]
fn an_output_that_cannot_be_written() {
    let world = repo();
    world.write("app.py", FLAW);
    let args =
        ["review", "--no-save", "--format", "github", "--output", "json=no/such/folder/r.json"];
    assert_snapshot!(world.run(&args), @"
    [exit 2]
    [stdout]
    ::error file=app.py,line=2,endLine=2,title=P1 Breakpoint left in::When this line runs, the process stops and waits on standard input; in a server or a job it hangs, or fails with bdb.BdbQuit.%0Afix: Remove the line.%0A[debug/python-breakpoint] by builtin
    ::notice title=mala::FAIL: 1 finding at or above P1 (1 P1). reviewed 1 of 1 hunk in 1 file
    [stderr]
    error: cannot write no/such/folder/r.json: no such folder
    ");
}

#[test]
fn an_output_goes_behind_a_link_and_into_a_pipe() {
    let world = repo();
    world.write("app.py", FLAW).write("real.json", "old");
    let at = |name: &str| world.folder().join(name);
    std::os::unix::fs::symlink("real.json", at("link.json")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(made.success());
    let pipe = at("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    world.run(&["review", "--no-save", "-o", "json=link.json", "-o", "json=pipe", "app.py"]);
    assert!(std::fs::symlink_metadata(at("link.json")).unwrap().is_symlink());
    let kept = std::fs::read_to_string(at("real.json")).unwrap();
    assert!(kept.starts_with('{'), "{kept}");
    assert_eq!(reader.join().unwrap(), kept);
}

#[test]
fn a_state_folder_that_cannot_be_written_is_a_warning() {
    let world = repo();
    // A file in the place of the folder stops root, too.
    world.write("app.py", FLAW).write(".gitignore", ".mala\n").write(".mala", "not a folder");
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1);
    assert_snapshot!(world.clean(&report["warnings"].to_string()), @r#"["the files of this review are not kept: writing [WORK]/.mala/runs: Not a directory (os error 20)"]"#);
    assert_eq!(report["review_log_path"], serde_json::Value::Null);
}

#[test]
fn an_unreadable_file_is_never_a_pass() {
    let world = repo();
    world.write("app.py", FLAW);
    let file = world.folder().join("app.py");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    let shown = world.run(&["review"]);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!shown.starts_with("[exit 0]"), "{shown}");
}

#[test]
fn ten_thousand_findings() {
    let world = repo();
    world.write("many.py", "breakpoint()\n".repeat(10_000));
    let (code, report) = review(&world, &["--no-save"]);
    assert_eq!((code, findings(&report).len()), (1, 10_000));
    let shown = world.run(&["review", "--no-save"]);
    assert!(shown.lines().count() < 1_000, "the terminal shows the first and counts the rest");
}

#[test]
fn control_characters_of_the_change_never_reach_the_terminal() {
    let world = repo();
    world.write("app.py", "breakpoint()  # \u{1b}[2J\u{1b}]0;owned\u{7} \u{202e}\n");
    world.write("evil\u{1b}[31m.py", "breakpoint()\n");
    assert_snapshot!(world.run(&["review", "--no-save"]), @r#"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 2 hunks in 2
    files: 2 findings (2 P1).

    app.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ app.py:1
    1 │ breakpoint()  # <U+001B>[2J<U+001B>]0;owned<U+0007> <U+202E>
      ╰╴━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    "evil\033[31m.py"  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ "evil\033[31m.py":1
    1 │ breakpoint()
      ╰╴━━━━━━━━━━━━
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    coverage:  reviewed 2 of 2 hunks in 2 files
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 2
            files, 2 hunks, +2 -2

    FAIL  2 findings at or above P1 (2 P1)
    "#);
}

#[test]
fn a_commit_that_cannot_be_read_is_damage_and_no_mistake_of_the_user() {
    let world = repo();
    world.write("app.py", FLAW);
    commit(&world, "flaw");
    let id = world.command("git").args(["rev-parse", "HEAD~1"]).output().unwrap();
    let id = String::from_utf8(id.stdout).unwrap().trim().to_owned();
    let object = world.folder().join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    std::fs::remove_file(&object).unwrap();
    let reviews = || {
        let targets = [&["HEAD~1..HEAD"][..], &["HEAD~1...HEAD"], &["--commit", "HEAD"]];
        targets.map(|args| world.run(&[&["review"], args].concat())).concat()
    };
    assert_snapshot!(reviews(), @"
    [exit 2]
    [stderr]
    error: the repository at [WORK] is damaged: HEAD~1 is [SHA], which is missing
    hint: run `git fsck` to see what is broken
    [exit 2]
    [stderr]
    error: the repository at [WORK] is damaged: HEAD~1 is [SHA], which is missing
    hint: run `git fsck` to see what is broken
    [exit 2]
    [stderr]
    error: git diff: bad object [SHA]
    hint: objects are missing: run `git fsck` to list them, or fetch them in a partial clone
    ");
    std::fs::write(&object, "garbage").unwrap();
    assert_snapshot!(reviews(), @"
    [exit 2]
    [stderr]
    error: the repository is damaged: loose object [SHA] (stored in .git/objects/8d/c3217811cc8f11bc0c3c99ddb0e98fe1cd230d) is corrupt
    hint: run `git fsck` to see what is broken
    [exit 2]
    [stderr]
    error: the repository is damaged: loose object [SHA] (stored in .git/objects/8d/c3217811cc8f11bc0c3c99ddb0e98fe1cd230d) is corrupt
    hint: run `git fsck` to see what is broken
    [exit 2]
    [stderr]
    error: the repository is damaged: loose object [SHA] (stored in .git/objects/8d/c3217811cc8f11bc0c3c99ddb0e98fe1cd230d) is corrupt
    hint: run `git fsck` to see what is broken
    ");
}
