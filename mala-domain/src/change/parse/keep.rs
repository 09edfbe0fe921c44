//! Selects a part of a diff: the base of the result already contains all other changes.

use super::build::Builder;
use super::file::{FileDiff, LineBytes};
use crate::change::LineKind;

impl<'a> FileDiff<'a> {
    /// The same file with only the added and removed lines for which `wanted` returns true. `wanted` gets the
    /// line number at head of added lines. Other added lines become context; other removed lines disappear.
    pub fn keep(&self, wanted: impl Fn(&LineBytes<'a>, Option<u32>) -> bool) -> Self {
        let mut kept = Builder::default();
        let mut position = 0_u32;
        let mut unended = None;
        for hunk in &self.hunks {
            let before = hunk.new_range().before();
            if before > position {
                kept.gap(before - position);
                position = before;
            }
            for line in &hunk.lines {
                if line.kind != LineKind::Removed {
                    position = position.saturating_add(1);
                }
                let line = match line.kind {
                    LineKind::Added if !wanted(line, Some(position)) => {
                        LineBytes { kind: LineKind::Context, ..*line }
                    }
                    LineKind::Removed if !wanted(line, None) => continue,
                    _ => *line,
                };
                // A last line that exists on both sides is last on both.
                if line.kind == LineKind::Context && !line.is_ended {
                    unended = Some(line);
                } else {
                    kept.line(line);
                }
            }
        }
        unended.into_iter().for_each(|line| kept.line(line));
        let mut hunks = kept.finish();
        if let Some(last) = hunks.last_mut() {
            end_all_but_last(&mut last.lines);
        }
        Self { hunks, ..self.clone() }
    }
}

/// Only the last line at base may have no line feed.
fn end_all_but_last(lines: &mut [LineBytes<'_>]) {
    let last = lines.iter().rposition(|line| line.kind != LineKind::Added);
    for (number, line) in lines.iter_mut().enumerate() {
        line.is_ended |= line.kind == LineKind::Removed && Some(number) != last;
    }
}
