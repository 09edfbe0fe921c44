//! Where the current work starts: what is checked out, and where it left others.

use super::call::Call;
use super::copy::inside;
use super::{Git, GitError, ObjectId};
use std::collections::HashSet;
use std::path::Path;

/// What a reflog says of moves that make no commit.
const MOVES: &[&str] = &["checkout", "clone", "reset", "branch", "fetch"];

/// So many places of HEAD are looked at, and so many commits.
const MAX_ENTRIES: &str = "--max-count=1000";
const MAX_COMMITS: usize = 10_000;

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

    /// The last commit between these two that has nothing in it which was made in this work tree since `from`,
    /// by what git writes down of HEAD; `None` when there is none, or when that does not go back to
    /// `since`, where HEAD was before.
    pub async fn made_by_others(
        &self,
        from: &str,
        to: &str,
        since: &str,
    ) -> Result<Option<String>, GitError> {
        let call = Call::new(["log", "--walk-reflogs", "--no-patch", "--no-show-signature"]);
        let call = call.args([MAX_ENTRIES, "--format=%H %gs", "HEAD", "--"]);
        let entries = self.output(&call).await?;
        let (Some(from), Some(to)) = (self.known(from).await?, self.known(to).await?) else {
            return Ok(None);
        };
        let count = format!("--max-count={MAX_COMMITS}");
        let call = Call::new(["rev-list", "--topo-order", "--parents", &count, to.as_str()]);
        let commits = self.output(&call.args(["--not", from.as_str(), "--"])).await?;
        let (entries, commits) =
            (String::from_utf8_lossy(&entries), String::from_utf8_lossy(&commits));
        let is_cut = commits.lines().count() >= MAX_COMMITS;
        let made = made_here(&entries, since).filter(|_| !is_cut);
        Ok(made.and_then(|made| last_without(&commits, &made)))
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

/// The commits that were made by what HEAD did; `None` when it was never at `since`.
fn made_here<'e>(entries: &'e str, since: &str) -> Option<HashSet<&'e str>> {
    let entries = || entries.lines().filter_map(|line| line.split_once(' '));
    let is_whole = entries().any(|(id, _)| id == since);
    let made = entries().filter(|(_, how)| !is_move(how)).map(|(id, _)| id);
    is_whole.then(|| made.collect())
}

/// The newest of these commits, each with its parents and the newest first, that has none of `made` in its
/// history.
fn last_without(commits: &str, made: &HashSet<&str>) -> Option<String> {
    let mut with: HashSet<&str> = HashSet::new();
    let mut last = None;
    for line in commits.lines().rev() {
        let mut ids = line.split(' ');
        let Some(id) = ids.next() else { continue };
        if made.contains(id) || ids.any(|parent| with.contains(parent)) {
            with.insert(id);
        } else {
            last = Some(id);
        }
    }
    last.map(str::to_owned)
}

/// Whether HEAD came to a commit that was there already.
fn is_move(how: &str) -> bool {
    // The start of a rebase goes to the new base, its end to the last commit that was picked.
    MOVES.iter().any(|word| how.starts_with(word))
        || how.to_ascii_lowercase().ends_with("fast-forward")
        || how.contains("(start)")
        || how.contains("(finish)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_made_is_told_from_what_is_ours() {
        // Ours are m and n; theirs come before, beside and after them.
        for (commits, expected) in [
            ("", None),
            ("m x", None),
            ("b a\na x", Some("b")),
            ("m b\nb a\na x", Some("b")),
            ("c m\nm a\na x", Some("a")),
            ("j m b\nm x\nb a\na x", Some("b")),
            ("j n b\nb m\nn m\nm x", None),
        ] {
            let made = HashSet::from(["m", "n", "j"]);
            assert_eq!(last_without(commits, &made).as_deref(), expected, "{commits}");
        }
        let entries = "b pull: Fast-forward\nm commit: ours\na checkout: moving";
        assert_eq!(made_here(entries, "a"), Some(HashSet::from(["m"])));
        assert_eq!(made_here(entries, "x"), None, "nobody knows what was before");
    }

    #[test]
    fn what_makes_a_commit_is_told_from_what_does_not() {
        for (how, expected) in [
            ("checkout: moving from main to topic", true),
            ("clone: from /origin", true),
            ("reset: moving to origin/main", true),
            ("pull -q: Fast-forward", true),
            ("merge origin/main: Fast-forward", true),
            ("pull --rebase (start): checkout 0123", true),
            ("rebase (finish): returning to refs/heads/main", true),
            ("commit: more", false),
            ("commit (initial): one", false),
            ("commit (amend): one", false),
            ("rebase (pick): one", false),
            ("cherry-pick: one", false),
            ("pull: Merge made by the 'ort' strategy.", false),
            ("", false),
        ] {
            assert_eq!(is_move(how), expected, "{how}");
        }
    }
}
