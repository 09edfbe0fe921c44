//! Applies and reverts a diff. The diff must fit exactly: with an offset, the line numbers would differ
//! from those under review.

use super::file::{FileDiff, HunkDiff, LineBytes};
use super::hunk::Range;
use crate::change::LineKind;

impl FileDiff<'_> {
    /// The content at head, given the content at base; `None` if the diff does not apply.
    pub fn apply(&self, base: &[u8]) -> Option<Vec<u8>> {
        replay(&self.hunks, base, HunkDiff::old_range, LineKind::Removed)
    }

    /// The content at base, given the content at head; `None` if the diff does not apply in reverse.
    pub fn revert(&self, head: &[u8]) -> Option<Vec<u8>> {
        replay(&self.hunks, head, HunkDiff::new_range, LineKind::Added)
    }
}

/// Rewrites `from`: drops the lines of kind `own`, which exist only on this side, and inserts the lines of
/// the other side.
fn replay<'a>(
    hunks: &[HunkDiff<'a>],
    from: &[u8],
    side: fn(&HunkDiff<'a>) -> Range,
    own: LineKind,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(from.len());
    let mut lines = from.split_inclusive(|byte| *byte == b'\n');
    let mut position = 0;
    for hunk in hunks {
        while position < side(hunk).before() {
            out.extend_from_slice(lines.next()?);
            position += 1;
        }
        for line in &hunk.lines {
            if line.kind == LineKind::Context || line.kind == own {
                position += 1;
                matches(line, lines.next()?).then_some(())?;
            }
            if line.kind != own {
                out.extend_from_slice(line.text);
                out.extend(line.is_ended.then_some(b'\n'));
            }
        }
    }
    out.extend(lines.flatten());
    Some(out)
}

fn matches(line: &LineBytes<'_>, found: &[u8]) -> bool {
    match found.strip_suffix(b"\n") {
        Some(text) => line.is_ended && line.text == text,
        None => !line.is_ended && line.text == found,
    }
}
