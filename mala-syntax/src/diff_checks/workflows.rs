//! GitHub workflows that run a stranger's code with the repository's secrets.

use super::claim;
use crate::coded_check::CodedCheck;
use mala_domain::change::ChangedFile;
use mala_domain::finding::{Candidate, Category, Priority};

pub(super) const PRIVILEGED: CodedCheck = CodedCheck {
    id: "ci/pull-request-target-checkout",
    title: "Workflow runs a pull request's code with secrets",
    category: Category::Security,
    priority: Priority::P0,
    about: "pull_request_target runs with the repository's secrets; checking out the pull request's \
            head hands them to whoever opened it.",
};

/// A workflow triggered by `pull_request_target` that checks out the head of the pull request.
pub(super) fn check(file: &ChangedFile) -> Vec<Candidate> {
    let path = file.path.to_text();
    if !path.contains(".github/workflows/") {
        return Vec::new();
    }
    let shown = || file.hunks.iter().flat_map(|hunk| hunk.head_lines());
    let triggered = shown().any(|(_, text)| text.contains("pull_request_target"));
    let takes_head = |text: &str| {
        text.contains("ref:")
            && (text.contains("github.event.pull_request.head") || text.contains("github.head_ref"))
    };
    let added = file
        .added_lines()
        .any(|(_, text)| takes_head(text) || text.contains("pull_request_target"));
    if !triggered || !added {
        return Vec::new();
    }
    shown()
        .filter(|(_, text)| takes_head(text))
        .map(|(line, _)| {
            let body = "The workflow is triggered by pull_request_target and checks out the pull \
                        request's head. When a stranger opens a pull request, their code runs with \
                        this repository's secrets and write token."
                .to_owned();
            let suggestion = "Use the pull_request trigger, or check out the base and treat the \
                              pull request's files as data.";
            claim(&PRIVILEGED, file, line, body, suggestion)
        })
        .collect()
}
