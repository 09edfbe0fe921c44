//! What changed: files, hunks and lines, as parsed from a diff. A `Change` never reads anything: it
//! is the value that every later stage looks at.

mod added;
mod line;
mod nature;
mod parse;
mod path;
mod print;

pub use added::AddedLines;
pub use line::{DiffLine, Hunk, LineKind, LineSpan};
pub use nature::{Attributes, Mark};
pub use parse::{DiffError, DiffProblem, FileDiff, HunkDiff, LineBytes, parse, read};
pub use path::FilePath;

use crate::language::Language;

/// A parsed diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The changed files, in the order of the diff.
    pub files: Vec<ChangedFile>,
}

/// One file of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Where the file is at head; for a deleted file, where it was.
    pub path: FilePath,
    /// Where it was at base, when that differs.
    pub old_path: Option<FilePath>,
    /// What happened to it.
    pub status: FileStatus,
    /// What kind of entry it is in the tree.
    pub kind: EntryKind,
    /// The file modes when they differ, as git prints them (`100644`).
    pub mode_change: Option<(String, String)>,
    /// Whether people write it, and if not, why nobody reviews it.
    pub nature: Nature,
    /// The language that its first line asks for (`#!/usr/bin/env python3`).
    pub script: Option<Language>,
    /// The changed regions; empty for a pure rename, a mode change or a binary file.
    pub hunks: Vec<Hunk>,
}

/// What happened to a file.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content or mode differs.
    Modified,
    /// It moved, perhaps with edits.
    Renamed,
    /// It was made from another file, perhaps with edits.
    Copied,
    /// It became another kind of entry, such as a symlink.
    TypeChanged,
}

/// What kind of entry a path is in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file with content.
    File,
    /// A symbolic link: its content is a path, and nobody follows it.
    Symlink,
    /// A commit of another repository.
    Submodule,
}

/// Whether a file is written by people; everything but `Source` is skipped with its reason shown.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// Written by people.
    Source,
    /// Not text.
    Binary,
    /// A source by its name or its past, with bytes that are no text.
    Garbled,
    /// Made by a tool (`linguist-generated`, a generated-code header).
    Generated,
    /// Somebody else's code (`linguist-vendored`, `node_modules/`, `vendor/`).
    Vendored,
    /// Written by a package manager.
    Lock,
    /// Compressed for machines.
    Minified,
    /// Text of so many megabytes that nobody reads it.
    TooLarge,
    /// The configuration leaves it out.
    Ignored,
}

impl Change {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The file with this path at head.
    pub fn file(&self, path: &FilePath) -> Option<&ChangedFile> {
        self.files.iter().find(|file| &file.path == path)
    }

    /// How many hunks all files have together.
    pub fn n_hunks(&self) -> usize {
        self.files.iter().map(|file| file.hunks.len()).sum()
    }

    /// How many lines are added and removed.
    pub fn n_lines(&self) -> LineCounts {
        let mut counts = LineCounts::default();
        for line in self.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines) {
            match line.kind {
                LineKind::Added => counts.added += 1,
                LineKind::Removed => counts.removed += 1,
                LineKind::Context => {}
            }
        }
        counts
    }
}

impl ChangedFile {
    /// The path at base: the old one of a rename or copy, else the same.
    pub fn base_path(&self) -> &FilePath {
        self.old_path.as_ref().unwrap_or(&self.path)
    }

    /// Whether it has content at head that a reviewer can read.
    pub fn exists_at_head(&self) -> bool {
        self.status != FileStatus::Deleted
    }

    /// Whether it had content at base.
    pub fn existed_at_base(&self) -> bool {
        self.status != FileStatus::Added
    }

    /// Whether a reviewer is expected to look at it.
    pub fn is_reviewable(&self) -> bool {
        self.nature == Nature::Source && self.kind != EntryKind::Submodule
    }

    /// Its language, by its name or its first line.
    pub fn language(&self) -> Option<Language> {
        Language::of_path(&self.path).or(self.script)
    }

    /// The added lines with their numbers at head.
    pub fn added_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.hunks.iter().flat_map(Hunk::added_lines)
    }

    /// Which lines at head the change added, for many questions.
    pub fn added(&self) -> AddedLines {
        AddedLines::of(self)
    }
}

/// Lines added and removed.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
pub struct LineCounts {
    /// Lines only at head.
    pub added: usize,
    /// Lines only at base.
    pub removed: usize,
}
