//! Parses the paths of a file header. Tools write them with `a/` and `b/`, with two directory
//! names, with a timestamp after a tab, or in quotes.

use super::error::DiffErrorKind;
use super::file::FileDiff;
use super::without_cr;
use crate::change::path::unescape;
use crate::change::{FilePath, FileStatus};
use std::borrow::Cow;

/// Maximum length of a header line with two unquoted names of different lengths: splitting a longer
/// one could take quadratic time.
const MAX_GUESSED: usize = 4096;

/// The path on each side; `None` if the file does not exist there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileNames {
    pub(super) old: Option<FilePath>,
    pub(super) new: Option<FilePath>,
}

impl FileNames {
    fn same(name: &[u8]) -> Result<Self, DiffErrorKind> {
        Self::inside(Some(name), Some(name))
    }

    fn inside(old: Option<&[u8]>, new: Option<&[u8]>) -> Result<Self, DiffErrorKind> {
        if old.is_none() && new.is_none() {
            return Err(DiffErrorKind::NoPath);
        }
        Ok(Self { old: old.map(inside).transpose()?, new: new.map(inside).transpose()? })
    }

    /// Uses the new name on both sides of an added file, and the old name on both sides of a
    /// deleted one.
    pub(super) fn on_sides_of(self, status: FileStatus) -> Self {
        match status {
            FileStatus::Added => Self { old: self.new.clone(), ..self },
            FileStatus::Deleted => Self { new: self.old.clone(), ..self },
            _ => self,
        }
    }

    /// A file without hunks, with the status that the names imply.
    pub(super) fn into_file<'a>(self) -> FileDiff<'a> {
        let status = match (&self.old, &self.new) {
            (None, _) => FileStatus::Added,
            (_, None) => FileStatus::Deleted,
            (old, new) if old != new => FileStatus::Renamed,
            _ => FileStatus::Modified,
        };
        let (path, old_path) = match (self.old, self.new) {
            (Some(old), Some(new)) if old != new => (new, Some(old)),
            (_, Some(path)) | (Some(path), None) => (path, None),
            (None, None) => (FilePath::from(""), None),
        };
        let (old_mode, new_mode, is_binary, hunks) = (None, None, false, Vec::new());
        FileDiff { path, old_path, status, old_mode, new_mode, is_binary, hunks }
    }
}

fn inside(name: &[u8]) -> Result<FilePath, DiffErrorKind> {
    let mut name = name;
    while let Some(rest) = name.strip_prefix(b"./") {
        name = rest;
    }
    let path = FilePath::from_bytes(name);
    match path.stays_inside() {
        true => Ok(path),
        false if name.is_empty() => Err(DiffErrorKind::NoPath),
        false => Err(DiffErrorKind::Outside(path.to_string())),
    }
}

/// The names of a `git diff` section: from its rename header, its `---` and `+++` lines, or its
/// first line.
pub(super) fn of_git(
    moved: Option<(&[u8], &[u8])>,
    shown: Option<(&[u8], &[u8])>,
    header: &[u8],
) -> Result<FileNames, DiffErrorKind> {
    if let Some((old, new)) = moved {
        return FileNames::inside(Some(&whole(old)), Some(&whole(new)));
    }
    let shown = shown.map(|(old, new)| (PathLabel::parse(old), PathLabel::parse(new)));
    if let Some((old, new)) = &shown
        && !old.is_absent
        && !new.is_absent
    {
        let (old, new) = strip_pair(&old.name, &new.name);
        return FileNames::inside(Some(old), Some(new));
    }
    if let Some((old, new)) = split(header) {
        let (old, new) = strip_pair(&old, &new);
        return FileNames::inside(Some(old), Some(new));
    }
    match shown {
        Some((old, new)) if new.is_absent => FileNames::same(strip_known(&old.name)),
        Some((_, new)) => FileNames::same(strip_known(&new.name)),
        None => Err(DiffErrorKind::NoPath),
    }
}

/// The names after `---` and `+++` without a `diff --git` line before them.
pub(super) fn of_plain(old: &[u8], new: &[u8]) -> Result<FileNames, DiffErrorKind> {
    let (old, new) = (PathLabel::parse(old), PathLabel::parse(new));
    match (old.is_absent, new.is_absent) {
        (true, true) => Err(DiffErrorKind::NoPath),
        (true, false) => FileNames::inside(None, Some(strip_known(&new.name))),
        (false, true) => FileNames::inside(Some(strip_known(&old.name)), None),
        (false, false) => FileNames::same(common_name(&old.name, &new.name)),
    }
}

/// The name after `diff --cc`.
pub(super) fn of_combined(name: &[u8]) -> Result<FileNames, DiffErrorKind> {
    FileNames::same(&whole(name))
}

/// Parses `Binary files a/x and b/x differ` without a file header, as `diff -r` prints it.
pub(super) fn binary_pair(line: &[u8]) -> Option<Result<FileNames, DiffErrorKind>> {
    let names = line.strip_prefix(b"Binary files ")?.strip_suffix(b" differ")?;
    let at = names.windows(5).position(|window| window == b" and ")?;
    Some(of_plain(&names[..at], &names[at + 5..]))
}

/// Parses `Submodule lib 1234567..89abcde:`, as `git diff --submodule=log` prints it.
pub(super) fn submodule(line: &[u8]) -> Option<Result<FileNames, DiffErrorKind>> {
    let rest = line.strip_prefix(b"Submodule ")?;
    let rest = rest.strip_suffix(b":").unwrap_or(rest);
    let (rest, is_new) = strip_either(rest, b" (new submodule)");
    let (rest, is_deleted) = strip_either(rest, b" (submodule deleted)");
    let (rest, _) = strip_either(rest, b" (rewind)");
    let space = rest.iter().rposition(|byte| *byte == b' ')?;
    let (name, ids) = (&rest[..space], &rest[space + 1..]);
    let are_ids = ids.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'.');
    let has_dots = ids.windows(2).any(|window| window == b"..");
    (are_ids && has_dots).then(|| match (is_new, is_deleted) {
        (true, _) => FileNames::inside(None, Some(name)),
        (_, true) => FileNames::inside(Some(name), None),
        _ => FileNames::same(name),
    })
}

fn strip_either<'a>(text: &'a [u8], suffix: &[u8]) -> (&'a [u8], bool) {
    text.strip_suffix(suffix).map_or((text, false), |rest| (rest, true))
}

/// A name, borrowed from the diff or unescaped.
type PathBytes<'a> = Cow<'a, [u8]>;

/// The text after `---` or `+++`.
struct PathLabel<'a> {
    name: Cow<'a, [u8]>,
    is_absent: bool,
}

impl<'a> PathLabel<'a> {
    fn parse(text: &'a [u8]) -> Self {
        let text = without_cr(text);
        let (name, time) = match quoted(text) {
            Some((name, rest)) => (Cow::Owned(name), rest),
            None => {
                let end = text.iter().position(|byte| *byte == b'\t').unwrap_or(text.len());
                (Cow::Borrowed(&text[..end]), &text[end..])
            }
        };
        let is_absent = *name == *b"/dev/null" || time.trim_ascii() == b"(nonexistent)";
        Self { name, is_absent }
    }
}

/// A name that fills the rest of its line.
fn whole(text: &[u8]) -> Cow<'_, [u8]> {
    match quoted(text) {
        Some((name, _)) => Cow::Owned(name),
        None => Cow::Borrowed(text),
    }
}

/// A quoted name, and the text after it.
fn quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let inner = text.strip_prefix(b"\"")?;
    let mut escaped = false;
    let end = inner.iter().position(|byte| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    })?;
    Some((unescape(&inner[..end]), &inner[end + 1..]))
}

/// Splits the two names of `diff --git`. They are equal except for their prefixes, so the split
/// position is unambiguous even if they contain spaces.
fn split(header: &[u8]) -> Option<(PathBytes<'_>, PathBytes<'_>)> {
    if let Some((old, rest)) = quoted(header) {
        return Some((Cow::Owned(old), whole(rest.strip_prefix(b" ")?)));
    }
    if header.ends_with(b"\"")
        && let Some(space) = header.windows(2).position(|window| window == b" \"")
    {
        return Some((Cow::Borrowed(&header[..space]), whole(&header[space + 1..])));
    }
    let middle = header.len() / 2;
    let (old, new) = (header.get(..middle)?, header.get(middle + 1..)?);
    let is_halved = header.get(middle) == Some(&b' ') && have_same_rest(old, new);
    let (old, new) = if is_halved { (old, new) } else { split_uneven(header)? };
    Some((Cow::Borrowed(old), Cow::Borrowed(new)))
}

fn have_same_rest(old: &[u8], new: &[u8]) -> bool {
    old == new || after_slash(old).is_some_and(|old| Some(old) == after_slash(new))
}

/// Splits names whose prefixes differ in length. The text after the first slash of each name is
/// equal, so every slash leaves one possible position.
fn split_uneven(header: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_short = header.len() <= MAX_GUESSED;
    let first = header.iter().position(|byte| *byte == b'/').filter(|_| is_short)?;
    let mut slashes = (first + 1..header.len()).filter(|at| header[*at] == b'/');
    slashes.find_map(|slash| {
        let space = first + header.len() - slash;
        let (old, new) = (header.get(..space)?, header.get(space + 1..)?);
        let fits = header.get(space) == Some(&b' ') && space < slash;
        (fits && have_same_rest(old, new)).then_some((old, new))
    })
}

fn after_slash(name: &[u8]) -> Option<&[u8]> {
    let slash = name.iter().position(|byte| *byte == b'/')?;
    Some(&name[slash + 1..]).filter(|rest| !rest.is_empty())
}

/// Removes the prefixes of both names. Equal names have none.
fn strip_pair<'a>(old: &'a [u8], new: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    if old == new {
        return (old, new);
    }
    match (after_slash(old), after_slash(new)) {
        (Some(old), Some(new)) if old == new => (old, new),
        _ if strip_known(old) != old && strip_known(new) != new => {
            (strip_known(old), strip_known(new))
        }
        _ => (old, new),
    }
}

/// Removes git's prefix: `a/`, `b/`, or those of `diff.mnemonicPrefix`.
fn strip_known(name: &[u8]) -> &[u8] {
    match name {
        [b'a' | b'b' | b'c' | b'i' | b'o' | b'w', b'/', rest @ ..] if !rest.is_empty() => rest,
        _ => name,
    }
}

/// The name that two trees have in common: `src/x.c` for `old/src/x.c` and `new/src/x.c`.
fn common_name<'a>(old: &'a [u8], new: &'a [u8]) -> &'a [u8] {
    let (old, new) = strip_pair(old, new);
    if old == new {
        return new;
    }
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let common_length = &new[new.len() - same..];
    if same < old.len()
        && same < new.len()
        && let Some(name) = after_slash(common_length)
    {
        return name;
    }
    // `x.c.orig` and `x.c`, or two unrelated files.
    let is_backup = [&b".orig"[..], b".old", b".bak", b"~"].iter().any(|end| new.ends_with(end));
    if is_backup { old } else { new }
}
