//! Resolves revisions to commits. A revision is never parsed as an option of git.

use super::call::GitCall;
use super::open::{git_dir_of, shared_by};
use super::{Git, GitError, GitScopeError, ObjectId};
use std::path::PathBuf;

/// The most suggestions for an unknown name.
const MAX_NEAREST: usize = 3;

/// The least similarity of a suggestion, from 0 to 1.
const ALIKE: f64 = 0.8;

/// The most names that are compared.
const MAX_NAMES: usize = 10_000;

impl Git {
    /// The commit that a revision names. An empty revision is HEAD, as in `main..`. A branch that exists
    /// only as `origin/NAME`, as in most CI checkouts, is found there.
    pub(super) async fn commit(&self, revision: &str) -> Result<ObjectId, GitScopeError> {
        let name = if revision.is_empty() { "HEAD" } else { revision };
        match self.resolve(&format!("{name}^{{commit}}")).await? {
            Some(id) => Ok(id),
            None => {
                self.check_object_exists(name).await?;
                if let Some(id) = self.commit_at_origin(name).await? {
                    return Ok(id);
                }
                Err(GitScopeError::UnknownRevision {
                    revision: name.to_owned(),
                    nearest: self.nearest(name).await?,
                    is_path: self.inner.dir.join(name).symlink_metadata().is_ok(),
                    is_shallow: self.inner.is_shallow,
                })
            }
        }
    }

    /// The commit of a branch of `origin` that has no local branch.
    async fn commit_at_origin(&self, name: &str) -> Result<Option<ObjectId>, GitError> {
        // HEAD of a new repository has no commit: the default branch of origin is another one.
        if name.starts_with("HEAD") || name.starts_with(['@', '-']) {
            return Ok(None);
        }
        self.resolve(&format!("refs/remotes/origin/{name}^{{commit}}")).await
    }

    /// Reports a name whose object is missing as damage, not as a mistake of the user.
    async fn check_object_exists(&self, name: &str) -> Result<(), GitError> {
        let Some(id) = self.resolve(name).await?.filter(|id| id.as_str() != name) else {
            return Ok(());
        };
        let found = self.finish(&GitCall::new(["cat-file", "-e", id.as_str()])).await?;
        match found.code() {
            Some(0) => Ok(()),
            _ => Err(GitError::Damaged {
                dir: self.inner.top.clone(),
                message: format!("{name} is {}, which is missing", id.as_str()),
            }),
        }
    }

    /// The commit at HEAD; `None` if there is none.
    pub(super) async fn head(&self) -> Result<Option<ObjectId>, GitError> {
        let head = self.resolve("HEAD^{commit}").await?;
        if head.is_none() {
            // An unborn branch has no commit. A damaged one does not resolve either.
            let call = GitCall::new(["symbolic-ref", "--quiet", "HEAD"]);
            let name = self.output(&call).await?;
            let name = String::from_utf8_lossy(&name).trim().to_owned();
            let call =
                GitCall::new(["for-each-ref", "--count=1", "--format=%(objectname)", "--", &name]);
            if !self.output(&call).await?.is_empty() {
                let message = format!("{name} names a missing commit");
                return Err(GitError::Damaged { dir: self.inner.top.clone(), message });
            }
        }
        Ok(head)
    }

    /// The first parent; `None` for a root commit.
    pub(super) async fn first_parent(
        &self,
        commit: &ObjectId,
    ) -> Result<Option<ObjectId>, GitScopeError> {
        let parent = self.resolve(&format!("{}^1", commit.as_str())).await?;
        if parent.is_none() && self.is_cut(commit).await? {
            return Err(GitScopeError::ParentCut { commit: commit.short().to_owned() });
        }
        Ok(parent)
    }

    /// The merge base of two commits.
    pub(super) async fn merge_base(
        &self,
        one: &ObjectId,
        other: &ObjectId,
    ) -> Result<Option<ObjectId>, GitError> {
        let call = GitCall::new(["merge-base", one.as_str(), other.as_str()]);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => id_in(&finished.output.stdout).map(Some).ok_or_else(|| call.unexpected()),
            Some(1) => Ok(None),
            _ => Err(call.failed(&finished)),
        }
    }

    /// Whether one commit is an ancestor of another.
    pub(super) async fn is_ancestor(
        &self,
        old: &ObjectId,
        new: &ObjectId,
    ) -> Result<bool, GitError> {
        let call = GitCall::new(["merge-base", "--is-ancestor", old.as_str(), new.as_str()]);
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
        let call = GitCall::new(args);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => Ok(id_in(&finished.output.stdout)),
            _ => match call.failed(&finished) {
                corruption @ GitError::Corrupt { .. } => Err(corruption),
                _ => Ok(None),
            },
        }
    }

    /// Whether the clone has the commit without its parents.
    async fn is_cut(&self, commit: &ObjectId) -> Result<bool, GitError> {
        if !self.inner.is_shallow {
            return Ok(false);
        }
        let file = self.shared_dir().join("shallow");
        let listed = std::fs::read_to_string(&file).map_err(|source| GitError::Io {
            what: format!("reading {}", file.display()),
            source,
        })?;
        Ok(listed.lines().any(|line| line == commit.as_str()))
    }

    /// The git folder of this work tree.
    pub(super) fn own_dir(&self) -> PathBuf {
        git_dir_of(&self.inner.top)
    }

    /// The git folder that all work trees share.
    pub(super) fn shared_dir(&self) -> PathBuf {
        shared_by(&self.own_dir()).unwrap_or_else(|| self.own_dir())
    }

    /// The index of this work tree.
    pub(super) fn index_file(&self) -> PathBuf {
        match self.inner.around.get("GIT_INDEX_FILE") {
            Some(named) => self.inner.top.join(named),
            None => self.own_dir().join("index"),
        }
    }

    /// Branches and tags with similar names.
    async fn nearest(&self, name: &str) -> Result<Vec<String>, GitError> {
        let count = format!("--count={MAX_NAMES}");
        let refs = ["refs/heads", "refs/remotes", "refs/tags"];
        let call = GitCall::new(["for-each-ref", &count, "--format=%(refname:short)"]).args(refs);
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
