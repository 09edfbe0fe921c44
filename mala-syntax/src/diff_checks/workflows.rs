//! GitHub workflows that run a stranger's code with the repository's secrets, or whose tests cannot fail.

use super::claim;
use crate::coded_check::CodedCheck;
use mala_domain::change::{ChangedFile, Hunk};
use mala_domain::finding::{Candidate, Category, Priority};
use regex::Regex;
use std::sync::LazyLock;

pub(super) const PRIVILEGED: CodedCheck = CodedCheck {
    id: "ci/pull-request-target-checkout",
    title: "Workflow runs a pull request's code with secrets",
    category: Category::Security,
    priority: Priority::P0,
    about: "pull_request_target runs with the repository's secrets; checking out the pull request's \
            head hands them to whoever opened it.",
};

pub(super) const TOLERANT: CodedCheck = CodedCheck {
    id: "ci/test-failure-tolerated",
    title: "Failing tests no longer fail the workflow",
    category: Category::ErrorHandling,
    priority: Priority::P1,
    about: "A step that runs tests or a linter gets continue-on-error: it stays green whatever happens.",
};

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static RUNS_TESTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:pytest|tox|(?:npm|yarn|pnpm) (?:run )?(?:test|lint)|cargo (?:\+\w+ )?(?:test|clippy|nextest)|go (?:test|vet)|(?:mvn|gradle|gradlew|make) (?:\S+ )*(?:test|check|verify)|eslint|ruff check|mypy|jest|vitest|tsc)\b",
    )
    .expect("the pattern is valid")
});

/// What a workflow's change does wrong.
pub(super) fn check(file: &ChangedFile) -> Vec<Candidate> {
    if !file.path.to_text().contains(".github/workflows/") {
        return Vec::new();
    }
    let mut found = privileged(file);
    found.extend(file.hunks.iter().flat_map(|hunk| tolerant(file, hunk)));
    found
}

/// Steps that run tests and whose failure the change makes nothing of.
fn tolerant(file: &ChangedFile, hunk: &Hunk) -> Vec<Candidate> {
    let lines: Vec<(u32, &str)> = hunk.head_lines().collect();
    let starts_step = |text: &str| text.trim_start().starts_with("- ");
    hunk.added_lines()
        .filter(|(_, text)| text.trim().trim_start_matches("- ") == "continue-on-error: true")
        .filter(|(line, _)| {
            let Some(at) = lines.iter().position(|(number, _)| number == line) else { return false };
            let (before, after) = lines.split_at(at);
            let first = before.iter().rposition(|(_, text)| starts_step(text)).unwrap_or(at);
            let rest = after.iter().skip(1).take_while(|(_, text)| !starts_step(text));
            before.iter().skip(first).chain(rest).any(|(_, text)| RUNS_TESTS.is_match(text))
        })
        .map(|(line, _)| {
            let body = "This step runs tests or a linter, and with continue-on-error it passes whatever \
                        they say. When they fail, the workflow stays green and the change is merged."
                .to_owned();
            claim(&TOLERANT, file, line, body, "Let the step fail, or skip the one test that is flaky.")
        })
        .collect()
}

/// A workflow triggered by `pull_request_target` that checks out the head of the pull request.
fn privileged(file: &ChangedFile) -> Vec<Candidate> {
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
