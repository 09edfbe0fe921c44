//! Where a comment that names no place belongs: the changed region that holds most of its words, with rare
//! words first, and words of code far before words of prose. When two regions are about as good, nobody
//! knows, and it belongs nowhere.

#[cfg(test)]
mod tests;

use crate::change::{Change, ChangedFile, FilePath, Hunk, LineSpan};
use std::collections::{HashMap, HashSet};

/// What a word of prose is worth beside a word of code.
const PROSE: f64 = 0.2;
/// What it is worth that the comment names the file.
const NAMED: f64 = 1.0;
/// How much better than the next one the best region has to be.
const CLEARLY: f64 = 1.3;
/// Lines that only name what is used elsewhere start with these.
const IMPORTS: &[&str] = &["import ", "from ", "use ", "using ", "#include", "package "];

/// The lines that a comment is about; `None` when no region is clearly the one.
pub(super) fn place(comment: &str, change: &Change) -> Option<(FilePath, LineSpan)> {
    let wanted = Words::of(comment);
    if wanted.code.is_empty() {
        return None;
    }
    let regions = regions(change);
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for word in regions.iter().flat_map(|region| &region.words).filter(|word| wanted.has(word)) {
        *counts.entry(word).or_default() += 1.0;
    }
    let (mut best, mut next): (Option<&Region<'_>>, f64) = (None, 0.0);
    let mut most = 0.0;
    for region in &regions {
        let worth = region.worth(&wanted, &counts, comment);
        if worth > most {
            (best, next, most) = (Some(region), most, worth);
        } else {
            next = next.max(worth);
        }
    }
    let best = best.filter(|_| most >= next * CLEARLY)?;
    Some((best.file.path.clone(), best.span))
}

/// The words of a comment.
struct Words<'a> {
    code: HashSet<&'a str>,
    prose: HashSet<&'a str>,
}

impl<'a> Words<'a> {
    fn of(comment: &'a str) -> Self {
        let mut words = Self { code: HashSet::new(), prose: HashSet::new() };
        for (at, piece) in comment.split('`').enumerate() {
            // Every second piece is between ticks.
            let is_quoted = at % 2 == 1;
            for word in tokens(piece).filter(|word| word.len() >= 3) {
                match is_quoted || looks_like_code(word) {
                    true => words.code.insert(word),
                    false => words.prose.insert(word),
                };
            }
        }
        words
    }

    fn has(&self, word: &str) -> bool {
        self.code.contains(word) || self.prose.contains(word)
    }
}

/// A changed region.
struct Region<'a> {
    file: &'a ChangedFile,
    span: LineSpan,
    words: HashSet<&'a str>,
}

impl<'a> Region<'a> {
    fn of(file: &'a ChangedFile, hunk: &'a Hunk) -> Option<Self> {
        let shown = || hunk.head_lines().map(|(number, _)| number);
        let added = || hunk.added_lines().map(|(number, _)| number);
        let first = added().next().or_else(|| shown().next())?;
        let last = added().last().or_else(|| shown().last())?;
        let lines = hunk.head_lines().map(|(_, text)| text.trim_start());
        let lines = lines.filter(|text| !IMPORTS.iter().any(|start| text.starts_with(start)));
        let words = lines.flat_map(tokens).collect();
        Some(Self { file, span: LineSpan::between(first, last), words })
    }

    fn worth(&self, wanted: &Words<'_>, counts: &HashMap<&str, f64>, comment: &str) -> f64 {
        let rarity = |word: &&str| 1.0 / counts.get(*word).copied().unwrap_or(1.0);
        let worth = |of: &HashSet<&str>| -> f64 {
            self.words.iter().filter(|word| of.contains(**word)).map(rarity).sum()
        };
        let code = worth(&wanted.code);
        let name = self.file.path.file_name();
        let stem = name.split('.').next().unwrap_or_default();
        let is_named = stem.len() > 4 && comment.contains(stem);
        match code > 0.0 {
            true => code + worth(&wanted.prose) * PROSE + if is_named { NAMED } else { 0.0 },
            false => 0.0,
        }
    }
}

fn regions(change: &Change) -> Vec<Region<'_>> {
    let files = change.files.iter().filter(|file| file.is_reviewable() && file.exists_at_head());
    files
        .flat_map(|file| file.hunks.iter().filter_map(move |hunk| Region::of(file, hunk)))
        .collect()
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(move |letter: char| !is_part(letter)).filter(|word| !word.is_empty())
}

/// `snake_case`, `camelCase`, `PascalCase` or `CONSTANT`.
fn looks_like_code(word: &str) -> bool {
    let inner = word.trim_matches('_');
    let mut letters = inner.chars().skip(1);
    let has_capital = letters.any(char::is_uppercase);
    let has_small = inner.chars().any(char::is_lowercase);
    word.contains('_') || (has_capital && (has_small || inner.len() >= 5))
}
