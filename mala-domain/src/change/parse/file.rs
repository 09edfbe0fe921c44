//! One file of a diff, with its lines as bytes.

use crate::change::{
    ChangedFile, DiffLine, EntryKind, FilePath, FileStatus, Hunk, LineKind, Nature,
};
use crate::language::Language;

/// One file of a diff. Unlike `ChangedFile`, it keeps bytes and a missing final newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff<'a> {
    /// The path at head; for a deleted file, its last path.
    pub path: FilePath,
    /// The path at base, if it differs.
    pub old_path: Option<FilePath>,
    /// How it changed.
    pub status: FileStatus,
    /// The mode at base, if the diff contains it.
    pub old_mode: Option<&'a [u8]>,
    /// The mode at head, if the diff contains it.
    pub new_mode: Option<&'a [u8]>,
    /// Whether the diff has no lines because the file is binary.
    pub is_binary: bool,
    /// The hunks, in order.
    pub hunks: Vec<HunkDiff<'a>>,
}

/// A hunk of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkDiff<'a> {
    /// The first line at base; if there is none, the line before the hunk.
    pub old_start: u32,
    /// The number of base lines.
    pub old_lines: u32,
    /// The first line at head; if there is none, the line before the hunk.
    pub new_start: u32,
    /// The number of head lines.
    pub new_lines: u32,
    /// The text after the second `@@`.
    pub section: &'a [u8],
    /// The lines, in order.
    pub lines: Vec<LineBytes<'a>>,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineBytes<'a> {
    /// Which side the line belongs to.
    pub kind: LineKind,
    /// The bytes without the line feed.
    pub text: &'a [u8],
    /// Whether a line feed ends it; only the last line of a file may have none.
    pub is_ended: bool,
}

impl FileDiff<'_> {
    /// The path at base.
    pub fn base_path(&self) -> &FilePath {
        self.old_path.as_ref().unwrap_or(&self.path)
    }

    /// The type of the entry at head; for a deleted file, at base.
    pub fn kind(&self) -> EntryKind {
        self.new_mode.or(self.old_mode).map_or(EntryKind::File, kind_of_mode)
    }

    /// Whether the type of the entry changed.
    pub(super) fn has_new_kind(&self) -> bool {
        match (self.old_mode, self.new_mode) {
            (Some(old), Some(new)) => kind_of_mode(old) != kind_of_mode(new),
            _ => false,
        }
    }

    /// Converts the bytes to text.
    pub fn into_changed_file(self) -> ChangedFile {
        let mode_change = match (self.old_mode, self.new_mode) {
            (Some(old), Some(new)) if old != new => Some((text(old), text(new))),
            _ => None,
        };
        let hunks: Vec<Hunk> = self.hunks.iter().map(HunkDiff::to_hunk).collect();
        let first = hunks.first().and_then(|hunk| hunk.head_lines().next());
        let first = first.filter(|(number, _)| *number == 1);
        ChangedFile {
            kind: self.kind(),
            script: first.and_then(|(_, line)| Language::of_first_line(line)),
            status: self.status,
            mode_change,
            nature: if self.is_binary { Nature::Binary } else { Nature::Source },
            hunks,
            path: self.path,
            old_path: self.old_path,
        }
    }
}

impl HunkDiff<'_> {
    fn to_hunk(&self) -> Hunk {
        let lines = self.lines.iter();
        Hunk {
            old_start: self.old_start,
            old_lines: self.old_lines,
            new_start: self.new_start,
            new_lines: self.new_lines,
            section: text(self.section),
            lines: lines.map(|line| DiffLine { kind: line.kind, text: text(line.text) }).collect(),
        }
    }
}

pub(super) fn kind_of_mode(mode: &[u8]) -> EntryKind {
    match mode {
        b"120000" => EntryKind::Symlink,
        b"160000" => EntryKind::Submodule,
        _ => EntryKind::File,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
