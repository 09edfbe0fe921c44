//! What a reviewer needs to see: the texts of the changed files on both sides.

use mala_domain::change::{ChangedFile, EntryKind, FilePath};
use mala_domain::ports::{Blob, RepositoryError, ScopeError, Scoped, Side};
use mala_domain::report::ContextSize;
use mala_domain::review::Texts;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the reviewers are given beside the diff.
pub(super) struct Context {
    pub(super) texts: Arc<Texts>,
}

impl Context {
    /// How much it is.
    pub(super) fn size(&self) -> ContextSize {
        ContextSize::default()
    }
}

pub(super) async fn gather(scoped: &Scoped) -> Result<Context, ScopeError> {
    let files = || {
        scoped
            .change
            .files
            .iter()
            .filter(|file| file.is_reviewable() && file.kind == EntryKind::File)
    };
    let at_base: Vec<FilePath> =
        files().filter(|f| f.existed_at_base()).map(|f| f.base_path().clone()).collect();
    let at_head: Vec<FilePath> = files().filter(|f| f.exists_at_head()).map(path_at_head).collect();
    let base = read(scoped, Side::Base, at_base).await?;
    let head = read(scoped, Side::Head, at_head).await?;
    Ok(Context { texts: Arc::new(Texts { base, head }) })
}

fn path_at_head(file: &ChangedFile) -> FilePath {
    file.path.clone()
}

/// The contents of these files on one side, by path.
pub(super) async fn read(
    scoped: &Scoped,
    side: Side,
    paths: Vec<FilePath>,
) -> Result<BTreeMap<FilePath, Blob>, ScopeError> {
    if paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    let blobs = scoped.tree.read(side, &paths).await.map_err(unreadable)?;
    Ok(paths.into_iter().zip(blobs).collect())
}

fn unreadable(error: RepositoryError) -> ScopeError {
    ScopeError::Broken { what: error.to_string(), hint: None }
}
