//! The work of a conversation. The state of the repository is recorded when the conversation
//! starts. At a stop, its work is every new commit on a local branch or at HEAD by this clone's
//! user, and every file that is different on disk.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The state of a repository and of its work trees, as far as they were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryState {
    /// The commits that all refs and HEAD point to.
    pub commits: BTreeSet<String>,
    /// The files that differ from HEAD, each with a hash of its content on disk, by the path of the work tree.
    #[serde(default)]
    pub trees: BTreeMap<String, BTreeMap<String, String>>,
    /// The email address of this clone's user; empty if none is configured.
    #[serde(default)]
    pub users: BTreeSet<String>,
}

impl RepositoryState {
    /// Adds a later state to this one, so that neither counts as work. A work tree that both have
    /// is taken from `newer`.
    #[must_use]
    pub fn followed_by(&self, newer: &Self) -> Self {
        Self {
            commits: self.commits.union(&newer.commits).cloned().collect(),
            trees: self.trees.clone().into_iter().chain(newer.trees.clone()).collect(),
            users: self.users.union(&newer.users).cloned().collect(),
        }
    }
}

/// A commit that no ref reached when the conversation started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommit {
    /// Its id.
    pub id: String,
    /// The ids of its parents.
    pub parents: Vec<String>,
    /// The email address of its committer.
    pub committer: String,
}

/// The state of a repository at a stop.
#[derive(Debug, Clone, Default)]
pub struct StopState {
    /// Its state.
    pub state: RepositoryState,
    /// The commit at HEAD; `None` before the first commit.
    pub head: Option<String>,
    /// The local branches and the commits that they point to.
    pub branches: BTreeMap<String, String>,
    /// The commits that HEAD and local branches reach and that no ref reached at the start, parents first.
    pub new_commits: Vec<NewCommit>,
}

/// The work of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookScope {
    /// One part for each line of development; the first one is at HEAD if it has work there.
    pub parts: Vec<WorkPart>,
    /// Files that differ from HEAD and have not changed since the start.
    pub unchanged_files: BTreeSet<String>,
}

/// Work that leads to one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkPart {
    /// The branch; `None` for HEAD with the files on disk.
    pub branch: Option<String>,
    /// The last commit; `None` before the first one.
    pub tip: Option<String>,
    /// The commits that the work starts from; empty if it starts from nothing.
    pub bases: Vec<String>,
}

/// The work of a conversation that started with this state. With several states (the start of the
/// conversation and what a person accepted), a file is unchanged if it is as in one of them.
pub fn scope(starts: &[&RepositoryState], stop: &StopState) -> HookScope {
    let users: BTreeSet<&String> =
        starts.iter().flat_map(|start| &start.users).chain(&stop.state.users).collect();
    let is_own = |commit: &NewCommit| users.is_empty() || users.contains(&commit.committer);
    let files = || {
        let trees = stop.state.trees.iter();
        trees.flat_map(|(tree, files)| files.iter().map(move |(path, hash)| (tree, path, hash)))
    };
    let is_same = |(tree, path, hash): &(&String, &String, &String)| {
        let at_start = |start: &&RepositoryState| start.trees.get(*tree)?.get(*path).cloned();
        starts.iter().any(|start| at_start(start).as_ref() == Some(hash))
    };
    let unchanged_files: BTreeSet<String> =
        files().filter(is_same).map(|(_, path, _)| path.clone()).collect();

    let graph = WorkGraph::new(&stop.new_commits, is_own);
    let has_files = files().count() > unchanged_files.len();
    let branches = stop.branches.iter().map(|(name, tip)| (Some(name), tip));
    let tips: Vec<(Option<&String>, &String)> =
        stop.head.iter().map(|head| (None, head)).chain(branches).collect();
    let histories: HashMap<&str, HashSet<&str>> =
        tips.iter().map(|(_, tip)| (tip.as_str(), graph.history(tip))).collect();
    let is_inside =
        |tip: &str| histories.iter().any(|(other, history)| *other != tip && history.contains(tip));
    let mut parts: Vec<WorkPart> = Vec::new();
    if has_files && stop.head.is_none() {
        parts.push(WorkPart { branch: None, tip: None, bases: Vec::new() });
    }
    for (branch, tip) in tips {
        let on_disk = has_files && branch.is_none();
        let is_known = parts.iter().any(|part| part.tip.as_ref() == Some(tip));
        // A branch that another one contains needs no part of its own.
        if on_disk || (graph.is_work(tip) && !is_known && !is_inside(tip)) {
            let (branch, bases) = (branch.cloned(), graph.bases(tip));
            parts.push(WorkPart { branch, tip: Some(tip.clone()), bases });
        }
    }
    HookScope { parts, unchanged_files }
}

/// The new commits, and which of them are work.
struct WorkGraph<'c> {
    commits: HashMap<&'c str, &'c NewCommit>,
    work: HashSet<&'c str>,
}

impl<'c> WorkGraph<'c> {
    /// Commits of the user are work, and so are all later ones, because one diff contains both.
    fn new(commits: &'c [NewCommit], is_own: impl Fn(&NewCommit) -> bool) -> Self {
        let mut work: HashSet<&str> = HashSet::new();
        for commit in commits {
            let follows = commit.parents.iter().any(|parent| work.contains(parent.as_str()));
            if follows || is_own(commit) {
                work.insert(&commit.id);
            }
        }
        Self { commits: commits.iter().map(|commit| (commit.id.as_str(), commit)).collect(), work }
    }

    fn is_work(&self, commit: &str) -> bool {
        self.work.contains(commit)
    }

    /// The work that leads to a commit, with that commit.
    fn history(&self, tip: &'c str) -> HashSet<&'c str> {
        let mut seen = HashSet::new();
        let mut open = vec![tip];
        while let Some(id) = open.pop() {
            if self.is_work(id)
                && seen.insert(id)
                && let Some(commit) = self.commits.get(id)
            {
                open.extend(commit.parents.iter().map(String::as_str));
            }
        }
        seen
    }

    /// The commits that the work starts from: the parents of work that are no work.
    fn bases(&self, tip: &'c str) -> Vec<String> {
        if !self.is_work(tip) {
            return vec![tip.to_owned()];
        }
        let history = self.history(tip);
        let commits = history.iter().filter_map(|id| self.commits.get(id));
        let parents = commits.flat_map(|commit| &commit.parents);
        let bases: BTreeSet<&String> = parents.filter(|parent| !self.is_work(parent)).collect();
        bases.into_iter().cloned().collect()
    }
}
