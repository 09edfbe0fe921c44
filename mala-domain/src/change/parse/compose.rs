//! Combines two consecutive diffs of a file into one.
//!
//! Walks both diffs over the lines of the intermediate version. Lines outside of all hunks are gaps
//! of known length and unknown text.

use super::file::{HunkDiff, LineBytes};
use super::hunk::LineRange;
use crate::change::LineKind;

/// The second diff does not apply to the result of the first.
#[derive(Debug)]
pub(super) struct ComposeConflict;

/// The hunks from the base of `first` to the head of `second`.
pub(super) fn compose<'a>(
    first: &[HunkDiff<'a>],
    second: &[HunkDiff<'a>],
) -> Result<Vec<HunkDiff<'a>>, ComposeConflict> {
    let mut first = DiffSteps::new(first, HunkDiff::new_range);
    let mut second = DiffSteps::new(second, HunkDiff::old_range);
    let mut joined = HunkBuilder::default();
    loop {
        match (first.peek(), second.peek()) {
            (Some(DiffStep::Line(a)), _) if a.kind == LineKind::Removed => {
                joined.line(a);
                first.take(1);
            }
            (_, Some(DiffStep::Line(b))) if b.kind == LineKind::Added => {
                joined.line(b);
                second.take(1);
            }
            (None, None) => return Ok(joined.finish()),
            (a, b) => {
                let n_lines = common_length(a.as_ref(), b.as_ref());
                advance_both(&mut joined, a, b, n_lines)?;
                first.take(n_lines);
                second.take(n_lines);
            }
        }
    }
}

/// How many lines of the intermediate version both steps cover.
fn common_length(a: Option<&DiffStep<'_>>, b: Option<&DiffStep<'_>>) -> u32 {
    let n_lines = |step: Option<&DiffStep<'_>>| match step {
        Some(DiffStep::Gap(n_lines)) => *n_lines,
        Some(DiffStep::Line(_)) => 1,
        None => u32::MAX,
    };
    n_lines(a).min(n_lines(b))
}

/// Advances over lines of the intermediate version.
fn advance_both<'a>(
    joined: &mut HunkBuilder<'a>,
    a: Option<DiffStep<'a>>,
    b: Option<DiffStep<'a>>,
    n_lines: u32,
) -> Result<(), ComposeConflict> {
    match (a, b) {
        (Some(DiffStep::Line(a)), Some(DiffStep::Line(b))) => {
            if (a.text, a.has_newline) != (b.text, b.has_newline) {
                return Err(ComposeConflict);
            }
            match (a.kind, b.kind) {
                (LineKind::Added, LineKind::Removed) => {}
                (LineKind::Added, _) => joined.line(a),
                _ => joined.line(b),
            }
        }
        (Some(DiffStep::Line(line)), _) | (_, Some(DiffStep::Line(line))) => joined.line(line),
        _ => joined.gap(n_lines),
    }
    Ok(())
}

/// A line of a hunk, or a number of lines outside of hunks.
#[derive(Clone, Copy)]
enum DiffStep<'a> {
    Gap(u32),
    Line(LineBytes<'a>),
}

/// Iterates over the steps of a diff on one of its sides.
struct DiffSteps<'h, 'a> {
    hunks: std::slice::Iter<'h, HunkDiff<'a>>,
    side: fn(&HunkDiff<'a>) -> LineRange,
    lines: &'h [LineBytes<'a>],
    gap: u32,
    position: u32,
}

impl<'h, 'a> DiffSteps<'h, 'a> {
    fn new(hunks: &'h [HunkDiff<'a>], side: fn(&HunkDiff<'a>) -> LineRange) -> Self {
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

    fn peek(&self) -> Option<DiffStep<'a>> {
        match self.gap {
            0 => self.lines.first().copied().map(DiffStep::Line),
            gap => Some(DiffStep::Gap(gap)),
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

/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// Collects lines into hunks.
#[derive(Default)]
pub(super) struct HunkBuilder<'a> {
    hunks: Vec<HunkDiff<'a>>,
    lines: Vec<LineBytes<'a>>,
    /// Number of base and head lines before `lines`.
    before: (u32, u32),
}

impl<'a> HunkBuilder<'a> {
    /// Appends a line.
    pub(super) fn line(&mut self, line: LineBytes<'a>) {
        self.lines.push(line);
    }

    /// Skips lines that are equal on both sides and whose text is unknown.
    pub(super) fn gap(&mut self, n_lines: u32) {
        let (old, new) = self.close();
        self.before = (old.saturating_add(n_lines), new.saturating_add(n_lines));
    }

    /// Returns all hunks.
    pub(super) fn finish(mut self) -> Vec<HunkDiff<'a>> {
        self.close();
        self.hunks
    }

    /// Turns the collected lines into a hunk. Returns the number of base and head lines consumed so
    /// far.
    fn close(&mut self) -> (u32, u32) {
        let mut lines = std::mem::take(&mut self.lines);
        let (old, new) = counts(&lines);
        let after = (self.before.0.saturating_add(old), self.before.1.saturating_add(new));
        let is_change = |line: &LineBytes<'_>| line.kind != LineKind::Context;
        if let (Some(first), Some(last)) =
            (lines.iter().position(is_change), lines.iter().rposition(is_change))
        {
            let cut = first.saturating_sub(CONTEXT);
            lines.truncate(last + 1 + CONTEXT);
            lines.drain(..cut);
            let cut = u32::try_from(cut).unwrap_or(u32::MAX);
            let (old_lines, new_lines) = counts(&lines);
            let start = |before: u32, n_lines: u32| {
                before.saturating_add(cut).saturating_add(u32::from(n_lines > 0))
            };
            self.hunks.push(HunkDiff {
                old_start: start(self.before.0, old_lines),
                old_lines,
                new_start: start(self.before.1, new_lines),
                new_lines,
                section: &[],
                lines,
            });
        }
        after
    }
}

fn counts(lines: &[LineBytes<'_>]) -> (u32, u32) {
    let count = |other: LineKind| {
        let own = lines.iter().filter(|line| line.kind != other).count();
        u32::try_from(own).unwrap_or(u32::MAX)
    };
    (count(LineKind::Added), count(LineKind::Removed))
}
