//! From what people write to commits. What they write is never an option to git.

use super::call::Call;
use super::{Git, GitError, ObjectId, ScopeError};
use std::path::PathBuf;

/// How many names are offered for one that is unknown.
const MAX_NEAREST: usize = 3;

/// How alike two names must be, from 0 to 1.
const ALIKE: f64 = 0.8;

/// How many names are compared.
const MAX_NAMES: usize = 10_000;

impl Git {
    /// The commit that a revision names. An empty one is HEAD, as in `main..`.
    pub(super) async fn commit(&self, revision: &str) -> Result<ObjectId, ScopeError> {
        let name = if revision.is_empty() { "HEAD" } else { revision };
        match self.resolve(&format!("{name}^{{commit}}")).await? {
            Some(id) => Ok(id),
            None => {
                self.check_is_here(name).await?;
                Err(ScopeError::UnknownRevision {
                    revision: name.to_owned(),
                    nearest: self.nearest(name).await?,
                    is_path: self.inner.dir.join(name).symlink_metadata().is_ok(),
                    is_shallow: self.inner.is_shallow,
                })
            }
        }
    }

    /// A name that leads to an object that is not there is no mistake of the person who wrote it.
    async fn check_is_here(&self, name: &str) -> Result<(), GitError> {
        let Some(id) = self.resolve(name).await?.filter(|id| id.as_str() != name) else {
            return Ok(());
        };
        let found = self.finish(&Call::new(["cat-file", "-e", id.as_str()])).await?;
        match found.code() {
            Some(0) => Ok(()),
            _ => Err(GitError::Damaged {
                dir: self.inner.top.clone(),
                complaint: format!("{name} is {}, which is not here", id.as_str()),
            }),
        }
    }

    /// The commit at HEAD; `None` while there is none.
    pub(super) async fn head(&self) -> Result<Option<ObjectId>, GitError> {
        let head = self.resolve("HEAD^{commit}").await?;
        if head.is_none() {
            // An unborn branch is a name without a commit; a damaged one resolves to nothing too.
            let call = Call::new(["symbolic-ref", "--quiet", "HEAD"]);
            let name = self.output(&call).await?;
            let name = String::from_utf8_lossy(&name).trim().to_owned();
            let call =
                Call::new(["for-each-ref", "--count=1", "--format=%(objectname)", "--", &name]);
            if !self.output(&call).await?.is_empty() {
                let complaint = format!("{name} names no commit that is here");
                return Err(GitError::Damaged { dir: self.inner.top.clone(), complaint });
            }
        }
        Ok(head)
    }

    /// The first parent; `None` for a root commit.
    pub(super) async fn first_parent(
        &self,
        commit: &ObjectId,
    ) -> Result<Option<ObjectId>, ScopeError> {
        let parent = self.resolve(&format!("{}^1", commit.as_str())).await?;
        if parent.is_none() && self.is_cut(commit).await? {
            return Err(ScopeError::ParentCut { commit: commit.short().to_owned() });
        }
        Ok(parent)
    }

    /// Where the histories of two commits meet.
    pub(super) async fn merge_base(
        &self,
        one: &ObjectId,
        other: &ObjectId,
    ) -> Result<Option<ObjectId>, GitError> {
        let call = Call::new(["merge-base", one.as_str(), other.as_str()]);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => id_in(&finished.output.stdout).map(Some).ok_or_else(|| call.unexpected()),
            Some(1) => Ok(None),
            _ => Err(call.failed(&finished)),
        }
    }

    /// Whether one commit is in the history of another.
    pub(super) async fn is_ancestor(
        &self,
        old: &ObjectId,
        new: &ObjectId,
    ) -> Result<bool, GitError> {
        let call = Call::new(["merge-base", "--is-ancestor", old.as_str(), new.as_str()]);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(call.failed(&finished)),
        }
    }

    pub(super) async fn resolve(&self, revision: &str) -> Result<Option<ObjectId>, GitError> {
        if revision.contains(['\0', '\n']) {
            return Ok(None);
        }
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", revision];
        let call = Call::new(args);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => Ok(id_in(&finished.output.stdout)),
            _ => match call.failed(&finished) {
                damage @ GitError::Corrupt { .. } => Err(damage),
                _ => Ok(None),
            },
        }
    }

    /// Whether the clone has the commit and not its parents.
    async fn is_cut(&self, commit: &ObjectId) -> Result<bool, GitError> {
        if !self.inner.is_shallow {
            return Ok(false);
        }
        let file = self.git_path("shallow").await?;
        let listed = std::fs::read_to_string(&file).map_err(|source| GitError::Io {
            what: format!("reading {}", file.display()),
            source,
        })?;
        Ok(listed.lines().any(|line| line == commit.as_str()))
    }

    /// Where git keeps a file of its own.
    pub(super) async fn git_path(&self, name: &str) -> Result<PathBuf, GitError> {
        use std::os::unix::ffi::OsStringExt;
        let call = Call::new(["rev-parse", "--git-path", name]);
        let mut printed = self.output(&call).await?;
        printed.pop_if(|byte| *byte == b'\n');
        Ok(self.inner.top.join(std::ffi::OsString::from_vec(printed)))
    }

    /// Branches and tags with names like this one.
    async fn nearest(&self, name: &str) -> Result<Vec<String>, GitError> {
        let count = format!("--count={MAX_NAMES}");
        let refs = ["refs/heads", "refs/remotes", "refs/tags"];
        let call = Call::new(["for-each-ref", &count, "--format=%(refname:short)"]).args(refs);
        let listed = self.output(&call).await?;
        let listed = String::from_utf8_lossy(&listed);
        let mut alike: Vec<_> = listed
            .lines()
            .map(|known| (strsim::jaro_winkler(known, name), known))
            .filter(|(alike, _)| *alike >= ALIKE)
            .collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        Ok(alike.into_iter().take(MAX_NEAREST).map(|(_, known)| known.to_owned()).collect())
    }
}

fn id_in(printed: &[u8]) -> Option<ObjectId> {
    ObjectId::parse(printed.trim_ascii())
}
