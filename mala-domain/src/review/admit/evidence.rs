//! Finds the lines that hold a quoted text. How much white space stands between the words, and where,
//! makes no difference: reviewers quote from what they were shown.

use crate::change::LineSpan;

/// The lines that hold the quoted text: where it was cited, else the only place that has it.
pub(super) fn find(text: &[&str], cited: LineSpan, quoted: &str) -> Option<LineSpan> {
    let wanted: Vec<&str> = quoted.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    place(text, cited, &wanted).or_else(|| {
        let bare = |line: &&str| line.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let (text, wanted): (Vec<String>, Vec<String>) =
            (text.iter().map(bare).collect(), wanted.iter().map(bare).collect());
        let text: Vec<&str> = text.iter().map(String::as_str).collect();
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        place(&text, cited, &wanted)
    })
}

fn place(text: &[&str], cited: LineSpan, wanted: &[&str]) -> Option<LineSpan> {
    let first = *wanted.first()?;
    let mut places = text
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains(first))
        .map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX))
        .filter(|line| follows(text, *line, wanted));
    let all: Vec<u32> = places.by_ref().take(1000).collect();
    let start = match all.iter().copied().find(|line| is_near(*line, cited)) {
        Some(line) => line,
        None if all.len() == 1 => *all.first()?,
        None => return None,
    };
    let length = u32::try_from(wanted.len()).unwrap_or(1).max(1);
    Some(LineSpan::between(start, start.saturating_add(length - 1)))
}

/// Whether a line is one of those cited, or close to the first of them.
pub(super) fn is_near(line: u32, cited: LineSpan) -> bool {
    line.abs_diff(cited.start()) <= 3 || cited.contains(line)
}

/// Whether the wanted lines stand here, one after the other.
fn follows(text: &[&str], line: u32, wanted: &[&str]) -> bool {
    let here = text.iter().skip(super::index(line)).filter(|line| !line.trim().is_empty());
    here.zip(wanted).filter(|(line, wanted)| line.contains(**wanted)).count() == wanted.len()
}
