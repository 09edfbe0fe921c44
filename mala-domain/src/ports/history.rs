//! The commits that lead to the reviewed state.

use super::{BoxFuture, RepositoryError};
use crate::change::{Change, FilePath, LineSpan};

/// A prefix of a commit id, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPrefix(String);

impl CommitPrefix {
    /// Shorter prefixes match too many commits.
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
    /// Its author.
    pub author: String,
    /// When, as `2024-01-31`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// A query for commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// Only those that touch this file or folder.
    pub path: Option<FilePath>,
    /// The maximum number.
    pub max: usize,
}

/// A commit with its diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitWithDiff {
    /// The commit.
    pub commit: Commit,
    /// Its whole message.
    pub message: String,
    /// The diff to its first parent; `None` if it is too large to show.
    pub change: Option<Change>,
}

/// A commit with its whole message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitWithMessage {
    /// The commit.
    pub commit: Commit,
    /// Its whole message.
    pub message: String,
}

/// The last commit of a line.
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

    /// One commit, restricted to a file or folder; `None` if the history does not contain it.
    fn show<'a>(
        &'a self,
        commit: &'a CommitPrefix,
        path: Option<&'a FilePath>,
    ) -> BoxFuture<'a, Result<Option<CommitWithDiff>, RepositoryError>>;

    /// The newest commits of the reviewed change, oldest first; empty for uncommitted work.
    fn reviewed(
        &self,
        max: usize,
    ) -> BoxFuture<'_, Result<Vec<CommitWithMessage>, RepositoryError>>;

    /// The last commit of each of these lines of a file at head.
    fn blame<'a>(
        &'a self,
        file: &'a FilePath,
        lines: LineSpan,
    ) -> BoxFuture<'a, Result<Vec<BlamedLine>, RepositoryError>>;
}
