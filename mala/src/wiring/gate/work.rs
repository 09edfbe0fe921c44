//! The work that a hook reviews: the changes of a conversation since its start, or the commits that
//! a push adds to a remote. Each part of it is a change between two commits of a temporary copy.

use super::{Gate, copy_of};
use crate::environment::Environment;
use crate::settings::UserSettings;
use crate::wiring::changes::Changes;
use crate::wiring::trusted_settings;
use anyhow::Context;
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

/// The state that a person accepts in this work tree: HEAD and the files on disk.
pub async fn state_to_accept(here: &Environment) -> anyhow::Result<RepositoryState> {
    let stop = Gate::open(here).await?.git.stop_state().await?;
    Ok(RepositoryState { commits: stop.head.into_iter().collect(), ..stop.state })
}

/// The number of commits of this state that are on no remote branch; 0 without a remote branch.
pub async fn n_unpushed(here: &Environment, state: &RepositoryState) -> anyhow::Result<usize> {
    let git = Gate::open(here).await?.git;
    let remote = git.remote_commits().await?;
    Ok(if remote.is_empty() { 0 } else { git.n_new_commits(&state.commits, &remote).await? })
}

/// Whether the settings of the repository on disk are those at HEAD, or do not exist.
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

/// Writes a settings file atomically.
pub fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    mala_adapters::store::write_atomically(path, bytes)
}

/// The path of a hook of git; an error if the hook is one of other repositories too.
pub async fn git_hook(here: &Environment, name: &str) -> anyhow::Result<PathBuf> {
    let git = Gate::open(here).await?.git;
    let path = git.hook_path(name).await?;
    // The folder may not exist yet.
    let real = path.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok());
    let is_own = |folder: &Path| {
        let folder = folder.canonicalize().ok();
        real.as_ref().zip(folder).is_some_and(|(real, folder)| real.starts_with(folder))
    };
    anyhow::ensure!(
        is_own(git.top()) || is_own(&git.shared_folder()),
        "{} is in a folder that other repositories use too (core.hooksPath): add `mala hook {name} \"$@\" || \
         exit 1` to the hook yourself",
        path.display()
    );
    Ok(path)
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
    /// A description of the change.
    pub words: String,
}

/// The source of the work of a hook.
pub enum WorkSource<'w> {
    /// Everything that a conversation with this record changed.
    Conversation(&'w ConversationRecord),
    /// The remote refs that are pushed, and the objects that they get.
    Push(&'w BTreeMap<String, String>),
}

/// The work that a hook found.
pub struct FoundWork {
    /// The work to review.
    pub scope: HookScope,
    /// The state of the repository.
    pub state: RepositoryState,
    /// What is not reviewed and why, a line each.
    pub left_out: Vec<String>,
}

impl Gate {
    /// The files of the hook.
    pub fn hook(&self) -> HookFolder {
        hook_folder(self.git.top())
    }

    /// The work of a conversation or a push.
    pub async fn work(&self, source: &WorkSource<'_>) -> anyhow::Result<FoundWork> {
        let mut accepted = self.hook().accepted()?;
        let mut left_out = Vec::new();
        let (start, mut stop) = match source {
            WorkSource::Conversation(record) => {
                let stop = self.git.stop_state().await?;
                let mut start = match &record.start {
                    Some(start) => start.clone(),
                    None => self.published().await?,
                };
                let is_known = record.start.is_some() || accepted.is_some();
                if !is_known && start.commits.is_empty() {
                    start.commits.clone_from(&stop.state.commits);
                    left_out.extend(stop.head.as_ref().map(|_| NO_START.to_owned()));
                }
                (start, stop)
            }
            WorkSource::Push(pushed) => {
                // A push is reviewed for the commits of all users.
                accepted.iter_mut().for_each(|accepted| accepted.users.clear());
                (self.published().await?, self.pushed(pushed).await?)
            }
        };
        let starts: Vec<&RepositoryState> = std::iter::once(&start).chain(&accepted).collect();
        let known = starts.iter().flat_map(|start| &start.commits).cloned().collect();
        let tips = || stop.head.iter().chain(stop.branches.values());
        let new_commits = self.git.new_commits(tips(), &known).await?;
        if matches!(source, WorkSource::Push(_)) && accepted.is_some() {
            let n_pushed = self.git.n_new_commits(tips(), &start.commits).await?;
            left_out.extend(accepted_commits(n_pushed.saturating_sub(new_commits.len())));
        }
        stop.new_commits = new_commits;
        let scope = scope(&starts, &stop);
        Ok(FoundWork { scope, state: stop.state, left_out })
    }

    async fn pushed(&self, pushed: &BTreeMap<String, String>) -> anyhow::Result<StopState> {
        let mut branches = BTreeMap::new();
        for (name, id) in pushed {
            let commit = self.git.peeled_commit(id).await?;
            let commit = commit.with_context(|| format!("{name} is not a commit"))?;
            branches.insert(name.clone(), commit);
        }
        let trees = BTreeMap::from([(self.git.top().display().to_string(), BTreeMap::new())]);
        let state = RepositoryState { trees, ..RepositoryState::default() };
        Ok(StopState { state, branches, ..StopState::default() })
    }

    /// The start of work without a record: the commits on remote branches.
    async fn published(&self) -> anyhow::Result<RepositoryState> {
        let commits = self.git.remote_commits().await?;
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

/// Why commits are left out if no start was recorded, nothing was accepted and there is no remote.
const NO_START: &str = "commits were not reviewed: no start of this conversation was recorded, and no \
                        remote branch can be compared with";

/// Why this number of commits of a push is not reviewed.
fn accepted_commits(number: usize) -> Option<String> {
    let why = "accepted, or there when the hooks were installed";
    match number {
        0 => None,
        1 => Some(format!("1 commit was not reviewed: it was {why}")),
        n => Some(format!("{n} commits were not reviewed: they were {why}")),
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
