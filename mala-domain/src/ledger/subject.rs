//! The subject of a review: the change that it is about. Reviews with the same subject are rounds
//! of one change.

use crate::scope::{HeadState, ReviewTarget, ScopeSummary};

/// The subject of a review that is limited to these paths. All commits of a branch are one change,
/// independent of base and reviewers. For a detached HEAD, the subject is its commit; for
/// uncommitted work, it includes the commit that the work is based on.
pub fn subject(
    target: &ReviewTarget,
    scope: &ScopeSummary,
    branch: Option<&str>,
    paths: &[String],
) -> String {
    let detached = || match &scope.head {
        HeadState::Commit(head) => format!("commit {}", short(head)),
        HeadState::Index | HeadState::WorkingTree | HeadState::Patch => {
            "a detached HEAD".to_owned()
        }
    };
    let on = || branch.map_or_else(detached, str::to_owned);
    let head = |name: &str| if name == "HEAD" { on() } else { name.to_owned() };
    let commit = scope.base.as_deref().map_or("nothing", short);
    let change = match target {
        ReviewTarget::SinceMergeBase { head: name, .. }
        | ReviewTarget::Range { head: name, .. } => head(name),
        ReviewTarget::WorkingTree => format!("uncommitted work on {} at {commit}", on()),
        ReviewTarget::WorkingTreeSince(base) => format!("work on {} since {}", on(), short(base)),
        ReviewTarget::Staged => format!("staged work on {} at {commit}", on()),
        ReviewTarget::Commits(commits) => match &scope.head {
            HeadState::Commit(head) if commits.len() == 1 => format!("commit {}", short(head)),
            _ => format!("commits {}", commits.join(", ")),
        },
        ReviewTarget::Patch(_) => format!("patch {}", short(&scope.diff_hash)),
    };
    match paths {
        [] => change,
        paths => format!("{change}, only {}", paths.join(" ")),
    }
}

/// The subject of all reviews of a pull request.
pub fn subject_of_pull_request(number: u64) -> String {
    format!("pull request {number}")
}

/// The start of a commit id; names stay as they are.
fn short(id: &str) -> &str {
    let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { id.get(..12).unwrap_or(id) } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::LineCounts;

    #[test]
    fn a_change_keeps_its_subject_while_it_is_the_same_work() {
        let scope = ScopeSummary {
            repository: None,
            target: String::new(),
            base: Some("0123456789".repeat(4)),
            head: HeadState::Commit("fedcba9876".repeat(4)),
            diff_hash: "a".repeat(64),
            files: 1,
            hunks: 1,
            lines: LineCounts::default(),
        };
        let range = |base: &str, head: &str| ReviewTarget::Range {
            base: base.to_owned(),
            head: head.to_owned(),
        };
        let since =
            |head: &str| ReviewTarget::SinceMergeBase { base: "main".into(), head: head.into() };
        let old = "0123456789".repeat(4);
        let rows = [
            (ReviewTarget::WorkingTree, Some("topic"), "uncommitted work on topic at 012345678901"),
            (ReviewTarget::Staged, Some("topic"), "staged work on topic at 012345678901"),
            (range("main", "HEAD"), Some("topic"), "topic"),
            (range("main", "other"), Some("topic"), "other"),
            (range(&old, "HEAD"), Some("topic"), "topic"),
            (range("main", "HEAD"), None, "commit fedcba9876fe"),
            (since("HEAD"), Some("topic"), "topic"),
            (since("HEAD"), None, "commit fedcba9876fe"),
            (ReviewTarget::Commits(vec!["HEAD".into()]), Some("topic"), "commit fedcba9876fe"),
            (ReviewTarget::Patch(Vec::new()), None, "patch aaaaaaaaaaaa"),
        ];
        for (target, branch, expected) in rows {
            assert_eq!(subject(&target, &scope, branch, &[]), expected);
        }
        let limited = subject(&since("HEAD"), &scope, Some("topic"), &["b.py".to_owned()]);
        assert_eq!(limited, "topic, only b.py");
    }
}
