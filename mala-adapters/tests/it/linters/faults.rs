//! Linters that hang, print garbage, flood, crash or are missing: one warning each, and no
//! failure.

use super::*;
use crate::git::range;
use mala_domain::config::LinterMode;
use std::time::Duration;

fn python() -> TestRepo {
    let repo = TestRepo::with_files(&[("ruff.toml", ""), ("a.py", "x = 1\n")]);
    repo.write("a.py", "x = 1\ny = 2\n");
    repo
}

#[test]
fn a_useless_linter_is_one_warning() {
    for (script, expected) in [
        ("echo nonsense", "cannot parse its output: not JSON"),
        ("echo '{}'", "cannot parse its output: unexpected JSON"),
        ("exit 0", "cannot parse its output: not JSON"),
        ("exit 2", "exit code 2"),
        ("echo first; echo 'Error: no such rule' >&2; exit 2", "Error: no such rule"),
        ("echo '[]'; exit 1", "exit code 1"),
        ("kill -9 $$", "killed by signal 9"),
        ("exec yes", "its output is larger than 8 MiB"),
    ] {
        let repo = python();
        let environment = with_program(&repo, "ruff", script);
        let found = lint(&repo, ReviewTarget::WorkingTree, &[], &environment);
        assert_eq!(found, format!("warning: cannot run ruff: {expected}"), "{script}");
    }
}

#[test]
fn a_linter_that_hangs_is_stopped() {
    let repo = python();
    let environment = with_program(&repo, "ruff", "sleep 1000");
    let timeout = Duration::from_millis(500);
    let settings = LinterSettings { timeout, ..LinterSettings::default() };
    let found = lint_with(&repo, ReviewTarget::WorkingTree, &settings, &environment);
    assert_eq!(found, "warning: cannot run ruff: timed out after 0.5 s");
}

const NOT_FOUND: &str = "warning: cannot run ruff: the project configures it, but it is not on PATH \
                         outside the reviewed tree";

#[test]
fn a_linter_that_is_not_there_is_a_warning_when_the_project_uses_it() {
    let repo = python();
    let nowhere = environment(&repo).with("PATH", "/nowhere");
    assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &[], &nowhere), NOT_FOUND);
    let repo = TestRepo::with_files(&[("a.sh", "echo\n")]);
    repo.write("a.sh", "echo $1\n");
    let nowhere = environment(&repo).with("PATH", "/nowhere");
    assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &[], &nowhere), "");
}

#[test]
fn programs_of_the_reviewed_tree_never_run() {
    let repo = python();
    let inside = repo.path("node_modules/.bin");
    write_program(&inside, "ruff", "touch ran; echo '[]'");
    let path = format!("{}:/usr/bin:/bin", inside.display());
    let environment = environment(&repo).with("PATH", path);
    assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &[], &environment), NOT_FOUND);
    // Nor through a link from outside.
    let outside = repo.beside("links");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(inside.join("ruff"), outside.join("ruff")).unwrap();
    let environment = environment.with("PATH", format!("{}:/usr/bin:/bin", outside.display()));
    assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &[], &environment), NOT_FOUND);
    assert!(!repo.path("ran").exists());
}

const ANSWER: &str =
    "echo '[{\"code\":\"F1\",\"filename\":\"a.py\",\"message\":\"m\",\"location\":{\"row\":2}}]'";

#[test]
fn programs_that_the_user_installed_for_the_project_run_over_the_own_work_tree() {
    for bin in ["node_modules/.bin", ".venv/bin", "venv/bin"] {
        let repo = TestRepo::with_files(&[
            ("ruff.toml", ""),
            ("a.py", "x = 1\n"),
            (".gitignore", "node_modules/\n.venv\nvenv/\n"),
        ]);
        repo.write("a.py", "x = 1\ny = 2\n");
        write_program(&repo.path(bin), "ruff", ANSWER);
        let plain = environment(&repo).with("PATH", "/usr/bin:/bin");
        assert_eq!(
            lint(&repo, ReviewTarget::WorkingTree, &[], &plain),
            "a.py:2 P2 bug ruff/F1: m",
            "{bin}"
        );
        // Not for a commit.
        repo.commit("change");
        assert_eq!(lint(&repo, range("HEAD~1", "HEAD"), &[], &plain), NOT_FOUND, "{bin}");
        // Never for a tracked file, even if it is ignored.
        repo.git(&["add", "-f", bin]);
        repo.commit("bring a program");
        repo.write("a.py", "x = 1\ny = 2\nz = 3\n");
        assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &[], &plain), NOT_FOUND, "{bin}");
    }
}

#[test]
fn an_ignored_link_to_a_program_of_the_tree_does_not_run() {
    let repo = TestRepo::with_files(&[
        ("ruff.toml", ""),
        ("a.py", "x = 1\n"),
        (".gitignore", "node_modules/\n"),
    ]);
    repo.write("a.py", "x = 1\ny = 2\n");
    write_program(&repo.path("tools"), "ruff", ANSWER);
    fs::create_dir_all(repo.path("node_modules/.bin")).unwrap();
    std::os::unix::fs::symlink("../../tools/ruff", repo.path("node_modules/.bin/ruff")).unwrap();
    let plain = environment(&repo).with("PATH", "/usr/bin:/bin");
    assert_eq!(lint(&repo, ReviewTarget::WorkingTree, &[], &plain), NOT_FOUND);
}

#[test]
fn one_that_is_off_is_not_asked() {
    let repo = python();
    let environment = with_program(&repo, "ruff", "exit 2");
    let off = LinterSettings { off: vec![LinterName::Ruff], ..LinterSettings::default() };
    assert_eq!(lint_with(&repo, ReviewTarget::WorkingTree, &off, &environment), "");
    let off = LinterSettings { mode: LinterMode::Off, ..LinterSettings::default() };
    assert_eq!(lint_with(&repo, ReviewTarget::WorkingTree, &off, &environment), "");
}

#[test]
fn what_a_linter_says_of_other_files_is_dropped() {
    let repo = python();
    let says = |file: &str| {
        format!(
            "{{\"code\":\"F1\",\"filename\":\"{file}\",\"message\":\"m\",\"location\":{{\"row\":2}}}}"
        )
    };
    let files = ["/etc/passwd", "../a.py", "b.py", "", "a.py/../a.py", "./a.py"];
    let answer = files.map(says).join(",");
    let environment = with_program(&repo, "ruff", &format!("echo '[{answer}]'"));
    assert_eq!(
        lint(&repo, ReviewTarget::WorkingTree, &[], &environment),
        "a.py:2 P2 bug ruff/F1: m"
    );
}
