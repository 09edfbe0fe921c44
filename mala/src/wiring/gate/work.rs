//! The work that a hook reviews: what a conversation changed since it started, or what a push adds to a
//! remote. Each part of it is a change between two commits of a temporary copy.

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
use mala_domain::gate::session::PinnedChange;
use mala_domain::hook::ConversationRecord;
use mala_domain::hook::scope::{HookScope, RepositoryState, StopState, WorkPart, scope};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of the hook for the work tree at `top`.
pub fn hook_folder(top: &Path) -> HookFolder {
    HookFolder::of_work_tree(top)
}

/// The state of the repository around the current folder.
pub async fn current_state(here: &Environment) -> anyhow::Result<RepositoryState> {
    Ok(Gate::open(here).await?.git.stop_state().await?.state)
}

/// Whether the settings of the repository on disk are those at HEAD, or there are none.
pub async fn settings_are_committed(here: &Environment) -> anyhow::Result<bool> {
    let git = Gate::open(here).await?.git;
    let on_disk = read_following_links(&git.top().join(FILE_NAME), MAX_SETTINGS).ok();
    let committed = git.committed("HEAD", &FilePath::from(FILE_NAME)).await.ok().flatten();
    Ok(on_disk.is_none() || on_disk == committed)
}

/// The largest settings file.
const MAX_SETTINGS: u64 = 16 << 20;

/// Reads a settings file.
pub fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    read_following_links(path, MAX_SETTINGS)
}

/// Writes a settings file, whole or not at all.
pub fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    mala_adapters::store::write_atomically(path, bytes)
}

/// The path of a hook of git.
pub async fn git_hook(here: &Environment, name: &str) -> anyhow::Result<PathBuf> {
    Ok(Gate::open(here).await?.git.hook_path(name).await?)
}

/// A folder that is removed when it is dropped, unless it is kept.
pub struct ScratchFolder(Option<PathBuf>);

impl ScratchFolder {
    /// A new folder of this repository.
    pub(super) fn fresh(gate: &Gate) -> std::io::Result<Self> {
        sessions::fresh_scratch(&gate.sessions).map(|folder| Self(Some(folder)))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// Keeps it, for a session that removes it later.
    pub fn keep(mut self) -> PathBuf {
        self.0.take().unwrap_or_default()
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            sessions::remove_scratch(folder);
        }
    }
}

/// A part of the work as a change between two commits.
pub struct PinnedPart {
    /// The folder with the copy of the repository.
    pub scratch: ScratchFolder,
    /// The change.
    pub pinned: PinnedChange,
    /// The change in words.
    pub words: String,
}

/// Where the work of a hook is found.
pub enum WorkSource<'w> {
    /// Everything that a conversation with this record changed.
    Conversation(&'w ConversationRecord),
    /// The refs that are pushed, by their names, and the commits that they point to.
    Push(&'w ConversationRecord, &'w BTreeMap<String, String>),
}

impl Gate {
    /// The files of the hook.
    pub fn hook(&self) -> HookFolder {
        hook_folder(self.git.top())
    }

    /// The work of a conversation or a push, and the state of the repository.
    pub async fn work(
        &self,
        source: &WorkSource<'_>,
    ) -> anyhow::Result<(HookScope, RepositoryState)> {
        let (record, mut stop) = match source {
            WorkSource::Conversation(record) => (record, self.git.stop_state().await?),
            WorkSource::Push(record, pushed) => (record, self.pushed(pushed).await?),
        };
        let accepted = self.hook().accepted()?;
        let start = match (source, &record.start) {
            (WorkSource::Conversation(_), Some(start)) => start.clone(),
            (_, start) => self.published(&stop, start.as_ref(), accepted.is_some()).await?,
        };
        let starts: Vec<&RepositoryState> = std::iter::once(&start).chain(&accepted).collect();
        let known = starts.iter().flat_map(|start| &start.commits).cloned().collect();
        let tips = stop.head.iter().chain(stop.branches.values());
        stop.new_commits = self.git.new_commits(tips, &known).await?;
        let scope = scope(&starts, &stop);
        Ok((scope, stop.state))
    }

    async fn pushed(&self, pushed: &BTreeMap<String, String>) -> anyhow::Result<StopState> {
        let mut state = self.git.stop_state().await?.state;
        state.files.clear();
        state.commits = pushed.values().cloned().collect();
        let branches = pushed.clone();
        Ok(StopState { state, branches, ..StopState::default() })
    }

    /// Where work starts without a record: at what remote branches have. Without a remote, and without
    /// anything that was accepted, all commits are accepted.
    async fn published(
        &self,
        stop: &StopState,
        known: Option<&RepositoryState>,
        has_accepted: bool,
    ) -> anyhow::Result<RepositoryState> {
        let mut commits = self.git.remote_commits().await?;
        commits.extend(known.iter().flat_map(|known| known.commits.iter().cloned()));
        if commits.is_empty() && !has_accepted {
            commits.extend(stop.head.clone());
        }
        Ok(RepositoryState { commits, ..RepositoryState::default() })
    }

    /// Pins a part of the work in a copy of the repository.
    pub async fn pin_part(&self, part: &WorkPart, scope: &HookScope) -> anyhow::Result<PinnedPart> {
        let scratch = ScratchFolder::fresh(self)?;
        let copy = copy_of(scratch.path());
        self.git.copy_to(&copy)?;
        let mut base = self.git.merged_base(&copy, &part.bases).await?;
        let (head, dirty) = match (&part.branch, &part.tip) {
            (Some(_), Some(tip)) => (tip.clone(), Vec::new()),
            _ => {
                let WorkTreeSnapshot { commit, head, dirty } =
                    self.git.snapshot_work_tree(&copy).await?;
                if let Some(head) = &head {
                    let (kept, files) = ([head.as_str(), &commit], &scope.unchanged_files);
                    base = self.git.overlay_files(&copy, &base, kept, files).await?;
                }
                (commit, dirty)
            }
        };
        let start = match part.bases.as_slice() {
            [] => "all commits".to_owned(),
            [one, ..] => format!("the work since {}", one.get(..12).unwrap_or(one)),
        };
        let words = match &part.branch {
            Some(branch) => format!("{start} on {branch}"),
            None => start,
        };
        Ok(PinnedPart { scratch, pinned: PinnedChange::Range { base, head, dirty }, words })
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
}

/// The branch that work is compared with; `None` if it is unknown. On the default branch, the file that may
/// name another one is part of the work.
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
