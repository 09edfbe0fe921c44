//! Overlapping spans, found in one sweep over the lines. The cost grows with the number of overlaps only.

use mala_domain::change::LineSpan;

/// Lines from first to last. Unlike a `LineSpan` it may reach above the first line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineInterval {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl LineInterval {
    pub(super) fn of(span: LineSpan) -> Self {
        Self { first: i64::from(span.start()), last: i64::from(span.end()) }
    }

    pub(super) fn widened(self, by: u32) -> Self {
        Self { first: self.first - i64::from(by), last: self.last + i64::from(by) }
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// One side's spans that the sweep is inside of.
#[derive(Default)]
struct OpenInterval {
    spans: Vec<(usize, i64)>,
}

impl OpenInterval {
    /// Removes the spans that end before this line, and calls `meet` for each of the others.
    fn each(&mut self, line: i64, mut meet: impl FnMut(usize)) {
        self.spans.retain(|(index, last)| {
            let is_open = *last >= line;
            if is_open {
                meet(*index);
            }
            is_open
        });
    }
}

/// All pairs that overlap, ours first, in order; `None` when there are more than `most`.
pub(super) fn overlaps(
    ours: &[LineInterval],
    theirs: &[LineInterval],
    most: usize,
) -> Option<Vec<(usize, usize)>> {
    let mut starts: Vec<(i64, NeighbourSide, usize, i64)> =
        Vec::with_capacity(ours.len() + theirs.len());
    let side = |side: NeighbourSide| {
        move |(index, span): (usize, &LineInterval)| (span.first, side, index, span.last)
    };
    starts.extend(ours.iter().enumerate().map(side(NeighbourSide::Ours)));
    starts.extend(theirs.iter().enumerate().map(side(NeighbourSide::Theirs)));
    starts.sort_unstable();
    let (mut open_ours, mut open_theirs) = (OpenInterval::default(), OpenInterval::default());
    let mut found = Vec::new();
    for (line, side, index, last) in starts {
        match side {
            NeighbourSide::Ours => {
                open_theirs.each(line, |other| found.push((index, other)));
                open_ours.spans.push((index, last));
            }
            NeighbourSide::Theirs => {
                open_ours.each(line, |other| found.push((other, index)));
                open_theirs.spans.push((index, last));
            }
        }
        if found.len() > most {
            return None;
        }
    }
    found.sort_unstable();
    Some(found)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NeighbourSide {
    Ours,
    Theirs,
}
