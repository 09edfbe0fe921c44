//! One linked worktree: its location, its content, and how it is rebased.

use super::super::call::{GitCall, probe};
use super::super::open::{git_dir_of, shared_by};
use super::super::{Git, GitError, ObjectId};
use mala_domain::ports::{WorkCommit, WorkspaceError};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many files with uncommitted changes are listed.
const MAX_UNCOMMITTED: usize = 100;

/// How many names are tried for a branch.
const MAX_BRANCHES: usize = 50;

/// Settings that prevent editors, signing, and moves of branches.
const NO_SURPRISES: [&str; 10] = [
    "-c",
    "index.skipHash=false",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "rebase.updateRefs=false",
    "-c",
    "rerere.enabled=false",
    "-c",
    "sequence.editor=true",
];

/// A worktree beside the user's checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkedWorktree {
    /// Its folder.
    pub(crate) path: PathBuf,
    /// Its own git folder, `GITDIR/worktrees/NAME`.
    pub(crate) git_dir: PathBuf,
    /// The git folder of the repository.
    pub(crate) common_dir: PathBuf,
}

impl LinkedWorktree {
    /// All linked worktrees, by the records in the repository's own git folder.
    pub(crate) fn all(git: &Git) -> Result<Vec<Self>, GitError> {
        let common_dir = git.common_dir()?;
        let entries = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
        let trees = entries.filter_map(|entry| {
            let git_dir = entry.path();
            let link = fs::read(git_dir.join("gitdir")).ok()?;
            let link = git_dir.join(OsStr::from_bytes(link.trim_ascii_end()));
            let path = link.parent()?.to_owned();
            Some(Self { path, git_dir, common_dir: common_dir.clone() })
        });
        Ok(trees.collect())
    }

    /// The worktree with this folder, whether or not the folder is still there.
    pub(crate) fn find(git: &Git, path: &Path) -> Result<Option<Self>, GitError> {
        Ok(Self::all(git)?.into_iter().find(|tree| tree.path == path))
    }

    /// Whether its folder exists, belongs to the repository, and was completely created.
    pub(super) fn is_intact(&self) -> bool {
        let link = git_dir_of(&self.path).canonicalize().ok();
        link == self.git_dir.canonicalize().ok()
            && self.git_dir.join("index").exists()
            && !fs::read(self.git_dir.join("locked"))
                .is_ok_and(|why| why.starts_with(b"initializing"))
    }

    /// A call in it that does not read its links.
    fn call<A: Into<std::ffi::OsString>>(&self, args: impl IntoIterator<Item = A>) -> GitCall {
        GitCall::new(args)
            .dir(self.path.clone())
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_COMMON_DIR", &self.common_dir)
            .env("GIT_WORK_TREE", &self.path)
            .env("GIT_INDEX_FILE", self.git_dir.join("index"))
    }

    /// The commit at its HEAD.
    pub(super) async fn head(&self, git: &Git) -> Result<String, GitError> {
        let call = self.call(["rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"]);
        let printed = git.output(&call).await?;
        ObjectId::parse(printed.trim_ascii()).map(|id| id.0).ok_or_else(|| call.unexpected())
    }

    /// The commit at its HEAD, though its folder may be gone.
    pub(super) async fn recorded_head(&self, git: &Git) -> Result<Option<ObjectId>, GitError> {
        let name = self.git_dir.file_name().unwrap_or_default().to_string_lossy();
        git.resolve(&format!("worktrees/{name}/HEAD^{{commit}}")).await
    }

    /// Files with changes that are not committed, without ignored ones.
    pub(super) async fn uncommitted(&self, git: &Git) -> Result<Vec<String>, GitError> {
        let status = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all"];
        let printed = git.output(&self.call(status)).await?;
        let entries = printed.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
        let names = entries.map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(names.take(MAX_UNCOMMITTED).collect())
    }

    /// Puts the commits from `base` to `head` on top of `onto`, without hooks. What is not committed is dropped.
    /// Returns the head, or the files that conflict; then HEAD is at `head`.
    pub(super) async fn rebase(
        &self,
        git: &Git,
        (base, head): (&str, &str),
        onto: &str,
    ) -> Result<Result<String, Vec<String>>, GitError> {
        let base = self.first_own(git, base, onto, head).await?;
        if base == onto {
            return Ok(Ok(head.to_owned()));
        }
        self.reset(git, head).await?;
        let flags = ["rebase", "--quiet", "--no-autostash", "--no-fork-point"];
        let (name, email) = git.identity().await;
        let rebase = self
            .call(NO_SURPRISES)
            .args(flags)
            .args(["--onto", onto, base.as_str()])
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
            .env("GIT_EDITOR", "true");
        let finished = git.finish(&rebase).await?;
        if finished.code() == Some(0) {
            return Ok(Ok(self.head(git).await?));
        }
        let unmerged = self.call(["diff", "--name-only", "--diff-filter=U", "-z"]);
        let printed = git.output(&unmerged).await?;
        let names = printed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let files: Vec<String> =
            names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        self.reset(git, head).await?;
        if files.is_empty() { Err(rebase.failed(&finished)) } else { Ok(Err(files)) }
    }

    /// The commit that its own commits start from: the last one that it has from the target branch, where that
    /// is later than `base`.
    async fn first_own(
        &self,
        git: &Git,
        base: &str,
        onto: &str,
        head: &str,
    ) -> Result<String, GitError> {
        let finished = git.finish(&GitCall::new(["merge-base", onto, head])).await?;
        let shared = ObjectId::parse(finished.output.stdout.trim_ascii());
        let base_id = ObjectId::parse(base.as_bytes());
        Ok(match (shared, base_id) {
            (Some(shared), Some(id)) if git.is_ancestor(&id, &shared).await? => shared.0,
            _ => base.to_owned(),
        })
    }

    /// Whether the last rebase in it started from this commit: a run that was killed did not note its end.
    pub(super) fn was_rebased_from(&self, head: &str) -> bool {
        let start = fs::read_to_string(self.git_dir.join("ORIG_HEAD"));
        start.is_ok_and(|id| id.trim() == head)
    }

    /// Brings it back to where a rebase started that was not finished.
    pub(super) async fn undo_rebase(&self, git: &Git) -> Result<(), GitError> {
        let start = fs::read_to_string(self.git_dir.join("rebase-merge/orig-head"));
        match start.ok().and_then(|id| ObjectId::parse(id.trim().as_bytes())) {
            Some(start) => self.reset(git, start.as_str()).await,
            None => self.unlock(),
        }
    }

    /// Brings it to a commit and drops changes that are not committed. Ignored files, such as build results,
    /// stay.
    pub(super) async fn reset(&self, git: &Git, commit: &str) -> Result<(), GitError> {
        self.unlock()?;
        for leftover in ["rebase-merge", "rebase-apply"] {
            let folder = self.git_dir.join(leftover);
            if folder.exists() {
                fs::remove_dir_all(&folder).map_err(io("removing", &folder))?;
            }
        }
        let check_out =
            ["-c", "index.skipHash=false", "checkout", "--quiet", "--force", "--detach"];
        git.output(&self.call(check_out).args([commit, "--"])).await?;
        git.output(&self.call(["clean", "--quiet", "-f", "-d"])).await?;
        Ok(())
    }

    /// Removes the lock of a git that was killed. All processes of the workspace have ended by then.
    fn unlock(&self) -> Result<(), GitError> {
        for name in ["index.lock", "HEAD.lock"] {
            let lock = self.git_dir.join(name);
            if lock.exists() {
                fs::remove_file(&lock).map_err(io("removing", &lock))?;
            }
        }
        Ok(())
    }
}

impl Git {
    /// The git folder that all worktrees share.
    pub fn common_dir(&self) -> Result<PathBuf, GitError> {
        let own = git_dir_of(self.top());
        shared_by(&own).ok_or_else(|| GitError::Io {
            what: format!("reading {}", own.display()),
            source: std::io::ErrorKind::NotFound.into(),
        })
    }

    /// The name and the address in the user's configuration, to commit with.
    pub async fn identity(&self) -> (String, String) {
        let name = self.user_name().await;
        let email = self.configured("user.email").await;
        let [name, email] = [(name, "mala"), (email, "mala@localhost")]
            .map(|(value, otherwise)| value.unwrap_or_else(|| otherwise.to_owned()));
        (name, email)
    }

    /// The name in the user's configuration, if there is one.
    pub async fn user_name(&self) -> Option<String> {
        self.configured("user.name").await
    }

    async fn configured(&self, key: &str) -> Option<String> {
        let printed = probe(self.top(), &self.inner.around, &["config", "--get", key]).await;
        let value = String::from_utf8_lossy(&printed.ok()?.output.stdout).trim().to_owned();
        Some(value).filter(|it| !it.is_empty())
    }

    /// A branch for a commit that no branch contains, named like this; `None` if there is one that does.
    pub(super) async fn branch_for(
        &self,
        head: &ObjectId,
        name: &str,
    ) -> Result<Option<String>, GitError> {
        let format = "--format=%(refname:short)";
        let contains = ["for-each-ref", format, "--contains", head.as_str(), "refs/heads"];
        let printed = self.output(&GitCall::new(contains)).await?;
        let branches = String::from_utf8_lossy(&printed).into_owned();
        if !branches.is_empty() {
            // A removal that was killed has kept the commits already.
            let is_kept = |branch: &&str| branch.starts_with(name);
            let is_merged = branches.lines().any(|branch| !is_kept(&branch));
            let kept = branches.lines().find(is_kept).filter(|_| !is_merged);
            return Ok(kept.map(str::to_owned));
        }
        for number in 1.. {
            let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
            let none = "0".repeat(head.as_str().len());
            let full = format!("refs/heads/{name}");
            let update = ["update-ref", "-m", "mala run: keep work", &full, head.as_str(), &none];
            let finished = self.finish(&GitCall::new(update)).await?;
            if finished.code() == Some(0) {
                return Ok(Some(name));
            }
            if number == MAX_BRANCHES {
                return Err(GitCall::new(update).failed(&finished));
            }
        }
        Ok(None)
    }

    /// Whether `base` is not an ancestor of `head`, and the commits between them, the oldest first.
    pub(super) async fn commits_since(
        &self,
        base: &str,
        head: &str,
    ) -> Result<(bool, Vec<WorkCommit>), GitError> {
        let ids = (ObjectId::parse(base.as_bytes()), ObjectId::parse(head.as_bytes()));
        let (Some(base), Some(head)) = ids else { return Ok((true, Vec::new())) };
        if !self.is_ancestor(&base, &head).await? {
            return Ok((true, Vec::new()));
        }
        let range = format!("{}..{}", base.as_str(), head.as_str());
        let log = ["log", "-z", "--reverse", "--topo-order", "--format=%H%n%ct%n%P%n%s", &range];
        let printed = self.output(&GitCall::new(log).args(["--"])).await?;
        let entries = printed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        Ok((false, entries.filter_map(commit_of).collect()))
    }
}

fn commit_of(entry: &[u8]) -> Option<WorkCommit> {
    let text = String::from_utf8_lossy(entry);
    let mut lines = text.splitn(4, '\n');
    let (id, at) = (lines.next()?.to_owned(), lines.next()?.parse().ok()?);
    let parent = lines.next()?.split(' ').next().filter(|id| !id.is_empty()).map(str::to_owned);
    Some(WorkCommit { id, parent, at, subject: lines.next().unwrap_or_default().to_owned() })
}

pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> GitError {
    let what = format!("{doing} {}", path.display());
    move |source| GitError::Io { what, source }
}

impl From<GitError> for WorkspaceError {
    fn from(error: GitError) -> Self {
        Self::Failed(super::super::error::whole_message(&error))
    }
}
