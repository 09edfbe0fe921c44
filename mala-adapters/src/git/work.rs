//! Where the current work starts: what is checked out, and where it left others.

use super::call::Call;
use super::{Git, GitError, ObjectId};

/// What a reflog says of commits that came from others.
const FETCHES: &[&str] = &["fetch", "pull", "clone"];

/// So many places of a reference are looked at.
const MAX_ENTRIES: usize = 100;

impl Git {
    /// The commit at HEAD; `None` while there is none.
    pub async fn head_commit(&self) -> Result<Option<String>, GitError> {
        Ok(self.head().await?.map(|head| head.0))
    }

    /// The branch that is checked out; `None` when HEAD is no branch.
    pub async fn branch(&self) -> Result<Option<String>, GitError> {
        let call = Call::new(["symbolic-ref", "--quiet", "--short", "HEAD"]);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => Ok(Some(String::from_utf8_lossy(&finished.output.stdout).trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(call.failed(&finished)),
        }
    }

    /// Where HEAD left a revision; `None` when nobody knows the revision, or when they share nothing.
    pub async fn fork_point(&self, revision: &str) -> Result<Option<String>, GitError> {
        let other = self.resolve(&format!("{revision}^{{commit}}")).await?;
        let (Some(head), Some(other)) = (self.head().await?, other) else { return Ok(None) };
        Ok(self.merge_base(&head, &other).await?.map(|commit| commit.0))
    }

    /// The older of two commits of one history, or where their histories part; `None` when they share
    /// nothing.
    pub async fn older(&self, one: &str, other: &str) -> Result<Option<String>, GitError> {
        let parse = |id: &str| ObjectId::parse(id.as_bytes());
        let (Some(one), Some(other)) = (parse(one), parse(other)) else { return Ok(None) };
        Ok(self.merge_base(&one, &other).await?.map(|commit| commit.0))
    }

    /// Whether a commit has another one in its history; not when nobody knows them.
    pub async fn contains(&self, newer: &str, older: &str) -> Result<bool, GitError> {
        let resolved = (self.known(newer).await?, self.known(older).await?);
        let (Some(newer), Some(older)) = resolved else { return Ok(false) };
        self.is_ancestor(&older, &newer).await
    }

    /// A branch, ours or a remote's, that has a commit.
    pub async fn branch_with(&self, commit: &str) -> Result<Option<String>, GitError> {
        let Some(commit) = self.known(commit).await? else { return Ok(None) };
        let args = ["for-each-ref", "--count=1", "--format=%(refname:short)"];
        let call = Call::new(args).args([format!("--contains={}", commit.as_str())]);
        let listed = self.output(&call.args(["refs/heads", "refs/remotes"])).await?;
        let name = String::from_utf8_lossy(&listed).trim().to_owned();
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    /// What came from others to the published side of a branch since it had this commit, as far as HEAD has
    /// it; up to where somebody pushed from here. `None` when nothing did, or when nobody wrote it down.
    pub async fn fetched_after(
        &self,
        commit: &str,
        branch: &str,
    ) -> Result<Option<String>, GitError> {
        let Some(commit) = ObjectId::parse(commit.as_bytes()) else { return Ok(None) };
        let Some(published) = self.published(branch).await? else { return Ok(None) };
        let entries = self.reflog(&published).await?;
        // What is older is not seen, and may be ours.
        let is_cut = entries.len() >= MAX_ENTRIES;
        let mut fetched = None;
        for (at, (id, came_how)) in entries.into_iter().enumerate() {
            if self.is_ancestor(&id, &commit).await? {
                break;
            }
            let is_theirs = FETCHES.iter().any(|word| came_how.starts_with(word));
            // A push of ours hides all that came after it.
            let is_known = is_theirs && !(is_cut && at + 1 == MAX_ENTRIES);
            fetched = is_known.then(|| fetched.unwrap_or(id));
        }
        let Some(fetched) = fetched else { return Ok(None) };
        let shared = self.fork_point(fetched.as_str()).await?;
        let shared = shared.and_then(|id| ObjectId::parse(id.as_bytes()));
        match shared {
            Some(shared) if self.is_ancestor(&commit, &shared).await? => Ok(Some(shared.0)),
            _ => Ok(None),
        }
    }

    /// The remote's side of a branch, by its whole name.
    async fn published(&self, branch: &str) -> Result<Option<String>, GitError> {
        for revision in [format!("{branch}@{{upstream}}"), branch.to_owned()] {
            let args = ["rev-parse", "--quiet", "--verify", "--symbolic-full-name"];
            let call = Call::new(args).args(["--end-of-options", &revision]);
            let finished = self.finish(&call).await?;
            let name = String::from_utf8_lossy(&finished.output.stdout).trim().to_owned();
            if finished.code() == Some(0) && name.starts_with("refs/remotes/") {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Where a reference was, the newest first, and how it came there.
    async fn reflog(&self, reference: &str) -> Result<Vec<(ObjectId, String)>, GitError> {
        let call = Call::new(["log", "--walk-reflogs", "--no-patch", "--no-show-signature"]);
        let count = format!("--max-count={MAX_ENTRIES}");
        let call = call.args([&count, "--format=%H %gs", "--end-of-options", reference]);
        let listed = self.output(&call).await?;
        let listed = String::from_utf8_lossy(&listed);
        let lines = listed.lines().filter_map(|line| line.split_once(' '));
        let entries = lines.filter_map(|(id, how)| Some((ObjectId::parse(id.as_bytes())?, how)));
        Ok(entries.map(|(id, how)| (id, how.to_owned())).collect())
    }

    async fn known(&self, commit: &str) -> Result<Option<ObjectId>, GitError> {
        self.resolve(&format!("{commit}^{{commit}}")).await
    }
}
