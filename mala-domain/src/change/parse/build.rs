//! Builds hunks from a sequence of lines and gaps.

use super::file::{HunkDiff, LineBytes};
use crate::change::LineKind;

/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// Collects lines into hunks.
#[derive(Default)]
pub(super) struct Builder<'a> {
    hunks: Vec<HunkDiff<'a>>,
    lines: Vec<LineBytes<'a>>,
    /// Number of base and head lines before `lines`.
    before: (u32, u32),
}

impl<'a> Builder<'a> {
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

    /// Turns the collected lines into a hunk. Returns the number of base and head lines consumed so far.
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
