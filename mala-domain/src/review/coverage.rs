//! Coverage: which hunks had to be reviewed, which were, and why the others were not.

use crate::change::{Change, ChangedFile, EntryKind, FileClass, FilePath, FileStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The maximum number of skipped files that warnings name.
const MAX_LEFT_OUT: usize = 30;

/// The reviewed hunks, and the files that were skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Hunks that were to be reviewed.
    pub hunks_given: usize,
    /// Hunks that a reviewer accounts for.
    pub hunks_accounted: usize,
    /// Files with a hunk that was reviewed.
    pub files: Vec<FileCoverage>,
    /// The files that were not reviewed, and why. Files that are too large and sources with invalid text
    /// keep the review from passing. So do all files that the configuration does not exclude, if no other
    /// file is reviewed.
    pub skipped: Vec<SkippedFile>,
}

/// One file's part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileCoverage {
    /// The file.
    pub file: FilePath,
    /// Its hunks.
    pub hunks_given: usize,
    /// The reviewed hunks.
    pub hunks_accounted: usize,
}

/// A file that is not reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFile {
    /// The file.
    pub file: FilePath,
    /// Why.
    pub reason: SkipReason,
    /// Its hunks.
    pub hunks: usize,
}

/// Why a file is not reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Not text.
    Binary,
    /// A text file that contains binary bytes.
    Garbled,
    /// Made by a tool.
    Generated,
    /// Vendored third-party code.
    Vendored,
    /// Written by a package manager.
    Lock,
    /// Compressed for machines.
    Minified,
    /// A commit of another repository.
    Submodule,
    /// Another repository with changes that are not committed there.
    DirtySubmodule,
    /// Moved or re-moded, with no line changed.
    NoLines,
    /// Text over the size limit.
    TooLarge,
    /// The configuration leaves it out.
    Ignored,
}

impl SkippedFile {
    /// Whether it is in another repository.
    fn is_elsewhere(&self) -> bool {
        matches!(self.reason, SkipReason::Submodule | SkipReason::DirtySubmodule)
    }
}

impl SkipReason {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Garbled => "a source with bytes that are no text",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
            Self::Lock => "lock file",
            Self::Minified => "minified",
            Self::Submodule => "submodule",
            Self::DirtySubmodule => "submodule with uncommitted changes",
            Self::NoLines => "no changed lines",
            Self::TooLarge => "too large",
            Self::Ignored => "ignored by configuration",
        }
    }

    /// Whether a change with such a file cannot pass: it is not excluded on purpose, and counts as not
    /// reviewed.
    fn prevents_pass(self) -> bool {
        matches!(self, Self::TooLarge | Self::Garbled)
    }

    /// Whether a file skipped for this reason needs no review: none of its lines changed, or the
    /// trusted configuration excludes it.
    fn is_allowed(self) -> bool {
        matches!(self, Self::NoLines | Self::Ignored)
    }

    /// Why a file of this nature is skipped; `None` when it is to be reviewed.
    pub fn of_class(class: FileClass) -> Option<Self> {
        match class {
            FileClass::Source => None,
            FileClass::Binary => Some(Self::Binary),
            FileClass::Garbled => Some(Self::Garbled),
            FileClass::Generated => Some(Self::Generated),
            FileClass::Vendored => Some(Self::Vendored),
            FileClass::Lock => Some(Self::Lock),
            FileClass::Minified => Some(Self::Minified),
            FileClass::TooLarge => Some(Self::TooLarge),
            FileClass::Ignored => Some(Self::Ignored),
        }
    }
}

impl Coverage {
    /// The part of a change that the accounts of all reviewers cover. Accounts of unknown hunks are
    /// ignored.
    pub fn over(change: &Change, accounted: &[(FilePath, Vec<usize>)]) -> Self {
        let mut seen: HashMap<&FilePath, HashSet<usize>> = HashMap::new();
        for (file, hunks) in accounted {
            seen.entry(file).or_default().extend(hunks);
        }
        let mut coverage = Self::default();
        for file in &change.files {
            if let Some(reason) = skip_reason(file) {
                if reason.prevents_pass() {
                    coverage.hunks_given += file.hunks.len().max(1);
                }
                coverage.skipped.push(SkippedFile {
                    file: file.path.clone(),
                    reason,
                    hunks: file.hunks.len(),
                });
                continue;
            }
            let given = file.hunks.len();
            let accounted = seen
                .get(&file.path)
                .map_or(0, |hunks| hunks.iter().filter(|index| **index < given).count());
            coverage.hunks_given += given;
            coverage.hunks_accounted += accounted;
            coverage.files.push(FileCoverage {
                file: file.path.clone(),
                hunks_given: given,
                hunks_accounted: accounted,
            });
        }
        if coverage.files.is_empty() {
            // If nothing else changed, the skipped submodules are what had to be reviewed.
            coverage.hunks_given += coverage.skipped.iter().filter(|it| it.is_elsewhere()).count();
        }
        coverage
    }

    /// The files that are not reviewed and why, one line each. Files without changed lines are left out.
    pub fn left_out(&self) -> Vec<String> {
        self.skipped_lines(|reason| reason != SkipReason::NoLines)
    }

    /// The skipped files that keep the change from passing, one line each.
    pub fn unreviewable(&self) -> Vec<String> {
        self.skipped_lines(SkipReason::prevents_pass)
    }

    /// The number of hunks in reviewable files that no account covers.
    pub fn hunks_missed(&self) -> usize {
        self.files.iter().map(|file| file.hunks_given - file.hunks_accounted).sum()
    }

    fn skipped_lines(&self, is_told: impl Fn(SkipReason) -> bool) -> Vec<String> {
        let told = self.skipped.iter().filter(|skip| is_told(skip.reason));
        let mut lines: Vec<String> = told
            .clone()
            .take(MAX_LEFT_OUT)
            .map(|skip| format!("{} is not reviewed: {}", skip.file, skip.reason.name()))
            .collect();
        match told.count().saturating_sub(MAX_LEFT_OUT) {
            0 => {}
            1 => lines.push("1 more file is not reviewed".to_owned()),
            n => lines.push(format!("{n} more files are not reviewed")),
        }
        lines
    }

    /// A warning about vendored files: a project may keep its own code in such a directory.
    pub fn vendored_warning(&self) -> Option<String> {
        let is_vendored = |skip: &&SkippedFile| skip.reason == SkipReason::Vendored;
        let files: Vec<&SkippedFile> = self.skipped.iter().filter(is_vendored).collect();
        let first = files.first()?;
        let names = match files.len() {
            1 => format!("{} is not reviewed", first.file),
            n => format!("{} and {} are not reviewed", first.file, counted(n - 1, "other file")),
        };
        Some(format!(
            "{names}: vendored code; to review it, set -linguist-vendored in .gitattributes"
        ))
    }

    /// Whether no file can be reviewed although one should be.
    pub fn has_nothing_reviewable(&self) -> bool {
        self.files.is_empty() && self.skipped.iter().any(|skip| !skip.reason.is_allowed())
    }

    /// Whether every hunk that was to be reviewed is accounted for.
    pub fn is_complete(&self) -> bool {
        self.hunks_accounted == self.hunks_given
    }
}

fn skip_reason(file: &ChangedFile) -> Option<SkipReason> {
    if file.kind == EntryKind::Submodule {
        // The diff of a submodule is its commit. If the commit is the same, its files differ.
        let same_commit = file.status == FileStatus::Modified && file.hunks.is_empty();
        return Some(if same_commit { SkipReason::DirtySubmodule } else { SkipReason::Submodule });
    }
    SkipReason::of_class(file.class)
        .or_else(|| file.hunks.is_empty().then_some(SkipReason::NoLines))
}

/// `1 file`, `2 files`.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
