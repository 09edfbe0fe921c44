//! Tests that lose their assertions, or vanish while what they test stays.

use super::{Told, claim};
use crate::coded_check::CodedCheck;
use crate::rules::is_test_path;
use mala_domain::change::{Change, ChangedFile, DiffLine, FileStatus, Hunk, LineKind};
use mala_domain::finding::{Candidate, Category, Priority};
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

pub(super) const ASSERTION: CodedCheck = CodedCheck {
    id: "diff/assertion-removed",
    title: "Assertion removed from a test that stays",
    category: Category::Bug,
    priority: Priority::P2,
    about: "A test keeps its name and loses what it checked: it goes on passing whatever happens.",
};

pub(super) const TEST: CodedCheck = CodedCheck {
    id: "diff/test-removed",
    title: "Test removed while the code it tests stays",
    category: Category::Bug,
    priority: Priority::P3,
    about: "The change deletes tests, adds none and removes no code: behaviour is no longer checked.",
};

pub(super) const HOLLOW: CodedCheck = CodedCheck {
    id: "diff/assertion-hollowed",
    title: "Assertion no longer asks anything",
    category: Category::Bug,
    priority: Priority::P1,
    about: "An assertion is replaced by one of a constant: the test passes whatever the code does.",
};

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static HOLDS_ALWAYS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^\s*(?:assert (?:True|1)\s*(?:#.*)?$|self\.assertTrue\(True\)|assert(?:True|\.ok|\.True|!)?\((?:t, )?true\)|expect\((?:true|1)\)\.(?:toBe(?:Truthy)?|toEqual)\((?:true|1)?\)|(?:assert|require)\.True\(t, true\))",
    )
    .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static ASSERTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^\s*(?:assert\b|assert[\w:]*[!(]|self\.assert\w+\(|(?:await )?expect\(|(?:require|assert)\.\w+\(|t\.(?:Error|Fatal|Fail|is|not|ok|equal|deepEqual|same|true|false|throws|rejects|match|like)\w*\(|\w+\.should\b|debug_assert)",
    )
    .expect("the pattern is valid")
});

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

pub(super) fn check(change: &Change, told: Told) -> Vec<Candidate> {
    let tests = || change.files.iter().filter(|f| f.is_reviewable() && is_test_path(&f.path));
    let mut kept = kept_assertions(tests());
    kept.extend(assertions_of_gone(change));
    let code_goes = loses_code(change);
    let mut found: Vec<Candidate> = tests()
        .filter(|f| f.status != FileStatus::Deleted && !code_goes)
        .flat_map(|file| assertions(file, &kept))
        .collect();
    found.extend(tests().flat_map(hollowed));
    // A commit that is only about tests says why they go.
    let edits_code = change.files.iter().any(|f| f.language().is_some() && !is_test_path(&f.path));
    let is_test = |text: &str| DEFINES_TEST.is_match(text) || MARKS_TEST.is_match(text);
    let adds_tests = tests().any(|file| file.added_lines().any(|(_, text)| is_test(text)));
    let code_shrinks = change.files.iter().filter(|f| !is_test_path(&f.path)).any(removes_code);
    if (edits_code || told == Told::Nothing) && !code_shrinks && !adds_tests {
        found.extend(tests().filter(|f| f.status == FileStatus::Modified).flat_map(removed_tests));
    }
    found
}

/// The assertions that are still there, as far as the diff shows: moved ones, and the ones that a
/// removed one only repeated.
fn kept_assertions<'c>(tests: impl Iterator<Item = &'c ChangedFile>) -> HashSet<&'c str> {
    tests
        .flat_map(|file| &file.hunks)
        .flat_map(|hunk| &hunk.lines)
        .filter(|line| line.kind != LineKind::Removed && ASSERTS.is_match(&line.text))
        .map(|line| line.text.trim())
        .collect()
}

/// The removed assertions about something that goes with them: a name in them is in other removed
/// lines and in no added one.
fn assertions_of_gone(change: &Change) -> HashSet<&str> {
    let hunks = || change.files.iter().flat_map(|file| &file.hunks);
    let removed = || hunks().flat_map(Hunk::removed_lines).map(|(_, text)| text);
    let (asserts, others): (Vec<&str>, Vec<&str>) =
        removed().partition(|text| ASSERTS.is_match(text));
    let mut gone: HashSet<&str> = others.into_iter().flat_map(long_names).collect();
    for (_, text) in hunks().flat_map(Hunk::added_lines) {
        long_names(text).for_each(|name| {
            gone.remove(name);
        });
    }
    let is_gone = |text: &&str| long_names(text).any(|name| gone.contains(name));
    asserts.into_iter().filter(is_gone).map(str::trim).collect()
}

/// Names that are long enough to be those of one thing.
fn long_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() >= 8)
}

/// Hunks inside a test that stays, which take assertions away and put nothing in their place. A file
/// that gets new assertions or tests is being rewritten.
fn assertions(file: &ChangedFile, kept: &HashSet<&str>) -> Vec<Candidate> {
    let is_new = |text: &str| ASSERTS.is_match(text) || DEFINES_TEST.is_match(text);
    if file.added_lines().any(|(_, text)| is_new(text)) {
        return Vec::new();
    }
    file.hunks
        .iter()
        .filter(|hunk| takes_assertions_only(hunk))
        .flat_map(|hunk| lost_by_test(hunk, kept))
        .map(|(line, removed)| {
            let body = format!(
                "{removed} assertion(s) are removed here and nothing is asserted instead. When the \
                 behaviour they checked breaks, this test still passes."
            );
            let suggestion = "Keep the assertion, or say in the commit why it no longer holds.";
            claim(&ASSERTION, file, line, body, suggestion)
        })
        .collect()
}

/// Assertions of a constant in hunks that take a real one away.
fn hollowed(file: &ChangedFile) -> Vec<Candidate> {
    let asks = |text: &str| ASSERTS.is_match(text) && !HOLDS_ALWAYS.is_match(text);
    file.hunks
        .iter()
        .filter(|hunk| hunk.removed_lines().any(|(_, text)| asks(text)))
        .filter(|hunk| !hunk.added_lines().any(|(_, text)| asks(text)))
        .flat_map(Hunk::added_lines)
        .filter(|(_, text)| HOLDS_ALWAYS.is_match(text))
        .map(|(line, text)| {
            let body = format!(
                "`{}` stands where an assertion about the code stood, and holds always. When the \
                 behaviour breaks, this test still passes.",
                text.trim()
            );
            claim(&HOLLOW, file, line, body, "Assert what the test is about, or delete the test.")
        })
        .collect()
}

/// Whether a hunk leaves its tests there and takes little but assertions.
fn takes_assertions_only(hunk: &Hunk) -> bool {
    let asserts = hunk.removed_lines().filter(|(_, text)| ASSERTS.is_match(text)).count();
    let touches_more = hunk.removed_lines().count() > asserts + 1;
    let adds = hunk.added_lines().any(|(_, text)| !text.trim().is_empty());
    let stays = hunk.lines.iter().any(|line| line.kind == LineKind::Context);
    let checks_more = hunk
        .lines
        .iter()
        .any(|line| line.kind == LineKind::Context && ASSERTS.is_match(&line.text));
    !adds && !touches_more && stays && !checks_more && !removes_a_test(hunk)
}

/// For every test in a hunk that loses assertions: the line at head, and how many it loses.
fn lost_by_test(hunk: &Hunk, kept: &HashSet<&str>) -> Vec<(u32, usize)> {
    let Some(last) = hunk.head_span().map(|span| span.end()) else { return Vec::new() };
    let mut found: Vec<(u32, usize)> = Vec::new();
    let mut line = hunk.new_start.max(1);
    let mut is_same_test = false;
    for one in &hunk.lines {
        if one.kind != LineKind::Removed {
            is_same_test &= !DEFINES_TEST.is_match(&one.text);
            line = line.saturating_add(1);
        } else if ASSERTS.is_match(&one.text) && !kept.contains(one.text.trim()) {
            match found.last_mut().filter(|_| is_same_test) {
                Some((_, removed)) => *removed += 1,
                None => found.push((line.min(last), 1)),
            }
            is_same_test = true;
        }
    }
    found
}

fn removed_tests(file: &ChangedFile) -> Vec<Candidate> {
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

fn removes_a_test(hunk: &Hunk) -> bool {
    hunk.removed_lines().any(|(_, text)| DEFINES_TEST.is_match(text) || MARKS_TEST.is_match(text))
}

fn test_name(text: &str) -> Option<String> {
    let found = DEFINES_TEST.captures(text)?;
    found.iter().skip(1).flatten().next().map(|name| name.as_str().to_owned())
}

/// Whether there is less code than before: what the assertions checked may be gone with it.
fn loses_code(change: &Change) -> bool {
    let hunks = || change.files.iter().filter(|f| !is_test_path(&f.path)).flat_map(|f| &f.hunks);
    let count = |lines: &mut dyn Iterator<Item = (u32, &str)>| {
        lines.filter(|(_, text)| !text.trim().is_empty()).count()
    };
    count(&mut hunks().flat_map(Hunk::removed_lines))
        > count(&mut hunks().flat_map(Hunk::added_lines))
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
