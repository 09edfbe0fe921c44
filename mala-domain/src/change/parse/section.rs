//! Parses the sections of a diff: one per file, and the text between files.

use super::combined;
use super::error::{DiffError, DiffErrorKind};
use super::file::{FileDiff, kind_of_mode};
use super::hunk::{LineEndings, hunks};
use super::names::{self, FileNames};
use super::{DiffLines, without_cr};
use crate::change::FileStatus;

pub(super) enum DiffSection<'a> {
    File(Box<FileDiff<'a>>),
    /// The start of another patch, which applies to the result of the previous one.
    NextPatch,
    /// Mail headers, commit messages, statistics, signatures.
    Prose,
}

/// Parses the section at the current line.
pub(super) fn next<'a>(lines: &mut DiffLines<'a>) -> Result<DiffSection<'a>, DiffError> {
    let Some(line) = lines.peek() else { return Ok(DiffSection::Prose) };
    let file = if let Some(names) = line.strip_prefix(b"diff --git ") {
        git_section(lines, names)?
    } else if let Some(name) = combined::name_of(line) {
        combined::section(lines, name)?
    } else if is_pair(lines, b"--- ", b"+++ ") {
        plain_section(lines)?
    } else if let Some(names) = names::binary_pair(without_cr(line)) {
        let names = names.map_err(|problem| problem.at(lines.number()))?;
        lines.advance();
        FileDiff { is_binary: true, ..names.into_file() }
    } else if let Some(names) = names::submodule(without_cr(line)) {
        let names = names.map_err(|problem| problem.at(lines.number()))?;
        lines.advance();
        FileDiff { new_mode: Some(b"160000"), ..names.into_file() }
    } else if line.starts_with(b"@@ -") {
        return Err(DiffErrorKind::LostHunk.at(lines.number()));
    } else if is_pair(lines, b"*** ", b"--- ") {
        return Err(DiffErrorKind::ContextFormat.at(lines.number()));
    } else {
        lines.advance();
        let next_patch = is_mail_start(line) || line.starts_with(b"# HG changeset patch");
        return Ok(if next_patch { DiffSection::NextPatch } else { DiffSection::Prose });
    };
    Ok(DiffSection::File(Box::new(file)))
}

fn is_pair(lines: &DiffLines<'_>, first: &[u8], second: &[u8]) -> bool {
    lines.peek().is_some_and(|line| line.starts_with(first))
        && lines.peek_after().is_some_and(|line| line.starts_with(second))
}

/// Whether the line is `From <commit> Mon Sep 17 00:00:00 2001`, with which `git format-patch`
/// starts a mail.
fn is_mail_start(line: &[u8]) -> bool {
    line.strip_prefix(b"From ").is_some_and(|rest| {
        let hex = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        (hex == 40 || hex == 64) && rest.get(hex) == Some(&b' ')
    })
}

/// The extended header lines of git.
#[derive(Default)]
struct ExtendedHeader<'a> {
    renamed: (Option<&'a [u8]>, Option<&'a [u8]>),
    copied: (Option<&'a [u8]>, Option<&'a [u8]>),
    old_mode: Option<&'a [u8]>,
    new_mode: Option<&'a [u8]>,
    both_mode: Option<&'a [u8]>,
    is_new: bool,
    is_deleted: bool,
    has_other_content: bool,
}

impl<'a> ExtendedHeader<'a> {
    fn read(lines: &mut DiffLines<'a>) -> Self {
        let mut extended = Self::default();
        while let Some(line) = lines.peek()
            && extended.take(without_cr(line))
        {
            lines.advance();
        }
        extended
    }

    /// Parses a header line; returns false if it is not one.
    fn take(&mut self, line: &'a [u8]) -> bool {
        let after = |prefix: &str| line.strip_prefix(prefix.as_bytes());
        if let Some(mode) = after("old mode ") {
            self.old_mode = Some(mode);
        } else if let Some(mode) = after("new mode ") {
            self.new_mode = Some(mode);
        } else if let Some(mode) = after("new file mode ") {
            (self.is_new, self.new_mode) = (true, Some(mode));
        } else if let Some(mode) = after("deleted file mode ") {
            (self.is_deleted, self.old_mode) = (true, Some(mode));
        } else if let Some(name) = after("rename from ").or_else(|| after("rename old ")) {
            self.renamed.0 = Some(name);
        } else if let Some(name) = after("rename to ").or_else(|| after("rename new ")) {
            self.renamed.1 = Some(name);
        } else if let Some(name) = after("copy from ") {
            self.copied.0 = Some(name);
        } else if let Some(name) = after("copy to ") {
            self.copied.1 = Some(name);
        } else if let Some(ids) = after("index ") {
            self.both_mode = ids.rsplit(|byte| *byte == b' ').next().filter(|mode| is_mode(mode));
            self.has_other_content = names_two(ids);
        } else {
            return after("similarity index ").or(after("dissimilarity index ")).is_some();
        }
        true
    }

    /// Whether hunks are missing: the content differs, the mode does not, and there is no rename or
    /// copy.
    fn is_cut(&self) -> bool {
        self.both_mode.is_some()
            && self.has_other_content
            && self.renamed.0.is_none()
            && self.copied.0.is_none()
    }

    fn old_mode(&self) -> Option<&'a [u8]> {
        self.old_mode.or(self.both_mode)
    }

    fn new_mode(&self) -> Option<&'a [u8]> {
        self.new_mode.or(self.both_mode)
    }

    fn status(&self, names: &FileNames) -> FileStatus {
        let kinds = (self.old_mode().map(kind_of_mode), self.new_mode().map(kind_of_mode));
        match kinds {
            _ if self.is_new => FileStatus::Added,
            _ if self.is_deleted => FileStatus::Deleted,
            _ if self.copied.0.is_some() => FileStatus::Copied,
            _ if names.old != names.new => FileStatus::Renamed,
            (Some(old), Some(new)) if old != new => FileStatus::TypeChanged,
            _ => FileStatus::Modified,
        }
    }
}

/// Whether `OLD..NEW` contains two different ids.
fn names_two(ids: &[u8]) -> bool {
    let ids = ids.split(|byte| *byte == b' ').next().unwrap_or_default();
    let dots = ids.windows(2).position(|pair| pair == b"..");
    dots.is_some_and(|at| ids.get(..at) != ids.get(at + 2..))
}

fn is_mode(text: &[u8]) -> bool {
    text.len() == 6 && text.iter().all(u8::is_ascii_digit)
}

fn git_section<'a>(lines: &mut DiffLines<'a>, header: &'a [u8]) -> Result<FileDiff<'a>, DiffError> {
    let at = lines.number();
    lines.advance();
    let extended = ExtendedHeader::read(lines);
    let mut is_binary = false;
    let mut shown = None;
    let mut file_hunks = Vec::new();
    match lines.peek() {
        Some(old) if is_pair(lines, b"--- ", b"+++ ") => {
            let new = lines.peek_after().unwrap_or_default();
            shown = Some((&old[4..], &new[4..]));
            lines.advance();
            lines.advance();
            file_hunks = hunks(lines, LineEndings::of_header(new))?;
            if file_hunks.is_empty() {
                return Err(DiffErrorKind::NoHunks.at(at));
            }
        }
        Some(line) if line.starts_with(b"Binary files ") || line.starts_with(b"GIT binary") => {
            is_binary = true;
            lines.advance();
        }
        None if extended.is_cut() => return Err(DiffErrorKind::NoHunks.at(at)),
        _ => {}
    }
    let moved = match (extended.renamed, extended.copied) {
        ((Some(old), Some(new)), _) | (_, (Some(old), Some(new))) => Some((old, new)),
        _ => None,
    };
    let names =
        names::of_git(moved, shown, without_cr(header)).map_err(|problem| problem.at(at))?;
    let status = extended.status(&names);
    let names = names.on_sides_of(status);
    let old_mode = extended.old_mode().filter(|_| status != FileStatus::Added);
    let new_mode = extended.new_mode().filter(|_| status != FileStatus::Deleted);
    let hunks = file_hunks;
    Ok(FileDiff { status, old_mode, new_mode, is_binary, hunks, ..names.into_file() })
}

/// Whether Subversion reports changed properties; such a file header has no hunks.
fn changes_properties(lines: &DiffLines<'_>) -> bool {
    [lines.peek(), lines.peek_after()]
        .into_iter()
        .flatten()
        .any(|line| line.starts_with(b"Property changes on: "))
}

fn plain_section<'a>(lines: &mut DiffLines<'a>) -> Result<FileDiff<'a>, DiffError> {
    let at = lines.number();
    let old = lines.peek().unwrap_or_default();
    lines.advance();
    let new = lines.peek().unwrap_or_default();
    lines.advance();
    let names = names::of_plain(&old[4..], &new[4..]).map_err(|problem| problem.at(at))?;
    let hunks = hunks(lines, LineEndings::of_header(new))?;
    if hunks.is_empty() && !changes_properties(lines) {
        return Err(DiffErrorKind::NoHunks.at(at));
    }
    let mut file = FileDiff { hunks, ..names.into_file() };
    // `diff -N` shows an absent file by its name; only the empty range reveals it.
    if let [only] = file.hunks.as_slice()
        && file.status == FileStatus::Modified
    {
        match (only.old_start, only.old_lines, only.new_start, only.new_lines) {
            (0, 0, ..) => file.status = FileStatus::Added,
            (.., 0, 0) => file.status = FileStatus::Deleted,
            _ => {}
        }
    }
    Ok(file)
}
