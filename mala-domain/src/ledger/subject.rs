//! Which change a review is about: reviews with the same subject are rounds of one change.

use crate::scope::{HeadState, ReviewTarget, ScopeSummary};

/// The subject of a review by these reviewers. A branch that is compared with another branch keeps its
/// subject when it is rebased; everything else is bound to its base commit.
pub fn subject(
    target: &ReviewTarget,
    scope: &ScopeSummary,
    branch: Option<&str>,
    reviewers: &[&str],
) -> String {
    let on = branch.unwrap_or("a detached HEAD");
    let base = scope.base.as_deref().map_or("nothing", short);
    let head = |name: &str| if name == "HEAD" { on.to_owned() } else { name.to_owned() };
    let change = match target {
        ReviewTarget::SinceMergeBase { base, head: name } => {
            format!("{} against {base}", head(name))
        }
        ReviewTarget::Range { head: name, .. } => format!("{} from {base}", head(name)),
        ReviewTarget::WorkingTree | ReviewTarget::WorkingTreeSince(_) | ReviewTarget::Staged => {
            format!("{on} from {base}")
        }
        ReviewTarget::Commits(commits) => match &scope.head {
            HeadState::Commit(head) if commits.len() == 1 => format!("commit {}", short(head)),
            _ => format!("commits {}", commits.join(", ")),
        },
        ReviewTarget::Patch(_) => format!("patch {}", short(&scope.diff_hash)),
    };
    format!("{change}, by {}", reviewers.join(", "))
}

/// The subject of a review of a pull request by these reviewers, whatever is pushed to it.
pub fn subject_of_pull_request(number: u64, reviewers: &[&str]) -> String {
    format!("pull request {number}, by {}", reviewers.join(", "))
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::LineCounts;

    #[test]
    fn a_change_keeps_its_subject_while_its_base_stays() {
        let scope = ScopeSummary {
            repository: None,
            target: String::new(),
            base: Some("0123456789abcdef".to_owned()),
            head: HeadState::Commit("fedcba9876543210".to_owned()),
            diff_hash: "aaaaaaaaaaaaaaaa".to_owned(),
            files: 1,
            hunks: 1,
            lines: LineCounts::default(),
        };
        let range = |head: &str| ReviewTarget::Range { base: "x".into(), head: head.into() };
        let since =
            |head: &str| ReviewTarget::SinceMergeBase { base: "main".into(), head: head.into() };
        let rows = [
            (ReviewTarget::WorkingTree, Some("topic"), "topic from 0123456789ab, by a, b"),
            (ReviewTarget::Staged, None, "a detached HEAD from 0123456789ab, by a, b"),
            (range("HEAD"), Some("topic"), "topic from 0123456789ab, by a, b"),
            (range("other"), Some("topic"), "other from 0123456789ab, by a, b"),
            (since("HEAD"), Some("topic"), "topic against main, by a, b"),
            (
                ReviewTarget::Commits(vec!["HEAD".into()]),
                Some("topic"),
                "commit fedcba987654, by a, b",
            ),
            (ReviewTarget::Patch(Vec::new()), None, "patch aaaaaaaaaaaa, by a, b"),
        ];
        for (target, branch, expected) in rows {
            assert_eq!(subject(&target, &scope, branch, &["a", "b"]), expected);
        }
    }
}
