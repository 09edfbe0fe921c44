//! Combines two consecutive diffs of a file into one.
//!
//! Walks both diffs over the lines of the intermediate version. Lines outside of all hunks are gaps of
//! known length and unknown text.

use super::build::Builder;
use super::file::{HunkDiff, LineBytes};
use super::hunk::Range;
use crate::change::LineKind;

/// The second diff does not apply to the result of the first.
#[derive(Debug)]
pub(super) struct Conflict;

/// The hunks from the base of `first` to the head of `second`.
pub(super) fn compose<'a>(
    first: &[HunkDiff<'a>],
    second: &[HunkDiff<'a>],
) -> Result<Vec<HunkDiff<'a>>, Conflict> {
    let mut first = Steps::new(first, HunkDiff::new_range);
    let mut second = Steps::new(second, HunkDiff::old_range);
    let mut joined = Builder::default();
    loop {
        match (first.peek(), second.peek()) {
            (Some(Step::Line(a)), _) if a.kind == LineKind::Removed => {
                joined.line(a);
                first.take(1);
            }
            (_, Some(Step::Line(b))) if b.kind == LineKind::Added => {
                joined.line(b);
                second.take(1);
            }
            (None, None) => return Ok(joined.finish()),
            (a, b) => {
                let n_lines = shared(a.as_ref(), b.as_ref());
                both(&mut joined, a, b, n_lines)?;
                first.take(n_lines);
                second.take(n_lines);
            }
        }
    }
}

/// How many lines of the intermediate version both steps cover.
fn shared(a: Option<&Step<'_>>, b: Option<&Step<'_>>) -> u32 {
    let n_lines = |step: Option<&Step<'_>>| match step {
        Some(Step::Gap(n_lines)) => *n_lines,
        Some(Step::Line(_)) => 1,
        None => u32::MAX,
    };
    n_lines(a).min(n_lines(b))
}

/// Advances over lines of the intermediate version.
fn both<'a>(
    joined: &mut Builder<'a>,
    a: Option<Step<'a>>,
    b: Option<Step<'a>>,
    n_lines: u32,
) -> Result<(), Conflict> {
    match (a, b) {
        (Some(Step::Line(a)), Some(Step::Line(b))) => {
            if (a.text, a.is_ended) != (b.text, b.is_ended) {
                return Err(Conflict);
            }
            match (a.kind, b.kind) {
                (LineKind::Added, LineKind::Removed) => {}
                (LineKind::Added, _) => joined.line(a),
                _ => joined.line(b),
            }
        }
        (Some(Step::Line(line)), _) | (_, Some(Step::Line(line))) => joined.line(line),
        _ => joined.gap(n_lines),
    }
    Ok(())
}

/// A line of a hunk, or a number of lines outside of hunks.
#[derive(Clone, Copy)]
enum Step<'a> {
    Gap(u32),
    Line(LineBytes<'a>),
}

/// Iterates over the steps of a diff on one of its sides.
struct Steps<'h, 'a> {
    hunks: std::slice::Iter<'h, HunkDiff<'a>>,
    side: fn(&HunkDiff<'a>) -> Range,
    lines: &'h [LineBytes<'a>],
    gap: u32,
    position: u32,
}

impl<'h, 'a> Steps<'h, 'a> {
    fn new(hunks: &'h [HunkDiff<'a>], side: fn(&HunkDiff<'a>) -> Range) -> Self {
        let mut steps = Self { hunks: hunks.iter(), side, lines: &[], gap: 0, position: 0 };
        steps.refill();
        steps
    }

    fn refill(&mut self) {
        while self.gap == 0
            && self.lines.is_empty()
            && let Some(hunk) = self.hunks.next()
        {
            let range = (self.side)(hunk);
            self.gap = range.before().saturating_sub(self.position);
            self.position = range.before().saturating_add(range.count);
            self.lines = &hunk.lines;
        }
    }

    fn peek(&self) -> Option<Step<'a>> {
        match self.gap {
            0 => self.lines.first().copied().map(Step::Line),
            gap => Some(Step::Gap(gap)),
        }
    }

    fn take(&mut self, n_lines: u32) {
        if self.gap > 0 {
            self.gap = self.gap.saturating_sub(n_lines);
        } else {
            self.lines = self.lines.get(1..).unwrap_or_default();
        }
        self.refill();
    }
}
