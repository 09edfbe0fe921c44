//! A patch without a repository. Only the lines in the patch are known.

use crate::git::{FileContent, GitError, GitScopeError, Overlay, PathFilter, hex};
use mala_domain::change::{
    Change, EntryKind, FileClass, FileDiff, FileStatus, GitAttributes, LineKind, read,
};
use mala_domain::ports::{self, BoxFuture, ChangeSource, ReviewScope, Side};
use mala_domain::scope::{HeadState, ReviewTarget, ScopeSummary};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The largest patch, in bytes.
pub(crate) const MAX_PATCH: usize = 256 << 20;

/// A change source without a repository. Only patches can be reviewed.
#[derive(Debug)]
pub struct PatchOnlySource(GitScopeError);

impl PatchOnlySource {
    /// Stores why there is no repository.
    pub fn because(error: GitError) -> Self {
        Self(error.into())
    }
}

impl ChangeSource for PatchOnlySource {
    fn scope<'a>(
        &'a self,
        target: &'a ReviewTarget,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<ReviewScope, ports::ScopeError>> {
        let scoped = match target {
            ReviewTarget::Patch(patch) => scope(patch, paths).map_err(Into::into),
            _ => Err(ports::ScopeError::from(&self.0)),
        };
        Box::pin(std::future::ready(scoped))
    }
}

/// The change of a patch, limited to some paths (files, folders, globs, as the patch names them).
/// White space alone is an empty change.
pub fn scope(patch: &[u8], paths: &[String]) -> Result<ReviewScope, GitScopeError> {
    if patch.len() > MAX_PATCH {
        return Err(GitScopeError::TooLarge { n_bytes: patch.len() });
    }
    let filter = PathFilter::of_patch(paths)?;
    let mut files = read(patch)?;
    files.retain(|file| filter.includes(&file.path) || filter.includes(file.base_path()));
    let mut overlay = Overlay::over(None);
    files.iter().for_each(|file| add_shown_files(&mut overlay, file));
    let diff_hash = hex(&hash(patch, &files, &filter).finalize());
    let change = Change { files: files.iter().map(|file| with_nature(file)).collect() };
    let scope = ScopeSummary {
        repository: None,
        target: "a patch".to_owned(),
        base: None,
        head: HeadState::Patch,
        diff_hash,
        files: change.files.len(),
        hunks: change.n_hunks(),
        lines: change.n_lines(),
    };
    Ok(ReviewScope { scope, change: Arc::new(change), tree: Arc::new(overlay), trusted: None })
}

/// The hash of the reviewed part: of the whole patch, or of the files that the filter keeps.
pub(crate) fn hash(patch: &[u8], files: &[FileDiff<'_>], filter: &PathFilter) -> Sha256 {
    if filter.is_everything() {
        return Sha256::new_with_prefix(patch);
    }
    let mut hash = Sha256::new();
    files.iter().for_each(|file| hash.update(file.print()));
    hash
}

/// Adds the files that a patch shows completely: added ones at head, deleted ones at base.
pub(crate) fn add_shown_files(overlay: &mut Overlay, file: &FileDiff<'_>) {
    if file.is_binary || file.kind() != EntryKind::File {
        return;
    }
    match file.status {
        FileStatus::Added => {
            overlay.insert(Side::Head, file.path.clone(), FileContent::of(file.apply(&[])));
        }
        FileStatus::Deleted => {
            overlay.insert(Side::Base, file.path.clone(), FileContent::of(file.revert(&[])));
        }
        _ => {}
    }
}

fn with_nature(file: &FileDiff<'_>) -> mala_domain::change::ChangedFile {
    let start = start_of(file);
    let mut changed = file.clone().into_changed_file();
    let attributes = GitAttributes::default();
    changed.class = match changed.class {
        FileClass::Source => FileClass::of(&changed.path, attributes, Some(&start)),
        FileClass::Binary if changed.exists_at_head() => {
            FileClass::of_binary(&changed.path, attributes)
        }
        class => class,
    };
    changed
}

/// The start of the file, if the patch shows it: at base, or at head if the file is new.
fn start_of(file: &FileDiff<'_>) -> String {
    let is_new = file.status == FileStatus::Added;
    let other = if is_new { LineKind::Removed } else { LineKind::Added };
    let first = file.hunks.first().filter(|hunk| is_new || hunk.old_start <= 1);
    let lines = first.into_iter().flat_map(|hunk| &hunk.lines);
    let mut start = String::new();
    for line in lines.filter(|line| line.kind != other) {
        start.push_str(&String::from_utf8_lossy(line.text));
        start.push('\n');
    }
    start
}
