//! Bad input: a clear error, the documented exit code, and nothing half-written.

use super::{FLAW, commit, findings, repo, review};
use crate::world;
use insta::assert_snapshot;
use std::os::unix::fs::PermissionsExt;

#[test]
fn what_makes_no_sense_is_said() {
    let world = repo();
    assert_snapshot!(world.run(&["review", "nope..HEAD"]));
    assert_snapshot!(world.run(&["review", "--commit", "--output=x"]));
    assert_snapshot!(world.run(&["review", "--staged", "main..HEAD"]));
    assert_snapshot!(world.run(&["review", "../outside.py"]));
    assert_snapshot!(world.run(&["review", "--patch", "missing.diff"]));
    assert_snapshot!(world.run_with_stdin(&["review", "--patch", "-"], b"\x00\xff\x00garbage"));
    assert_snapshot!(world.run(&["review", "--fail-on", "P9"]));
}

#[test]
fn a_folder_without_a_repository() {
    assert_snapshot!(world().run(&["review"]));
}

#[test]
fn a_corrupt_repository() {
    let world = repo();
    world.write("app.py", FLAW).write(".git/HEAD", "garbage\n");
    let shown = world.run(&["review"]);
    assert!(shown.starts_with("[exit 2]") || shown.starts_with("[exit 64]"), "{shown}");
    assert!(shown.contains("error: "), "{shown}");
}

#[test]
fn a_machine_without_git() {
    let world = repo().with_only_programs(&[]);
    assert_snapshot!(world.run(&["review"]));
}

#[test]
fn a_broken_configuration_names_the_place() {
    let world = repo();
    world.write("app.py", FLAW).write("mala.yaml", "review:\n  fail_onn: P1\n");
    let shown = world.run(&["review"]);
    assert!(shown.starts_with("[exit 78]"), "{shown}");
    assert!(shown.contains("mala.yaml:2:3") && shown.contains("fail_on"), "{shown}");
}

#[test]
fn a_broken_rule_names_the_place() {
    let world = repo();
    world.write("app.py", FLAW).write(".mala/rules/bad.yaml", "id: own/bad\nlanguages: [pyton]\n");
    let shown = world.run(&["review"]);
    assert!(shown.starts_with("[exit 78]"), "{shown}");
    assert!(shown.contains(".mala/rules/bad.yaml:2"), "{shown}");
}

#[test]
fn an_output_that_cannot_be_written() {
    let world = repo();
    world.write("app.py", FLAW);
    let shown = world.run(&["review", "--no-save", "--output", "json=no/such/folder/r.json"]);
    assert!(shown.starts_with("[exit 2]"), "{shown}");
    assert!(shown.contains("no/such/folder/r.json"), "{shown}");
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
    // A file where the folder should be cannot be written by any user, root included.
    world.write("app.py", FLAW).write(".gitignore", ".mala\n").write(".mala", "not a folder");
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1);
    assert!(report["warnings"].to_string().contains("not kept"), "{report:#}");
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
    let shown = world.run(&["review", "--no-save"]);
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
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
    let asked = [&["HEAD~1..HEAD"][..], &["HEAD~1...HEAD"], &["--commit", "HEAD"]];
    for args in asked {
        let args: Vec<&str> = ["review"].iter().chain(args).copied().collect();
        let shown = world.run(&args);
        assert!(shown.starts_with("[exit 2]\n"), "{args:?} {shown}");
        assert!(shown.contains("run git fsck"), "{args:?} {shown}");
    }
    std::fs::write(&object, "garbage").unwrap();
    for args in asked {
        let args: Vec<&str> = ["review"].iter().chain(args).copied().collect();
        let shown = world.run(&args);
        assert!(shown.starts_with("[exit 2]\n"), "{args:?} {shown}");
        assert!(shown.contains("error: the repository is damaged: loose object"), "{shown}");
        assert!(shown.contains("hint: run git fsck to see what is broken"), "{shown}");
    }
}
