//! Determines the work of a task: its work tree, and the commit at which its diff starts.

use super::TaskRecord;

/// The work tree in which the work on a task started, if it is another one than this and still exists.
pub fn other_work_tree<'t>(
    task: &'t TaskRecord,
    here: &str,
    exists: impl FnOnce(&str) -> bool,
) -> Option<&'t str> {
    task.work_tree.as_deref().filter(|started_in| *started_in != here && exists(started_in))
}

/// Commits that a branch has since the start of a task and that the default branch has as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedCommits {
    /// The newest of them; `None` if there are none, or if the branch has no other commits.
    pub newest: Option<String>,
    /// All of them.
    pub commits: Vec<String>,
    /// The commits that the branch was ever at, from its log.
    pub branch_log: Vec<String>,
}

/// The commit at which the diff of a task starts, if it is not the start of the task. Commits that
/// a rebase or a merge brought from the default branch are not its work. Commits that were made on
/// the branch are, even if they are on the default branch by now.
pub fn base_after_update(shared: &SharedCommits) -> Option<&str> {
    let was_made_here = |commit: &String| shared.branch_log.contains(commit);
    let is_known = !shared.branch_log.is_empty();
    shared.newest.as_deref().filter(|_| is_known && !shared.commits.iter().any(was_made_here))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::issue::IssueId;

    #[test]
    fn work_is_done_where_it_started_as_long_as_that_exists() {
        let mut task = TaskRecord::new(IssueId::new("ab"), "T1");
        for (started_in, exists, expected) in [
            (None, true, None),
            (Some("/a"), true, None),
            (Some("/b"), true, Some("/b")),
            (Some("/b"), false, None),
        ] {
            task.work_tree = started_in.map(str::to_owned);
            assert_eq!(other_work_tree(&task, "/a", |_| exists), expected, "{started_in:?}");
        }
    }

    /// Row 004-010.
    #[test]
    fn commits_of_the_default_branch_are_not_the_work_of_a_task() {
        let strings = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        for (what, newest, branch_log, expected) in [
            ("rebased or merged", Some("m2"), &["own1", "own2"][..], Some("m2")),
            ("the default branch was moved to the work", Some("m2"), &["m1", "own2"], None),
            ("nothing came from there", None, &["own1"], None),
            ("a branch without a log", Some("m2"), &[], None),
        ] {
            let shared = SharedCommits {
                newest: newest.map(str::to_owned),
                commits: strings(&["m1", "m2"]),
                branch_log: strings(branch_log),
            };
            assert_eq!(base_after_update(&shared), expected, "{what}");
        }
    }
}
