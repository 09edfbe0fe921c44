//! One file of a diff, with its lines as bytes.

use super::compose::HunkBuilder;
use super::hunk::LineRange;
use crate::change::{
    ChangedFile, DiffLine, EntryKind, FileClass, FilePath, FileStatus, Hunk, LineKind,
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
    pub has_newline: bool,
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
            class: if self.is_binary { FileClass::Binary } else { FileClass::Source },
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

impl FileDiff<'_> {
    /// The content at head, given the content at base; `None` if the diff does not apply.
    pub fn apply(&self, base: &[u8]) -> Option<Vec<u8>> {
        rewrite(&self.hunks, base, HunkDiff::old_range, LineKind::Removed)
    }

    /// The content at base, given the content at head; `None` if the diff does not apply in
    /// reverse.
    pub fn revert(&self, head: &[u8]) -> Option<Vec<u8>> {
        rewrite(&self.hunks, head, HunkDiff::new_range, LineKind::Added)
    }
}

/// Rewrites `from`: drops the lines of kind `own`, which exist only on this side, and inserts the
/// lines of the other side.
fn rewrite<'a>(
    hunks: &[HunkDiff<'a>],
    from: &[u8],
    side: fn(&HunkDiff<'a>) -> LineRange,
    own: LineKind,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(from.len());
    let mut lines = from.split_inclusive(|byte| *byte == b'\n');
    let mut position = 0;
    for hunk in hunks {
        while position < side(hunk).before() {
            out.extend_from_slice(lines.next()?);
            position += 1;
        }
        for line in &hunk.lines {
            if line.kind == LineKind::Context || line.kind == own {
                position += 1;
                matches(line, lines.next()?).then_some(())?;
            }
            if line.kind != own {
                out.extend_from_slice(line.text);
                out.extend(line.has_newline.then_some(b'\n'));
            }
        }
    }
    out.extend(lines.flatten());
    Some(out)
}

fn matches(line: &LineBytes<'_>, found: &[u8]) -> bool {
    match found.strip_suffix(b"\n") {
        Some(text) => line.has_newline && line.text == text,
        None => !line.has_newline && line.text == found,
    }
}

impl<'a> FileDiff<'a> {
    /// The same file with only the added and removed lines for which `wanted` returns true.
    /// `wanted` gets the line number at head of added lines. Other added lines become context;
    /// other removed lines disappear.
    pub fn keep(&self, wanted: impl Fn(&LineBytes<'a>, Option<u32>) -> bool) -> Self {
        let mut selected = HunkBuilder::default();
        let mut position = 0_u32;
        let mut last_line = None;
        for hunk in &self.hunks {
            let before = hunk.new_range().before();
            if before > position {
                selected.gap(before - position);
                position = before;
            }
            for line in &hunk.lines {
                if line.kind != LineKind::Removed {
                    position = position.saturating_add(1);
                }
                let line = match line.kind {
                    LineKind::Added if !wanted(line, Some(position)) => {
                        LineBytes { kind: LineKind::Context, ..*line }
                    }
                    LineKind::Removed if !wanted(line, None) => continue,
                    _ => *line,
                };
                // A last line that exists on both sides is last on both.
                if line.kind == LineKind::Context && !line.has_newline {
                    last_line = Some(line);
                } else {
                    selected.line(line);
                }
            }
        }
        last_line.into_iter().for_each(|line| selected.line(line));
        let mut hunks = selected.finish();
        if let Some(last) = hunks.last_mut() {
            add_missing_newlines(&mut last.lines);
        }
        Self { hunks, ..self.clone() }
    }
}

/// Only the last line at base may have no line feed.
fn add_missing_newlines(lines: &mut [LineBytes<'_>]) {
    let last = lines.iter().rposition(|line| line.kind != LineKind::Added);
    for (number, line) in lines.iter_mut().enumerate() {
        line.has_newline |= line.kind == LineKind::Removed && Some(number) != last;
    }
}

impl FileDiff<'_> {
    /// The diff of this file. Parsing it returns the same value.
    pub fn print(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let (old, new) = (quoted(b"a/", self.base_path()), quoted(b"b/", &self.path));
        put(&mut out, &[b"diff --git ", &old, b" ", &new]);
        self.print_header(&mut out);
        if self.is_binary {
            put(&mut out, &[b"Binary files ", &old, b" and ", &new, b" differ"]);
        } else if !self.hunks.is_empty() {
            let nothing = b"/dev/null".to_vec();
            let is = |status| self.status == status;
            let old = if is(FileStatus::Added) { &nothing } else { &old };
            let new = if is(FileStatus::Deleted) { &nothing } else { &new };
            put(&mut out, &[b"--- ", old]);
            put(&mut out, &[b"+++ ", new]);
            self.print_hunks(&mut out);
        }
        out
    }

    fn print_header(&self, out: &mut Vec<u8>) {
        let (from, to) = (quoted(b"", self.base_path()), quoted(b"", &self.path));
        match self.status {
            FileStatus::Renamed => {
                put(out, &[b"rename from ", &from]);
                put(out, &[b"rename to ", &to]);
            }
            FileStatus::Copied => {
                put(out, &[b"copy from ", &from]);
                put(out, &[b"copy to ", &to]);
            }
            _ => {}
        }
        match (self.status, self.old_mode, self.new_mode) {
            (FileStatus::Added, _, mode) => {
                put(out, &[b"new file mode ", mode.unwrap_or(b"100644")]);
            }
            (FileStatus::Deleted, mode, _) => {
                put(out, &[b"deleted file mode ", mode.unwrap_or(b"100644")]);
            }
            (_, Some(old), Some(new)) if old == new => put(out, &[b"index 0..0 ", old]),
            (_, Some(old), Some(new)) => {
                put(out, &[b"old mode ", old]);
                put(out, &[b"new mode ", new]);
            }
            _ => {}
        }
    }

    fn print_hunks(&self, out: &mut Vec<u8>) {
        for hunk in &self.hunks {
            let (old, new) = (range(hunk.old_range()), range(hunk.new_range()));
            let space: &[u8] = if hunk.section.is_empty() { b"" } else { b" " };
            let (old, new) = (old.as_bytes(), new.as_bytes());
            put(out, &[b"@@ -", old, b" +", new, b" @@", space, hunk.section]);
            for line in &hunk.lines {
                let sign: &[u8] = match line.kind {
                    LineKind::Context => b" ",
                    LineKind::Added => b"+",
                    LineKind::Removed => b"-",
                };
                put(out, &[sign, line.text]);
                if !line.has_newline {
                    put(out, &[b"\\ No newline at end of file"]);
                }
            }
        }
    }
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.push(b'\n');
}

fn range(range: LineRange) -> String {
    format!("{},{}", range.start, range.count)
}

/// A name with its prefix, quoted if necessary.
fn quoted(prefix: &[u8], path: &FilePath) -> Vec<u8> {
    let name = FilePath::from_bytes([prefix, path.as_bytes()].concat());
    name.to_string().into_bytes()
}
