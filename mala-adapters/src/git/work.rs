//! Where the current work starts: what is checked out, and where it left others.

use super::call::Call;
use super::copy::inside;
use super::{Git, GitError, ObjectId};
use std::collections::HashSet;
use std::path::Path;

/// What a reflog calls moves that make no commit.
const MOVES: &[&str] = &["checkout", "clone", "reset", "branch", "fetch"];

/// What it calls those that make one commit.
const MAKERS: &[&str] = &["commit", "merge", "pull", "rebase", "cherry-pick", "revert", "am"];

/// So many places of HEAD are looked at, and so many commits.
const MAX_ENTRIES: usize = 1000;
const MAX_COMMITS: usize = 10_000;
const MAX_PUSHES: usize = 50;

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

    /// A branch or tag, ours or a remote's, that has a commit.
    pub async fn branch_with(&self, commit: &str) -> Result<Option<String>, GitError> {
        let Some(commit) = self.known(commit).await? else { return Ok(None) };
        let args = ["for-each-ref", "--count=1", "--format=%(refname:short)"];
        let call = Call::new(args).args([format!("--contains={}", commit.as_str())]);
        let listed = self.output(&call.args(["refs/heads", "refs/remotes", "refs/tags"])).await?;
        let name = String::from_utf8_lossy(&listed).trim().to_owned();
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    /// The last commit between these two that has nothing in it which was made in this repository, by what
    /// git writes down of HEAD and of branches, which was pushed from here to `base`, or which `ours` names;
    /// `None` when there is none, or when that does not go back to `since`, where HEAD was before.
    pub async fn made_by_others(
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
        let call = Call::new(["rev-list", "--topo-order", "--parents", &count, to.as_str()]);
        let commits = self.output(&call.args(["--not", from.as_str(), "--"])).await?;
        let commits = String::from_utf8_lossy(&commits);
        if commits.lines().count() >= MAX_COMMITS {
            return Ok(None);
        }
        let Some(mut made) = Made::read(&entries, since) else { return Ok(None) };
        let pushed = match base {
            Some(base) => self.pushed(&from, base).await?,
            None => Some(Vec::new()),
        };
        let Some(pushed) = pushed else { return Ok(None) };
        made.one.extend(ours.iter().chain(&pushed).map(String::as_str));
        Ok(made.last_without(&commits))
    }

    /// Commits since `from` that somebody pushed from here to the published side of a branch, wherever they
    /// were made: what came between two places of it. `None` when there are too many to know.
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
            let call = Call::new(["rev-list", &count, id, "--not", from.as_str()]);
            let listed = self.output(&call.args(before).args(["--"])).await?;
            let listed = String::from_utf8_lossy(&listed);
            pushed.extend(listed.lines().map(str::to_owned));
        }
        Ok(Some(pushed))
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

    /// What git wrote down of these references, the newest first.
    async fn reflogs(&self, args: &[&str]) -> Result<String, GitError> {
        let call = Call::new(["log", "--walk-reflogs", "--no-patch", "--no-show-signature"]);
        let count = format!("--max-count={MAX_ENTRIES}");
        let listed = self.output(&call.args([count]).args(args).args(["--"])).await?;
        Ok(String::from_utf8_lossy(&listed).into_owned())
    }

    /// Whether both have the same files; `copy` has both.
    pub async fn is_same_tree(
        &self,
        copy: &Path,
        one: &str,
        other: &str,
    ) -> Result<bool, GitError> {
        let call = Call::new(["diff-tree", "--quiet", one, other, "--"]);
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

/// Where each push brought a remote's branch, and where it was before.
fn pushes(entries: &str) -> Vec<(&str, Option<&str>)> {
    let entries: Vec<(&str, &str)> = entries.lines().filter_map(|it| it.split_once(' ')).collect();
    let before = entries.iter().skip(1).map(|(id, _)| Some(*id)).chain([None]);
    let moves = entries.iter().zip(before);
    moves
        .filter(|((_, how), _)| how.starts_with("update by push"))
        .map(|((id, _), before)| (*id, before))
        .collect()
}

/// Commits that were made here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Made<'e> {
    /// Those of which git says so.
    one: HashSet<&'e str>,
    /// Those that something unknown came to: what leads to them may be ours too.
    all: HashSet<&'e str>,
}

impl<'e> Made<'e> {
    /// By what git wrote down; `None` when it was never at `since`.
    fn read(entries: &'e str, since: &str) -> Option<Self> {
        let mut made = Self::default();
        let mut is_whole = false;
        for (id, how) in entries.lines().filter_map(|line| line.split_once(' ')) {
            is_whole |= id == since;
            match Step::of(how) {
                Step::Move => {}
                Step::Commit => drop(made.one.insert(id)),
                Step::Unknown => drop(made.all.insert(id)),
            }
        }
        is_whole.then_some(made)
    }

    /// The newest of these commits, each with its parents and the newest first, that has none of ours in its
    /// history.
    fn last_without(mut self, commits: &'e str) -> Option<String> {
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

/// How HEAD or a branch came to a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It was there already.
    Move,
    Commit,
    Unknown,
}

impl Step {
    /// What comes after the first colon is a person's, but for what a merge says of itself.
    fn of(how: &str) -> Self {
        let (action, said) = how.split_once(": ").unwrap_or((how, ""));
        let action = action.to_ascii_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| action.starts_with(word));
        // The start of a rebase goes to the new base, its end to the last commit that was picked.
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
    fn what_others_made_is_told_from_what_is_ours() {
        // Ours are m and n; u came from nobody knows where.
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
            let made = Made { one: HashSet::from(["m", "n", "j"]), all: HashSet::from(["u"]) };
            assert_eq!(made.last_without(commits).as_deref(), expected, "{commits}");
        }
        let entries =
            "b pull: Fast-forward\nm commit: ours\nu filter-branch: rewrite\na checkout: moving";
        let made = Made { one: HashSet::from(["m"]), all: HashSet::from(["u"]) };
        assert_eq!(Made::read(entries, "a"), Some(made));
        assert_eq!(Made::read(entries, "x"), None, "nobody knows what was before");
    }

    #[test]
    fn a_push_starts_where_the_branch_was() {
        let entries = "d update by push\nc update by push\nb fetch: fast-forward\na update by push";
        let expected = [("d", Some("c")), ("c", Some("b")), ("a", None)];
        assert_eq!(pushes(entries), expected);
    }

    #[test]
    fn what_makes_a_commit_is_told_from_what_does_not() {
        for (how, expected) in [
            ("checkout: moving from main to topic", Step::Move),
            ("clone: from /origin", Step::Move),
            ("reset: moving to origin/main", Step::Move),
            ("Branch: renamed refs/heads/a to refs/heads/b", Step::Move),
            ("fetch origin main:main: fast-forward", Step::Move),
            ("pull -q: Fast-forward", Step::Move),
            ("merge origin/main: Fast-forward", Step::Move),
            ("pull --rebase (start): checkout 0123", Step::Move),
            ("rebase (finish): returning to refs/heads/main", Step::Move),
            ("commit: allow fast-forward", Step::Commit),
            ("commit: Fast-forward", Step::Commit),
            ("commit: add a (start) and a (finish)", Step::Commit),
            ("commit: checkout: reset", Step::Commit),
            ("commit (initial): one", Step::Commit),
            ("commit (amend): one", Step::Commit),
            ("rebase (pick): add (start)", Step::Commit),
            ("cherry-pick: one", Step::Commit),
            ("pull: Merge made by the 'ort' strategy.", Step::Commit),
            ("merge topic: Fast-forward (no commit created; -m option ignored)", Step::Commit),
            ("filter-branch: rewrite", Step::Unknown),
            ("", Step::Unknown),
        ] {
            assert_eq!(Step::of(how), expected, "{how}");
        }
    }
}
