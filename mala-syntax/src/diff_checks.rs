//! Checks on the lines of a diff alone: no syntax tree, any language. Most are data (`lines.yaml`:
//! which files, which added line, what goes wrong); the few that look at more than one line are
//! functions here.

mod conflicts;
mod dependencies;
mod lines;
mod tests_disabled;
mod tests_removed;
mod workflows;

pub use lines::{LineRule, line_rules};

use crate::coded_check::CodedCheck;
use mala_domain::change::{Change, ChangedFile, LineSpan};
use mala_domain::finding::{Candidate, Verification};

/// The checks that are code.
pub fn checks() -> Vec<CodedCheck> {
    vec![
        conflicts::CHECK,
        dependencies::IMAGE,
        dependencies::UNPINNED,
        tests_removed::ASSERTION,
        tests_removed::HOLLOW,
        tests_removed::TEST,
        workflows::PRIVILEGED,
        workflows::TOLERANT,
    ]
}

/// What the author has said about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// There are commits, with messages.
    InCommits,
    /// Nothing yet.
    Nothing,
}

/// Everything the diff alone shows to be wrong.
pub fn run(change: &Change, told: Told) -> Vec<Candidate> {
    let reviewable = || change.files.iter().filter(|file| file.is_reviewable());
    let mut found: Vec<Candidate> = reviewable().flat_map(lines::check).collect();
    found.extend(reviewable().flat_map(conflicts::check));
    found.extend(reviewable().flat_map(workflows::check));
    found.extend(reviewable().flat_map(dependencies::check));
    found.extend(tests_removed::check(change, told));
    found
}

/// A claim of one of the checks that are code.
fn claim(
    check: &CodedCheck,
    file: &ChangedFile,
    line: u32,
    body: String,
    suggestion: &str,
) -> Candidate {
    Candidate {
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

#[cfg(test)]
mod tests;
