//! The port to search the reviewed tree.

use super::{BoxFuture, RepositoryError, Side, WordHit};
use crate::change::{EntryKind, FilePath};

/// An entry of the reviewed tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    /// Its path.
    pub path: FilePath,
    /// Its type.
    pub kind: EntryKind,
}

/// A search for texts at head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextQuery {
    /// The texts; a line matches if it has any of them. Empty: every line.
    pub texts: Vec<String>,
    /// Whether `a` finds `A`.
    pub case: CaseSensitivity,
    /// A file or folder to look in; everywhere when `None`.
    pub below: Option<FilePath>,
    /// Endings of file names, such as `.py`; empty for all files.
    pub endings: Vec<String>,
}

impl TextQuery {
    /// Whether a file is one of those to look in.
    pub fn looks_in(&self, file: &FilePath) -> bool {
        let ends = |ending: &String| file.as_bytes().ends_with(ending.as_bytes());
        self.below.as_ref().is_none_or(|below| below.holds(file))
            && (self.endings.is_empty() || self.endings.iter().any(ends))
    }
}

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseSensitivity {
    /// They do.
    Exact,
    /// They do not.
    Ignored,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundLines {
    /// The lines, by path and number.
    pub lines: Vec<WordHit>,
    /// Whether there are more than could be kept.
    pub is_cut: bool,
}

/// Finds files and lines of the reviewed tree. What git ignores is not part of it, and no link is
/// followed.
pub trait Search: Send + Sync {
    /// The entries below a folder, by path; or the one with this very path. All for an empty path.
    fn entries<'a>(
        &'a self,
        side: Side,
        below: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<TreeEntry>, RepositoryError>>;

    /// The lines at head with any of the texts.
    fn find_texts<'a>(
        &'a self,
        query: &'a TextQuery,
    ) -> BoxFuture<'a, Result<FoundLines, RepositoryError>>;
}
