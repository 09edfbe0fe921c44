//! Replaces quoted evidence by the exact lines of the file. Models quote what the prompt shows: with line
//! numbers, with redacted secrets, or lines that the change removed.

use crate::agent::{fence, line_format};
use crate::change::{Change, FilePath};
use crate::finding::ReviewClaim;
use crate::review::FileTexts;
use crate::secrets;

/// Replaces the evidence of a claim by lines of the file at head. Evidence that is not found stays
/// unchanged, and admission drops the claim.
pub fn ground_evidence(mut claim: ReviewClaim, change: &Change, texts: &FileTexts) -> ReviewClaim {
    let Some(quoted) = claim.evidence.take() else { return claim };
    let head = head_text(&claim.file, change, texts);
    let gone = removed_text(&claim.file, change);
    // If the quote contains a redacted secret and matches the redacted text, the exact line is
    // unknown and the location alone identifies it.
    let hides = |text: &str| {
        quoted.contains("[redacted:") && in_words_of(&secrets::redact(text), &quoted).is_some()
    };
    if let Some(found) = in_words_of(&head, &quoted) {
        claim.evidence = Some(together(&head, found));
    } else if hides(&head) || hides(&gone) {
        claim.evidence = None;
    } else if let Some(gone) = in_words_of(&gone, &quoted) {
        // The remaining lines at the location become the evidence.
        claim.body.push_str(&format!("\n\nRemoved: {}", gone.join("\n").trim()));
    } else if let Some(line) = beside_removed(&head, &gone, &quoted) {
        claim.evidence = Some(line);
    } else {
        claim.evidence = Some(quoted);
    }
    claim
}

/// The quoted lines as they are written in the text, if it contains all of them. White space is
/// ignored; admission compares more strictly.
fn in_words_of(text: &str, quoted: &str) -> Option<Vec<String>> {
    let bare_text = bare(text);
    let found: Option<Vec<String>> =
        lines(quoted).map(|quoted| line_of(text, &bare_text, quoted)).collect();
    found.filter(|found| !found.is_empty())
}

/// The line of the text that a quoted line refers to.
fn line_of(text: &str, bare_text: &str, quoted: &str) -> Option<String> {
    let meant = line_format::possible_originals(quoted);
    let has = |line: &&String| text.contains(line.as_str()) || bare_text.contains(&bare(line));
    meant.iter().find(has).cloned().or_else(|| imitating(text, &meant))
}

/// The lines of a quote without code fences, hunk headers and ellipses.
fn lines(quoted: &str) -> impl Iterator<Item = &str> {
    quoted.lines().filter(|line| {
        let line = line.trim();
        !(matches!(line, "" | "..." | "…") || line.starts_with("```") || line.starts_with("@@ "))
    })
}

/// The lines joined, if they are consecutive in the text; otherwise the longest one, because the
/// quote may omit lines between them.
fn together(text: &str, found: Vec<String>) -> String {
    let there: Vec<String> = text.lines().map(bare).filter(|line| !line.is_empty()).collect();
    let wanted: Vec<String> = found.iter().map(|line| bare(line)).collect();
    let fits = |here: &[String]| here.iter().zip(&wanted).all(|(line, it)| line.contains(it));
    match there.windows(wanted.len()).any(fits) {
        true => found.join("\n"),
        false => longest(found).unwrap_or_default(),
    }
}

/// The longest line at head, for a quote that mixes lines at head with lines that the change
/// removed.
fn beside_removed(head: &str, gone: &str, quoted: &str) -> Option<String> {
    let (bare_head, bare_gone) = (bare(head), bare(gone));
    let mut kept = Vec::new();
    for quoted in lines(quoted) {
        match line_of(head, &bare_head, quoted) {
            Some(line) => kept.push(line),
            None => {
                line_of(gone, &bare_gone, quoted)?;
            }
        }
    }
    longest(kept)
}

fn longest(lines: Vec<String>) -> Option<String> {
    lines.into_iter().max_by_key(String::len)
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_whitespace()).collect()
}

/// A line of the text that itself contains the mark for broken imitations.
fn imitating(text: &str, meant: &[String]) -> Option<String> {
    if !text.contains(fence::IMITATION) {
        return None;
    }
    let mut odd = text.lines().filter(|line| line.contains(fence::IMITATION));
    odd.find(|line| meant.iter().any(|it| fence::without_imitation_marks(line).contains(it)))
        .map(|line| line.trim().to_owned())
}

/// The file at head. For a patch without a repository, only the lines in its hunks.
fn head_text(file: &FilePath, change: &Change, texts: &FileTexts) -> String {
    if let Some(text) = texts.at_head(file) {
        return text.to_owned();
    }
    let hunks = change.file(file).map(|file| file.hunks.as_slice()).unwrap_or_default();
    let lines = hunks.iter().flat_map(|hunk| hunk.head_lines()).map(|(_, text)| text);
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines that the change removed from a file.
fn removed_text(file: &FilePath, change: &Change) -> String {
    let hunks = change.file(file).map(|file| file.hunks.as_slice()).unwrap_or_default();
    let lines = hunks.iter().flat_map(|hunk| hunk.removed_lines()).map(|(_, text)| text);
    lines.collect::<Vec<_>>().join("\n")
}
