//! The reviewed tree, at base and at head.

use super::{BoxFuture, History, Search};
use crate::change::FilePath;
use thiserror::Error;

/// A state of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before the change.
    Base,
    /// With the change.
    Head,
}

/// The content of a path in one state of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blob {
    /// A text file; invalid UTF-8 is replaced.
    Text(String),
    /// A binary file: it contains NUL bytes.
    Binary,
    /// A file over the limit, with its size in bytes.
    TooLarge(u64),
    /// No file there, or not one with content: a folder, a symlink, a submodule.
    Missing,
}

impl Blob {
    /// The text, when it is text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A search for whole words at head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordQuery {
    /// The words; a line matches if it has any of them.
    pub words: Vec<String>,
    /// File names to look in, such as `*.py`; all when empty.
    pub globs: Vec<String>,
    /// When to stop.
    pub max_hits: usize,
}

/// A line at head with one of the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordHit {
    /// The file.
    pub file: FilePath,
    /// The 1-based line.
    pub line: u32,
    /// The line's text.
    pub text: String,
}

/// The reviewed tree. It is read-only, and no path leads out of it.
pub trait Repository: Send + Sync {
    /// The contents of these paths, in the same order.
    fn read<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<Blob>, RepositoryError>>;

    /// For each path, whether it is a file or link in this state.
    fn exist<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<bool>, RepositoryError>>;

    /// The files directly in this folder, by name; empty when there is no such folder.
    fn list<'a>(
        &'a self,
        side: Side,
        folder: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<FilePath>, RepositoryError>>;

    /// The lines at head with any of these words, by path and line.
    fn find_words<'a>(
        &'a self,
        query: &'a WordQuery,
    ) -> BoxFuture<'a, Result<Vec<WordHit>, RepositoryError>>;

    /// Whether the tree contains all files of the project. If not, checks for missing files are skipped.
    fn is_complete(&self) -> bool {
        true
    }

    /// A way to look for files and texts, where there is one.
    fn search(&self) -> Option<&dyn Search> {
        None
    }

    /// The commits that lead to head, where they are known.
    fn history(&self) -> Option<&dyn History> {
        None
    }
}

/// Why the tree cannot be read.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct RepositoryError {
    /// What could not be read, and why.
    pub what: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}
