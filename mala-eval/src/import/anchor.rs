//! Finds the location of a comment without a line: the changed region that shares most of its
//! words. Rare words count more, and words of code far more than prose. If two regions are about
//! equally good, the comment has no location.

#[cfg(test)]
mod tests;

use mala_domain::change::{Change, ChangedFile, FilePath, Hunk, LineSpan};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The weight of a word of prose, relative to a word of code.
const PROSE: f64 = 0.2;
/// The weight of a file name in the comment.
const NAMED: f64 = 1.0;
/// How much better than the next one the best region has to be.
const CLEARLY: f64 = 1.3;
/// The start of lines that only import names.
const IMPORTS: &[&str] = &["import ", "from ", "use ", "using ", "#include", "package "];

/// The regions of a change, by the words in them.
pub(super) struct AnchorRegions<'a> {
    regions: Vec<AnchorRegion<'a>>,
    by_word: HashMap<&'a str, Vec<usize>>,
}

impl<'a> AnchorRegions<'a> {
    pub(super) fn of(change: &'a Change) -> Self {
        let files =
            change.files.iter().filter(|file| file.is_reviewable() && file.exists_at_head());
        let hunks = files.flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)));
        let mut found = Self { regions: Vec::new(), by_word: HashMap::new() };
        for (file, hunk) in hunks {
            let Some(region) = AnchorRegion::of(file, hunk) else { continue };
            for word in words_of(hunk) {
                found.by_word.entry(word).or_default().push(found.regions.len());
            }
            found.regions.push(region);
        }
        found
    }

    /// The lines that a comment is about; `None` when no region is clearly the one.
    pub(super) fn place(&self, comment: &str) -> Option<(FilePath, LineSpan)> {
        let wanted = AnchorWords::of(comment);
        let mut worth = self.worth(&wanted.code);
        for (at, more) in self.worth(&wanted.prose) {
            worth.entry(at).and_modify(|worth| *worth += more * PROSE);
        }
        for (at, worth) in &mut worth {
            let is_named = self.regions.get(*at).is_some_and(|region| region.is_named(comment));
            *worth += if is_named { NAMED } else { 0.0 };
        }
        let (mut best, mut most, mut next) = (None, 0.0, 0.0);
        for (at, worth) in worth {
            if worth > most {
                (best, next, most) = (self.regions.get(at), most, worth);
            } else {
                next = worth.max(next);
            }
        }
        let best = best.filter(|_| most >= next * CLEARLY)?;
        Some((best.file.path.clone(), best.span))
    }

    /// The score of each region for these words; rare words count most.
    fn worth(&self, words: &HashSet<&str>) -> BTreeMap<usize, f64> {
        let mut worth = BTreeMap::new();
        // In one order, so that sums are the same each time.
        let words: BTreeSet<&str> = words.iter().copied().collect();
        for regions in words.into_iter().filter_map(|word| self.by_word.get(word)) {
            let rarity = 1.0 / regions.len() as f64;
            regions.iter().for_each(|at| *worth.entry(*at).or_default() += rarity);
        }
        worth
    }
}

/// The words of a comment.
struct AnchorWords<'a> {
    code: HashSet<&'a str>,
    prose: HashSet<&'a str>,
}

impl<'a> AnchorWords<'a> {
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
}

/// A changed region.
struct AnchorRegion<'a> {
    file: &'a ChangedFile,
    span: LineSpan,
}

impl<'a> AnchorRegion<'a> {
    fn of(file: &'a ChangedFile, hunk: &Hunk) -> Option<Self> {
        let shown = || hunk.head_lines().map(|(number, _)| number);
        let added = || hunk.added_lines().map(|(number, _)| number);
        let first = added().next().or_else(|| shown().next())?;
        let last = added().last().or_else(|| shown().last())?;
        Some(Self { file, span: LineSpan::between(first, last) })
    }

    fn is_named(&self, comment: &str) -> bool {
        let stem = self.file.path.file_name().split('.').next().unwrap_or_default();
        stem.len() > 4 && comment.contains(stem)
    }
}

fn words_of(hunk: &Hunk) -> HashSet<&str> {
    let lines = hunk.head_lines().map(|(_, text)| text.trim_start());
    let lines = lines.filter(|text| !IMPORTS.iter().any(|start| text.starts_with(start)));
    lines.flat_map(tokens).collect()
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
