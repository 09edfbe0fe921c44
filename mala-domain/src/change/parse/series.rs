//! Combines several patches in one text, such as the mails of `git format-patch`. Each patch
//! applies to the result of the previous one.

use super::compose::{ComposeConflict, compose};
use super::error::{DiffError, DiffErrorKind};
use super::file::FileDiff;
use crate::change::{FilePath, FileStatus};
use std::collections::HashMap;

/// Maximum number of lines processed while combining patches. A malicious series needs quadratic
/// time.
const MAX_JOINED_LINES: usize = 5_000_000;

#[derive(Default)]
pub(super) struct PatchSeries<'a> {
    patch: Vec<(FileDiff<'a>, usize)>,
    in_patch: HashMap<FilePath, usize>,
    joined: Vec<Option<FileDiff<'a>>>,
    /// Index of each combined file by its path at head; deleted files are in `gone`, by their last
    /// path.
    live: HashMap<FilePath, usize>,
    gone: HashMap<FilePath, usize>,
    n_joined_lines: usize,
    has_files: bool,
}

impl<'a> PatchSeries<'a> {
    /// Whether the text contained no file section.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_files
    }

    /// Adds a file of the current patch; `line` is where its section starts.
    pub(super) fn add(&mut self, file: FileDiff<'a>, line: usize) -> Result<(), DiffError> {
        self.has_files = true;
        if let Some(index) = self.in_patch.get(&file.path).copied()
            && let Some((earlier, _)) = self.patch.get_mut(index)
        {
            // Git shows a file that becomes a symlink as a deletion and an addition.
            if earlier.status == FileStatus::Deleted && file.status == FileStatus::Added {
                let joined = join(earlier, &file).map_err(|problem| problem.at(line))?;
                *earlier = joined.unwrap_or(file);
                return Ok(());
            }
            self.next_patch()?;
        }
        self.in_patch.insert(file.path.clone(), self.patch.len());
        self.patch.push((file, line));
        Ok(())
    }

    /// Ends the current patch.
    pub(super) fn next_patch(&mut self) -> Result<(), DiffError> {
        self.in_patch.clear();
        let patch = std::mem::take(&mut self.patch);
        // Look up all files first: the files of one patch are independent, and a swap of two names
        // must not become a rename and its reverse.
        let found: Vec<_> = patch.iter().map(|(file, _)| self.previous_version(file)).collect();
        for ((file, line), index) in patch.into_iter().zip(found) {
            self.apply(file, index).map_err(|problem| problem.at(line))?;
        }
        Ok(())
    }

    /// All files, each once.
    pub(super) fn finish(mut self) -> Result<Vec<FileDiff<'a>>, DiffError> {
        self.next_patch()?;
        Ok(self.joined.into_iter().flatten().collect())
    }

    fn previous_version(&self, file: &FileDiff<'a>) -> Option<usize> {
        match file.status {
            FileStatus::Added => self.gone.get(&file.path),
            _ => self.live.get(file.base_path()),
        }
        .copied()
    }

    fn apply(&mut self, file: FileDiff<'a>, index: Option<usize>) -> Result<(), DiffErrorKind> {
        let Some(earlier) = index.and_then(|index| self.joined.get(index)?.as_ref()) else {
            if file.status == FileStatus::Added && self.live.contains_key(&file.path) {
                return Err(DiffErrorKind::NoSequel(file.path.to_string()));
            }
            self.push(file);
            return Ok(());
        };
        self.n_joined_lines += n_lines(earlier) + n_lines(&file);
        if self.n_joined_lines > MAX_JOINED_LINES {
            return Err(DiffErrorKind::TooManyPatches);
        }
        let joined = join(earlier, &file)?;
        if file.status != FileStatus::Copied
            && let Some(earlier) = index.and_then(|index| self.joined.get_mut(index)?.take())
        {
            self.remove(&earlier, index);
        }
        if let Some(joined) = joined {
            self.push(joined);
        }
        Ok(())
    }

    fn push(&mut self, file: FileDiff<'a>) {
        let paths =
            if file.status == FileStatus::Deleted { &mut self.gone } else { &mut self.live };
        paths.insert(file.path.clone(), self.joined.len());
        self.joined.push(Some(file));
    }

    fn remove(&mut self, file: &FileDiff<'a>, index: Option<usize>) {
        let paths =
            if file.status == FileStatus::Deleted { &mut self.gone } else { &mut self.live };
        if paths.get(&file.path).copied() == index {
            paths.remove(&file.path);
        }
    }
}

fn n_lines(file: &FileDiff<'_>) -> usize {
    file.hunks.iter().map(|hunk| hunk.lines.len()).sum()
}

/// Combines two diffs of one file; `None` if nothing changed in the end.
fn join<'a>(
    first: &FileDiff<'a>,
    second: &FileDiff<'a>,
) -> Result<Option<FileDiff<'a>>, DiffErrorKind> {
    use FileStatus::{Added, Copied, Deleted, Modified, Renamed, TypeChanged};
    let hunks = compose(&first.hunks, &second.hunks)
        .map_err(|ComposeConflict| DiffErrorKind::NoSequel(second.base_path().to_string()))?;
    let status = match (first.status, second.status) {
        (Added | Copied, Deleted) => return Ok(None),
        (Added | Copied, _) => first.status,
        (_, Deleted) => Deleted,
        (_, Copied) => Copied,
        _ if second.path != *first.base_path() => Renamed,
        (_, TypeChanged) | (TypeChanged, _) => TypeChanged,
        _ => Modified,
    };
    let (path, old_path) = match status {
        Deleted => (first.base_path().clone(), None),
        Renamed | Copied => (second.path.clone(), Some(first.base_path().clone())),
        _ => (second.path.clone(), None),
    };
    let is_binary = first.is_binary || second.is_binary;
    let mut joined = FileDiff {
        path,
        old_path,
        status,
        old_mode: first.old_mode.or(second.old_mode).filter(|_| status != Added),
        new_mode: second.new_mode.or(first.new_mode).filter(|_| status != Deleted),
        is_binary,
        hunks: if is_binary { Vec::new() } else { hunks },
    };
    if joined.status == Modified && joined.has_new_kind() {
        joined.status = TypeChanged;
    }
    Ok(Some(joined))
}
