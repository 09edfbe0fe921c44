//! Where the current work starts: what is checked out, and where it left others.

use super::call::Call;
use super::{Git, GitError, ObjectId};

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
}
