//! Checks on the lines of a diff alone, without a syntax tree, for any language. Most are data
//! (`lines.yaml`: files, pattern of the added line, message); those that need more than one line
//! are functions here.

mod dependencies;
mod lines;
mod tests_disabled;
mod tests_removed;

pub use lines::{LineRule, line_rules};

use crate::coded_check::CodedCheck;
use mala_domain::change::{Change, ChangedFile, LineSpan};
use mala_domain::finding::{Category, Priority, ReviewClaim, Verification};

/// The checks that are code.
pub fn checks() -> Vec<CodedCheck> {
    vec![CONFLICT, dependencies::IMAGE, dependencies::UNPINNED, tests_removed::TEST]
}

/// Whether a change is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeState {
    /// Committed, with messages that may explain it.
    Committed,
    /// Not committed.
    Uncommitted,
}

/// All problems that the diff alone shows.
pub fn run(change: &Change, state: ChangeState) -> Vec<ReviewClaim> {
    let reviewable = || change.files.iter().filter(|file| file.is_reviewable());
    let mut found: Vec<ReviewClaim> = reviewable().flat_map(lines::check).collect();
    // Lock files and generated files are merged, too.
    found.extend(change.files.iter().flat_map(conflicts));
    found.extend(reviewable().flat_map(dependencies::check));
    found.extend(tests_removed::check(change, state));
    found
}

/// A claim of one of the checks that are code.
fn claim(
    check: &CodedCheck,
    file: &ChangedFile,
    line: u32,
    body: String,
    suggestion: &str,
) -> ReviewClaim {
    ReviewClaim {
        file: file.path.clone(),
        span: LineSpan::line(line),
        priority: Some(check.priority),
        category: check.category,
        title: check.title.to_owned(),
        body,
        suggestion: Some(suggestion.to_owned()),
        evidence: None,
        confidence: 0.9,
        reviewer: "builtin".to_owned(),
        rule: Some(check.id.to_owned()),
        verification: Verification::verified(format!("diff check {}", check.id)),
    }
}

const CONFLICT: CodedCheck = CodedCheck {
    id: "diff/conflict-marker",
    title: "Merge conflict marker left in the file",
    category: Category::Bug,
    priority: Priority::P0,
    about: "A merge was committed with its conflict unresolved: both versions are in the file.",
};

/// Merge conflict markers that were committed: one finding per file, at its first marker. `=======` alone is a heading in many formats, so
/// a conflict needs its opening and its closing marker.
fn conflicts(file: &ChangedFile) -> Vec<ReviewClaim> {
    let mut conflicts = Vec::new();
    let mut open: Option<u32> = None;
    for (line, text) in file.added_lines() {
        if is_marker(text, '<') {
            open = Some(line);
        } else if is_marker(text, '>')
            && let Some(start) = open.take()
        {
            conflicts.push((start, line));
        }
    }
    let Some((start, end)) = conflicts.first() else { return Vec::new() };
    let more = match conflicts.len() {
        1 => String::new(),
        n => format!(" The file has {n} of them."),
    };
    let body = format!(
        "Lines {start} to {end} hold both sides of an unresolved merge. When the file is read, it \
         fails to parse, or both versions take effect.{more}"
    );
    vec![claim(&CONFLICT, file, *start, body, "Resolve the conflict and remove the markers.")]
}

fn is_marker(text: &str, sign: char) -> bool {
    let signs = text.chars().take_while(|c| *c == sign).count();
    signs == 7 && text.chars().nth(7).is_some_and(|c| c == ' ')
}

#[cfg(test)]
mod tests;
