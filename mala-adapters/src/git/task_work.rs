//! Facts about the work on a task: commits from the default branch, work in other places, and files
//! that git hides.

use super::call::GitCall;
use super::copy::{HiddenChanges, LIST_TAGS};
use super::{Git, GitError};
use mala_domain::task::own_work::SharedCommits;

/// How many entries of the log of HEAD are looked at.
const MAX_LOG: &str = "--max-count=1000";

impl Git {
    /// The commits that HEAD and a branch both have since a task started at this commit.
    pub async fn shared_commits(
        &self,
        start: &str,
        branch: &str,
    ) -> Result<SharedCommits, GitError> {
        let start = self.resolve(&format!("{start}^{{commit}}")).await?;
        let branch = self.resolve(&format!("{branch}^{{commit}}")).await?;
        let (Some(head), Some(start), Some(branch)) = (self.head().await?, start, branch) else {
            return Ok(SharedCommits::default());
        };
        let (own, shared) =
            tokio::join!(self.merge_base(&head, &start), self.merge_base(&head, &branch));
        let (Some(own), Some(shared)) = (own?, shared?) else {
            return Ok(SharedCommits::default());
        };
        if shared == head || shared == own || !self.is_ancestor(&own, &shared).await? {
            return Ok(SharedCommits::default());
        }
        let range = format!("{}..{}", own.as_str(), shared.as_str());
        let commits = self.output(&GitCall::new(["rev-list", &range, "--"])).await?;
        let name = self.finish(&GitCall::new(["symbolic-ref", "--quiet", "HEAD"])).await?;
        let name = String::from_utf8_lossy(&name.output.stdout).trim().to_owned();
        let name = if name.is_empty() { "HEAD".to_owned() } else { name };
        let log = GitCall::new(["log", "--walk-reflogs", "--format=%H", &name, "--"]);
        Ok(SharedCommits {
            newest: Some(shared.0),
            commits: lines(&commits),
            branch_log: lines(&self.output(&log).await?),
        })
    }

    /// Work since this commit and this time which HEAD does not have: a local branch, the stash, or a commit that was
    /// checked out here and that no branch has. Branches of `mala run` do not count.
    pub async fn work_elsewhere(&self, commit: &str, at: i64) -> Result<Option<String>, GitError> {
        let contains = format!("--contains={commit}");
        let format = "--format=%(committerdate:unix) %(refname)";
        let list = ["for-each-ref", &contains, "--no-merged=HEAD", format];
        let list = GitCall::new(list).args(["refs/heads", "refs/stash"]);
        for line in lines(&self.output(&list).await?) {
            let Some((date, name)) = line.split_once(' ') else { continue };
            let is_newer = date.parse::<i64>().is_ok_and(|date| date >= at);
            match name.strip_prefix("refs/heads/") {
                Some(branch) if is_newer && !branch.starts_with("mala/") => {
                    return Ok(Some(format!("`{branch}` has commits")));
                }
                None if is_newer => return Ok(Some("the stash has changes".to_owned())),
                _ => {}
            }
        }
        let log = ["log", "--walk-reflogs", MAX_LOG, "--format=%ct %H", "HEAD", "--"];
        let newer = lines(&self.output(&GitCall::new(log)).await?).into_iter().filter_map(|line| {
            let (date, id) = line.split_once(' ')?;
            (date.parse::<i64>().ok()? >= at).then(|| format!("{id}\n"))
        });
        let newer: String = newer.collect();
        if newer.is_empty() {
            return Ok(None);
        }
        let known = ["rev-list", "--max-count=1", "--stdin", "--not", "HEAD", "--remotes"];
        let found = self.output(&GitCall::new(known).stdin(newer.into_bytes())).await?;
        let found = lines(&found).into_iter().next();
        Ok(found.map(|id| format!("commit {} was made", id.get(..12).unwrap_or(&id))))
    }

    /// The files that differ from the index although it marks them as unchanged.
    pub async fn hidden_changes(&self) -> Result<Vec<String>, GitError> {
        let listed = self.output(&GitCall::new(LIST_TAGS)).await?;
        let HiddenChanges { assumed, skipped } = HiddenChanges::among(&listed, self.top());
        if assumed.is_empty() && skipped.is_empty() {
            return Ok(Vec::new());
        }
        let index = self.index_with(&[]).await?;
        let hidden = [assumed.as_slice(), skipped.as_slice()].concat();
        for (bit, paths) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
            let clear = GitCall::new(["update-index", bit, "-z", "--stdin"]).stdin(paths);
            self.output(&clear.env("GIT_INDEX_FILE", index.path())).await?;
        }
        let refresh = GitCall::new(["update-index", "-q", "--refresh"]);
        self.finish(&refresh.env("GIT_INDEX_FILE", index.path())).await?;
        let compare = ["diff-files", "--name-only", "--ignore-submodules=all", "-z", "--"];
        let compare = GitCall::new(compare).env("GIT_INDEX_FILE", index.path());
        let differing = self.output(&compare).await?;
        let is_hidden = |path: &&[u8]| hidden.split(|byte| *byte == 0).any(|it| it == *path);
        let paths = differing.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.filter(is_hidden).map(|it| String::from_utf8_lossy(it).into_owned()).collect())
    }
}

fn lines(printed: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(printed).lines().map(str::to_owned).collect()
}
