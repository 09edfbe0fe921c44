//! The current work of a repository: where it starts, and its copy.

use super::{Gate, copy_of};
use crate::environment::Environment;
use crate::settings::UserSettings;
use crate::wiring::changes::Changes;
use crate::wiring::trusted_settings;
use mala_adapters::bounded_read::read_following_links;
use mala_adapters::git::WorkTreeSnapshot;
use mala_adapters::sessions;
pub use mala_adapters::sessions::HookFolder;
use mala_domain::change::FilePath;
use mala_domain::config::FILE_NAME;
use mala_domain::gate::hook::{ConversationMemory, WorkLocation, WorkStart};
use mala_domain::gate::session::Pinned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the stop hook keeps for the work tree at `top`.
pub fn hook_folder(top: &Path) -> HookFolder {
    HookFolder::of_work_tree(top)
}

/// The commit at HEAD of the repository around the current folder.
pub async fn head_commit(here: &Environment) -> anyhow::Result<Option<String>> {
    Ok(Gate::open(here).await?.git.head_commit().await?)
}

/// Whether the settings of the repository that are on disk are those at HEAD, or there are none.
pub async fn settings_are_committed(here: &Environment) -> anyhow::Result<bool> {
    let git = Gate::open(here).await?.git;
    let on_disk = read_following_links(&git.top().join(FILE_NAME), MAX_SETTINGS).ok();
    let committed = git.committed("HEAD", &FilePath::from(FILE_NAME)).await.ok().flatten();
    Ok(on_disk.is_none() || on_disk == committed)
}

/// Settings are not longer.
const MAX_SETTINGS: u64 = 16 << 20;

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
    /// Where it is.
    pub place: WorkLocation,
    /// Whether that is the base branch itself.
    pub is_on_base: bool,
}

impl Gate {
    /// What the stop hook keeps.
    pub fn hook(&self) -> HookFolder {
        hook_folder(self.git.top())
    }

    /// The current work: commits since its start, and what is on disk.
    pub async fn current_work(
        &self,
        base: Option<&str>,
        memory: &ConversationMemory,
    ) -> anyhow::Result<CurrentWork> {
        let branch = self.git.branch().await?;
        let own = self.start_of_work(base).await?;
        let accepted = self.accepted(&memory.accepted).await?;
        // Where nobody knows what came before, work beside it is reviewed by itself.
        let is_after_accepted = accepted != Some(WorkStart::Unknown)
            || matches!(own, WorkStart::Nothing | WorkStart::Unknown);
        let start = self.start(own, accepted, memory, base).await?;
        let scratch = Scratch::fresh(self)?;
        let copy = copy_of(scratch.path());
        self.git.copy_to(&copy).await?;
        let WorkTreeSnapshot { commit: kept, head, dirty } =
            self.git.snapshot_work_tree(&copy).await?;
        let is_committed = match &head {
            Some(head) => self.git.is_same_tree(&copy, head, &kept).await?,
            None => false,
        };
        let pinned = match (&start, &head) {
            (WorkStart::Commit(base), _) => Pinned::Range { base: base.clone(), head: kept, dirty },
            (WorkStart::Nothing | WorkStart::Unknown, Some(_)) => Pinned::Range {
                base: self.git.create_empty_commit(&copy).await?,
                head: kept,
                dirty,
            },
            (WorkStart::Nothing | WorkStart::Unknown, None) => Pinned::Commits(vec![kept]),
        };
        let mut elsewhere = BTreeMap::new();
        for open in &memory.open {
            if let Some(branch) = self.elsewhere(open, &start, head.as_deref()).await? {
                elsewhere.insert(open.clone(), branch);
            }
        }
        let is_on_base = base.is_none_or(|base| branch.as_deref() == Some(base));
        let place = WorkLocation { start, is_after_accepted, head, is_committed, elsewhere };
        Ok(CurrentWork { scratch, pinned, place, is_on_base })
    }

    /// A branch with work that did not pass and is not between these commits.
    async fn elsewhere(
        &self,
        open: &str,
        start: &WorkStart,
        head: Option<&str>,
    ) -> anyhow::Result<Option<String>> {
        let is_before = match start {
            WorkStart::Commit(start) => self.git.contains_commit(start, open).await?,
            WorkStart::Nothing | WorkStart::Unknown => false,
        };
        let is_in_head = match head {
            Some(head) => self.git.contains_commit(head, open).await?,
            None => false,
        };
        if is_in_head && !is_before {
            return Ok(None);
        }
        Ok(self.git.ref_containing(open).await?)
    }

    /// Where the work of a conversation that begins now starts: where it would without it, and here where
    /// nobody knows.
    pub async fn place_of_beginning(&self, base: Option<&str>) -> anyhow::Result<WorkLocation> {
        let start = self.start_of_work(base).await?;
        let head = self.git.head_commit().await?;
        let start = match &head {
            Some(head) if start == WorkStart::Unknown => WorkStart::Commit(head.clone()),
            _ => start,
        };
        let (is_after_accepted, is_committed, elsewhere) = (true, false, BTreeMap::new());
        Ok(WorkLocation { start, is_after_accepted, head, is_committed, elsewhere })
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

    /// The last of these that HEAD comes after, or as much as HEAD has of the first. What leads to a commit
    /// that passed did not pass by itself.
    async fn accepted(&self, accepted: &[WorkStart]) -> anyhow::Result<Option<WorkStart>> {
        for start in accepted.iter().rev() {
            match start {
                WorkStart::Commit(commit) if self.git.contains_commit("HEAD", commit).await? => {
                    return Ok(Some(start.clone()));
                }
                _ => {}
            }
        }
        let Some(WorkStart::Commit(first)) = accepted.first() else {
            return Ok(accepted.first().cloned());
        };
        // A history that has nothing in common with it is new.
        let shared = self.git.fork_point(first).await?;
        Ok(Some(shared.map_or(WorkStart::Nothing, WorkStart::Commit)))
    }

    /// Where the work starts. What a conversation did not find accepted is its work, wherever branches
    /// are moved in the meantime: merged, pushed or deleted.
    async fn start(
        &self,
        own: WorkStart,
        accepted: Option<WorkStart>,
        memory: &ConversationMemory,
        base: Option<&str>,
    ) -> anyhow::Result<WorkStart> {
        match (own, accepted) {
            (own @ WorkStart::Nothing, _) | (own, None | Some(WorkStart::Unknown)) => Ok(own),
            (_, Some(WorkStart::Nothing)) => Ok(WorkStart::Nothing),
            (WorkStart::Unknown, Some(accepted)) => Ok(accepted),
            (WorkStart::Commit(own), Some(WorkStart::Commit(accepted))) => {
                self.older(own, accepted, memory, base).await
            }
        }
    }

    /// The older of both, but for what others made.
    async fn older(
        &self,
        own: String,
        accepted: String,
        memory: &ConversationMemory,
        base: Option<&str>,
    ) -> anyhow::Result<WorkStart> {
        let Some(older) = self.git.merge_base_of(&own, &accepted).await? else {
            return Ok(WorkStart::Nothing);
        };
        if older == own {
            return Ok(WorkStart::Commit(own));
        }
        // HEAD was at every place that passed, and where the conversation began.
        let has_passed =
            memory.accepted.iter().skip(1).any(|it| *it == WorkStart::Commit(accepted.clone()));
        let since = if has_passed { Some(&accepted) } else { memory.began_at.as_ref() };
        let theirs = match since {
            Some(since) => {
                self.git.newest_foreign_commit([&accepted, &own], &memory.open, since, base).await?
            }
            None => None,
        };
        Ok(WorkStart::Commit(theirs.unwrap_or(older)))
    }

    /// Where work starts that nobody knows anything of: where it left the base branch. Work on that
    /// branch itself starts where it left the published one; without one, where it last passed, or where
    /// the hook was installed.
    async fn start_of_work(&self, base: Option<&str>) -> anyhow::Result<WorkStart> {
        if self.git.head_commit().await?.is_none() {
            return Ok(WorkStart::Nothing);
        }
        let branch = self.git.branch().await?;
        if let Some(base) = base.filter(|base| branch.as_deref() != Some(base)) {
            return self.start_beside(base).await;
        }
        if let Some(commit) = self.git.fork_point("@{upstream}").await? {
            return Ok(WorkStart::Commit(commit));
        }
        let passed = match self.hook().baseline() {
            Some(WorkStart::Commit(commit)) => self.git.fork_point(&commit).await?,
            Some(WorkStart::Nothing) => return Ok(WorkStart::Nothing),
            Some(WorkStart::Unknown) | None => None,
        };
        Ok(passed.map_or(WorkStart::Unknown, WorkStart::Commit))
    }

    /// Where work beside the base branch starts. A base branch that is only here is moved by whoever works
    /// here: when it follows a published one, that one counts.
    async fn start_beside(&self, base: &str) -> anyhow::Result<WorkStart> {
        if let Some(published) = self.git.fork_point(&format!("{base}@{{upstream}}")).await? {
            return Ok(WorkStart::Commit(published));
        }
        match self.git.fork_point(base).await? {
            Some(fork) => Ok(WorkStart::Commit(fork)),
            None => {
                anyhow::bail!("`{base}`, which this work is compared with, is not in its history")
            }
        }
    }
}

/// The branch that work is compared with; `None` when nobody knows one. On the default branch the file that
/// may name another one is the work itself.
pub async fn base_branch(
    here: &Environment,
    user: &UserSettings,
) -> anyhow::Result<Option<String>> {
    let changes = Changes::open(here).await;
    let default = changes.default_branch().await.map(|(branch, _)| branch);
    match Gate::open(here).await?.git.branch().await? {
        Some(branch) if default.as_ref() == Some(&branch) => Ok(default),
        _ => trusted_settings::base_branch(user, &changes).await,
    }
}
