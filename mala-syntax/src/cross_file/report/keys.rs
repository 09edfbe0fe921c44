//! What is said about a read of a key that nothing sets any more.

use super::{Said, candidate};
use crate::cross_file::checks::REMOVED_KEY;
use crate::cross_file::plan::LostKey;
use crate::cross_file::resolve::Evidence;
use crate::cross_file::user::UserFile;
use mala_domain::finding::Candidate;

/// One read of a lost key, among all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// The file.
    pub(crate) user: &'a UserFile,
    /// The line.
    pub(crate) line: u32,
    /// What happens there.
    pub(crate) happens: &'static str,
    /// How many lines read the key.
    pub(crate) n_reads: usize,
    /// How many of them are reported.
    pub(crate) n_reported: usize,
}

/// A read of a key that is no longer set.
pub(crate) fn lost_key(lost: &LostKey, reading: &Reading<'_>) -> Candidate {
    let LostKey { key, file, line, successor } = lost;
    let (title, what, suggestion) = match successor {
        Some(successor) => (
            format!("`{key}` is read here, but `{file}` has `{successor}` in its place"),
            format!("this change replaces it by `{successor}` in `{file}` (line {line} before)"),
            format!("Read `{successor}`, give `{key}` a default, or keep it in `{file}`."),
        ),
        None => (
            format!("`{key}` is read here, but `{file}` no longer sets it"),
            format!("this change removes it from `{file}` (line {line} before)"),
            format!("Stop reading `{key}`, give it a default, or keep it in `{file}`."),
        ),
    };
    let others = match (reading.n_reads, reading.n_reported) {
        (1, _) => String::new(),
        (reads, reported) if reads == reported => format!(" {reads} lines read it."),
        (reads, reported) => format!(" {reads} lines read it; {reported} of them are reported."),
    };
    let happens = reading.happens;
    let body = format!(
        "When nothing else sets `{key}`, this read {happens}: {what}, the only file of the repository that set it.{others}",
    );
    let said = Said { rule: REMOVED_KEY.id, title, body, suggestion };
    candidate(&reading.user.file, reading.line, Evidence::OnlyOne, said)
}
