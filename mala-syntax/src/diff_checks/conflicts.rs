//! Merge conflict markers that were committed.

use super::claim;
use crate::coded_check::CodedCheck;
use mala_domain::change::ChangedFile;
use mala_domain::finding::{Candidate, Category, Priority};

pub(super) const CHECK: CodedCheck = CodedCheck {
    id: "diff/conflict-marker",
    title: "Merge conflict marker left in the file",
    category: Category::Bug,
    priority: Priority::P0,
    about: "A merge was committed with its conflict unresolved: both versions are in the file.",
};

/// One finding per file, at its first marker. `=======` alone is a heading in many formats, so
/// a conflict needs its opening and its closing marker.
pub(super) fn check(file: &ChangedFile) -> Vec<Candidate> {
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
    vec![claim(&CHECK, file, *start, body, "Resolve the conflict and remove the markers.")]
}

fn is_marker(text: &str, sign: char) -> bool {
    let signs = text.chars().take_while(|c| *c == sign).count();
    signs == 7 && text.chars().nth(7).is_some_and(|c| c == ' ')
}
