//! The arguments that name a change to a gate: two commits if possible, otherwise the options of `review-gate`.

use mala_domain::ports::ReviewerFailure;
use mala_domain::scope::{HeadState, ReviewTarget, ScopeSummary};

pub(super) fn arguments(
    target: &ReviewTarget,
    scope: &ScopeSummary,
) -> Result<Vec<String>, ReviewerFailure> {
    let words = |words: &[&str]| Ok(words.iter().map(|word| (*word).to_owned()).collect());
    match (&scope.head, &scope.base, target) {
        // Picked commits may not be consecutive.
        (HeadState::Commit(_), _, ReviewTarget::Commits(commits)) if commits.len() > 1 => {
            let picked: Vec<&str> = commits.iter().map(String::as_str).collect();
            words(&[&["--commit"][..], &picked].concat())
        }
        (HeadState::Commit(head), Some(base), _) => words(&["--diff", &format!("{base}..{head}")]),
        (HeadState::Commit(head), None, _) => words(&["--commit", head]),
        (HeadState::WorkingTree, _, ReviewTarget::WorkingTreeSince(_)) => {
            Err(ReviewerFailure::Unavailable(
                "an external gate reviews commits or uncommitted changes, not both together"
                    .to_owned(),
            ))
        }
        (HeadState::WorkingTree, ..) => words(&["--uncommitted"]),
        (HeadState::Index | HeadState::Patch, ..) => Err(ReviewerFailure::Unavailable(
            "a panel reviews commits or the working tree, not the index or a patch".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::change::LineCounts;

    #[test]
    fn a_gate_gets_two_commits_if_there_are_two() {
        let commit = |sha: &str| HeadState::Commit(sha.to_owned());
        let range = ReviewTarget::Range { base: "main".into(), head: "HEAD".into() };
        let one = ReviewTarget::Commits(vec!["HEAD".into()]);
        let two = ReviewTarget::Commits(vec!["x".into(), "y".into()]);
        for (target, head, base, expected) in [
            (&range, commit("b"), Some("a"), Some("--diff a..b")),
            (&one, commit("b"), Some("a"), Some("--diff a..b")),
            (&two, commit("b"), Some("a"), Some("--commit x y")),
            (&one, commit("b"), None, Some("--commit b")),
            (&ReviewTarget::WorkingTree, HeadState::WorkingTree, Some("a"), Some("--uncommitted")),
            (&ReviewTarget::Staged, HeadState::Index, Some("a"), None),
            (&ReviewTarget::Patch(Vec::new()), HeadState::Patch, None, None),
        ] {
            let scope = ScopeSummary {
                repository: None,
                target: String::new(),
                base: base.map(str::to_owned),
                head,
                diff_hash: String::new(),
                files: 1,
                hunks: 1,
                lines: LineCounts::default(),
            };
            let told = arguments(target, &scope).ok().map(|words| words.join(" "));
            assert_eq!(told.as_deref(), expected, "{target:?}");
        }
    }
}
