//! Decides which commits belong to an issue. The coder's own report is not trusted: its commits
//! must have the prefix of the issue and be newer than the claim.

use super::issue::IssueId;
use crate::ports::WorkspaceState;
use thiserror::Error;

/// The commits of an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueCommits {
    /// The parent of the first one.
    pub base: String,
    /// The last one.
    pub head: String,
}

/// Why the content of a workspace is not the work of its issue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommitProblem {
    /// There is no commit.
    #[error("no commits for the issue")]
    NoCommits,
    /// A commit has no prefix, or the prefix of another issue.
    #[error("commit {commit} does not start with `{prefix}`")]
    MissingPrefix {
        /// The commit.
        commit: String,
        /// The required prefix of its subject.
        prefix: String,
    },
    /// A commit was made before the claim.
    #[error("commit {0} is older than the claim of the issue")]
    OlderThanClaim(String),
    /// There are changes that are not committed.
    #[error("there are uncommitted changes: {}", .0.join(", "))]
    Uncommitted(Vec<String>),
    /// The configuration in its last commit cannot be used: every later run would fail.
    #[error("mala.yaml is invalid: {0}")]
    InvalidConfig(String),
    /// The history before the claim was changed.
    #[error("the history before the claim was rewritten")]
    Rewritten,
}

impl CommitProblem {
    /// Whether the coder can correct it, without doing the work again.
    pub fn is_correctable(&self) -> bool {
        !matches!(self, Self::NoCommits | Self::OlderThanClaim(_) | Self::Rewritten)
    }
}

/// The prefix of the commit subjects of an issue.
pub fn prefix(template: &str, id: &IssueId) -> String {
    template.replace("{id}", id.as_str())
}

/// The commits of an issue since its claim, or the problem with them.
pub fn issue_commits(
    state: &WorkspaceState,
    prefix: &str,
    claimed_at: i64,
) -> Result<IssueCommits, CommitProblem> {
    if state.is_rewritten {
        return Err(CommitProblem::Rewritten);
    }
    let short = |id: &str| id.chars().take(12).collect::<String>();
    for commit in &state.commits {
        if !commit.subject.starts_with(prefix) {
            let (commit, prefix) = (short(&commit.id), prefix.to_owned());
            return Err(CommitProblem::MissingPrefix { commit, prefix });
        }
        if commit.at < claimed_at {
            return Err(CommitProblem::OlderThanClaim(short(&commit.id)));
        }
    }
    if !state.uncommitted.is_empty() {
        let first = state.uncommitted.iter().take(10).cloned().collect();
        return Err(CommitProblem::Uncommitted(first));
    }
    let base = state.commits.first().and_then(|commit| commit.parent.clone());
    match base {
        Some(base) => Ok(IssueCommits { base, head: state.head.clone() }),
        None => Err(CommitProblem::NoCommits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::WorkCommit;

    fn commit(id: &str, parent: &str, at: i64, subject: &str) -> WorkCommit {
        let parent = Some(parent.to_owned());
        WorkCommit { id: id.to_owned(), parent, at, subject: subject.to_owned() }
    }

    fn check(commits: &[WorkCommit], uncommitted: &[&str], template: &str) -> String {
        let state = WorkspaceState {
            head: commits.last().map_or("base", |commit| &commit.id).to_owned(),
            commits: commits.to_vec(),
            is_rewritten: false,
            uncommitted: uncommitted.iter().map(|file| (*file).to_owned()).collect(),
        };
        let prefix = prefix(template, &IssueId::new("x-1"));
        match issue_commits(&state, &prefix, 100) {
            Ok(commits) => format!("{}..{}", commits.base, commits.head),
            Err(problem) => problem.to_string(),
        }
    }

    const PREFIX: &str = "bd-{id}: ";

    /// Rows 003-078 to 003-085.
    #[test]
    fn an_issue_is_its_own_commits_since_the_claim() {
        let own = commit("b", "a", 100, "bd-x-1: one");
        for (row, commits, template, expected) in [
            ("003-078", vec![own.clone(), commit("c", "b", 101, "bd-x-1: two")], PREFIX, "a..c"),
            (
                "003-079",
                vec![commit("b", "a", 100, "bd-x-10: other")],
                PREFIX,
                "commit b does not start with `bd-x-1: `",
            ),
            ("003-080", vec![commit("b", "a", 100, "task-x-1: one")], "task-{id}: ", "a..b"),
            (
                "003-081",
                vec![commit("b", "a", 99, "bd-x-1: old")],
                PREFIX,
                "commit b is older than the claim of the issue",
            ),
            // An amended commit has another id: base and head are found again.
            ("003-082", vec![commit("d", "a", 120, "bd-x-1: one")], PREFIX, "a..d"),
            ("003-083", vec![own], PREFIX, "a..b"),
            ("003-084", vec![], PREFIX, "no commits for the issue"),
        ] {
            assert_eq!(check(&commits, &[], template), expected, "{row}");
        }
    }

    #[test]
    fn what_is_not_committed_is_not_merged_unseen() {
        let own = commit("b", "a", 100, "bd-x-1: one");
        let problem = check(&[own], &["src/a.rs"], PREFIX);
        assert_eq!(problem, "there are uncommitted changes: src/a.rs");
        assert!(CommitProblem::Uncommitted(Vec::new()).is_correctable());
        assert!(!CommitProblem::Rewritten.is_correctable());
    }
}
