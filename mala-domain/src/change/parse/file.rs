//! One file of a diff, with its lines as the diff has them.

use crate::change::{
    ChangedFile, DiffLine, EntryKind, FilePath, FileStatus, Hunk, LineKind, Nature,
};
use crate::language::Language;

/// One file of a diff. Unlike `ChangedFile` it keeps bytes and the missing newline at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff<'a> {
    /// Where the file is at head; for a deleted file, where it was.
    pub path: FilePath,
    /// Where it was at base, when that differs.
    pub old_path: Option<FilePath>,
    /// What happened to it.
    pub status: FileStatus,
    /// Its mode at base, where the diff says so.
    pub old_mode: Option<&'a [u8]>,
    /// Its mode at head, where the diff says so.
    pub new_mode: Option<&'a [u8]>,
    /// Whether the diff shows no lines because the file is no text.
    pub is_binary: bool,
    /// The changed regions, in order.
    pub hunks: Vec<HunkDiff<'a>>,
}

/// A changed region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkDiff<'a> {
    /// First line at base; when there is none, the line before it.
    pub old_start: u32,
    /// Lines at base.
    pub old_lines: u32,
    /// First line at head; when there is none, the line before it.
    pub new_start: u32,
    /// Lines at head.
    pub new_lines: u32,
    /// What stands after the second `@@`.
    pub section: &'a [u8],
    /// Its lines.
    pub lines: Vec<LineBytes<'a>>,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineBytes<'a> {
    /// On which side it is.
    pub kind: LineKind,
    /// Its bytes without the line feed.
    pub text: &'a [u8],
    /// Whether a line feed ends it; only the last line of a file may have none.
    pub is_ended: bool,
}

impl FileDiff<'_> {
    /// The path at base.
    pub fn base_path(&self) -> &FilePath {
        self.old_path.as_ref().unwrap_or(&self.path)
    }

    /// What kind of entry it is: at head, or at base when it is gone.
    pub fn kind(&self) -> EntryKind {
        self.new_mode.or(self.old_mode).map_or(EntryKind::File, kind_of_mode)
    }

    /// Whether it is another kind of entry at head than at base.
    pub(super) fn has_new_kind(&self) -> bool {
        match (self.old_mode, self.new_mode) {
            (Some(old), Some(new)) => kind_of_mode(old) != kind_of_mode(new),
            _ => false,
        }
    }

    /// The same file as text.
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
