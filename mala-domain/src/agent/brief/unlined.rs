//! What a change does to files that none of their lines shows: names, modes, links, files without content.
//! Nobody can account for a region of it, so that it is told by name.

use super::sections::name;
use crate::change::{ChangedFile, EntryKind, FileStatus};

/// Whether a file is to be reviewed and has no changed line.
pub fn is_bare(file: &ChangedFile) -> bool {
    file.is_reviewable() && file.hunks.is_empty()
}

/// What happens to a file beside its lines, on one line; `None` when the lines show all of it.
pub fn unlined(file: &ChangedFile) -> Option<String> {
    let is_link = file.kind == EntryKind::Symlink && file.exists_at_head() && file.is_reviewable();
    if !(is_bare(file) || is_link || file.mode_change.is_some()) {
        return None;
    }
    let mut line = name(file);
    if let Some((old, new)) = &file.mode_change {
        line.push_str(&format!(", mode {old} -> {new}"));
    }
    if is_link {
        line.push_str(", a symbolic link");
    }
    if is_bare(file) {
        line.push_str(match file.status {
            FileStatus::Added | FileStatus::Deleted => ", empty",
            _ => ", no line changed",
        });
    }
    Some(line)
}
