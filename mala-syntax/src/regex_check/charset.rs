//! Sets of code points as sorted, disjoint ranges: what one step of a pattern can consume.
//! Surrogates count as code points, because JavaScript patterns name them.

/// The highest code point.
pub(super) const MAX: u32 = 0x10_FFFF;

/// Ranges larger than this are folded only in their ASCII part.
const FOLD_LIMIT: u32 = 512;

/// Where approximated letters outside ASCII lie.
const LETTERS: &[(u32, u32)] = &[
    (0xAA, 0xAA),
    (0xB5, 0xB5),
    (0xBA, 0xBA),
    (0xC0, 0xD6),
    (0xD8, 0xF6),
    (0xF8, 0x2C1),
    (0x370, 0x373),
    (0x376, 0x377),
    (0x386, 0x386),
    (0x388, 0x481),
    (0x48A, 0x1FBC),
    (0x2C00, 0x2DFF),
    (0x3041, 0x9FFF),
    (0xA000, 0xD7FF),
    (0xF900, 0xFDCF),
    (0xFF21, 0xFF3A),
    (0xFF41, 0xFF5A),
    (0x1_0000, 0x1_D7FF),
    (0x2_0000, 0x3_FFFF),
];

const SPACES: &[(u32, u32)] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0x85, 0x85),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
];

/// A set of code points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CharSet {
    ranges: Vec<(u32, u32)>,
}

impl CharSet {
    pub(super) fn empty() -> Self {
        Self::default()
    }

    pub(super) fn any() -> Self {
        Self::range(0, MAX)
    }

    pub(super) fn one(point: u32) -> Self {
        Self::range(point, point)
    }

    pub(super) fn range(low: u32, high: u32) -> Self {
        Self::from_ranges(vec![(low, high)])
    }

    /// Sorts and merges; reversed ranges vanish.
    pub(super) fn from_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.retain(|(low, high)| low <= high);
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self { ranges: merged }
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(super) fn contains(&self, point: u32) -> bool {
        let after = self.ranges.partition_point(|(low, _)| *low <= point);
        after > 0 && self.ranges.get(after - 1).is_some_and(|(_, high)| point <= *high)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self::from_ranges(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    pub(super) fn negate(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for (low, high) in &self.ranges {
            if *low > next {
                gaps.push((next, low - 1));
            }
            next = high.saturating_add(1);
        }
        if next <= MAX {
            gaps.push((next, MAX));
        }
        Self { ranges: gaps }
    }

    pub(super) fn intersect(&self, other: &Self) -> Self {
        self.negate().union(&other.negate()).negate()
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.intersect(&other.negate())
    }

    /// The set with the other case of each of its letters.
    pub(super) fn fold_case(&self) -> Self {
        let mut ranges = self.ranges.clone();
        for &(low, high) in &self.ranges {
            let upper = (low.max(65), high.min(90));
            let lower = (low.max(97), high.min(122));
            if upper.0 <= upper.1 {
                ranges.push((upper.0 + 32, upper.1 + 32));
            }
            if lower.0 <= lower.1 {
                ranges.push((lower.0 - 32, lower.1 - 32));
            }
            if high >= 0x80 && high - low <= FOLD_LIMIT {
                ranges.extend((low.max(0x80)..=high).flat_map(other_cases).map(|c| (c, c)));
            }
        }
        Self::from_ranges(ranges)
    }

    /// `\d`.
    pub(super) fn digits() -> Self {
        Self::range(48, 57)
    }

    /// `\w` of engines that know ASCII only.
    pub(super) fn ascii_word() -> Self {
        Self::from_ranges(vec![(48, 57), (65, 90), (95, 95), (97, 122)])
    }

    /// `\w` of engines that know Unicode; approximate outside Latin.
    pub(super) fn unicode_word() -> Self {
        Self::ascii_word().union(&Self::letters())
    }

    /// Letters of all scripts, approximate outside Latin.
    pub(super) fn letters() -> Self {
        let ascii = [(65, 90), (97, 122)];
        let letters = Self::from_ranges(ascii.iter().chain(LETTERS).copied().collect());
        letters.minus(&Self::spaces())
    }

    /// `\s`.
    pub(super) fn spaces() -> Self {
        Self::from_ranges(SPACES.to_vec())
    }

    /// What ends a line for `.`: `\n` alone, or also what JavaScript and Java count.
    pub(super) fn newlines(wide: Breaks) -> Self {
        match wide {
            Breaks::Feed => Self::one(10),
            Breaks::Wide => Self::from_ranges(vec![(10, 10), (13, 13), (0x2028, 0x2029)]),
        }
    }
}

/// Which characters end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breaks {
    Feed,
    Wide,
}

fn other_cases(point: u32) -> Vec<u32> {
    let Some(letter) = char::from_u32(point) else { return Vec::new() };
    let lower = letter.to_lowercase();
    let upper = letter.to_uppercase();
    let mut cases = Vec::new();
    if lower.len() == 1 {
        cases.extend(lower.map(u32::from));
    }
    if upper.len() == 1 {
        cases.extend(upper.map(u32::from));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_obey_boolean_laws() {
        let word = CharSet::ascii_word();
        assert_eq!(word.intersect(&word.negate()), CharSet::empty());
        assert_eq!(word.union(&word.negate()), CharSet::any());
        assert_eq!(CharSet::any().minus(&word), word.negate());
        assert!(word.contains(u32::from('_')) && !word.contains(u32::from('-')));
    }

    #[test]
    fn folding_adds_the_other_case() {
        let folded = CharSet::range(u32::from('a'), u32::from('c')).fold_case();
        assert!(folded.contains(u32::from('B')) && !folded.contains(u32::from('D')));
        assert!(CharSet::one(u32::from('É')).fold_case().contains(u32::from('é')));
    }
}
