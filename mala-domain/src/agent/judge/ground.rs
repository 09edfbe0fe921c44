//! Puts a claim's evidence into the words of the file. A model quotes what it was shown: with line
//! numbers, with secrets taken out, or a line that the change removed.

use crate::agent::fence;
use crate::change::{Change, FilePath};
use crate::finding::Candidate;
use crate::review::Texts;
use crate::secrets;

/// The claim with evidence that can be looked up at head. What cannot be brought there stays as it
/// is, and admission drops the claim.
pub fn ground(mut claim: Candidate, change: &Change, texts: &Texts) -> Candidate {
    let Some(quoted) = claim.evidence.take() else { return claim };
    let quoted = fence::restored(&quoted);
    // A secret was taken out of the line: its place stands for it, if what is quoted stood there.
    if quoted.contains("[redacted:") {
        let shown = |text: &str| secrets::redact(text).into_owned();
        let known = texts.at_head(&claim.file).map(shown).unwrap_or_default();
        let gone = shown(&removed_text(&claim.file, change));
        let plain = quoted.lines().map(without_number).collect::<Vec<_>>().join("\n");
        let is_there = |quote: &str| holds(&known, quote) || holds(&gone, quote);
        claim.evidence = (!is_there(&quoted) && !is_there(&plain)).then_some(quoted);
        return claim;
    }
    let plain = quoted.lines().map(without_number).collect::<Vec<_>>().join("\n");
    let held_by = |text: &str| [&quoted, &plain].into_iter().find(|quote| holds(text, quote));
    let at_head = texts.at_head(&claim.file);
    if let Some(found) = at_head.and_then(held_by) {
        claim.evidence = Some(found.clone());
    } else if let Some(gone) = held_by(&removed_text(&claim.file, change)) {
        // The lines that are left are the evidence.
        claim.body.push_str(&format!("\n\nRemoved: {}", gone.trim()));
    } else {
        claim.evidence = Some(quoted);
    }
    claim
}

/// Whether each line of the quote is somewhere in the text, whatever its white space; admission looks
/// more closely.
fn holds(text: &str, quoted: &str) -> bool {
    let is_in = |text: &str, quoted: &str| {
        let mut lines = quoted.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
        lines.peek().is_some() && lines.all(|line| text.contains(line))
    };
    let bare = |text: &str| -> String {
        text.chars().filter(|c| *c == '\n' || !c.is_whitespace()).collect()
    };
    is_in(text, quoted) || is_in(&bare(text), &bare(quoted))
}

/// A line as it is shown in a brief, without its number and mark.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start();
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked = [" + ", "   ", " "].iter().find_map(|mark| after.strip_prefix(mark));
    match marked {
        Some(own) if after.len() < rest.len() => own,
        _ => rest.strip_prefix("- ").unwrap_or(line),
    }
}

/// What the change removed from a file.
fn removed_text(file: &FilePath, change: &Change) -> String {
    let hunks = change.file(file).map(|file| file.hunks.as_slice()).unwrap_or_default();
    let lines = hunks.iter().flat_map(|hunk| hunk.removed_lines()).map(|(_, text)| text);
    lines.collect::<Vec<_>>().join("\n")
}
