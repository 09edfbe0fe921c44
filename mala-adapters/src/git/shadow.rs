//! What planting defects needs of a repository: its recent ordinary commits, a diff as text, and a
//! commit in a throw-away copy that differs from a real one in one file.

use super::call::Call;
use super::copy::{by_nobody, inside};
use super::diff::Sides;
use super::filter::{Filter, as_argument};
use super::{Git, GitError, ObjectId, ScopeError};
use mala_domain::change::FilePath;
use std::ffi::OsString;
use std::path::Path;

/// A commit in the making.
#[derive(Debug, Clone, Copy)]
pub struct Shadow<'s> {
    /// The commit that it is like.
    pub like: &'s str,
    /// The commit that it comes after; it is the first when there is none.
    pub after: Option<&'s str>,
    /// The file in which it differs.
    pub file: &'s FilePath,
    /// What that file has.
    pub text: &'s str,
}

impl Git {
    /// The ids of the newest commits that are no merges, the newest first.
    pub async fn ordinary_commits(&self, max: usize) -> Result<Vec<String>, GitError> {
        let Some(head) = self.head().await? else { return Ok(Vec::new()) };
        let count = format!("--max-count={max}");
        let call = Call::new(["rev-list", "--no-merges", &count, head.as_str(), "--"]);
        let listed = self.output(&call).await?;
        let ids = listed.split(|byte| *byte == b'\n').filter_map(ObjectId::parse);
        Ok(ids.map(|id| id.0).collect())
    }

    /// What differs between a commit, or nothing, and another commit, as a unified diff.
    pub async fn patch_between(
        &self,
        base: Option<&str>,
        head: &str,
    ) -> Result<Vec<u8>, ScopeError> {
        let base = match base {
            Some(base) => Some(self.commit(base).await?),
            None => None,
        };
        let (base, head) = (self.tree_of(base.as_ref()), self.commit(head).await?);
        let git = self.with_attributes_of(&base);
        git.diff(&Sides::Trees(base, head), &Filter::default()).await
    }

    /// Makes a commit in the copy of this repository in a folder; gives its id.
    pub async fn shadow(&self, folder: &Path, shadow: &Shadow<'_>) -> Result<String, GitError> {
        let index = OsString::from(folder.join(".git/shadow-index"));
        let call = |args: &[&str]| {
            inside(Call::new(args.iter().copied()), folder).env("GIT_INDEX_FILE", index.clone())
        };
        self.output(&call(&["read-tree", shadow.like])).await?;
        let store = call(&["hash-object", "-w", "--stdin", "--no-filters"]);
        let stored = self.output(&store.stdin(shadow.text.as_bytes().to_vec())).await?;
        let blob = ObjectId::parse(stored.trim_ascii())
            .ok_or_else(|| GitError::Unexpected { command: "hash-object".to_owned() })?;
        let mode = self.mode_of(shadow).await?;
        let mut entry = OsString::from(format!("{mode},{},", blob.as_str()));
        entry.push(as_argument(shadow.file));
        let update = call(&["update-index", "--cacheinfo"]).args([entry]);
        self.output(&update).await?;
        let tree = self.output(&call(&["write-tree"])).await?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        let mut commit = by_nobody(call(&["commit-tree", "-m", "the change", &tree]));
        if let Some(after) = shadow.after {
            commit = commit.args(["-p", after]);
        }
        let id = self.output(&commit).await?;
        ObjectId::parse(id.trim_ascii()).map(|id| id.0).ok_or_else(|| commit.unexpected())
    }

    /// How the file is kept: as it was, so that nothing but its text changes.
    async fn mode_of(&self, shadow: &Shadow<'_>) -> Result<&'static str, GitError> {
        let call = Call::new(["ls-tree", "-z", shadow.like, "--"]).args([as_argument(shadow.file)]);
        let listed = self.output(&call).await?;
        Ok(if listed.starts_with(b"100755") { "100755" } else { "100644" })
    }
}
