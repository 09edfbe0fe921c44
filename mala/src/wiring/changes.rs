//! Where a change comes from: the repository around the current folder, or a patch alone.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::settings::{self, Chosen, RepositoryFile};
use crate::surroundings::Surroundings;
use mala_adapters::git::Git;
use mala_adapters::patch::PatchOnlySource;
use mala_adapters::process::ProcessEnvironment;
use mala_adapters::store::StateFolder;
use mala_domain::change::FilePath;
use mala_domain::config::{Config, FILE_NAME};
use mala_domain::ports::{ChangeSource, ReviewScope, ScopeError};
use mala_domain::scope::ReviewTarget;

/// The repository that is reviewed, or none.
pub struct Changes {
    git: Result<Git, PatchOnlySource>,
}

impl Changes {
    /// Opens the repository around the current folder. Without one, only patches can be reviewed.
    pub async fn open(here: &Surroundings) -> Self {
        let git = Git::open(&here.folder, &environment(here)).await;
        Self { git: git.map_err(PatchOnlySource::because) }
    }

    /// The change that a target names, kept to these paths when there are any.
    pub async fn scope(
        &self,
        target: &ReviewTarget,
        paths: &[String],
    ) -> Result<ReviewScope, Failure> {
        let source: &dyn ChangeSource = match &self.git {
            Ok(git) => git,
            Err(nowhere) => nowhere,
        };
        source.scope(target, paths).await.map_err(failure)
    }

    /// The repository; `None` when only a patch can be reviewed.
    pub fn git(&self) -> Option<&Git> {
        self.git.as_ref().ok()
    }

    /// Where the reviews of this repository are kept.
    pub fn store(&self) -> Option<StateFolder> {
        self.git.as_ref().ok().map(|git| super::state_folder(git.top()))
    }

    /// `mala.yaml` as the default branch has it, and that branch: what is trusted before anybody
    /// knows what is compared with what.
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

/// The branch that work is compared with; `None` when nobody knows one. It is never the change that says
/// so: the environment, the user's file, or `mala.yaml` on the default branch.
pub async fn base_branch(here: &Surroundings, changes: &Changes) -> anyhow::Result<Option<String>> {
    let default = changes.default_branch().await;
    let file = default.as_ref().and_then(|(branch, bytes)| {
        bytes.as_ref().map(|bytes| RepositoryFile::committed(branch, bytes.clone()))
    });
    let settings = settings::load(here, Chosen { file, notice: None }, Config::default())?;
    Ok(settings.policy.base.value.or(default.map(|(branch, _)| branch)))
}

/// The environment that children are given.
pub fn environment(here: &Surroundings) -> ProcessEnvironment {
    ProcessEnvironment::filtered(
        here.environment.iter().map(|(name, value)| (name.clone(), value.clone())),
    )
}

/// What a person asked for that makes no sense is a usage error; all else could not be reviewed.
pub fn failure(error: ScopeError) -> Failure {
    let (exit, what, hint) = match error {
        ScopeError::Asked { what, hint } => (Exit::Usage, what, hint),
        ScopeError::Broken { what, hint } => (Exit::CouldNotReview, what, hint),
    };
    let failure = Failure::new(exit, what);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
