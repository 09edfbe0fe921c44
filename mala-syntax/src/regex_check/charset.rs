//! Sets of characters as sorted ranges.

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CharacterSet {
    ranges: Vec<(u32, u32)>,
}

const MAX_CHARACTER: u32 = 0x10_FFFF;

impl CharacterSet {
    pub(super) fn of(ranges: &[(u32, u32)]) -> Self {
        let mut set = Self { ranges: ranges.to_vec() };
        set.normalize();
        set
    }

    pub(super) fn one(character: char) -> Self {
        Self::of(&[(character.into(), character.into())])
    }

    /// The characters that `\d`, `\w` or `\s` match.
    pub(super) fn class(letter: char) -> Option<Self> {
        let set = match letter.to_ascii_lowercase() {
            'd' => Self::of(&[range('0', '9')]),
            'w' => Self::of(&[range('0', '9'), range('A', 'Z'), range('a', 'z'), range('_', '_')]),
            's' => Self::of(&[(9, 13), (32, 32), (0xA0, 0xA0), (0x2000, 0x200A), (0x2028, 0x2029)]),
            _ => return None,
        };
        Some(if letter.is_ascii_uppercase() { set.negated() } else { set })
    }

    /// The characters that `.` matches.
    pub(super) fn dot(with_line_ends: bool) -> Self {
        if with_line_ends {
            return Self::of(&[(0, MAX_CHARACTER)]);
        }
        Self::of(&[(10, 10), (13, 13)]).negated()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.ranges.extend(&other.ranges);
        self.normalize();
    }

    pub(super) fn negated(&self) -> Self {
        let mut ranges = Vec::new();
        let mut next = 0;
        for (low, high) in &self.ranges {
            if *low > next {
                ranges.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= MAX_CHARACTER {
            ranges.push((next, MAX_CHARACTER));
        }
        Self { ranges }
    }

    /// The set with both cases of its letters.
    pub(super) fn without_case(&self) -> Self {
        let mut all = self.clone();
        for (low, high) in &self.ranges {
            for (from, to, other) in [('a', 'z', 'A'), ('A', 'Z', 'a')] {
                let (low, high) = ((*low).max(from.into()), (*high).min(to.into()));
                if low <= high {
                    let moved = |c: u32| c - u32::from(from) + u32::from(other);
                    all.ranges.push((moved(low), moved(high)));
                }
            }
        }
        all.normalize();
        all
    }

    pub(super) fn contains(&self, character: char) -> bool {
        let code = u32::from(character);
        let at = self.ranges.partition_point(|(_, high)| *high < code);
        self.ranges.get(at).is_some_and(|(low, _)| *low <= code)
    }

    /// The only member, if there is one.
    pub(super) fn only_code(&self) -> Option<u32> {
        match self.ranges.as_slice() {
            [(low, high)] if low == high => Some(*low),
            _ => None,
        }
    }

    /// Characters that distinguish sets: a readable one, and the bounds of each range.
    pub(super) fn examples(&self) -> Vec<char> {
        let readable = ['a', '0', ' ', '_', 'A', '-', '.', '"'];
        let bounds = self.ranges.iter().take(12).flat_map(|(low, high)| [*low, *high]);
        let first = readable.into_iter().filter(|character| self.contains(*character)).take(1);
        first.chain(bounds.filter_map(char::from_u32)).collect()
    }

    fn normalize(&mut self) {
        self.ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (low, high) in self.ranges.drain(..) {
            match merged.last_mut() {
                Some((_, end)) if low <= end.saturating_add(1) => *end = (*end).max(high),
                _ => merged.push((low, high)),
            }
        }
        self.ranges = merged;
    }
}

fn range(low: char, high: char) -> (u32, u32) {
    (low.into(), high.into())
}
