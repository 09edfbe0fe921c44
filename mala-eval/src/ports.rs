//! The ports of an eval: git, a runner for cases, and a store for records.

use crate::{CaseRecord, EvalCase};
use mala_domain::change::FilePath;
use mala_domain::ports::{BoxFuture, ReviewScope, ScopeError, StoreError};
use mala_domain::scope::ReviewTarget;
use std::collections::BTreeMap;
use std::path::Path;

/// Paths and contents of files.
pub type FileContents = BTreeMap<FilePath, Vec<u8>>;

/// Reviews a case. An error in one case is part of its record.
pub trait CaseRunner: Send + Sync {
    /// The record of one trial of a case of this set.
    fn run<'a>(&'a self, set: &'a str, case: &'a EvalCase, trial: u32)
    -> BoxFuture<'a, CaseRecord>;
}

/// Stores records as they are made.
pub trait RecordSink: Send + Sync {
    /// Stores a record durably before returning.
    fn append(&self, record: &CaseRecord) -> Result<(), StoreError>;
}

/// Git, as far as making cases needs it.
pub trait CaseGit: Send + Sync {
    /// The repository whose top folder is exactly this one; `None` if there is none.
    fn open<'a>(&'a self, folder: &'a Path) -> BoxFuture<'a, Option<Box<dyn CaseRepository>>>;

    /// The unified diff between two sets of files.
    fn diff<'a>(
        &'a self,
        base: &'a FileContents,
        head: &'a FileContents,
    ) -> BoxFuture<'a, Result<String, ScopeError>>;
}

/// A repository that cases are made from.
pub trait CaseRepository: Send + Sync {
    /// The repository's URL, or the name of its folder.
    fn name(&self) -> String;

    /// The change that a target names, limited to these paths when there are any.
    fn scope<'a>(
        &'a self,
        target: &'a ReviewTarget,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<ReviewScope, ScopeError>>;

    /// The unified diff between two commits; the base may be the empty tree.
    fn patch<'a>(
        &'a self,
        base: Option<&'a str>,
        head: &'a str,
    ) -> BoxFuture<'a, Result<String, ScopeError>>;

    /// The message of a commit.
    fn message<'a>(&'a self, revision: &'a str) -> BoxFuture<'a, Result<String, ScopeError>>;

    /// Whether a revision names a commit of this repository.
    fn has_commit<'a>(&'a self, revision: &'a str) -> BoxFuture<'a, bool>;

    /// The change of a pull request, when the repository has its refs.
    fn pull_request(&self, number: u64) -> BoxFuture<'_, Result<Option<ReviewTarget>, ScopeError>>;

    /// The origins of lines of a file at a revision.
    fn line_origins<'a>(
        &'a self,
        revision: &'a str,
        file: &'a FilePath,
        lines: &'a [u32],
    ) -> BoxFuture<'a, Result<Vec<IntroducedLine>, ScopeError>>;

    /// The newest commits that are not merges, newest first.
    fn newest_commits(&self, max: usize) -> BoxFuture<'_, Result<Vec<String>, ScopeError>>;
}

/// The commit that added a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntroducedLine {
    /// The commit.
    pub commit: String,
    /// The commit's time, in seconds since 1970.
    pub time: i64,
    /// The file, as that commit names it.
    pub file: FilePath,
    /// The 1-based line there.
    pub line: u32,
}
