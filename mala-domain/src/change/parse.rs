//! Parses diffs: `git diff`, `git format-patch`, `diff -u`, svn, hg, and combined diffs.
//!
//! Existing parsers drop the mode of `index` lines (which distinguishes symlinks from files), silently
//! skip hunks after unknown lines, and report errors without line numbers. This one parses or rejects
//! every hunk, and every error has a line number. The tests compare it with `diffy`.

mod apply;
mod build;
mod combined;
mod compose;
mod error;
mod file;
mod hunk;
mod keep;
mod lines;
mod names;
mod print;
mod section;
mod series;
#[cfg(test)]
mod tests;

pub use error::{DiffError, DiffProblem};
pub use file::{FileDiff, HunkDiff, LineBytes};

use super::ChangedFile;
use lines::Lines;
use section::Section;
use series::Series;

/// Parses a diff. Text that contains only white space is an empty change; other text without a diff is an
/// error.
pub fn parse(diff: &[u8]) -> Result<Vec<ChangedFile>, DiffError> {
    Ok(read(diff)?.into_iter().map(FileDiff::into_changed_file).collect())
}

/// Parses a diff and keeps the lines as bytes, so that it can be applied.
pub fn read(diff: &[u8]) -> Result<Vec<FileDiff<'_>>, DiffError> {
    let mut lines = Lines::new(diff);
    let mut series = Series::default();
    while lines.peek().is_some() {
        let number = lines.number();
        match section::next(&mut lines)? {
            Section::File(file) => series.add(*file, number)?,
            Section::NextPatch => series.next_patch()?,
            Section::Prose => {}
        }
    }
    if series.is_silent() && !diff.trim_ascii().is_empty() {
        return Err(DiffError { line: 0, problem: DiffProblem::NoDiff });
    }
    series.finish()
}
