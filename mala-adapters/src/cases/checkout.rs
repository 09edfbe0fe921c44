//! A case as a real repository in a folder that is gone when the value is.

use crate::git::{GitError, ImportedCommits, import};
use crate::process::ProcessEnvironment;
use mala_domain::eval::trees::Trees;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use thiserror::Error;

/// Why a case could not be laid out.
#[derive(Debug, Error)]
pub enum CheckoutError {
    /// There is no place for it.
    #[error("making a folder: {0}")]
    Folder(#[from] std::io::Error),
    /// git refuses it.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A repository with the two states of a case.
#[derive(Debug)]
pub struct Checkout {
    // Kept for its end, when the folder goes.
    _folder: TempDir,
    root: PathBuf,
    commits: ImportedCommits,
}

impl Checkout {
    /// Lays a case out below this folder.
    pub async fn of(
        trees: &Trees,
        below: &Path,
        environment: &ProcessEnvironment,
    ) -> Result<Self, CheckoutError> {
        let folder = tempfile::Builder::new().prefix("case-").tempdir_in(below)?;
        let root = folder.path().canonicalize()?.join("repo");
        std::fs::create_dir(&root)?;
        let commits = import(&root, (&trees.base, &trees.head), environment).await?;
        Ok(Self { _folder: folder, root, commits })
    }

    /// The root of the work tree, which has the second state.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The two commits.
    pub fn commits(&self) -> &ImportedCommits {
        &self.commits
    }
}
