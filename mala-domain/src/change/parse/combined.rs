//! Combined diffs (`diff --cc`), which `git show` prints for merge commits, with one sign column
//! per parent. They are converted to a diff against the first parent.

use super::error::{DiffError, DiffErrorKind};
use super::file::{FileDiff, HunkDiff, LineBytes};
use super::hunk::{LineEndings, LineRange, add};
use super::names;
use super::{DiffLines, without_cr};
use crate::change::{FileStatus, LineKind};

pub(super) fn name_of(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"diff --cc ").or_else(|| line.strip_prefix(b"diff --combined "))
}

pub(super) fn section<'a>(
    lines: &mut DiffLines<'a>,
    name: &'a [u8],
) -> Result<FileDiff<'a>, DiffError> {
    let names =
        names::of_combined(without_cr(name)).map_err(|problem| problem.at(lines.number()))?;
    let mut file = names.into_file();
    let mut ends = LineEndings::AsInFile;
    lines.advance();
    while let Some(line) = lines.peek() {
        match line {
            [b'@', b'@', b'@', ..] => {
                add(&mut file.hunks, hunk(lines, line, ends)?, lines.number())?
            }
            _ if !file.hunks.is_empty() => break,
            _ if line.starts_with(b"new file mode ") => file.status = FileStatus::Added,
            _ if line.starts_with(b"deleted file mode ") => file.status = FileStatus::Deleted,
            _ if line.starts_with(b"Binary files ") => file.is_binary = true,
            _ if line.starts_with(b"+++ ") => ends = LineEndings::of_header(line),
            _ if is_header(line) => {}
            _ => break,
        }
        if !line.starts_with(b"@@@") {
            lines.advance();
        }
    }
    Ok(file)
}

fn is_header(line: &[u8]) -> bool {
    [&b"index "[..], b"mode ", b"--- "].iter().any(|start| line.starts_with(start))
}

fn hunk<'a>(
    lines: &mut DiffLines<'a>,
    header: &'a [u8],
    ends: LineEndings,
) -> Result<HunkDiff<'a>, DiffError> {
    let at = lines.number();
    let Some(mut counts) = CombinedCounts::parse(without_cr(header)) else {
        return Err(DiffErrorKind::HunkHeader.at(at));
    };
    let (first, new, section) = (counts.first, counts.new, counts.section);
    lines.advance();
    let mut shown: Vec<LineBytes<'a>> = Vec::new();
    let mut last_is_shown = false;
    while !counts.are_zero() {
        let Some(line) = lines.peek() else {
            return Err(DiffErrorKind::HunkCut { missing: counts.missing() }.at(lines.number()));
        };
        if line.starts_with(b"\\ ") {
            remove_newline(&mut shown, last_is_shown);
        } else {
            let Some(kind) = counts.take(line) else {
                let what = format!("{} more lines", counts.missing());
                return Err(DiffErrorKind::HunkLine { hunk: at, what }.at(lines.number()));
            };
            last_is_shown = kind.is_some();
            let text = ends.text(line.get(counts.parents.len()..).unwrap_or_default());
            shown.extend(kind.map(|kind| LineBytes { kind, text, has_newline: true }));
        }
        lines.advance();
    }
    if lines.peek().is_some_and(|line| line.starts_with(b"\\ ")) {
        remove_newline(&mut shown, last_is_shown);
        lines.advance();
    }
    Ok(HunkDiff {
        old_start: first.start,
        old_lines: first.count,
        new_start: new.start,
        new_lines: new.count,
        section,
        lines: shown,
    })
}

fn remove_newline(shown: &mut [LineBytes<'_>], last_is_shown: bool) {
    if last_is_shown && let Some(last) = shown.last_mut() {
        last.has_newline = false;
    }
}

/// The maximum number of parents.
const MAX_PARENTS: usize = 64;

/// Number of remaining lines per parent and in the merge result.
struct CombinedCounts<'a> {
    first: LineRange,
    new: LineRange,
    section: &'a [u8],
    parents: Vec<u32>,
    result: u32,
}

impl<'a> CombinedCounts<'a> {
    /// `@@@ -a,b -c,d +e,f @@@ section`
    fn parse(header: &'a [u8]) -> Option<Self> {
        let n_signs = header.iter().take_while(|byte| **byte == b'@').count();
        (n_signs <= MAX_PARENTS).then_some(())?;
        let (signs, rest) = header.split_at(n_signs);
        let mut rest = rest.strip_prefix(b" ")?;
        let mut ranges = Vec::new();
        while ranges.len() + 1 < n_signs {
            let (text, after) = word(rest.strip_prefix(b"-")?)?;
            ranges.push(LineRange::parse(text)?);
            rest = after;
        }
        let (text, after) = word(rest.strip_prefix(b"+")?)?;
        let new = LineRange::parse(text)?;
        let section = after.strip_prefix(signs)?;
        let section = section.strip_prefix(b" ").unwrap_or(section);
        let parents = ranges.iter().map(|range| range.count).collect();
        Some(Self { first: *ranges.first()?, new, section, parents, result: new.count })
    }

    fn missing(&self) -> u32 {
        self.parents.iter().copied().max().unwrap_or_default().max(self.result)
    }

    fn are_zero(&self) -> bool {
        self.missing() == 0
    }

    /// Counts a line and returns its kind relative to the first parent: `Some(None)` if it exists
    /// on neither side, `None` if it is malformed.
    fn take(&mut self, line: &[u8]) -> Option<Option<LineKind>> {
        // The spaces of an empty line may have been stripped.
        let blank;
        let columns = match line {
            [] | [b'\r'] => {
                blank = vec![b' '; self.parents.len()];
                blank.as_slice()
            }
            _ => line.get(..self.parents.len())?,
        };
        if !columns.iter().all(|sign| matches!(sign, b' ' | b'+' | b'-')) {
            return None;
        }
        let is_removed = columns.contains(&b'-');
        let sign_of_parents_line = if is_removed { b'-' } else { b' ' };
        for (count, sign) in self.parents.iter_mut().zip(columns) {
            *count = count.checked_sub(u32::from(*sign == sign_of_parents_line))?;
        }
        self.result = self.result.checked_sub(u32::from(!is_removed))?;
        let in_first = columns.first() == Some(&sign_of_parents_line);
        Some(match (is_removed, in_first) {
            (true, true) => Some(LineKind::Removed),
            (true, false) => None,
            (false, true) => Some(LineKind::Context),
            (false, false) => Some(LineKind::Added),
        })
    }
}

fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b' ')?;
    Some((&text[..end], &text[end + 1..]))
}
