//! The current work of a repository: where it starts, and its copy.

use super::{Gate, copy_of};
use crate::surroundings::Surroundings;
use crate::wiring::changes::{self, Changes};
use mala_adapters::sessions;
pub use mala_adapters::sessions::HookFolder;
use mala_domain::gate::hook::Start;
use mala_domain::gate::session::Pinned;
use std::path::{Path, PathBuf};

/// What the stop hook keeps for the work tree at `top`.
pub fn hook_folder(top: &Path) -> HookFolder {
    HookFolder::of_work_tree(top)
}

/// The commit at HEAD of the repository around the current folder.
pub async fn head_commit(here: &Surroundings) -> anyhow::Result<Option<String>> {
    Ok(Gate::open(here).await?.git.head_commit().await?)
}

/// A folder that is thrown away unless somebody keeps it.
pub struct Scratch(Option<PathBuf>);

impl Scratch {
    /// A new folder of this repository.
    pub(super) fn fresh(gate: &Gate) -> std::io::Result<Self> {
        sessions::fresh_scratch(&gate.sessions).map(|folder| Self(Some(folder)))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// It is somebody else's from here on.
    pub fn keep(mut self) -> PathBuf {
        self.0.take().unwrap_or_default()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            sessions::remove_scratch(folder);
        }
    }
}

/// The work, by the commits that it is between.
pub struct CurrentWork {
    /// The folder with its copy.
    pub scratch: Scratch,
    /// The work.
    pub pinned: Pinned,
    /// Where it starts.
    pub start: Start,
    /// The commit at HEAD; what is on disk comes after it.
    pub head: Option<String>,
}

impl Gate {
    /// What the stop hook keeps.
    pub fn hook(&self) -> HookFolder {
        hook_folder(self.git.top())
    }

    /// The current work: commits since the base, and what is on disk. Work that an agent is kept for
    /// starts where it did then, whatever became of the base since.
    pub async fn current_work(
        &self,
        base: Option<&str>,
        kept: Option<&Start>,
    ) -> anyhow::Result<CurrentWork> {
        let start = self.start_of_work(base).await?;
        let start = self.not_after(start, kept).await?;
        let scratch = Scratch::fresh(self)?;
        let copy = copy_of(scratch.path());
        self.git.copy_to(&copy).await?;
        let (kept, head) = self.git.keep_work_tree(&copy).await?;
        let pinned = match (&start, &head) {
            (Start::Commit(base), _) => Pinned::Range { base: base.clone(), head: kept },
            (Start::Nothing, Some(_)) => {
                Pinned::Range { base: self.git.nothing(&copy).await?, head: kept }
            }
            (Start::Nothing, None) => Pinned::Commits(vec![kept]),
        };
        Ok(CurrentWork { scratch, pinned, start, head })
    }

    /// The commit whose settings are trusted: where HEAD left the base branch, or HEAD on that branch.
    pub async fn trusted_revision(&self, base: Option<&str>) -> anyhow::Result<Option<String>> {
        let branch = self.git.branch().await?;
        if let Some(base) = base.filter(|base| branch.as_deref() != Some(base))
            && let Some(commit) = self.git.fork_point(base).await?
        {
            return Ok(Some(commit));
        }
        Ok(self.git.head_commit().await?)
    }

    /// Where the work starts: where it left the base branch. Work on that branch itself starts where it
    /// left the published one; without one, where it last passed, or where the hook was installed. Where
    /// nobody knows any of that, all of it is work.
    async fn start_of_work(&self, base: Option<&str>) -> anyhow::Result<Start> {
        if self.git.head_commit().await?.is_none() {
            return Ok(Start::Nothing);
        }
        let branch = self.git.branch().await?;
        if let Some(base) = base.filter(|base| branch.as_deref() != Some(base)) {
            return self.start_beside(base).await;
        }
        if let Some(commit) = self.git.fork_point("@{upstream}").await? {
            return Ok(Start::Commit(commit));
        }
        let passed = match self.hook().baseline() {
            Some(Start::Commit(commit)) => self.git.fork_point(&commit).await?,
            Some(Start::Nothing) | None => None,
        };
        Ok(passed.map_or(Start::Nothing, Start::Commit))
    }

    /// Where work beside the base branch starts. A base branch that is only here is moved by whoever works
    /// here: when it follows a published one, that one counts.
    async fn start_beside(&self, base: &str) -> anyhow::Result<Start> {
        let Some(fork) = self.git.fork_point(base).await? else {
            anyhow::bail!("`{base}`, which this work is compared with, is not in its history");
        };
        let published = self.git.fork_point(&format!("{base}@{{upstream}}")).await?;
        self.not_after(Start::Commit(fork), published.map(Start::Commit).as_ref()).await
    }

    /// The same start, or this one when it is before it.
    async fn not_after(&self, start: Start, limit: Option<&Start>) -> anyhow::Result<Start> {
        let Some(limit) = limit else { return Ok(start) };
        let (Start::Commit(commit), Start::Commit(limit)) = (&start, limit) else {
            return Ok(Start::Nothing);
        };
        // A limit that HEAD went away from counts as far as HEAD has it.
        let limit = self.git.fork_point(limit).await?;
        let older = match &limit {
            Some(limit) => self.git.older(commit, limit).await?,
            None => None,
        };
        Ok(older.map_or(start, Start::Commit))
    }
}

/// The branch that work is compared with; `None` when nobody knows one.
pub async fn base_branch(here: &Surroundings) -> anyhow::Result<Option<String>> {
    let changes = Changes::open(here).await;
    changes::base_branch(here, &changes).await
}
