//! The workspaces of coders, and how their work reaches the target branch. The user's checkout,
//! index and other branches are never touched.

use super::BoxFuture;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use thiserror::Error;

/// A checkout of its own for one piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// Its path.
    pub root: String,
    /// The commit that its work starts from.
    pub base: String,
}

/// The content of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceState {
    /// Its head commit.
    pub head: String,
    /// The commits from its base to its head, the oldest first.
    pub commits: Vec<WorkCommit>,
    /// Whether the base is no longer an ancestor of the head.
    pub is_rewritten: bool,
    /// Changed and untracked files that are not committed, ignored ones left out.
    pub uncommitted: Vec<String>,
}

/// A commit in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCommit {
    /// Its full id.
    pub id: String,
    /// Its first parent.
    pub parent: Option<String>,
    /// When it was committed, in seconds since 1970.
    pub at: i64,
    /// The first line of its message.
    pub subject: String,
}

/// Makes and removes workspaces, and runs the project's commands in them.
pub trait Workspaces: Send + Sync {
    /// A workspace with this name at this commit. One that exists already keeps its content.
    fn open<'a>(
        &'a self,
        name: &'a str,
        base: &'a str,
    ) -> BoxFuture<'a, Result<Workspace, WorkspaceError>>;

    /// The content of a workspace.
    fn state<'a>(
        &'a self,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<WorkspaceState, WorkspaceError>>;

    /// A second checkout beside it, of this commit, which no coder worked in: without files that are ignored,
    /// untracked or hidden from git. It replaces an earlier one, and is removed together with the workspace.
    fn check_out<'a>(
        &'a self,
        workspace: &'a Workspace,
        commit: &'a str,
    ) -> BoxFuture<'a, Result<Workspace, WorkspaceError>>;

    /// Runs a command of the project in a workspace, with a shell. Afterwards, or when the future
    /// is dropped, no process of the command is left.
    fn run<'a>(
        &'a self,
        workspace: &'a Workspace,
        command: &'a str,
        max_time: Duration,
    ) -> BoxFuture<'a, Result<CommandRun, WorkspaceError>>;

    /// Moves the commits from its base to `head` onto another commit, which becomes its base. A conflict
    /// leaves it as it was. Fails if it contains another commit than `head`.
    fn rebase<'a>(
        &'a self,
        workspace: &'a Workspace,
        head: &'a str,
        onto: &'a str,
    ) -> BoxFuture<'a, Result<RebaseResult, WorkspaceError>>;

    /// Removes its files. Commits that the target branch does not have stay on a branch, whose
    /// name is returned. One that does not exist is no error.
    fn remove<'a>(&'a self, name: &'a str)
    -> BoxFuture<'a, Result<Option<String>, WorkspaceError>>;

    /// Terminates all processes in workspaces, and removes all workspaces but these. Returns the
    /// branches of removed workspaces that have commits.
    fn sweep<'a>(
        &'a self,
        keep: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<String>, WorkspaceError>>;
}

/// The target branch and the history that leads to it.
pub trait MainLine: Send + Sync {
    /// The commit that the target branch points to.
    fn tip(&self) -> BoxFuture<'_, Result<String, WorkspaceError>>;

    /// Moves the target branch from one commit to a descendant of it, in one step. Refused while
    /// the branch is checked out with uncommitted changes; a clean checkout follows. Done if the branch has the
    /// commit already.
    fn advance<'a>(
        &'a self,
        from: &'a str,
        to: &'a str,
    ) -> BoxFuture<'a, Result<AdvanceResult, WorkspaceError>>;

    /// Why the target branch cannot be moved at the moment, as far as its checkouts show.
    fn obstacle(&self) -> BoxFuture<'_, Result<Option<String>, WorkspaceError>>;

    /// Everything outside of the workspaces that no coder may change, with a fingerprint of each:
    /// other branches and tags, settings and hooks of the repository, and uncommitted files of the
    /// user's checkout.
    fn surroundings(&self) -> BoxFuture<'_, Result<BTreeMap<OutsideItem, String>, WorkspaceError>>;

    /// How a commit relates to a later one.
    fn reach<'a>(
        &'a self,
        commit: &'a str,
        head: &'a str,
    ) -> BoxFuture<'a, Result<CommitReach, WorkspaceError>>;

    /// The size of the difference between two commits, as `git diff --stat` and `git log --oneline`
    /// count it.
    fn range<'a>(
        &'a self,
        base: &'a str,
        head: &'a str,
    ) -> BoxFuture<'a, Result<RangeSummary, WorkspaceError>>;
}

/// Something outside of all workspaces.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutsideItem {
    /// A branch, a tag or another reference.
    Reference(String),
    /// A file of the repository's own folder, such as a hook.
    Setting(String),
    /// A file of the user's checkout that is not committed.
    File(String),
}

impl std::fmt::Display for OutsideItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Reference(name) | Self::Setting(name) | Self::File(name)) = self;
        f.write_str(name)
    }
}

/// The new, changed and removed items outside of the workspaces. A file that is as committed again
/// is not a change.
pub fn outside_changes(
    before: &BTreeMap<OutsideItem, String>,
    after: &BTreeMap<OutsideItem, String>,
) -> Vec<String> {
    let changed = after.iter().filter(|(item, value)| before.get(item) != Some(value));
    let is_gone =
        |item: &&OutsideItem| !matches!(item, OutsideItem::File(_)) && !after.contains_key(item);
    let gone = before.keys().filter(is_gone);
    changed.map(|(item, _)| item).chain(gone).map(ToString::to_string).collect()
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRun {
    /// How it ended.
    pub end: CommandRunEnd,
    /// The last lines of its output, stdout and stderr together.
    pub output: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandRunEnd {
    /// With this exit code.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It took too long and was terminated.
    TimedOut,
}

/// The result of a rebase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RebaseResult {
    /// The workspace, with its base, and its head.
    Done {
        /// The workspace with the new base.
        workspace: Workspace,
        /// Its head.
        head: String,
    },
    /// These files conflict.
    Conflict(Vec<String>),
}

/// The result of moving the target branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdvanceResult {
    /// It points to the commit.
    Done,
    /// It does not point to the expected commit any more.
    Moved,
    /// A checkout of it prevents the move, for this reason, which the user can remove.
    Waits(String),
    /// It must not be moved, for this reason.
    Refused(String),
}

/// How a commit relates to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitReach {
    /// It is an ancestor, or the commit itself.
    Ancestor,
    /// It exists and is no ancestor.
    NotAncestor,
    /// The repository does not have it, as in a shallow clone.
    Missing,
}

/// The size of the difference between two commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeSummary {
    /// Added plus removed lines.
    pub lines: u64,
    /// Whether no file differs.
    pub is_empty: bool,
    /// Short id and subject of each commit, the newest first.
    pub commits: Vec<String>,
}

/// Why a workspace or the target branch cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorkspaceError {
    /// The workspace is gone.
    #[error("the workspace `{0}` does not exist any more")]
    Missing(String),
    /// The disk is full, or git failed.
    #[error("{0}")]
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_different_or_gone_outside_is_listed() {
        let all = |items: &[(OutsideItem, &str)]| -> BTreeMap<OutsideItem, String> {
            items.iter().map(|(item, value)| (item.clone(), (*value).to_owned())).collect()
        };
        let branch = OutsideItem::Reference("refs/heads/mine".to_owned());
        let hook = OutsideItem::Setting("hooks/pre-commit".to_owned());
        let file = OutsideItem::File("a.txt".to_owned());
        let before = all(&[(branch.clone(), "1"), (file.clone(), "x")]);
        for (after, expected) in [
            (before.clone(), &[][..]),
            (all(&[(branch.clone(), "2"), (file.clone(), "x")]), &["refs/heads/mine"]),
            (all(&[(file.clone(), "y")]), &["a.txt", "refs/heads/mine"]),
            (all(&[(branch.clone(), "1"), (hook, "1")]), &["hooks/pre-commit"]),
        ] {
            assert_eq!(outside_changes(&before, &after), expected);
        }
    }
}
