//! A patch inside a repository. If it applies to a state of the tree, that state provides the rest
//! of its files. Otherwise only the lines in the patch are known.

use super::filter::PathFilter;
use super::overlay::Overlay;
use super::scope::ScopeDraft;
use super::tree::{ContentSource, FileContent, GitTree, TreeState};
use super::{Git, GitError, GitScopeError};
use crate::patch::{MAX_PATCH, add_shown_files, hash};
use mala_domain::change::{Change, EntryKind, FileDiff, FilePath, FileStatus, read};
use mala_domain::ports::{ReviewScope, Side};
use mala_domain::scope::HeadState;
use std::sync::Arc;

impl Git {
    pub(super) async fn scope_patch(
        &self,
        patch: &[u8],
        filter: &PathFilter,
    ) -> Result<ReviewScope, GitScopeError> {
        if patch.len() > MAX_PATCH {
            return Err(GitScopeError::TooLarge { n_bytes: patch.len() });
        }
        let mut files = read(patch)?;
        files.retain(|file| filter.includes(&file.path) || filter.includes(file.base_path()));
        let head = self.head().await?;
        let git = self.with_attributes_of(&self.tree_of(head.as_ref()))?;
        let head = git.state_of(head);
        let overlay = git.overlay_of(&files, head).await?;
        let (target, hash) = ("a patch".to_owned(), hash(patch, &files, filter));
        let draft = ScopeDraft { target, base: None, head: HeadState::Patch, hash };
        let mut changed: Vec<_> = files.into_iter().map(FileDiff::into_changed_file).collect();
        git.mark_natures(&overlay, &mut changed).await?;
        Ok(git.scoped(draft, Change { files: changed }, Arc::new(overlay)))
    }

    /// The tree that the patch starts from or leads to: the one that most of its files match. For
    /// other files, only the lines in the patch are known.
    async fn overlay_of(
        &self,
        files: &[FileDiff<'_>],
        head: TreeState,
    ) -> Result<Overlay, GitError> {
        let states = [
            (head.clone(), Side::Base),
            (TreeState::WorkTree, Side::Base),
            (TreeState::WorkTree, Side::Head),
            (head, Side::Head),
        ];
        let mut best = PatchFit::default();
        let is_there =
            |state: &TreeState| !self.inner.is_bare || !matches!(state, TreeState::WorkTree);
        for (state, side) in states.into_iter().filter(|(state, _)| is_there(state)) {
            let tree = GitTree::new(self, state.clone(), state);
            let overlaid = match_tree(&tree, files, side).await?;
            let fit = PatchFit {
                n_matching: n_matching(files, &overlaid, side),
                overlaid,
                tree: Some(tree),
            };
            if fit.is_whole() {
                return Ok(fit.overlay(files));
            }
            if fit.n_matching > best.n_matching {
                best = fit;
            }
        }
        Ok(best.overlay(files))
    }
}

type OverlayFile = (Side, FilePath, FileContent);

/// How a patch matches a tree.
#[derive(Default)]
struct PatchFit {
    tree: Option<GitTree>,
    /// The contents of each file on the other side of the patch; `None` if it does not match.
    overlaid: Vec<Option<Vec<OverlayFile>>>,
    /// Matching files that exist in the tree. A new file matches any tree without it.
    n_matching: usize,
}

impl PatchFit {
    fn is_whole(&self) -> bool {
        self.overlaid.iter().all(Option::is_some)
    }

    fn overlay(self, files: &[FileDiff<'_>]) -> Overlay {
        let Some(tree) = self.tree else {
            let mut overlay = Overlay::over(None);
            files.iter().for_each(|file| add_shown_files(&mut overlay, file));
            return overlay;
        };
        let mut overlay = Overlay::over(Some(tree));
        for (file, overlaid) in files.iter().zip(self.overlaid) {
            let Some(overlaid) = overlaid else {
                // The tree has another file at this path than the one that the patch changes.
                overlay.insert(Side::Base, file.base_path().clone(), FileContent::Missing);
                overlay.insert(Side::Head, file.path.clone(), FileContent::Missing);
                add_shown_files(&mut overlay, file);
                continue;
            };
            for (side, path, content) in overlaid {
                overlay.insert(side, path, content);
            }
        }
        overlay
    }
}

/// The status of files that exist only on the other side of the patch.
fn new_file_status(side: Side) -> FileStatus {
    match side {
        Side::Base => FileStatus::Added,
        Side::Head => FileStatus::Deleted,
    }
}

fn n_matching(files: &[FileDiff<'_>], overlaid: &[Option<Vec<OverlayFile>>], side: Side) -> usize {
    let fitting = files.iter().zip(overlaid).filter(|(_, overlaid)| overlaid.is_some());
    fitting.filter(|(file, _)| file.status != new_file_status(side)).count()
}

/// The files on the other side of the patch, if the tree matches this side.
async fn match_tree(
    tree: &GitTree,
    files: &[FileDiff<'_>],
    side: Side,
) -> Result<Vec<Option<Vec<OverlayFile>>>, GitError> {
    let paths: Vec<_> = files.iter().map(|file| path_on(file, side)).collect();
    let kinds = tree.kinds(side, &paths).await?;
    let contents = tree.contents(side, &paths).await?;
    let rows = files.iter().zip(kinds).zip(contents);
    Ok(rows
        .map(|((file, kind), content)| {
            let is_there = kind.is_some();
            (is_there != (file.status == new_file_status(side))).then_some(())?;
            match_file(file, content, side)
        })
        .collect())
}

fn path_on(file: &FileDiff<'_>, side: Side) -> FilePath {
    match side {
        Side::Base => file.base_path().clone(),
        Side::Head => file.path.clone(),
    }
}

/// One file on the other side of the patch; `None` if the patch does not apply.
fn match_file(file: &FileDiff<'_>, content: FileContent, side: Side) -> Option<Vec<OverlayFile>> {
    let other = if side == Side::Base { Side::Head } else { Side::Base };
    let mut overlaid = Vec::new();
    // A renamed file no longer exists at its old path.
    if path_on(file, side) != path_on(file, other) && file.status == FileStatus::Renamed {
        overlaid.push((other, path_on(file, side), FileContent::Missing));
        overlaid.push((side, path_on(file, other), FileContent::Missing));
    }
    let content = match (file.status, content) {
        (status, _) if status == new_file_status(other) => FileContent::Missing,
        _ if file.is_binary || file.kind() != EntryKind::File => return Some(overlaid),
        (status, _) if status == new_file_status(side) => {
            FileContent::of(apply_or_revert(file, side, &[]))
        }
        (_, FileContent::File(bytes)) => FileContent::File(apply_or_revert(file, side, &bytes)?),
        _ => return None,
    };
    overlaid.push((other, path_on(file, other), content));
    Some(overlaid)
}

fn apply_or_revert(file: &FileDiff<'_>, side: Side, content: &[u8]) -> Option<Vec<u8>> {
    match side {
        Side::Base => file.apply(content),
        Side::Head => file.revert(content),
    }
}
