//! The code of a review that is kept: found again in the repository, and laid out without its secrets.

use super::import::texts;
use super::{Checkout, CheckoutError};
use crate::git::{Git, GitError, ScopeError};
use crate::process::Environment;
use mala_domain::change::{Change, ChangedFile, FilePath, parse};
use mala_domain::eval::BaseOrigin;
use mala_domain::eval::import::Sides;
use mala_domain::eval::trees::{Files, Trees};
use mala_domain::ports::{ReviewScope, Side};
use mala_domain::report::Report;
use mala_domain::scope::{Head, Target};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why the code of a review is not there any more.
#[derive(Debug, Error)]
pub enum RecallError {
    /// Only a patch was reviewed.
    #[error("a patch was reviewed, and its files are not kept")]
    Patch,
    /// What is there is not what was reviewed.
    #[error("the code is not as it was when it was reviewed")]
    Changed,
    /// git does not find it.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// git fails.
    #[error(transparent)]
    Git(#[from] GitError),
    /// It cannot be laid out.
    #[error(transparent)]
    Checkout(#[from] CheckoutError),
    /// A file cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// Both sides of a reviewed change, without secrets, with these files besides.
pub async fn recall(
    git: &Git,
    report: &Report,
    more: &[FilePath],
    environment: &Environment,
) -> Result<Sides, RecallError> {
    let scoped = reviewed(git, report).await?;
    let files = &scoped.change.files;
    let at_base = files.iter().filter(|file| file.existed_at_base()).map(ChangedFile::base_path);
    let at_head = files.iter().filter(|file| file.exists_at_head()).map(|file| &file.path);
    let tree = &*scoped.tree;
    // What findings are about is on both sides, changed or not.
    let base = texts(tree, Side::Base, at_base.chain(more).cloned().collect()).await;
    let head = texts(tree, Side::Head, at_head.chain(more).cloned().collect()).await;
    let (base, head) =
        (base.map_err(RecallError::Unreadable)?, head.map_err(RecallError::Unreadable)?);
    let (head_id, message) = match &scoped.scope.head {
        Head::Commit(id) => (id.clone(), git.message(id).await?),
        _ => (String::new(), String::new()),
    };
    let base_id = scoped.scope.base.clone();
    let sides = Sides { base, head, base_id, head_id, message, ..Sides::default() };
    diffed(sides.redacted(), environment).await
}

/// The change that was reviewed, and no other.
async fn reviewed(git: &Git, report: &Report) -> Result<ReviewScope, RecallError> {
    let scope = &report.scope;
    let target = match (&scope.head, &scope.base) {
        (Head::Commit(head), Some(base)) => {
            Target::Range { base: base.clone(), head: head.clone() }
        }
        (Head::Commit(head), None) => Target::Commits(vec![head.clone()]),
        (Head::Index, _) => Target::Staged,
        (Head::WorkingTree, _) => Target::WorkingTree,
        (Head::Patch, _) => return Err(RecallError::Patch),
    };
    let coverage = &report.coverage;
    let given = coverage.files.iter().map(|file| &file.file);
    let skipped = coverage.skipped.iter().map(|skip| &skip.file);
    let paths: Vec<String> = given.chain(skipped).map(|file| file.to_text().into()).collect();
    for paths in [Vec::new(), paths] {
        // A path that is gone, or a range that moved, is one way not to be what was reviewed.
        match git.change(&target, &paths).await {
            Ok(scoped) if scoped.scope.diff_hash == scope.diff_hash => return Ok(scoped),
            Err(error) if paths.is_empty() => return Err(error.into()),
            _ => {}
        }
    }
    Err(RecallError::Changed)
}

/// With the diff between both sides as they are.
async fn diffed(sides: Sides, environment: &Environment) -> Result<Sides, RecallError> {
    let work = tempfile::tempdir().map_err(CheckoutError::Folder)?;
    let bytes = |texts: &BTreeMap<FilePath, String>| -> Files {
        texts.iter().map(|(path, text)| (path.clone(), text.as_bytes().to_vec())).collect()
    };
    let trees = Trees {
        base: bytes(&sides.base),
        head: bytes(&sides.head),
        origin: BaseOrigin::Given,
        notes: Vec::new(),
    };
    let checkout = Checkout::of(&trees, work.path(), environment).await?;
    let inside = Git::open(checkout.root(), environment).await?;
    let commits = checkout.commits();
    let diff = inside.patch_between(Some(&commits.base), &commits.head).await?;
    let files = parse(&diff).map_err(ScopeError::from)?;
    let diff = String::from_utf8_lossy(&diff).into_owned();
    Ok(Sides { change: Change { files }, diff, ..sides })
}
