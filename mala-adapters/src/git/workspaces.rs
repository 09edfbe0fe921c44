//! Workspaces of coders: linked worktrees in a folder outside of every checkout. HEAD is detached, so that a
//! coder needs no branch and no reference of the repository moves. What a coder left in the links of its
//! worktree is never followed: every call names the repository itself.

mod linked;

pub(crate) use linked::LinkedWorktree;

use super::Git;
use super::call::GitCall;
use crate::process::{self, ProcessEnvironment};
use linked::io;
use mala_domain::ports::{
    BoxFuture, CommandRun, RebaseResult, Workspace, WorkspaceError, WorkspaceState, Workspaces,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// A variable with the folder of the workspace, set for every process in it, to find processes that
/// survive.
pub const WORKSPACE_MARKER: &str = "MALA_WORKSPACE";

/// The folder beside the workspaces that has the homes of their coders.
const HOMES: &str = ".home";

/// The folder beside the workspaces that has the checkouts in which their commits are validated.
const CHECKS: &str = ".checks";

/// How many bytes are kept of a command's output.
const MAX_OUTPUT: usize = 32 << 10;

/// The workspaces of one repository.
#[derive(Debug, Clone)]
pub struct GitWorkspaces {
    git: Git,
    root: PathBuf,
    environment: ProcessEnvironment,
    /// Locked while worktrees are added and removed: git reads all of them, and fails on an
    /// incomplete one.
    links: Arc<Mutex<()>>,
}

impl GitWorkspaces {
    /// Workspaces below this folder. Commands of the project run in this environment.
    pub fn new(git: Git, root: impl Into<PathBuf>, environment: ProcessEnvironment) -> Self {
        let environment = environment.without("GIT_INDEX_FILE");
        Self { git, root: root.into(), environment, links: Arc::default() }
    }

    /// The folder of a workspace. A name never leads out of the root.
    fn folder(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.starts_with(['.', '-']) || !name.chars().all(is_plain) {
            return Err(WorkspaceError::Failed(format!("`{name}` cannot name a workspace")));
        }
        fs::create_dir_all(&self.root).map_err(io("creating", &self.root))?;
        let root = self.root.canonicalize().map_err(io("opening", &self.root))?;
        Ok(root.join(name))
    }

    /// The worktree of a workspace, if its folder exists and still belongs to the repository.
    fn linked(&self, name: &str) -> Result<Option<LinkedWorktree>, WorkspaceError> {
        let folder = self.folder(name)?;
        let found = LinkedWorktree::find(&self.git, &folder)?;
        Ok(found.filter(LinkedWorktree::is_intact))
    }

    fn existing(&self, name: &str) -> Result<LinkedWorktree, WorkspaceError> {
        self.linked(name)?.ok_or_else(|| WorkspaceError::Missing(name.to_owned()))
    }

    async fn open_at(&self, name: &str, base: &str) -> Result<Workspace, WorkspaceError> {
        let folder = self.folder(name)?;
        let workspace = Workspace {
            name: name.to_owned(),
            root: folder.display().to_string(),
            base: base.to_owned(),
        };
        process::kill_marked(WORKSPACE_MARKER, &marker(&folder));
        if let Some(tree) = self.linked(name)? {
            tree.undo_rebase(&self.git).await?;
            return Ok(workspace);
        }
        if let Some(branch) = self.keep_commits(name, &folder).await? {
            tracing::warn!(name, branch, "the workspace was broken; its commits are on a branch");
        }
        self.add_at(&folder, base).await?;
        Ok(workspace)
    }

    /// Creates a worktree in this folder. Anything that exists there is removed.
    async fn add_at(&self, folder: &Path, commit: &str) -> Result<(), WorkspaceError> {
        let _links = self.links.lock().await;
        self.remove_at(folder)?;
        let add = ["-c", "index.skipHash=false", "worktree", "add", "--quiet", "--detach", "--"];
        let add = GitCall::new(add).args([folder.as_os_str(), commit.as_ref()]);
        match self.git.output(&add).await {
            Ok(_) => Ok(()),
            Err(error) => {
                self.remove_at(folder)?;
                Err(error.into())
            }
        }
    }

    /// A commit of a workspace, checked out where no coder worked.
    async fn check_out_commit(
        &self,
        workspace: &Workspace,
        commit: &str,
    ) -> Result<Workspace, WorkspaceError> {
        let tree = self.existing(&workspace.name)?;
        let folder = beside(&tree.path, CHECKS);
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(io("creating", parent))?;
        }
        self.add_at(&folder, commit).await?;
        let root = folder.display().to_string();
        Ok(Workspace { root, base: commit.to_owned(), ..workspace.clone() })
    }

    /// Kills the processes in a worktree, and removes it with its git folder. Needs `links`.
    fn remove_at(&self, folder: &Path) -> Result<(), WorkspaceError> {
        process::kill_marked(WORKSPACE_MARKER, &marker(folder));
        process::kill_marked_inside(process::MARKER, folder);
        let found = LinkedWorktree::find(&self.git, folder)?;
        remove_folder(folder)?;
        match found {
            Some(tree) => {
                Ok(fs::remove_dir_all(&tree.git_dir).map_err(io("removing", &tree.git_dir))?)
            }
            None => Ok(()),
        }
    }

    /// Keeps commits that no branch has on a branch of their own, and returns its name.
    async fn keep_commits(
        &self,
        name: &str,
        folder: &Path,
    ) -> Result<Option<String>, WorkspaceError> {
        let Some(tree) = LinkedWorktree::find(&self.git, folder)? else { return Ok(None) };
        let Some(head) = tree.recorded_head(&self.git).await? else { return Ok(None) };
        let kept = self.git.branch_for(&head, &format!("mala/{name}")).await?;
        Ok(kept)
    }

    async fn state_of(&self, workspace: &Workspace) -> Result<WorkspaceState, WorkspaceError> {
        let tree = self.existing(&workspace.name)?;
        let head = tree.head(&self.git).await?;
        let (is_rewritten, commits) = self.git.commits_since(&workspace.base, &head).await?;
        let uncommitted = tree.uncommitted(&self.git).await?;
        Ok(WorkspaceState { head, commits, is_rewritten, uncommitted })
    }

    async fn run_in(
        &self,
        workspace: &Workspace,
        command: &str,
        max_time: Duration,
    ) -> Result<CommandRun, WorkspaceError> {
        let mut folder = self.existing(&workspace.name)?.path;
        let checks = beside(&folder, CHECKS);
        if Path::new(&workspace.root) == checks {
            folder = checks;
        }
        let marker = marker(&folder);
        let environment = self.environment.clone().with(WORKSPACE_MARKER, &marker);
        let finished = process::run_shell(command, &folder, environment, max_time).await;
        process::kill_marked(WORKSPACE_MARKER, &marker);
        let mut run = finished.map_err(|error| WorkspaceError::Failed(error.to_string()))?;
        let start = run.output.ceil_char_boundary(run.output.len().saturating_sub(MAX_OUTPUT));
        run.output.drain(..start);
        Ok(run)
    }

    async fn rebase_onto(
        &self,
        workspace: &Workspace,
        (head, onto): (&str, &str),
    ) -> Result<RebaseResult, WorkspaceError> {
        let tree = self.existing(&workspace.name)?;
        tree.undo_rebase(&self.git).await?;
        let found = tree.head(&self.git).await?;
        if found != head {
            if !tree.was_rebased_from(head) {
                return Err(WorkspaceError::Failed(format!(
                    "its worktree changed after the review: {head} was reviewed, {found} is there"
                )));
            }
            tree.reset(&self.git, head).await?;
        }
        match tree.rebase(&self.git, (&workspace.base, head), onto).await? {
            Err(conflict) => Ok(RebaseResult::Conflict(conflict)),
            Ok(head) => {
                let workspace = Workspace { base: onto.to_owned(), ..workspace.clone() };
                Ok(RebaseResult::Done { workspace, head })
            }
        }
    }

    /// The names of all workspaces: folders below the root, and worktrees whose folder is gone.
    pub fn names(&self) -> Result<Vec<String>, WorkspaceError> {
        let Ok(root) = self.root.canonicalize() else { return Ok(Vec::new()) };
        let entries = fs::read_dir(&root).map_err(io("reading", &root))?.flatten();
        let folders = entries.map(|entry| entry.path());
        let linked = LinkedWorktree::all(&self.git)?.into_iter().map(|tree| tree.path);
        let ours = folders.chain(linked).filter(|path| path.parent() == Some(&root));
        let mut names: Vec<String> =
            ours.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect();
        names.retain(|name| name != HOMES && name != CHECKS);
        names.sort();
        names.dedup();
        Ok(names)
    }
}

/// Kills all processes in workspaces below this folder.
pub fn end_processes_below(root: &Path) {
    let Ok(root) = root.canonicalize() else { return };
    process::kill_marked(WORKSPACE_MARKER, &marker(&root));
    process::kill_marked_inside(process::MARKER, &root);
}

/// The home of the coder of a workspace.
pub(crate) fn home_of(folder: &Path) -> PathBuf {
    beside(folder, HOMES)
}

/// The folder in `place` that belongs to a workspace.
fn beside(folder: &Path, place: &str) -> PathBuf {
    let root = folder.parent().unwrap_or(folder);
    root.join(place).join(folder.file_name().unwrap_or_default())
}

fn remove_folder(folder: &Path) -> Result<(), WorkspaceError> {
    if fs::symlink_metadata(folder).is_ok() {
        crate::lanes::make_writable(folder);
        fs::remove_dir_all(folder).map_err(io("removing", folder))?;
    }
    Ok(())
}

/// The value of the marker variable for a workspace. The slash at the end distinguishes `bd-1` from
/// `bd-10`.
pub(crate) fn marker(folder: &Path) -> String {
    format!("{}/", folder.display())
}

impl Workspaces for GitWorkspaces {
    fn open<'a>(
        &'a self,
        name: &'a str,
        base: &'a str,
    ) -> BoxFuture<'a, Result<Workspace, WorkspaceError>> {
        Box::pin(self.open_at(name, base))
    }

    fn state<'a>(
        &'a self,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<WorkspaceState, WorkspaceError>> {
        Box::pin(self.state_of(workspace))
    }

    fn check_out<'a>(
        &'a self,
        workspace: &'a Workspace,
        commit: &'a str,
    ) -> BoxFuture<'a, Result<Workspace, WorkspaceError>> {
        Box::pin(self.check_out_commit(workspace, commit))
    }

    fn run<'a>(
        &'a self,
        workspace: &'a Workspace,
        command: &'a str,
        max_time: Duration,
    ) -> BoxFuture<'a, Result<CommandRun, WorkspaceError>> {
        Box::pin(self.run_in(workspace, command, max_time))
    }

    fn rebase<'a>(
        &'a self,
        workspace: &'a Workspace,
        head: &'a str,
        onto: &'a str,
    ) -> BoxFuture<'a, Result<RebaseResult, WorkspaceError>> {
        Box::pin(self.rebase_onto(workspace, (head, onto)))
    }

    fn remove<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>> {
        Box::pin(async move {
            let folder = self.folder(name)?;
            let _links = self.links.lock().await;
            self.remove_at(&beside(&folder, CHECKS))?;
            let kept = self.keep_commits(name, &folder).await?;
            self.remove_at(&folder)?;
            remove_folder(&home_of(&folder))?;
            Ok(kept)
        })
    }

    fn sweep<'a>(
        &'a self,
        keep: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<String>, WorkspaceError>> {
        Box::pin(async move {
            end_processes_below(&self.root);
            let mut branches = Vec::new();
            for name in self.names()?.into_iter().filter(|name| !keep.contains(name)) {
                branches.extend(self.remove(&name).await?);
            }
            Ok(branches)
        })
    }
}
