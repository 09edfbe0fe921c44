//! A part of a change: some of its lines, as the change from a base that has all the others already.

use super::build::Builder;
use super::file::{FileDiff, LineBytes};
use crate::change::LineKind;

impl<'a> FileDiff<'a> {
    /// The same file with only those added and removed lines that are wanted. Added lines come with
    /// their number at head. Lines that are added and not wanted count as there before; lines that
    /// are removed and not wanted, as gone before.
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
                // The last line at head is the last one at base too, when it is on both sides.
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

/// A removed line without a line feed may have got others behind it at base.
fn end_all_but_last(lines: &mut [LineBytes<'_>]) {
    let last = lines.iter().rposition(|line| line.kind != LineKind::Added);
    for (number, line) in lines.iter_mut().enumerate() {
        line.is_ended |= line.kind == LineKind::Removed && Some(number) != last;
    }
}
