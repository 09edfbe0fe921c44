//! The commits that lead to the reviewed state.

use super::{BoxFuture, RepositoryError};
use crate::change::{Change, FilePath, LineSpan};

/// The start of a commit's id: hexadecimal digits and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPrefix(String);

impl CommitPrefix {
    /// Fewer digits than these name too many commits.
    pub const MIN_DIGITS: usize = 7;

    /// Parses a prefix; `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let fits = (Self::MIN_DIGITS..=64).contains(&text.len());
        (fits && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(Self(text))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A commit, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its full id.
    pub id: String,
    /// Who wrote it.
    pub author: String,
    /// When, as `2024-01-31`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// Which commits to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// Only those that touch this file or folder.
    pub path: Option<FilePath>,
    /// At most so many.
    pub max: usize,
}

/// A commit with what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitWithDiff {
    /// Which one.
    pub commit: Commit,
    /// Its whole message.
    pub message: String,
    /// What differs from its first parent; `None` when that is too much to show.
    pub change: Option<Change>,
}

/// A commit with what its author says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitWithMessage {
    /// Which one.
    pub commit: Commit,
    /// Its whole message.
    pub message: String,
}

/// Who last changed a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The 1-based line at head.
    pub line: u32,
    /// The commit; `None` when the line is not committed yet.
    pub commit: Option<Commit>,
}

/// The history of the reviewed state. Commits that do not lead to it are not shown.
pub trait History: Send + Sync {
    /// Commits, the newest first.
    fn log<'a>(
        &'a self,
        query: &'a LogQuery,
    ) -> BoxFuture<'a, Result<Vec<Commit>, RepositoryError>>;

    /// One commit, kept to a file or folder; `None` when the history has no such commit.
    fn show<'a>(
        &'a self,
        commit: &'a CommitPrefix,
        path: Option<&'a FilePath>,
    ) -> BoxFuture<'a, Result<Option<CommitWithDiff>, RepositoryError>>;

    /// The newest commits that the reviewed change is made of, the oldest of them first; none for
    /// what is not committed.
    fn reviewed(
        &self,
        max: usize,
    ) -> BoxFuture<'_, Result<Vec<CommitWithMessage>, RepositoryError>>;

    /// Who last changed these lines of a file at head.
    fn blame<'a>(
        &'a self,
        file: &'a FilePath,
        lines: LineSpan,
    ) -> BoxFuture<'a, Result<Vec<BlamedLine>, RepositoryError>>;
}
