//! A patch inside of a repository. Where it fits a state of the tree, that state gives the rest of its
//! files; where it does not, nothing is said but what the patch itself shows.

use super::filter::Filter;
use super::overlay::Overlay;
use super::scope::Draft;
use super::tree::{Content, Contents, GitTree, State};
use super::{Git, GitError, ScopeError};
use crate::patch::{MAX_PATCH, hash, lay_shown};
use mala_domain::change::{Change, EntryKind, FileDiff, FilePath, FileStatus, read};
use mala_domain::ports::{Scoped, Side};
use mala_domain::scope::Head;
use std::sync::Arc;

impl Git {
    pub(super) async fn scope_patch(
        &self,
        patch: &[u8],
        filter: &Filter,
    ) -> Result<Scoped, ScopeError> {
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

    /// The tree that the patch starts from or leads to.
    async fn overlay_of(&self, files: &[FileDiff<'_>], head: State) -> Result<Overlay, GitError> {
        let states = [
            (head.clone(), Side::Base),
            (State::WorkTree, Side::Base),
            (State::WorkTree, Side::Head),
            (head, Side::Head),
        ];
        for (state, side) in states {
            let tree = GitTree::new(self, state.clone(), state);
            if let Some(contents) = fit(&tree, files, side).await? {
                let mut overlay = Overlay::over(Some(tree));
                for (side, path, content) in contents {
                    overlay.lay(side, path, content);
                }
                return Ok(overlay);
            }
        }
        let mut overlay = Overlay::over(None);
        files.iter().for_each(|file| lay_shown(&mut overlay, file));
        Ok(overlay)
    }
}

type Laid = (Side, FilePath, Content);

/// What the files are on the other side of the patch, when the tree is on this side of it.
async fn fit(
    tree: &GitTree,
    files: &[FileDiff<'_>],
    side: Side,
) -> Result<Option<Vec<Laid>>, GitError> {
    let (here, there) = match side {
        Side::Base => (FileStatus::Added, FileStatus::Deleted),
        Side::Head => (FileStatus::Deleted, FileStatus::Added),
    };
    let path_on = |file: &FileDiff<'_>, side: Side| match side {
        Side::Base => file.base_path().clone(),
        Side::Head => file.path.clone(),
    };
    let paths: Vec<_> = files.iter().map(|file| path_on(file, side)).collect();
    let kinds = tree.kinds(side, &paths).await?;
    let contents = tree.contents(side, &paths).await?;
    let other = if side == Side::Base { Side::Head } else { Side::Base };
    let mut laid = Vec::new();
    for ((file, kind), content) in files.iter().zip(kinds).zip(contents) {
        if kind.is_some() == (file.status == here) {
            return Ok(None);
        }
        // A file that moved is not where it was.
        if path_on(file, side) != path_on(file, other) && file.status == FileStatus::Renamed {
            laid.push((other, path_on(file, side), Content::Missing));
            laid.push((side, path_on(file, other), Content::Missing));
        }
        let content = match (file.status, content) {
            (status, _) if status == there => Content::Missing,
            _ if file.is_binary || file.kind() != EntryKind::File => continue,
            (status, _) if status == here => Content::of(turn(file, side, &[])),
            (_, Content::File(bytes)) => match turn(file, side, &bytes) {
                Some(bytes) => Content::File(bytes),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        laid.push((other, path_on(file, other), content));
    }
    Ok(Some(laid))
}

fn turn(file: &FileDiff<'_>, side: Side, content: &[u8]) -> Option<Vec<u8>> {
    match side {
        Side::Base => file.apply(content),
        Side::Head => file.revert(content),
    }
}
