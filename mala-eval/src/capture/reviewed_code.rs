//! The code of a kept review, read from the repository again and stripped of secrets.

use crate::import::ChangeSides;
use crate::import::texts;
use crate::ports::{CaseGit, CaseRepository, FileContents};
use mala_domain::change::{Change, ChangedFile, FilePath, parse};
use mala_domain::ports::{ReviewScope, ScopeError, Side};
use mala_domain::report::Report;
use mala_domain::scope::{HeadState, ReviewTarget};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why the code of a review is not there any more.
#[derive(Debug, Error)]
pub enum ReviewedCodeError {
    /// Only a patch was reviewed.
    #[error("cannot capture the review of a patch: its files are not stored")]
    Patch,
    /// The code differs from the reviewed one.
    #[error("the code has changed since the review")]
    Changed,
    /// git does not find it.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A file cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// Both sides of a reviewed change, without secrets, with these files besides.
pub async fn reviewed_code(
    git: &dyn CaseGit,
    repository: &dyn CaseRepository,
    report: &Report,
    more: &[FilePath],
) -> Result<ChangeSides, ReviewedCodeError> {
    let scoped = reviewed(repository, report).await?;
    let files = &scoped.change.files;
    let at_base = files.iter().filter(|file| file.existed_at_base()).map(ChangedFile::base_path);
    let at_head = files.iter().filter(|file| file.exists_at_head()).map(|file| &file.path);
    let tree = &*scoped.tree;
    // Files with findings are on both sides, whether they changed or not.
    let base = texts(tree, Side::Base, at_base.chain(more).cloned().collect()).await;
    let head = texts(tree, Side::Head, at_head.chain(more).cloned().collect()).await;
    let (base, head) = (
        base.map_err(ReviewedCodeError::Unreadable)?,
        head.map_err(ReviewedCodeError::Unreadable)?,
    );
    let (head_id, message) = match &scoped.scope.head {
        HeadState::Commit(id) => (id.clone(), repository.message(id).await?),
        _ => (String::new(), String::new()),
    };
    let base_id = scoped.scope.base.clone();
    let sides = ChangeSides { base, head, base_id, head_id, message, ..ChangeSides::default() };
    diffed(sides.redacted(), git).await
}

/// The change that was reviewed, and no other.
async fn reviewed(
    repository: &dyn CaseRepository,
    report: &Report,
) -> Result<ReviewScope, ReviewedCodeError> {
    let scope = &report.scope;
    let target = match (&scope.head, &scope.base) {
        (HeadState::Commit(head), Some(base)) => {
            ReviewTarget::Range { base: base.clone(), head: head.clone() }
        }
        (HeadState::Commit(head), None) => ReviewTarget::Commits(vec![head.clone()]),
        (HeadState::Index, _) => ReviewTarget::Staged,
        (HeadState::WorkingTree, _) => ReviewTarget::WorkingTree,
        (HeadState::Patch, _) => return Err(ReviewedCodeError::Patch),
    };
    let coverage = &report.coverage;
    let given = coverage.files.iter().map(|file| &file.file);
    let skipped = coverage.skipped.iter().map(|skip| &skip.file);
    let paths: Vec<String> = given.chain(skipped).map(|file| file.to_text().into()).collect();
    for paths in [Vec::new(), paths] {
        // If a path is gone or a range moved, the code differs from the reviewed one.
        match repository.scope(&target, &paths).await {
            Ok(scoped) if scoped.scope.diff_hash == scope.diff_hash => return Ok(scoped),
            Err(error) if paths.is_empty() => return Err(error.into()),
            _ => {}
        }
    }
    Err(ReviewedCodeError::Changed)
}

/// With the diff between both sides as they are.
async fn diffed(sides: ChangeSides, git: &dyn CaseGit) -> Result<ChangeSides, ReviewedCodeError> {
    let bytes = |texts: &BTreeMap<FilePath, String>| -> FileContents {
        texts.iter().map(|(path, text)| (path.clone(), text.as_bytes().to_vec())).collect()
    };
    let diff = git.diff(&bytes(&sides.base), &bytes(&sides.head)).await?;
    let files =
        parse(diff.as_bytes()).map_err(|error| ReviewedCodeError::Unreadable(error.to_string()))?;
    Ok(ChangeSides { change: Change { files }, diff, ..sides })
}
