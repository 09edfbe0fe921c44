//! The origins of eval cases: the message of a commit, the origin of lines, and the commits of a
//! pull request.

use super::call::GitCall;
use super::filter::as_argument;
use super::{Git, GitError, GitScopeError, ObjectId};
use mala_domain::change::FilePath;
use mala_domain::scope::ReviewTarget;

/// Ref names under which clones store the head of a pull request, before and after its number.
const HEADS: &[(&str, &str)] = &[
    ("refs/pull/", "/head"),
    ("refs/remotes/origin/pull/", "/head"),
    ("refs/remotes/origin/pr/", ""),
    ("refs/remotes/origin/pr/", "/head"),
];

/// Common target branches of pull requests.
const BRANCHES: &[&str] =
    &["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "HEAD"];

/// The origin of a line.
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
    /// The message of a commit.
    pub async fn message(&self, revision: &str) -> Result<String, GitScopeError> {
        let id = self.commit(revision).await?;
        let with_message = self.described(&[&id]).await?;
        Ok(with_message.into_iter().next().map(|(_, message)| message).unwrap_or_default())
    }

    /// The origin of these lines of a file at a revision, ignoring changes of white space.
    pub async fn origins(
        &self,
        revision: &str,
        file: &FilePath,
        lines: &[u32],
    ) -> Result<Vec<LineOrigin>, GitScopeError> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let id = self.commit(revision).await?;
        let ranges = lines.iter().map(|line| format!("-L{line},{line}"));
        let call =
            GitCall::new(["blame", "--line-porcelain", "-w", "--no-progress", "--no-textconv"])
                .args(ranges)
                .args([&id])
                .args(["--"])
                .args([as_argument(file)]);
        Ok(origins(&self.output(&call).await?))
    }

    /// The commits of a pull request, from the refs of the clone; `None` if it has none.
    pub async fn pull_request(&self, number: u64) -> Result<Option<ReviewTarget>, GitScopeError> {
        let mut head = None;
        for (before, after) in HEADS {
            head = match head {
                None => self.resolve(&format!("{before}{number}{after}^{{commit}}")).await?,
                found => found,
            };
        }
        let Some(head) = head else { return Ok(None) };
        let Some(base) = self.base_of_request(number, &head).await? else { return Ok(None) };
        Ok(Some(ReviewTarget::SinceMergeBase { base: base.0, head: head.0 }))
    }

    async fn base_of_request(
        &self,
        number: u64,
        head: &ObjectId,
    ) -> Result<Option<ObjectId>, GitError> {
        // GitHub's test merge has both sides as parents. If its head differs, it is outdated.
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

    /// The tip of a branch before it merged a commit.
    async fn before_merge(
        &self,
        head: &ObjectId,
        branch: &ObjectId,
    ) -> Result<Option<ObjectId>, GitError> {
        let range = format!("{}..{}", head.as_str(), branch.as_str());
        let call = GitCall::new(["rev-list", "--first-parent", "--ancestry-path", &range, "--"]);
        let listed = self.output(&call).await?;
        let mut lines = listed.split(|byte| *byte == b'\n').rev();
        let Some(merge) = lines.find_map(ObjectId::parse) else { return Ok(None) };
        let before = self.resolve(&format!("{}^1", merge.as_str())).await?;
        Ok(before.filter(|before| before != head))
    }
}

/// Parses the output of `git blame --line-porcelain`: a header per line, notes, and the line after
/// a tab.
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
