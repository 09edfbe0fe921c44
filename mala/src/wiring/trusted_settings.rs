//! Loads settings with `mala.yaml` from the trusted revision: the base of a change, HEAD for the working
//! tree, or the default branch before the base is known.

use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::{self, RepositoryFile, RepositoryFileChoice, Settings, UserSettings};
use crate::wiring::changes::Changes;
use crate::wiring::probe::Probe;
use anyhow::Context;
use mala_adapters::git::Git;
use mala_domain::change::FilePath;
use mala_domain::config::{Config, FILE_NAME};
use mala_domain::ports::{Repository, ReviewScope, Side};

/// The settings for the review of a change.
pub async fn of_change(
    user: &UserSettings,
    scope: &ReviewScope,
    flags: Config,
) -> anyhow::Result<Settings> {
    of_side(user, (scope, Side::Base), flags).await
}

/// The settings for a review with the `mala.yaml` of one side of a change.
pub async fn of_side(
    user: &UserSettings,
    (scope, trusted): (&ReviewScope, Side),
    flags: Config,
) -> anyhow::Result<Settings> {
    let path = [FilePath::from(FILE_NAME)];
    let text = async |tree: &dyn Repository, side| -> anyhow::Result<Option<Vec<u8>>> {
        let mut blobs = tree.read(side, &path).await.context("reading mala.yaml")?;
        Ok(blobs.pop().and_then(|blob| blob.text().map(|text| text.as_bytes().to_vec())))
    };
    let base = scope.trusted_commit().unwrap_or("the base");
    let short = base.get(..12).unwrap_or(base);
    let trusted = text(scope.trusted_tree().as_ref(), trusted).await?;
    let trusted = trusted.map(|bytes| RepositoryFile::committed(short, bytes));
    let at_head = text(scope.tree.as_ref(), Side::Head).await?.map(RepositoryFile::on_disk);
    Ok(user.with_file(settings::choose(trusted, at_head), flags)?)
}

/// The settings of commands that review no change of this repository.
pub fn of_working_tree(
    here: &Environment,
    probe: &Probe,
    flags: Config,
) -> Result<Settings, Failure> {
    WorkingTreeSettings::read_with(here, probe)?.settings(flags)
}

/// The sources of the settings of commands that review no change of this repository, read once for
/// several uses: `mala.yaml` at HEAD, or the uncommitted one.
pub struct WorkingTreeSettings {
    user: UserSettings,
    choice: RepositoryFileChoice,
}

impl WorkingTreeSettings {
    /// Reads the user's settings and `mala.yaml`.
    pub fn read(here: &Environment) -> anyhow::Result<Self> {
        let probe = Probe::new(here, here.root()).context("starting the runtime")?;
        Ok(Self::read_with(here, &probe)?)
    }

    /// Reads them with a probe of the repository.
    pub fn read_with(here: &Environment, probe: &Probe) -> Result<Self, Failure> {
        let committed = probe.committed("HEAD", FILE_NAME).ok().flatten();
        let trusted = committed.map(|bytes| RepositoryFile::committed("HEAD", bytes));
        let path = here.root().join(FILE_NAME);
        let on_disk = settings::read_if_there(&path)?.map(RepositoryFile::on_disk);
        let choice = match (trusted, on_disk) {
            (None, Some(file)) => RepositoryFileChoice {
                file: Some(file),
                notice: Some(format!("{FILE_NAME} is not committed: reviews do not use it yet")),
            },
            (trusted, on_disk) => settings::choose(trusted, on_disk),
        };
        Ok(Self { user: UserSettings::load(here)?, choice })
    }

    /// The user's settings.
    pub fn user(&self) -> &UserSettings {
        &self.user
    }

    /// The settings with these flags.
    pub fn settings(&self, flags: Config) -> Result<Settings, Failure> {
        self.user.with_file(self.choice.clone(), flags)
    }

    /// The content of the `mala.yaml` that applies.
    pub fn file(&self) -> Option<Vec<u8>> {
        self.choice.file.as_ref().map(|file| file.bytes.clone())
    }
}

/// The settings of a run.
pub struct TargetSettings {
    /// With `mala.yaml` of its target branch.
    pub settings: Settings,
    /// The settings of the user alone.
    pub user: UserSettings,
    /// The name of the target branch.
    pub target: String,
}

/// The settings of a run, from `mala.yaml` on its target branch. The target branch is set by the
/// user or by `mala.yaml` on the default branch; otherwise it is the default branch. The
/// checked-out files do not matter. Fails without `mala.yaml` on the target branch.
pub async fn of_run(here: &Environment, git: &Git) -> anyhow::Result<TargetSettings> {
    let user = UserSettings::load(here)?;
    let on_disk = settings::read_if_there(&here.root().join(FILE_NAME))?;
    let at = async |branch: &str| -> anyhow::Result<(Settings, bool)> {
        let path = FilePath::from(FILE_NAME);
        let revision = if branch == "HEAD" { branch } else { &format!("refs/heads/{branch}") };
        let bytes = git.committed(revision, &path).await.ok().flatten();
        let trusted = bytes.map(|bytes| RepositoryFile::committed(branch, bytes));
        let choice = settings::choose(trusted, on_disk.clone().map(RepositoryFile::on_disk));
        let is_there = choice.file.is_some();
        Ok((user.with_file(choice, Config::default())?, is_there))
    };
    let default = git.default_branch().await?;
    let first = at(default.as_deref().unwrap_or("HEAD")).await?;
    let target = first.0.run.target.value.clone().or_else(|| default.clone()).ok_or_else(|| {
        Failure::usage("no default branch is known, and `run.target` is not set")
            .hint("set `run.target` in mala.yaml to the branch that work is merged into")
    })?;
    let (settings, is_there) = match default.as_deref() == Some(target.as_str()) {
        true => first,
        false => at(&target).await?,
    };
    if !is_there {
        // Without it, work would be merged by the defaults: without commands and without a review.
        let why = format!("{FILE_NAME} is not committed on the branch `{target}`");
        let hint = format!("commit {FILE_NAME} on `{target}`; `mala init` writes one");
        return Err(Failure::new(FailureKind::Configuration, why).hint(hint).into());
    }
    Ok(TargetSettings { settings, user, target })
}

/// The branch to compare with: from the environment, the user's file, `mala.yaml` on the default
/// branch, or the default branch itself. `None` if there is none. A change cannot set it.
pub async fn base_branch(user: &UserSettings, changes: &Changes) -> anyhow::Result<Option<String>> {
    let default = changes.default_branch().await;
    let file = default.as_ref().and_then(|(branch, bytes)| {
        bytes.as_ref().map(|bytes| RepositoryFile::committed(branch, bytes.clone()))
    });
    let choice = RepositoryFileChoice { file, notice: None };
    let base = user.with_file(choice, Config::default())?.policy.base.value;
    Ok(base.or(default.map(|(branch, _)| branch)))
}
