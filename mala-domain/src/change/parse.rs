//! Reads diffs: `git diff`, `git format-patch` mails, `diff -u`, svn and hg, combined diffs.
//!
//! The layer is our own. The parsers at hand drop the mode in `index` lines (which tells a changed
//! symlink from a file), pass over hunks that follow junk without a word, and name no line in their
//! errors; here every hunk is read or refused, and every refusal names its line. `diffy` is the
//! oracle in the tests.

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

/// The files of a diff. White space alone is an empty change; anything else without a diff in it is
/// refused.
pub fn parse(diff: &[u8]) -> Result<Vec<ChangedFile>, DiffError> {
    Ok(read(diff)?.into_iter().map(FileDiff::into_changed_file).collect())
}

/// The files of a diff with their lines as bytes, for applying it.
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
