//! Parses diffs: `git diff`, `git format-patch`, `diff -u`, svn, hg, and combined diffs.
//!
//! Existing parsers drop the mode of `index` lines (which distinguishes symlinks from files),
//! silently skip hunks after unknown lines, and report errors without line numbers. This one parses
//! or rejects every hunk, and every error has a line number. The tests compare it with `diffy`.

mod combined;
mod compose;
mod error;
mod file;
mod hunk;
mod names;
mod section;
mod series;
#[cfg(test)]
mod tests;

pub use error::{DiffError, DiffErrorKind};
pub use file::{FileDiff, HunkDiff, LineBytes};

use super::ChangedFile;
use section::DiffSection;
use series::PatchSeries;

/// Parses a diff. Text that contains only white space is an empty change; other text without a diff
/// is an error.
pub fn parse(diff: &[u8]) -> Result<Vec<ChangedFile>, DiffError> {
    Ok(read(diff)?.into_iter().map(FileDiff::into_changed_file).collect())
}

/// Parses a diff and keeps the lines as bytes, so that it can be applied.
pub fn read(diff: &[u8]) -> Result<Vec<FileDiff<'_>>, DiffError> {
    let mut lines = DiffLines::new(diff);
    let mut series = PatchSeries::default();
    while lines.peek().is_some() {
        let number = lines.number();
        match section::next(&mut lines)? {
            DiffSection::File(file) => series.add(*file, number)?,
            DiffSection::NextPatch => series.next_patch()?,
            DiffSection::Prose => {}
        }
    }
    if series.is_empty() && !diff.trim_ascii().is_empty() {
        return Err(DiffError { line: 0, problem: DiffErrorKind::NoDiff });
    }
    series.finish()
}

struct DiffLines<'a> {
    current: Option<&'a [u8]>,
    rest: &'a [u8],
    number: usize,
}

impl<'a> DiffLines<'a> {
    fn new(diff: &'a [u8]) -> Self {
        let mut lines = Self { current: None, rest: diff, number: 0 };
        lines.advance();
        lines
    }

    /// The current line without its line feed.
    fn peek(&self) -> Option<&'a [u8]> {
        self.current
    }

    /// The next line.
    fn peek_after(&self) -> Option<&'a [u8]> {
        (!self.rest.is_empty()).then(|| first_line(self.rest).0)
    }

    /// The 1-based number of the current line; at the end, one more than the last line.
    fn number(&self) -> usize {
        self.number
    }

    /// Advances to the next line.
    fn advance(&mut self) {
        self.number += 1;
        self.current = (!self.rest.is_empty()).then(|| {
            let (line, rest) = first_line(self.rest);
            self.rest = rest;
            line
        });
    }
}

fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// A line without the carriage return that mail programs and Windows tools add.
fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
