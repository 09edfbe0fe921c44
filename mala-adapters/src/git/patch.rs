//! A patch inside of a repository. Where it fits a state of the tree, that state gives the rest of its
//! files; where it does not, nothing is said but what the patch itself shows.

use super::filter::Filter;
use super::overlay::Overlay;
use super::scope::Draft;
use super::tree::{Content, Contents, GitTree, State};
use super::{Git, GitError, ScopeError};
use crate::patch::{MAX_PATCH, hash, lay_shown};
use mala_domain::change::{Change, EntryKind, FileDiff, FilePath, FileStatus, read};
use mala_domain::ports::{ReviewScope, Side};
use mala_domain::scope::Head;
use std::sync::Arc;

impl Git {
    pub(super) async fn scope_patch(
        &self,
        patch: &[u8],
        filter: &Filter,
    ) -> Result<ReviewScope, ScopeError> {
        if patch.len() > MAX_PATCH {
            return Err(ScopeError::TooLarge { n_bytes: patch.len() });
        }
        let mut files = read(patch)?;
        files.retain(|file| filter.keeps(&file.path) || filter.keeps(file.base_path()));
        let head = self.head().await?;
        let git = self.with_attributes_of(&self.tree_of(head.as_ref()));
        let head = git.state_of(head);
        let overlay = git.overlay_of(&files, head).await?;
        let (target, hash) = ("a patch".to_owned(), hash(patch, &files, filter));
        let draft = Draft { target, base: None, head: Head::Patch, hash };
        let mut changed: Vec<_> = files.into_iter().map(FileDiff::into_changed_file).collect();
        git.mark_natures(&overlay, &mut changed).await?;
        Ok(git.scoped(draft, Change { files: changed }, Arc::new(overlay)))
    }

    /// The tree that the patch starts from or leads to: the one that most of its files fit. Files that
    /// do not fit it are known only by what the patch shows.
    async fn overlay_of(&self, files: &[FileDiff<'_>], head: State) -> Result<Overlay, GitError> {
        let states = [
            (head.clone(), Side::Base),
            (State::WorkTree, Side::Base),
            (State::WorkTree, Side::Head),
            (head, Side::Head),
        ];
        let mut best = Fit::default();
        let is_there = |state: &State| !self.inner.is_bare || !matches!(state, State::WorkTree);
        for (state, side) in states.into_iter().filter(|(state, _)| is_there(state)) {
            let tree = GitTree::new(self, state.clone(), state);
            let laid = fit(&tree, files, side).await?;
            let fit = Fit { proofs: proofs(files, &laid, side), laid, tree: Some(tree) };
            if fit.is_whole() {
                return Ok(fit.overlay(files));
            }
            if fit.proofs > best.proofs {
                best = fit;
            }
        }
        Ok(best.overlay(files))
    }
}

type Laid = (Side, FilePath, Content);

/// How a patch fits a tree.
#[derive(Default)]
struct Fit {
    tree: Option<GitTree>,
    /// What each file is on the other side of the patch; `None` for those that do not fit.
    laid: Vec<Option<Vec<Laid>>>,
    /// Files that fit and are in the tree: a new file fits any tree that lacks it.
    proofs: usize,
}

impl Fit {
    fn is_whole(&self) -> bool {
        self.laid.iter().all(Option::is_some)
    }

    fn overlay(self, files: &[FileDiff<'_>]) -> Overlay {
        let Some(tree) = self.tree else {
            let mut overlay = Overlay::over(None);
            files.iter().for_each(|file| lay_shown(&mut overlay, file));
            return overlay;
        };
        let mut overlay = Overlay::over(Some(tree));
        for (file, laid) in files.iter().zip(self.laid) {
            let Some(laid) = laid else {
                // The tree has another file there than the one that the patch changes.
                overlay.lay(Side::Base, file.base_path().clone(), Content::Missing);
                overlay.lay(Side::Head, file.path.clone(), Content::Missing);
                lay_shown(&mut overlay, file);
                continue;
            };
            for (side, path, content) in laid {
                overlay.lay(side, path, content);
            }
        }
        overlay
    }
}

/// The status of files that are only on the other side of the patch.
fn appears(side: Side) -> FileStatus {
    match side {
        Side::Base => FileStatus::Added,
        Side::Head => FileStatus::Deleted,
    }
}

fn proofs(files: &[FileDiff<'_>], laid: &[Option<Vec<Laid>>], side: Side) -> usize {
    let fitting = files.iter().zip(laid).filter(|(_, laid)| laid.is_some());
    fitting.filter(|(file, _)| file.status != appears(side)).count()
}

/// What the files are on the other side of the patch, as far as the tree is on this side of it.
async fn fit(
    tree: &GitTree,
    files: &[FileDiff<'_>],
    side: Side,
) -> Result<Vec<Option<Vec<Laid>>>, GitError> {
    let paths: Vec<_> = files.iter().map(|file| path_on(file, side)).collect();
    let kinds = tree.kinds(side, &paths).await?;
    let contents = tree.contents(side, &paths).await?;
    let rows = files.iter().zip(kinds).zip(contents);
    Ok(rows
        .map(|((file, kind), content)| {
            let is_there = kind.is_some();
            (is_there != (file.status == appears(side))).then_some(())?;
            fit_file(file, content, side)
        })
        .collect())
}

fn path_on(file: &FileDiff<'_>, side: Side) -> FilePath {
    match side {
        Side::Base => file.base_path().clone(),
        Side::Head => file.path.clone(),
    }
}

/// What one file is on the other side of the patch; `None` when the patch does not fit it.
fn fit_file(file: &FileDiff<'_>, content: Content, side: Side) -> Option<Vec<Laid>> {
    let other = if side == Side::Base { Side::Head } else { Side::Base };
    let mut laid = Vec::new();
    // A file that moved is not where it was.
    if path_on(file, side) != path_on(file, other) && file.status == FileStatus::Renamed {
        laid.push((other, path_on(file, side), Content::Missing));
        laid.push((side, path_on(file, other), Content::Missing));
    }
    let content = match (file.status, content) {
        (status, _) if status == appears(other) => Content::Missing,
        _ if file.is_binary || file.kind() != EntryKind::File => return Some(laid),
        (status, _) if status == appears(side) => Content::of(turn(file, side, &[])),
        (_, Content::File(bytes)) => Content::File(turn(file, side, &bytes)?),
        _ => return None,
    };
    laid.push((other, path_on(file, other), content));
    Some(laid)
}

fn turn(file: &FileDiff<'_>, side: Side, content: &[u8]) -> Option<Vec<u8>> {
    match side {
        Side::Base => file.apply(content),
        Side::Head => file.revert(content),
    }
}
