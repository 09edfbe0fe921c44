//! The target branch. It moves only forward. A checkout of it moves along when it has no uncommitted changes;
//! otherwise nothing moves.

use super::call::{GitCall, stderr_line};
use super::open::git_dir_of;
use super::{Git, GitError, ObjectId};
use mala_domain::ports::{
    AdvanceResult, BoxFuture, CommitReach, MainLine, OutsideItem, RangeSummary, WorkspaceError,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often and how long to wait while another git uses a checkout.
const LOCK_LOOKS: u32 = 20;
const LOCK_WAIT: Duration = Duration::from_millis(100);

/// Settings in the folder of a repository, and folders with such.
const SETTINGS: &[&str] = &["config", "hooks", "info"];

/// A branch that finished work is merged into.
#[derive(Debug, Clone)]
pub struct GitMainLine {
    git: Git,
    branch: String,
}

impl GitMainLine {
    /// The local branch with this name.
    pub fn new(git: Git, branch: impl Into<String>) -> Self {
        Self { git, branch: branch.into() }
    }

    fn name(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    async fn tip_id(&self) -> Result<ObjectId, GitError> {
        let tip = self.git.resolve(&format!("{}^{{commit}}", self.name())).await?;
        tip.ok_or_else(|| GitError::Failed {
            command: "rev-parse".to_owned(),
            message: format!("no branch is named `{}`", self.branch),
        })
    }

    async fn move_to(&self, from: &str, to: &str) -> Result<AdvanceResult, GitError> {
        let tip = self.tip_id().await?;
        if tip.as_str() == to {
            return Ok(AdvanceResult::Done);
        }
        let Some(new) = ObjectId::parse(to.as_bytes()) else { return Ok(AdvanceResult::Moved) };
        if tip.as_str() != from {
            // A run that was killed had moved it, and the branch advanced from there.
            let is_there = self.git.is_ancestor(&new, &tip).await?;
            return Ok(if is_there { AdvanceResult::Done } else { AdvanceResult::Moved });
        }
        if !self.git.is_ancestor(&tip, &new).await? {
            let why = format!("{} does not contain {from}", new.short());
            return Ok(AdvanceResult::Refused(why));
        }
        for checkout in self.git.checkouts_of(&self.name()).await? {
            if self.git.has_all_of(&checkout, &new).await? {
                continue;
            }
            if let Some(why) = self.git.bring_forward(&checkout, &new).await? {
                return Ok(AdvanceResult::Waits(self.in_the_way(&checkout, &why)));
            }
        }
        if self.tip_id().await? == new {
            return Ok(AdvanceResult::Done);
        }
        let name = self.name();
        let update = ["update-ref", "-m", "mala run: fast-forward", &name, to, from];
        let finished = self.git.finish(&GitCall::new(update)).await?;
        // Git refuses when the branch is not at `from` any more.
        match finished.code() {
            Some(0) => Ok(AdvanceResult::Done),
            _ if self.tip_id().await? != tip => Ok(AdvanceResult::Moved),
            _ => Err(GitCall::new(update).failed(&finished)),
        }
    }

    fn in_the_way(&self, checkout: &Path, why: &str) -> String {
        format!("`{}` is checked out in {} {why}", self.branch, checkout.display())
    }

    /// The uncommitted changes in the checkouts of the branch.
    async fn changes(&self) -> Result<Option<String>, GitError> {
        for checkout in self.git.checkouts_of(&self.name()).await? {
            if let Some(why) = self.git.changes_in(&checkout).await? {
                return Ok(Some(self.in_the_way(&checkout, &format!("with {why}"))));
            }
        }
        Ok(None)
    }

    /// Everything that no coder may change, without the parts that mala itself changes.
    async fn outside(&self) -> Result<BTreeMap<OutsideItem, String>, GitError> {
        let list = GitCall::new(["for-each-ref", "--format=%(objectname) %(refname)"]);
        let (printed, files) = tokio::join!(self.git.output(&list), self.git.changed_files());
        let target = self.name();
        let mut found = BTreeMap::new();
        for line in String::from_utf8_lossy(&printed?).lines() {
            let Some((id, name)) = line.split_once(' ') else { continue };
            let is_own = name == target || name.starts_with("refs/heads/mala/");
            if !is_own && !name.starts_with("refs/remotes/") {
                found.insert(OutsideItem::Reference(name.to_owned()), id.to_owned());
            }
        }
        let files = files?.into_iter();
        found.extend(files.map(|(name, hash)| (OutsideItem::File(name), hash)));
        let common = self.git.common_dir()?;
        for name in SETTINGS {
            let hooks = std::fs::read_dir(common.join(name)).into_iter().flatten().flatten();
            let hooks = hooks.filter_map(|entry| entry.file_name().into_string().ok());
            let files = hooks.map(|hook| format!("{name}/{hook}")).chain([(*name).to_owned()]);
            for file in files {
                if let Ok(bytes) = std::fs::read(common.join(&file)) {
                    let digits = Sha256::digest(&bytes);
                    let hash = digits.iter().map(|byte| format!("{byte:02x}")).collect();
                    found.insert(OutsideItem::Setting(format!(".git/{file}")), hash);
                }
            }
        }
        Ok(found)
    }

    async fn reach_of(&self, commit: &str, head: &str) -> Result<CommitReach, GitError> {
        let commit = self.git.resolve(&format!("{commit}^{{commit}}")).await?;
        let head = self.git.resolve(&format!("{head}^{{commit}}")).await?;
        let (Some(commit), Some(head)) = (commit, head) else { return Ok(CommitReach::Missing) };
        let is_ancestor = self.git.is_ancestor(&commit, &head).await?;
        Ok(if is_ancestor { CommitReach::Ancestor } else { CommitReach::NotAncestor })
    }

    async fn summary(&self, base: &str, head: &str) -> Result<RangeSummary, GitError> {
        let diff = ["diff", "--shortstat", "--no-ext-diff", "--no-textconv", base, head, "--"];
        let printed = self.git.output(&GitCall::new(diff)).await?;
        let stat = String::from_utf8_lossy(&printed).into_owned();
        let range = format!("{base}..{head}");
        let log = ["log", "--no-decorate", "--format=%h %s", "--end-of-options", &range, "--"];
        let printed = self.git.output(&GitCall::new(log)).await?;
        let commits = String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect();
        Ok(RangeSummary { lines: changed_lines(&stat), is_empty: stat.trim().is_empty(), commits })
    }
}

impl Git {
    /// The local branch that the HEAD of `origin` names, or `main` or `master`.
    pub async fn default_branch(&self) -> Result<Option<String>, GitError> {
        let head = GitCall::new(["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"]);
        let printed = self.finish(&head).await?.output.stdout;
        let printed = String::from_utf8_lossy(&printed).trim().to_owned();
        let named = printed.strip_prefix("refs/remotes/origin/");
        for name in named.into_iter().chain(["main", "master"]) {
            if self.resolve(&format!("refs/heads/{name}^{{commit}}")).await?.is_some() {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    }
}

/// From ` 2 files changed, 3 insertions(+), 1 deletion(-)`.
fn changed_lines(stat: &str) -> u64 {
    let counts = stat.split(',').skip(1).filter_map(|part| part.trim().split(' ').next());
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

impl Git {
    /// The worktrees that have a branch checked out.
    async fn checkouts_of(&self, name: &str) -> Result<Vec<PathBuf>, GitError> {
        let (printed, end) = self.worktree_list().await?;
        let wanted = format!("branch {name}");
        let mut path = None;
        let mut found = Vec::new();
        for line in printed.split(|byte| *byte == end) {
            if let Some(top) = line.strip_prefix(b"worktree ") {
                path = Some(PathBuf::from(OsStr::from_bytes(top)));
            } else if line == b"bare" {
                path = None;
            } else if line == wanted.as_bytes() {
                found.extend(path.take().filter(|path| path.is_dir()));
            }
        }
        Ok(found)
    }

    /// Whether the files and the index of a checkout are those of this commit already: an earlier
    /// fast-forward was interrupted before it moved the branch.
    async fn has_all_of(&self, checkout: &Path, commit: &ObjectId) -> Result<bool, GitError> {
        let staged = ["diff-index", "--cached", "--quiet", commit.as_str(), "--"];
        let unstaged = ["diff-files", "--quiet", "--"];
        for compare in [GitCall::new(staged), GitCall::new(unstaged)] {
            if self.finish(&at(compare, checkout)).await?.code() != Some(0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves a checkout and its branch forward. Returns the obstacle, if any.
    async fn bring_forward(
        &self,
        checkout: &Path,
        commit: &ObjectId,
    ) -> Result<Option<String>, GitError> {
        let lock = git_dir_of(checkout).join("index.lock");
        for _ in 0..LOCK_LOOKS {
            // A git that a killed run had started, or one of the user, needs a moment.
            if lock.exists() {
                tokio::time::sleep(LOCK_WAIT).await;
            }
        }
        if let Some(why) = self.changes_in(checkout).await? {
            return Ok(Some(format!("with {why}")));
        }
        let merge = ["-c", "index.skipHash=false", "-c", "merge.autoStash=false", "merge"];
        // Without `--no-overwrite-ignore`, git replaces ignored files of the user, such as `.env`.
        let flags = ["--quiet", "--ff-only", "--no-overwrite-ignore"];
        let merge = GitCall::new(merge).args(flags).args([commit.as_str()]);
        let finished = self.finish(&at(merge, checkout)).await?;
        if finished.code() == Some(0) {
            return Ok(None);
        }
        let message = finished.output.stderr_text();
        // Git lists files that are in the way on lines of their own.
        let files: Vec<&str> = message.lines().filter_map(|it| it.strip_prefix('\t')).collect();
        Ok(Some(match files.is_empty() {
            true => format!("and git does not move it: {}", stderr_line(&finished)),
            false => format!("with files that the merge would overwrite: {}", files.join(", ")),
        }))
    }

    /// The uncommitted changes in a checkout; `None` if there are none.
    async fn changes_in(&self, checkout: &Path) -> Result<Option<String>, GitError> {
        let own = git_dir_of(checkout);
        for state in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "index.lock"] {
            if own.join(state).exists() {
                return Ok(Some(format!("another operation in progress ({state})")));
            }
        }
        let status = ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"];
        let printed = self.output(&at(GitCall::new(status), checkout)).await?;
        let mut names = printed.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
        let first = names.next().map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(first.map(|name| format!("uncommitted changes, such as in {name}")))
    }
}

fn at(call: GitCall, checkout: &Path) -> GitCall {
    call.dir(checkout.to_owned()).env("GIT_INDEX_FILE", git_dir_of(checkout).join("index"))
}

impl MainLine for GitMainLine {
    fn tip(&self) -> BoxFuture<'_, Result<String, WorkspaceError>> {
        Box::pin(async move { Ok(self.tip_id().await?.0) })
    }

    fn advance<'a>(
        &'a self,
        from: &'a str,
        to: &'a str,
    ) -> BoxFuture<'a, Result<AdvanceResult, WorkspaceError>> {
        Box::pin(async move { Ok(self.move_to(from, to).await?) })
    }

    fn obstacle(&self) -> BoxFuture<'_, Result<Option<String>, WorkspaceError>> {
        Box::pin(async move { Ok(self.changes().await?) })
    }

    fn surroundings(&self) -> BoxFuture<'_, Result<BTreeMap<OutsideItem, String>, WorkspaceError>> {
        Box::pin(async move { Ok(self.outside().await?) })
    }

    fn reach<'a>(
        &'a self,
        commit: &'a str,
        head: &'a str,
    ) -> BoxFuture<'a, Result<CommitReach, WorkspaceError>> {
        Box::pin(async move { Ok(self.reach_of(commit, head).await?) })
    }

    fn range<'a>(
        &'a self,
        base: &'a str,
        head: &'a str,
    ) -> BoxFuture<'a, Result<RangeSummary, WorkspaceError>> {
        Box::pin(async move { Ok(self.summary(base, head).await?) })
    }
}

#[cfg(test)]
mod tests {
    use super::changed_lines;

    #[test]
    fn added_and_removed_lines_count() {
        for (stat, lines) in [
            (" 2 files changed, 3 insertions(+), 1 deletion(-)\n", 4),
            (" 1 file changed, 1 insertion(+)\n", 1),
            (" 1 file changed, 12 deletions(-)\n", 12),
            (" 1 file changed, 0 insertions(+), 0 deletions(-)\n", 0),
            ("", 0),
        ] {
            assert_eq!(changed_lines(stat), lines, "{stat}");
        }
    }
}
