//! Tests that vanish while what they test stays.

use super::{ChangeState, claim};
use crate::coded_check::CodedCheck;
use crate::rules::is_test_path;
use mala_domain::change::{Change, ChangedFile, DiffLine, FileStatus, Hunk, LineKind};
use mala_domain::finding::{Category, Priority, ReviewClaim};
use regex::Regex;
use std::sync::LazyLock;

pub(super) const TEST: CodedCheck = CodedCheck {
    id: "diff/test-removed",
    title: "Test removed while the code it tests stays",
    category: Category::Bug,
    priority: Priority::P3,
    about: "The change deletes tests, adds none and removes no code: behaviour is no longer checked.",
};

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static DEFINES_TEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"^\s*(?:(?:async )?def (test_\w+)|[fx]?(?:it|test)(?:\.\w+)?\(\s*["'`](.+?)["'`]|func (Test\w+)\(|(?:public )?void (test\w+)\()"#,
    )
    .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static MARKS_TEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"@(?:Parameterized)?Test\b|#\[(?:\w+::)?test\b").expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static FUNCTION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:fn|void|fun) (\w+)\s*\(").expect("the pattern is valid"));

pub(super) fn check(change: &Change, state: ChangeState) -> Vec<ReviewClaim> {
    let tests = || change.files.iter().filter(|f| f.is_reviewable() && is_test_path(&f.path));
    // A commit that is only about tests says why they go.
    let edits_code = change.files.iter().any(|f| f.language().is_some() && !is_test_path(&f.path));
    let is_test = |text: &str| DEFINES_TEST.is_match(text) || MARKS_TEST.is_match(text);
    let adds_tests = tests().any(|file| file.added_lines().any(|(_, text)| is_test(text)));
    let code_shrinks = change.files.iter().filter(|f| !is_test_path(&f.path)).any(removes_code);
    if !(edits_code || state == ChangeState::Uncommitted) || code_shrinks || adds_tests {
        return Vec::new();
    }
    tests().filter(|f| f.status == FileStatus::Modified).flat_map(removed_tests).collect()
}

fn removed_tests(file: &ChangedFile) -> Vec<ReviewClaim> {
    file.hunks
        .iter()
        .filter_map(|hunk| {
            let name = wholly_removed(hunk)?;
            let line = first_line_after_removal(hunk)?;
            let body = format!(
                "The test '{name}' is deleted and no other is added, while this change removes no \
                 code. When what the test checked breaks, nothing notices."
            );
            Some(claim(
                &TEST,
                file,
                line,
                body,
                "Keep the test, or replace it by one that checks the same.",
            ))
        })
        .collect()
}

/// The name of a test that goes with what it does: where the next line stays, two tests become one.
fn wholly_removed(hunk: &Hunk) -> Option<String> {
    hunk.lines.iter().enumerate().find_map(|(index, line)| {
        let rest = hunk.lines.get(index..)?;
        let name = (line.kind == LineKind::Removed).then(|| name_of_test(rest)).flatten()?;
        let next = rest.iter().skip(1).find(|it| !it.text.trim().is_empty());
        next.is_some_and(|it| it.kind == LineKind::Removed).then_some(name)
    })
}

/// The name of the test that starts with these lines; a mark names the function on the next one.
fn name_of_test(lines: &[DiffLine]) -> Option<String> {
    let (first, next) = (lines.first()?, lines.get(1));
    let marked = || {
        let next =
            next.filter(|it| it.kind == LineKind::Removed && MARKS_TEST.is_match(&first.text))?;
        FUNCTION.captures(&next.text)?.get(1).map(|name| name.as_str().to_owned())
    };
    test_name(&first.text).or_else(marked)
}

fn test_name(text: &str) -> Option<String> {
    let found = DEFINES_TEST.captures(text)?;
    found.iter().skip(1).flatten().next().map(|name| name.as_str().to_owned())
}

fn removes_code(file: &ChangedFile) -> bool {
    file.hunks.iter().flat_map(Hunk::removed_lines).any(|(_, text)| !text.trim().is_empty())
}

/// The line at head where something is missing: the one after the first removed line.
fn first_line_after_removal(hunk: &Hunk) -> Option<u32> {
    let before = hunk.lines.iter().take_while(|line| line.kind != LineKind::Removed);
    let before =
        u32::try_from(before.filter(|line| line.kind != LineKind::Removed).count()).ok()?;
    let last = hunk.head_span()?.end();
    Some(hunk.new_start.saturating_add(before).min(last).max(1))
}
