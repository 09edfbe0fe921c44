//! The examples of every line rule, and the checks over several lines.

use super::*;
use mala_domain::change::{DiffLine, EntryKind, FileClass, FilePath, FileStatus, Hunk, LineKind};

/// A file with one hunk, written as diff lines; line 1 is the first.
fn file(path: &str, lines: &[&str]) -> ChangedFile {
    let lines: Vec<DiffLine> = lines
        .iter()
        .map(|line| {
            let kind = match line.chars().next() {
                Some('+') => LineKind::Added,
                Some('-') => LineKind::Removed,
                _ => LineKind::Context,
            };
            DiffLine { kind, text: line.get(1..).unwrap_or_default().to_owned() }
        })
        .collect();
    let count = |other| u32::try_from(lines.iter().filter(|l| l.kind != other).count()).unwrap();
    let hunk = Hunk {
        old_start: 1,
        old_lines: count(LineKind::Added),
        new_start: 1,
        new_lines: count(LineKind::Removed),
        section: String::new(),
        lines,
    };
    ChangedFile {
        path: FilePath::from(path),
        old_path: None,
        status: FileStatus::Modified,
        kind: EntryKind::File,
        mode_change: None,
        class: FileClass::Source,
        script: None,
        hunks: vec![hunk],
    }
}

fn found(files: Vec<ChangedFile>) -> Vec<(String, String, u32)> {
    found_when(files, ChangeState::Committed)
}

fn found_when(files: Vec<ChangedFile>, state: ChangeState) -> Vec<(String, String, u32)> {
    let mut found: Vec<_> = run(&Change { files }, state)
        .into_iter()
        .map(|c| (c.rule.unwrap_or_default(), c.file.to_string(), c.span.start()))
        .collect();
    found.sort();
    found
}

#[test]
fn every_example_of_every_line_rule_holds() {
    for rule in line_rules() {
        assert!(rule.examples.bad.len() + rule.examples.good.len() >= 3, "{}: examples", rule.id);
        let reports = |line: &str| {
            let one = format!("+{line}");
            let lines: Vec<&str> = match line.contains('\n') {
                true => line.lines().collect(),
                false => vec![&one],
            };
            found(vec![file(&rule.examples.file, &lines)]).iter().any(|(id, _, _)| *id == rule.id)
        };
        for line in &rule.examples.bad {
            assert!(reports(line), "{} misses {line:?}", rule.id);
        }
        for line in &rule.examples.good {
            assert!(!reports(line), "{} reports {line:?}", rule.id);
        }
    }
}

#[test]
fn dependencies_of_test_data_are_not_installed() {
    let line = ["+    \"left-pad\": \"*\","];
    assert_eq!(found(vec![file("package.json", &line)]).len(), 1);
    assert!(found(vec![file("test/cases/package.json", &line)]).is_empty());
}

#[test]
fn peers_are_installed_by_others() {
    let list = |name: &str| format!("   \"{name}\": {{");
    let lines = |name: &str| vec![list(name), "+    \"left-pad\": \"*\"".to_owned()];
    for (name, expected) in [("dependencies", 1), ("peerDependencies", 0)] {
        let lines = lines(name);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(found(vec![file("package.json", &lines)]).len(), expected, "{name}");
    }
}

#[test]
fn packages_of_one_repository_have_no_versions() {
    let lines = [
        "     \"shop-cart\": \"*\",",
        "+    \"shop-user\": \"*\",",
        "     \"left-pad\": \"1.0.0\"",
    ];
    assert!(found(vec![file("package.json", &lines)]).is_empty());
    let lines = ["     \"shop-cart\": \"*\",", "+    \"is-odd\": \"*\","];
    assert_eq!(found(vec![file("package.json", &lines)]).len(), 1);
}

#[test]
fn a_comma_makes_no_new_line() {
    let lines = ["-    \"left-pad\": \"*\"", "+    \"left-pad\": \"*\",", "+    \"is-odd\": \"*\""];
    let found = found(vec![file("package.json", &lines)]);
    assert_eq!(found.iter().map(|(_, _, line)| *line).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_test_may_print_what_it_debugs() {
    let dbg = "+        dbg!(&index);";
    assert_eq!(found(vec![file("src/lib.rs", &[dbg])]).len(), 1);
    assert!(found(vec![file("src/lib.rs", &["+    #[test]", "+    fn sums() {", dbg])]).is_empty());
}

#[test]
fn a_conflict_needs_both_ends() {
    let conflict = ["+<<<<<<< HEAD", "+a = 1", "+=======", "+a = 2", "+>>>>>>> theirs"];
    assert_eq!(
        found(vec![file("a.py", &conflict)]),
        [("diff/conflict-marker".to_owned(), "a.py".to_owned(), 1)]
    );
    let twice: Vec<&str> = conflict.iter().chain(&conflict).copied().collect();
    assert_eq!(found(vec![file("a.py", &twice)]).len(), 1);
    assert!(found(vec![file("a.md", &["+Title", "+======="])]).is_empty());
    assert!(found(vec![file("a.py", &["+<<<<<<< HEAD", "+a"])]).is_empty());
    assert!(found(vec![file("a.py", &[" <<<<<<< HEAD", "+a", " >>>>>>> b"])]).is_empty());
    let lock = ChangedFile { class: FileClass::Lock, ..file("package-lock.json", &conflict) };
    assert_eq!(found(vec![lock]).len(), 1, "tools write it, and git merges it");
    assert_eq!(found(vec![file("tests/test_a.py", &conflict)]).len(), 1);
}

#[test]
fn a_requirement_that_loses_its_version_is_reported() {
    let path = "requirements.txt";
    let lost = ["-requests==2.0", "+requests", "-Flask_Login[x]>=1 ; python_version > '3'"];
    assert_eq!(
        found(vec![file(path, &lost)]),
        [("deps/version-dropped".to_owned(), path.to_owned(), 1)]
    );
    for kept in [
        ["-requests==2.0", "+requests==2.1"],
        ["-requests==2.0", "+urllib3"],
        ["-requests", "+requests "],
    ] {
        assert!(found(vec![file(path, &kept)]).is_empty(), "{kept:?}");
    }
    assert!(found(vec![file("notes.txt", &lost)]).is_empty());
}

#[test]
fn an_image_without_a_version_is_reported() {
    let images = |lines: &[&str]| -> Vec<u32> {
        found(vec![file("deploy/Dockerfile", lines)])
            .into_iter()
            .filter(|(rule, _, _)| rule == "docker/floating-image")
            .map(|(_, _, line)| line)
            .collect()
    };
    assert_eq!(
        images(&["+FROM node:latest", "+FROM python AS build", "+FROM ghcr.io/a/b"]),
        [1, 2, 3]
    );
    assert_eq!(images(&[" FROM node:latest", "+RUN x"]), [] as [u32; 0]);
    let fine = [
        "+FROM node:22 AS build",
        "+FROM build",
        "+FROM stage-of-elsewhere",
        "+FROM scratch",
        "+FROM $BASE",
        "+FROM --platform=linux/amd64 node@sha256:0a",
        "+FROM localhost:5000/a:1",
    ];
    assert_eq!(images(&fine), [] as [u32; 0]);
}

#[test]
fn dependencies_on_one_line_are_read() {
    let rules = |line: &str| -> Vec<String> {
        let found = found(vec![file("package.json", &[&format!("+{line}")])]);
        found.into_iter().map(|(rule, _, _)| rule).collect()
    };
    assert_eq!(
        rules(r#"{"name":"a","dependencies":{"b":"^1.0.0","c":"*"}}"#),
        ["deps/npm-floating-version"]
    );
    assert_eq!(rules(r#"{"devDependencies": {"e": "github:x/y"}}"#), ["deps/npm-unpinned-source"]);
    assert!(rules(r#"{"name":"a","x":{"c":"*"},"dependencies":{"b":"^1.0.0"}}"#).is_empty());
}

#[test]
fn examples_and_packages_of_one_repository_take_any_version() {
    for (path, line, expected) in [
        ("package.json", r#"+    "left-pad": "*""#, 1),
        ("apps/web/package.json", r#"+    "left-pad": "latest""#, 1),
        ("apps/web/package.json", r#"+    "left-pad": "*""#, 0),
        ("examples/basic/package.json", r#"+    "next": "latest""#, 0),
    ] {
        let lines = [" {", r#"   "dependencies": {"#, line, "   }", " }"];
        assert_eq!(found(vec![file(path, &lines)]).len(), expected, "{path} {line}");
    }
}

#[test]
fn a_removed_test_is_reported_only_while_its_code_stays() {
    let removed = [" import x", "-def test_sum():", "-    check(add(1, 2), 3)", " # end"];
    let test = || file("tests/test_sum.py", &removed);
    assert!(found(vec![test()]).is_empty(), "only about tests");
    let edited = file("src/sum.py", &["-total += 1", "+total += 2"]);
    assert!(found(vec![test(), edited]).is_empty(), "what it checked may be what changed");
    let grown = || file("src/sum.py", &["+total += 2"]);
    let merged = [" it('a', () => {", "-});", "-it('b', () => {", "   expect(add(1, 2));", " });"];
    assert!(found(vec![file("test/sum.js", &merged), grown()]).is_empty(), "two become one");
    assert_eq!(
        found(vec![test(), grown()]),
        [("diff/test-removed".to_owned(), "tests/test_sum.py".to_owned(), 2)]
    );
    assert!(found(vec![test()]).is_empty(), "the commit says why");
    let marked =
        ["-    #[test]", "-    fn sums() {", "-        assert_eq!(add(1, 2), 3);", "-    }", " }"];
    assert_eq!(found(vec![file("tests/sum.rs", &marked), grown()]).len(), 1, "a mark is enough");
    assert_eq!(found_when(vec![test()], ChangeState::Uncommitted).len(), 1, "no message says why");
    assert!(
        found(vec![test(), file("src/sum.py", &["-def add(a, b):", "-    return a + b"])])
            .is_empty()
    );
    for added in [
        "+def test_other():",
        "+  @Test public void sums() {",
        "+#[tokio::test]",
        "+  fit('sums', () => {",
    ] {
        let files = vec![test(), grown(), file("tests/test_b.py", &[added])];
        assert!(found(files).is_empty(), "{added}");
    }
}
