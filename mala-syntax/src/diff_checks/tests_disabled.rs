//! Tests that are switched off, told from those that are written switched off.

use mala_domain::change::{ChangedFile, DiffLine, Hunk, LineKind};
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static SCRIPT_TEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^\s*x?(?:describe|it|test|context|suite)(?:\.\w+)*\s*\(\s*["'`](.+?)["'`]"#)
        .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static NAMED_TEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:def|fn|void|class|func)\s+(\w+)").expect("the pattern is valid")
});

/// A test's name is looked for this many lines around.
const MAX_DISTANCE: usize = 20;

/// The names of tests and functions in the lines that a file loses.
pub(super) fn names_before(file: &ChangedFile) -> HashSet<&str> {
    let removed = file.hunks.iter().flat_map(Hunk::removed_lines);
    removed.filter_map(|(_, text)| name_in(text)).collect()
}

/// Whether the line at an index of a hunk switches off a test that this change adds: it never ran, so
/// nothing is lost.
pub(super) fn is_new(hunk: &Hunk, index: usize, names_before: &HashSet<&str>) -> bool {
    let Some(line) = hunk.lines.get(index) else { return false };
    let Some((definition, name)) = definition(hunk, index, line) else { return false };
    definition.kind == LineKind::Added && !names_before.contains(name)
}

/// The line that names the test: the same one, the next one after an annotation, or the last one
/// before a statement.
fn definition<'h>(
    hunk: &'h Hunk,
    index: usize,
    line: &'h DiffLine,
) -> Option<(&'h DiffLine, &'h str)> {
    let named = |line: &'h DiffLine| {
        let name = (line.kind != LineKind::Removed).then(|| name_in(&line.text)).flatten()?;
        Some((line, name))
    };
    let is_annotation = line.text.trim_start().starts_with(['@', '#']);
    named(line).or_else(|| {
        if is_annotation {
            hunk.lines.iter().skip(index).take(MAX_DISTANCE).find_map(named)
        } else {
            hunk.lines.iter().take(index).rev().take(MAX_DISTANCE).find_map(named)
        }
    })
}

fn name_in(text: &str) -> Option<&str> {
    let found = SCRIPT_TEST.captures(text).or_else(|| NAMED_TEST.captures(text))?;
    found.get(1).map(|name| name.as_str())
}
