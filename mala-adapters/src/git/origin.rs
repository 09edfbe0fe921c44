//! What cases are made of: the message of a commit, where lines come from, and which commits a pull request
//! is made of.

use super::call::Call;
use super::filter::as_argument;
use super::{Git, GitError, ObjectId, ScopeError};
use mala_domain::change::FilePath;
use mala_domain::scope::Target;

/// Where clones keep the head of a pull request, with its number in between.
const HEADS: &[(&str, &str)] = &[
    ("refs/pull/", "/head"),
    ("refs/remotes/origin/pull/", "/head"),
    ("refs/remotes/origin/pr/", ""),
    ("refs/remotes/origin/pr/", "/head"),
];

/// Where pull requests go, mostly.
const BRANCHES: &[&str] =
    &["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "HEAD"];

/// Where a line comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineOrigin {
    /// The commit that added it.
    pub commit: String,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// The file, as that commit names it.
    pub file: FilePath,
    /// Its 1-based number there.
    pub line: u32,
}

impl Git {
    /// What the author of a commit says of it.
    pub async fn message(&self, revision: &str) -> Result<String, ScopeError> {
        let id = self.commit(revision).await?;
        let told = self.described(&[&id]).await?;
        Ok(told.into_iter().next().map(|(_, message)| message).unwrap_or_default())
    }

    /// Where these lines of a file, as it is at a revision, come from. Changes of blanks do not count.
    pub async fn origins(
        &self,
        revision: &str,
        file: &FilePath,
        lines: &[u32],
    ) -> Result<Vec<LineOrigin>, ScopeError> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let id = self.commit(revision).await?;
        let ranges = lines.iter().map(|line| format!("-L{line},{line}"));
        let call = Call::new(["blame", "--line-porcelain", "-w", "--no-progress", "--no-textconv"])
            .args(ranges)
            .args([&id])
            .args(["--"])
            .args([as_argument(file)]);
        Ok(origins(&self.output(&call).await?))
    }

    /// What a pull request changes, by the refs that a clone may have of it; `None` when it has none.
    pub async fn pull_request(&self, number: u64) -> Result<Option<Target>, ScopeError> {
        let mut head = None;
        for (before, after) in HEADS {
            head = match head {
                None => self.resolve(&format!("{before}{number}{after}^{{commit}}")).await?,
                found => found,
            };
        }
        let Some(head) = head else { return Ok(None) };
        let Some(base) = self.base_of_request(number, &head).await? else { return Ok(None) };
        Ok(Some(Target::SinceMergeBase { base: base.0, head: head.0 }))
    }

    async fn base_of_request(
        &self,
        number: u64,
        head: &ObjectId,
    ) -> Result<Option<ObjectId>, GitError> {
        // The merge that GitHub tries knows both sides; an old one is about another head.
        let merge = format!("refs/pull/{number}/merge");
        if self.resolve(&format!("{merge}^2")).await?.as_ref() == Some(head) {
            return self.resolve(&format!("{merge}^1")).await;
        }
        for branch in BRANCHES {
            let Some(branch) = self.resolve(&format!("{branch}^{{commit}}")).await? else {
                continue;
            };
            return match self.is_ancestor(head, &branch).await? {
                false => Ok(Some(branch)),
                true => self.before_merge(head, &branch).await,
            };
        }
        Ok(None)
    }

    /// Where a branch was before it took in a commit by a merge.
    async fn before_merge(
        &self,
        head: &ObjectId,
        branch: &ObjectId,
    ) -> Result<Option<ObjectId>, GitError> {
        let range = format!("{}..{}", head.as_str(), branch.as_str());
        let call = Call::new(["rev-list", "--first-parent", "--ancestry-path", &range, "--"]);
        let listed = self.output(&call).await?;
        let mut lines = listed.split(|byte| *byte == b'\n').rev();
        let Some(merge) = lines.find_map(ObjectId::parse) else { return Ok(None) };
        let before = self.resolve(&format!("{}^1", merge.as_str())).await?;
        Ok(before.filter(|before| before != head))
    }
}

/// From what `git blame --line-porcelain` prints: a header per line, notes, and the line after a tab.
fn origins(printed: &[u8]) -> Vec<LineOrigin> {
    let mut found = Vec::new();
    let mut current: Option<LineOrigin> = None;
    for line in printed.split(|byte| *byte == b'\n') {
        if line.starts_with(b"\t") {
            found.extend(current.take());
            continue;
        }
        let mut words = line.splitn(3, |byte| *byte == b' ');
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let number = || std::str::from_utf8(second).ok()?.parse::<i64>().ok();
        match (&mut current, first) {
            (None, id) => {
                let id = ObjectId::parse(id);
                let line = number().and_then(|line| u32::try_from(line).ok());
                current = id.zip(line).map(|(id, line)| LineOrigin {
                    commit: id.0,
                    time: 0,
                    file: FilePath::from_bytes(Vec::new()),
                    line,
                });
            }
            (Some(origin), b"committer-time") => origin.time = number().unwrap_or_default(),
            (Some(origin), b"filename") => {
                let name = line.get(b"filename ".len()..).unwrap_or_default();
                origin.file = FilePath::parse(&String::from_utf8_lossy(name));
            }
            _ => {}
        }
    }
    found
}
