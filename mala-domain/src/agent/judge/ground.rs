//! Puts a claim's evidence into the words of the file. A model quotes what it was shown: with line
//! numbers, with secrets taken out, or a line that the change removed.

use crate::agent::{fence, shown};
use crate::change::{Change, FilePath};
use crate::finding::Candidate;
use crate::review::Texts;
use crate::secrets;

/// The claim with evidence that can be looked up at head. What cannot be brought there stays as it
/// is, and admission drops the claim.
pub fn ground(mut claim: Candidate, change: &Change, texts: &Texts) -> Candidate {
    let Some(quoted) = claim.evidence.take() else { return claim };
    let head = head_text(&claim.file, change, texts);
    let gone = removed_text(&claim.file, change);
    // A secret was taken out of the line: its place stands for it, if what is quoted stood there.
    let hides = |text: &str| {
        quoted.contains("[redacted:") && in_words_of(&secrets::redact(text), &quoted).is_some()
    };
    if let Some(found) = in_words_of(&head, &quoted) {
        claim.evidence = Some(found);
    } else if hides(&head) || hides(&gone) {
        claim.evidence = None;
    } else if let Some(gone) = in_words_of(&gone, &quoted) {
        // The lines that are left are the evidence.
        claim.body.push_str(&format!("\n\nRemoved: {}", gone.trim()));
    } else {
        claim.evidence = Some(quoted);
    }
    claim
}

/// The quote as the text has it, when each of its lines is somewhere in the text, whatever its white
/// space; admission looks more closely.
fn in_words_of(text: &str, quoted: &str) -> Option<String> {
    let bare_text = bare(text);
    let has = |line: &str| text.contains(line) || bare_text.contains(&bare(line));
    let line = |quoted: &str| {
        let meant = shown::meant(quoted);
        meant.iter().find(|line| has(line)).cloned().or_else(|| imitating(text, &meant))
    };
    let lines = quoted.lines().filter(|line| !line.trim().is_empty());
    let found: Vec<String> = lines.map(line).collect::<Option<_>>()?;
    (!found.is_empty()).then(|| found.join("\n"))
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_whitespace()).collect()
}

/// A line of the text that itself holds what breaks imitations.
fn imitating(text: &str, meant: &[String]) -> Option<String> {
    if !text.contains(fence::IMITATION) {
        return None;
    }
    let mut odd = text.lines().filter(|line| line.contains(fence::IMITATION));
    odd.find(|line| meant.iter().any(|it| fence::restored(line).contains(it)))
        .map(|line| line.trim().to_owned())
}

/// The file at head; of a patch without its repository, the lines that it shows.
fn head_text(file: &FilePath, change: &Change, texts: &Texts) -> String {
    if let Some(text) = texts.at_head(file) {
        return text.to_owned();
    }
    let hunks = change.file(file).map(|file| file.hunks.as_slice()).unwrap_or_default();
    let lines = hunks.iter().flat_map(|hunk| hunk.head_lines()).map(|(_, text)| text);
    lines.collect::<Vec<_>>().join("\n")
}

/// What the change removed from a file.
fn removed_text(file: &FilePath, change: &Change) -> String {
    let hunks = change.file(file).map(|file| file.hunks.as_slice()).unwrap_or_default();
    let lines = hunks.iter().flat_map(|hunk| hunk.removed_lines()).map(|(_, text)| text);
    lines.collect::<Vec<_>>().join("\n")
}
