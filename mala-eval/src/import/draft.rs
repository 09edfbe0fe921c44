//! The content of a public format before its code is found.

use super::RecordLocation;
use crate::case::CaseMeta;
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{Category, Severity};
use std::collections::BTreeMap;

/// A case to be.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseDraft {
    /// The location in its file.
    pub location: RecordLocation,
    /// The id of the case; without one, it is made of the head commit.
    pub id: String,
    /// The repository that the change comes from.
    pub repo: String,
    /// The language; without one, that of most changed lines.
    pub language: String,
    /// The title; without one, that of the head commit.
    pub title: String,
    /// The location of the code.
    pub code: DraftCode,
    /// The claims that count.
    pub keep: ProblemFilter,
    /// The problems.
    pub truths: Vec<DraftProblem>,
    /// The claims that people judged to be wrong.
    pub rejected: Vec<DraftProblem>,
    /// Source, licence and other notes.
    pub meta: CaseMeta,
}

/// The location of the code of a draft.
#[derive(Debug, Clone, PartialEq)]
pub enum DraftCode {
    /// Here: files that the change adds.
    Added(BTreeMap<FilePath, String>),
    /// In a clone of one of these repositories, the first that there is.
    Clone(Vec<(String, DraftRevisions)>),
    /// In the repository that the user names.
    Named,
    /// In the commit that brought in most of these lines, which are as they are at `at`.
    Introduced {
        /// The repository.
        repository: String,
        /// A commit that still has the lines.
        at: String,
        /// The commit that removes them, whose message describes the bug.
        fix: String,
        /// The lines.
        lines: Vec<(FilePath, Vec<u32>)>,
    },
}

/// The revisions of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftRevisions {
    /// The changes of `head` since its merge base with `base`.
    SinceMergeBase {
        /// A commit or a branch.
        base: String,
        /// A commit.
        head: String,
    },
    /// A commit against its first parent.
    Commit(String),
    /// A pull request, by its number.
    PullRequest(u64),
}

/// The claims that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemFilter {
    /// All of them.
    All,
    /// Claims on lines that the change adds.
    OnChangedLines,
}

/// A problem that a format reports.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftProblem {
    /// The location in its file.
    pub location: RecordLocation,
    /// The location in the code.
    pub place: DraftLocation,
    /// The kind of problem.
    pub category: Category,
    /// The severity, when it is known.
    pub severity: Option<Severity>,
    /// The problem.
    pub description: String,
    /// The benchmark's own name for this kind of problem.
    pub kind: Option<String>,
}

/// The location of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftLocation {
    /// On these lines at head.
    Lines(FilePath, LineSpan),
    /// Unknown: searched by the words of its description.
    Untold,
}

impl CaseDraft {
    /// A draft without details.
    pub(super) fn new(location: RecordLocation, id: impl Into<String>, code: DraftCode) -> Self {
        Self {
            location,
            id: id.into(),
            repo: String::new(),
            language: String::new(),
            title: String::new(),
            code,
            keep: ProblemFilter::All,
            truths: Vec::new(),
            rejected: Vec::new(),
            meta: CaseMeta::default(),
        }
    }

    /// The files at head that claims name.
    pub fn named_files(&self) -> impl Iterator<Item = &FilePath> {
        self.truths.iter().chain(&self.rejected).filter_map(|claim| match &claim.place {
            DraftLocation::Lines(file, _) => Some(file),
            DraftLocation::Untold => None,
        })
    }
}
