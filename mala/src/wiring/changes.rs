//! Finds changes in the repository of the current folder, or in a patch without a repository.

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use mala_adapters::git::Git;
use mala_adapters::patch::PatchOnlySource;
use mala_adapters::process::ProcessEnvironment;
use mala_adapters::store::StateFolder;
use mala_domain::change::FilePath;
use mala_domain::config::FILE_NAME;
use mala_domain::ports::{ChangeSource, ReviewScope, ScopeError};
use mala_domain::scope::ReviewTarget;

/// The repository to review, if there is one.
pub struct Changes {
    git: Result<Git, PatchOnlySource>,
}

impl Changes {
    /// Opens the repository of the current folder. Without one, only patches can be reviewed.
    pub async fn open(here: &Environment) -> Self {
        let git = Git::open(&here.folder, &child_environment(here)).await;
        Self { git: git.map_err(PatchOnlySource::because) }
    }

    /// The change of a target, limited to these paths if there are any.
    pub async fn scope(
        &self,
        target: &ReviewTarget,
        paths: &[String],
    ) -> Result<ReviewScope, Failure> {
        let source: &dyn ChangeSource = match &self.git {
            Ok(git) => git,
            Err(patch_only) => patch_only,
        };
        source.scope(target, paths).await.map_err(failure)
    }

    /// The two commits of the first of these targets whose commits the clone has.
    pub async fn first_range(&self, targets: &[ReviewTarget]) -> Result<(String, String), Failure> {
        let could_not = |what: String| Failure::new(FailureKind::CouldNotReview, what);
        let git = self.git.as_ref().map_err(|_| could_not("not in a clone".to_owned()))?;
        let mut missing = Vec::new();
        for target in targets {
            match git.commit_range(target).await {
                Ok(Some(range)) => return Ok(range),
                Ok(None) => {}
                Err(error) => missing.push(error.to_string()),
            }
        }
        Err(could_not(missing.join("; ")))
    }

    /// The repository; `None` when only a patch can be reviewed.
    pub fn git(&self) -> Option<&Git> {
        self.git.as_ref().ok()
    }

    /// All files of HEAD; `None` without a repository.
    pub fn whole_tree(&self) -> Option<ReviewTarget> {
        self.git.as_ref().ok().map(Git::whole_tree)
    }

    /// The store for reviews of this repository.
    pub fn store(&self) -> Option<StateFolder> {
        self.git.as_ref().ok().map(|git| super::state_folder(git.top()))
    }

    /// The default branch, and `mala.yaml` on it.
    pub async fn default_branch(&self) -> Option<(String, Option<Vec<u8>>)> {
        let git = self.git.as_ref().ok()?;
        for branch in ["origin/HEAD", "main", "master"] {
            if let Ok(file) = git.committed(branch, &FilePath::from(FILE_NAME)).await {
                return Some((branch.to_owned(), file));
            }
        }
        None
    }
}

/// The environment of child processes.
pub fn child_environment(here: &Environment) -> ProcessEnvironment {
    ProcessEnvironment::filtered(
        here.variables.iter().map(|(name, value)| (name.clone(), value.clone())),
    )
}

/// An invalid request is a usage error; with other errors, the change could not be reviewed.
pub fn failure(error: ScopeError) -> Failure {
    let (kind, what, hint) = match error {
        ScopeError::Asked { what, hint } => (FailureKind::Usage, what, hint),
        ScopeError::Broken { what, hint } => (FailureKind::CouldNotReview, what, hint),
    };
    let failure = Failure::new(kind, what);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
