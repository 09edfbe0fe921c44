//! Parses hunks.

use super::error::{DiffError, DiffErrorKind};
use super::file::{HunkDiff, LineBytes};
use super::{DiffLines, without_cr};
use crate::change::LineKind;

/// The line endings of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEndings {
    /// The diff adds nothing to the line endings of the file.
    AsInFile,
    /// The whole diff was converted to CRLF, so the carriage return is not part of the file.
    Crlf,
}

impl LineEndings {
    pub(super) fn of_header(line: &[u8]) -> Self {
        if line.ends_with(b"\r") { Self::Crlf } else { Self::AsInFile }
    }

    pub(super) fn text(self, line: &[u8]) -> &[u8] {
        match self {
            Self::AsInFile => line,
            Self::Crlf => without_cr(line),
        }
    }
}

/// A start line and a number of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineRange {
    pub(super) start: u32,
    pub(super) count: u32,
}

/// Parses all hunks of a file.
pub(super) fn hunks<'a>(
    lines: &mut DiffLines<'a>,
    ends: LineEndings,
) -> Result<Vec<HunkDiff<'a>>, DiffError> {
    let mut hunks: Vec<HunkDiff<'a>> = Vec::new();
    while let Some(line) = lines.peek()
        && line.starts_with(b"@@ ")
    {
        let number = lines.number();
        let hunk = hunk(lines, line, ends)?;
        add(&mut hunks, hunk, number)?;
        if overflows(lines) {
            return Err(DiffErrorKind::HunkOverflow.at(lines.number()));
        }
    }
    Ok(hunks)
}

/// Whether a changed line follows that the header did not count. A mail signature and the header of
/// the next file do not count as changed lines.
fn overflows(lines: &DiffLines<'_>) -> bool {
    let Some(line) = lines.peek() else { return false };
    let is_change = line.starts_with(b"+") || line.starts_with(b"-");
    let is_header = line.starts_with(b"--- ")
        && lines.peek_after().is_some_and(|next| next.starts_with(b"+++ "));
    is_change && !is_header && !matches!(without_cr(line), b"-- " | b"--")
}

/// Adds a hunk; hunks must be in order.
pub(super) fn add<'a>(
    hunks: &mut Vec<HunkDiff<'a>>,
    hunk: HunkDiff<'a>,
    number: usize,
) -> Result<(), DiffError> {
    if hunks.last().is_some_and(|last| !last.precedes(&hunk)) {
        return Err(DiffErrorKind::HunkOrder.at(number));
    }
    hunks.push(hunk);
    Ok(())
}

fn hunk<'a>(
    lines: &mut DiffLines<'a>,
    header: &'a [u8],
    ends: LineEndings,
) -> Result<HunkDiff<'a>, DiffError> {
    let at = lines.number();
    let Some((old, new, section)) = header_of(without_cr(header)) else {
        return Err(DiffErrorKind::HunkHeader.at(at));
    };
    lines.advance();
    let mut body = HunkBody { at, old: old.count, new: new.count, lines: Vec::new() };
    while body.old > 0 || body.new > 0 {
        let Some(line) = lines.peek() else {
            let missing = body.old.max(body.new);
            return Err(DiffErrorKind::HunkCut { missing }.at(lines.number()));
        };
        body.push(line, ends, lines.number())?;
        lines.advance();
    }
    if lines.peek().is_some_and(|line| line.starts_with(b"\\ ")) {
        body.remove_last_newline();
        lines.advance();
    }
    Ok(HunkDiff {
        old_start: old.start,
        old_lines: old.count,
        new_start: new.start,
        new_lines: new.count,
        section,
        lines: body.lines,
    })
}

struct HunkBody<'a> {
    at: usize,
    old: u32,
    new: u32,
    lines: Vec<LineBytes<'a>>,
}

impl<'a> HunkBody<'a> {
    fn push(&mut self, line: &'a [u8], ends: LineEndings, number: usize) -> Result<(), DiffError> {
        let (kind, text) = match line {
            [b' ', text @ ..] => (LineKind::Context, text),
            [b'+', text @ ..] => (LineKind::Added, text),
            [b'-', text @ ..] => (LineKind::Removed, text),
            [b'\\', ..] if !self.lines.is_empty() => {
                self.remove_last_newline();
                return Ok(());
            }
            // Mail programs and some editors strip the space of an empty context line.
            [] | [b'\r'] => (LineKind::Context, line),
            _ => return Err(self.unexpected_line(number)),
        };
        let (old, new) = match kind {
            LineKind::Context => (1, 1),
            LineKind::Added => (0, 1),
            LineKind::Removed => (1, 0),
        };
        match (self.old.checked_sub(old), self.new.checked_sub(new)) {
            (Some(old), Some(new)) => (self.old, self.new) = (old, new),
            _ => return Err(self.unexpected_line(number)),
        }
        self.lines.push(LineBytes { kind, text: ends.text(text), has_newline: true });
        Ok(())
    }

    /// Handles `\ No newline at end of file`, which refers to the line above it.
    fn remove_last_newline(&mut self) {
        if let Some(last) = self.lines.last_mut() {
            last.has_newline = false;
        }
    }

    fn unexpected_line(&self, number: usize) -> DiffError {
        let what = format!("{} more old and {} more new lines", self.old, self.new);
        DiffErrorKind::HunkLine { hunk: self.at, what }.at(number)
    }
}

impl HunkDiff<'_> {
    fn precedes(&self, next: &Self) -> bool {
        let (old, new) = (self.old_range(), self.new_range());
        let (next_old, next_new) = (next.old_range(), next.new_range());
        old.end() <= next_old.before() && new.end() <= next_new.before()
    }

    pub(super) fn old_range(&self) -> LineRange {
        LineRange { start: self.old_start, count: self.old_lines }
    }

    pub(super) fn new_range(&self) -> LineRange {
        LineRange { start: self.new_start, count: self.new_lines }
    }
}

impl LineRange {
    /// The number of lines before the range. An empty range starts at the line before it.
    pub(super) fn before(self) -> u32 {
        if self.count == 0 { self.start } else { self.start.saturating_sub(1) }
    }

    fn end(self) -> u32 {
        self.before().saturating_add(self.count)
    }

    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let range = Self { start: start.parse().ok()?, count: count.parse().ok()? };
        let fits = range.start.checked_add(range.count).is_some();
        (digits(start) && digits(count) && fits).then_some(range)
    }
}

/// Parses `@@ -a,b +c,d @@ section`.
fn header_of(line: &[u8]) -> Option<(LineRange, LineRange, &[u8])> {
    let rest = line.strip_prefix(b"@@ -")?;
    let old_end = rest.iter().position(|byte| *byte == b' ')?;
    let old = LineRange::parse(&rest[..old_end])?;
    let rest = rest[old_end..].strip_prefix(b" +")?;
    let new_end = rest.iter().position(|byte| *byte == b' ')?;
    let new = LineRange::parse(&rest[..new_end])?;
    let section = rest[new_end..].strip_prefix(b" @@")?;
    Some((old, new, section.strip_prefix(b" ").unwrap_or(section)))
}
