//! Where the current work starts: HEAD, its branch, and the commits that were made in this clone
//! according to the reflogs.

use super::call::GitCall;
use super::copy::inside;
use super::{Git, GitError, ObjectId};
use std::collections::HashSet;
use std::path::Path;

/// Reflog actions that create no commit.
const MOVES: &[&str] = &["checkout", "clone", "reset", "branch", "fetch"];

/// Reflog actions that create one commit.
const MAKERS: &[&str] = &["commit", "merge", "pull", "rebase", "cherry-pick", "revert", "am"];

/// The most reflog entries, commits and pushes that are read.
const MAX_ENTRIES: usize = 1000;
const MAX_COMMITS: usize = 10_000;
const MAX_PUSHES: usize = 50;

impl Git {
    /// The commit at HEAD; `None` if there is none.
    pub async fn head_commit(&self) -> Result<Option<String>, GitError> {
        Ok(self.head().await?.map(|head| head.0))
    }

    /// The current branch; `None` if HEAD is detached.
    pub async fn branch(&self) -> Result<Option<String>, GitError> {
        let call = GitCall::new(["symbolic-ref", "--quiet", "--short", "HEAD"]);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => Ok(Some(String::from_utf8_lossy(&finished.output.stdout).trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(call.failed(&finished)),
        }
    }

    /// The merge base of HEAD and a revision; `None` if the revision is unknown or unrelated.
    pub async fn fork_point(&self, revision: &str) -> Result<Option<String>, GitError> {
        let other = self.resolve(&format!("{revision}^{{commit}}")).await?;
        let (Some(head), Some(other)) = (self.head().await?, other) else { return Ok(None) };
        Ok(self.merge_base(&head, &other).await?.map(|commit| commit.0))
    }

    /// The merge base of two commits; `None` if they are unrelated.
    pub async fn merge_base_of(&self, one: &str, other: &str) -> Result<Option<String>, GitError> {
        let parse = |id: &str| ObjectId::parse(id.as_bytes());
        let (Some(one), Some(other)) = (parse(one), parse(other)) else { return Ok(None) };
        Ok(self.merge_base(&one, &other).await?.map(|commit| commit.0))
    }

    /// Whether a commit contains another one in its history. False if one of them is unknown.
    pub async fn contains_commit(&self, newer: &str, older: &str) -> Result<bool, GitError> {
        let resolved = (self.known(newer).await?, self.known(older).await?);
        let (Some(newer), Some(older)) = resolved else { return Ok(false) };
        self.is_ancestor(&older, &newer).await
    }

    /// A local or remote branch or a tag that contains a commit.
    pub async fn ref_containing(&self, commit: &str) -> Result<Option<String>, GitError> {
        let Some(commit) = self.known(commit).await? else { return Ok(None) };
        let args = ["for-each-ref", "--count=1", "--format=%(refname:short)"];
        let call = GitCall::new(args).args([format!("--contains={}", commit.as_str())]);
        let listed = self.output(&call.args(["refs/heads", "refs/remotes", "refs/tags"])).await?;
        let name = String::from_utf8_lossy(&listed).trim().to_owned();
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    /// The newest commit between these two whose history contains no local commit. Local commits
    /// are those that the reflogs of HEAD and branches show as created here, those that were
    /// pushed from here to `base`, and those in `ours`. `None` if there is none, or if the reflogs
    /// do not reach back to `since`, the former HEAD.
    pub async fn newest_foreign_commit(
        &self,
        between: [&str; 2],
        ours: &[String],
        since: &str,
        base: Option<&str>,
    ) -> Result<Option<String>, GitError> {
        let [from, to] = between;
        let entries = self.reflogs(&["--format=%H %gs", "HEAD", "--branches"]).await?;
        let (Some(from), Some(to)) = (self.known(from).await?, self.known(to).await?) else {
            return Ok(None);
        };
        let count = format!("--max-count={MAX_COMMITS}");
        let call = GitCall::new(["rev-list", "--topo-order", "--parents", &count, to.as_str()]);
        let commits = self.output(&call.args(["--not", from.as_str(), "--"])).await?;
        let commits = String::from_utf8_lossy(&commits);
        if commits.lines().count() >= MAX_COMMITS {
            return Ok(None);
        }
        let Some(mut made) = LocalCommits::read(&entries, since) else { return Ok(None) };
        let pushed = match base {
            Some(base) => self.pushed(&from, base).await?,
            None => Some(Vec::new()),
        };
        let Some(pushed) = pushed else { return Ok(None) };
        made.one.extend(ours.iter().chain(&pushed).map(String::as_str));
        Ok(made.newest_without(&commits))
    }

    /// Commits since `from` that were pushed from this clone to the remote side of a branch,
    /// wherever they were created. `None` if there are too many to tell.
    async fn pushed(&self, from: &ObjectId, branch: &str) -> Result<Option<Vec<String>>, GitError> {
        let Some(published) = self.published(branch).await? else { return Ok(Some(Vec::new())) };
        let entries = self.reflogs(&["--format=%H %gs", &published]).await?;
        let pushes = pushes(&entries);
        if pushes.len() > MAX_PUSHES || entries.lines().count() >= MAX_ENTRIES {
            return Ok(None);
        }
        let mut pushed = Vec::new();
        for (id, before) in pushes {
            let count = format!("--max-count={MAX_COMMITS}");
            let call = GitCall::new(["rev-list", &count, id, "--not", from.as_str()]);
            let listed = self.output(&call.args(before).args(["--"])).await?;
            let listed = String::from_utf8_lossy(&listed);
            pushed.extend(listed.lines().map(str::to_owned));
        }
        Ok(Some(pushed))
    }

    /// The full name of the remote side of a branch.
    async fn published(&self, branch: &str) -> Result<Option<String>, GitError> {
        for revision in [format!("{branch}@{{upstream}}"), branch.to_owned()] {
            let args = ["rev-parse", "--quiet", "--verify", "--symbolic-full-name"];
            let call = GitCall::new(args).args(["--end-of-options", &revision]);
            let finished = self.finish(&call).await?;
            let name = String::from_utf8_lossy(&finished.output.stdout).trim().to_owned();
            if finished.code() == Some(0) && name.starts_with("refs/remotes/") {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The reflogs of these references, newest first.
    async fn reflogs(&self, args: &[&str]) -> Result<String, GitError> {
        let call = GitCall::new(["log", "--walk-reflogs", "--no-patch", "--no-show-signature"]);
        let count = format!("--max-count={MAX_ENTRIES}");
        let listed = self.output(&call.args([count]).args(args).args(["--"])).await?;
        Ok(String::from_utf8_lossy(&listed).into_owned())
    }

    /// Whether two commits have the same files. Both must be in `copy`.
    pub async fn is_same_tree(
        &self,
        copy: &Path,
        one: &str,
        other: &str,
    ) -> Result<bool, GitError> {
        let call = GitCall::new(["diff-tree", "--quiet", one, other, "--"]);
        let call = inside(call, copy);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(call.failed(&finished)),
        }
    }

    async fn known(&self, commit: &str) -> Result<Option<ObjectId>, GitError> {
        self.resolve(&format!("{commit}^{{commit}}")).await
    }
}

/// Where each push moved a remote branch, and where it was before.
fn pushes(entries: &str) -> Vec<(&str, Option<&str>)> {
    let entries: Vec<(&str, &str)> = entries.lines().filter_map(|it| it.split_once(' ')).collect();
    let before = entries.iter().skip(1).map(|(id, _)| Some(*id)).chain([None]);
    let moves = entries.iter().zip(before);
    moves
        .filter(|((_, how), _)| how.starts_with("update by push"))
        .map(|((id, _), before)| (*id, before))
        .collect()
}

/// Commits that were created in this clone.
#[derive(Debug, Default, PartialEq, Eq)]
struct LocalCommits<'e> {
    /// Commits that a reflog entry shows as created.
    one: HashSet<&'e str>,
    /// Commits that an unknown action led to. Their ancestors may be local too.
    all: HashSet<&'e str>,
}

impl<'e> LocalCommits<'e> {
    /// From reflog entries; `None` if they do not contain `since`.
    fn read(entries: &'e str, since: &str) -> Option<Self> {
        let mut made = Self::default();
        let mut is_whole = false;
        for (id, how) in entries.lines().filter_map(|line| line.split_once(' ')) {
            is_whole |= id == since;
            match ReflogAction::of(how) {
                ReflogAction::Move => {}
                ReflogAction::Commit => drop(made.one.insert(id)),
                ReflogAction::Unknown => drop(made.all.insert(id)),
            }
        }
        is_whole.then_some(made)
    }

    /// The newest of these commits without a local commit in its history. Each line has a commit
    /// and its parents, newest first.
    fn newest_without(mut self, commits: &'e str) -> Option<String> {
        let lines: Vec<Vec<&str>> = commits.lines().map(|it| it.split(' ').collect()).collect();
        for ids in &lines {
            if ids.first().is_some_and(|id| self.all.contains(id)) {
                self.all.extend(ids);
            }
        }
        let mut with = self.all;
        let mut last = None;
        for ids in lines.iter().rev() {
            let [id, parents @ ..] = ids.as_slice() else { continue };
            let has_ours = parents.iter().any(|parent| with.contains(parent));
            if has_ours || with.contains(id) || self.one.contains(id) {
                with.insert(id);
            } else {
                last = Some((*id).to_owned());
            }
        }
        last
    }
}

/// How HEAD or a branch got to a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReflogAction {
    /// The commit existed already.
    Move,
    Commit,
    Unknown,
}

impl ReflogAction {
    /// Text after the first colon is the user's, except for what a merge reports.
    fn of(how: &str) -> Self {
        let (action, said) = how.split_once(": ").unwrap_or((how, ""));
        let action = action.to_ascii_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| action.starts_with(word));
        // The start of a rebase moves to the new base, its end to the last picked commit.
        let is_turn = action.ends_with("(start)") || action.ends_with("(finish)");
        let is_forward = is(&["merge", "pull"]) && said.eq_ignore_ascii_case("fast-forward");
        match () {
            () if is(MOVES) || is_turn || is_forward => Self::Move,
            () if is(MAKERS) => Self::Commit,
            () => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_commits_are_told_from_foreign_ones() {
        // m and n are local; the origin of u is unknown.
        for (commits, expected) in [
            ("", None),
            ("m x", None),
            ("b a\na x", Some("b")),
            ("m b\nb a\na x", Some("b")),
            ("c m\nm a\na x", Some("a")),
            ("j m b\nm x\nb a\na x", Some("b")),
            ("j n b\nb m\nn m\nm x", None),
            ("u b\nb a\na x", None),
            ("c u\nu b\nb x", None),
        ] {
            let made =
                LocalCommits { one: HashSet::from(["m", "n", "j"]), all: HashSet::from(["u"]) };
            assert_eq!(made.newest_without(commits).as_deref(), expected, "{commits}");
        }
        let entries =
            "b pull: Fast-forward\nm commit: ours\nu filter-branch: rewrite\na checkout: moving";
        let made = LocalCommits { one: HashSet::from(["m"]), all: HashSet::from(["u"]) };
        assert_eq!(LocalCommits::read(entries, "a"), Some(made));
        assert_eq!(LocalCommits::read(entries, "x"), None, "the entries do not reach back");
    }

    #[test]
    fn a_push_starts_where_the_branch_was() {
        let entries = "d update by push\nc update by push\nb fetch: fast-forward\na update by push";
        let expected = [("d", Some("c")), ("c", Some("b")), ("a", None)];
        assert_eq!(pushes(entries), expected);
    }

    #[test]
    fn reflog_actions_are_classified() {
        for (how, expected) in [
            ("checkout: moving from main to topic", ReflogAction::Move),
            ("clone: from /origin", ReflogAction::Move),
            ("reset: moving to origin/main", ReflogAction::Move),
            ("Branch: renamed refs/heads/a to refs/heads/b", ReflogAction::Move),
            ("fetch origin main:main: fast-forward", ReflogAction::Move),
            ("pull -q: Fast-forward", ReflogAction::Move),
            ("merge origin/main: Fast-forward", ReflogAction::Move),
            ("pull --rebase (start): checkout 0123", ReflogAction::Move),
            ("rebase (finish): returning to refs/heads/main", ReflogAction::Move),
            ("commit: allow fast-forward", ReflogAction::Commit),
            ("commit: Fast-forward", ReflogAction::Commit),
            ("commit: add a (start) and a (finish)", ReflogAction::Commit),
            ("commit: checkout: reset", ReflogAction::Commit),
            ("commit (initial): one", ReflogAction::Commit),
            ("commit (amend): one", ReflogAction::Commit),
            ("rebase (pick): add (start)", ReflogAction::Commit),
            ("cherry-pick: one", ReflogAction::Commit),
            ("pull: Merge made by the 'ort' strategy.", ReflogAction::Commit),
            (
                "merge topic: Fast-forward (no commit created; -m option ignored)",
                ReflogAction::Commit,
            ),
            ("filter-branch: rewrite", ReflogAction::Unknown),
            ("", ReflogAction::Unknown),
        ] {
            assert_eq!(ReflogAction::of(how), expected, "{how}");
        }
    }
}
