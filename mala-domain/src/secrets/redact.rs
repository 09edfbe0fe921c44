//! Redacts secrets before text leaves the process.

use super::pem;
use super::rule::rules;
use super::search::{self, SearchPurpose, SecretCandidate};
use regex::Regex;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use std::sync::LazyLock;

/// Replaces every secret by `[redacted:RULE]`. Redacting twice changes nothing more. The number of
/// lines stays the same.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut redacted = String::new();
    let mut changed = false;
    // Nothing is matched across existing markers, so a second pass sees exactly the parts that the
    // first pass found clean.
    for piece in pieces(text) {
        match piece {
            TextPiece::Marker(marker) => redacted.push_str(marker),
            TextPiece::Text(part) => changed |= push_clean(part, MAX_DEPTH, &mut redacted),
        }
    }
    if changed { Cow::Owned(redacted) } else { Cow::Borrowed(text) }
}

/// Removing a secret can expose another one. Text that still contains secrets after this many
/// rounds is dropped.
const MAX_DEPTH: usize = 6;

/// Appends `part` without its secrets; returns whether it had any.
fn push_clean(part: &str, depth: usize, output: &mut String) -> bool {
    let hidden = hidden_ranges(part);
    if hidden.is_empty() {
        output.push_str(part);
        return false;
    }
    if depth == 0 {
        push_marker("text", output);
        return true;
    }
    let mut at = 0;
    for range in &hidden {
        push_clean(&part[at..range.start], depth - 1, output);
        push_marker(&range.rule.id, output);
        // Keep the line numbers after a multi-line key.
        let breaks = part[range.start..range.end].matches('\n').count();
        output.extend(std::iter::repeat_n('\n', breaks));
        at = range.end;
    }
    push_clean(&part[at..], depth - 1, output);
    true
}

fn push_marker(id: &str, output: &mut String) {
    // Writing to a string cannot fail.
    write!(output, "[redacted:{id}]").unwrap_or_default();
}

/// The ranges to hide, in order. Overlapping matches are merged; the most confident rule names the
/// range.
fn hidden_ranges(part: &str) -> Vec<SecretCandidate> {
    let mut candidates = search::candidates(part, SearchPurpose::Hide);
    candidates.extend(key_lines(part));
    candidates.retain(|candidate| candidate.start < candidate.end);
    candidates.sort_by_key(|candidate| (candidate.start, std::cmp::Reverse(candidate.end)));
    let mut hidden: Vec<SecretCandidate> = Vec::new();
    for candidate in candidates {
        match hidden.last_mut() {
            Some(last) if candidate.start < last.end => {
                last.end = last.end.max(candidate.end);
                if candidate.rule.confidence > last.rule.confidence {
                    last.rule = candidate.rule;
                }
            }
            _ => hidden.push(candidate),
        }
    }
    hidden
}

/// Key lines without their markers.
fn key_lines(part: &str) -> Vec<SecretCandidate> {
    let rule = rules().iter().find(|rule| rule.id == "private-key-part");
    let Some(rule) = rule else { return Vec::new() };
    let lines = pem::key_lines(part).into_iter();
    lines
        .map(|Range { start, end }| SecretCandidate { rule, start, end, verified: false })
        .collect()
}

enum TextPiece<'t> {
    Text(&'t str),
    Marker(&'t str),
}

static MARKER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[redacted:[a-z0-9-]{1,64}\]").ok());

fn pieces(text: &str) -> impl Iterator<Item = TextPiece<'_>> {
    let mut markers = MARKER.as_ref().into_iter().flat_map(|marker| marker.find_iter(text));
    let mut at = 0;
    let mut pending = None;
    std::iter::from_fn(move || {
        if let Some(marker) = pending.take() {
            return Some(TextPiece::Marker(marker));
        }
        if let Some(found) = markers.next() {
            let before = &text[at..found.start()];
            at = found.end();
            pending = Some(found.as_str());
            return Some(TextPiece::Text(before));
        }
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        at = text.len();
        Some(TextPiece::Text(rest))
    })
}
