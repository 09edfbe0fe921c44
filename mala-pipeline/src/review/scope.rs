//! Applies the path settings of the configuration to a change, and computes the id of a review.

use mala_domain::change::{Change, FileClass};
use mala_domain::config::PathGlobs;
use mala_domain::ports::{ReviewScope, Reviewer};
use mala_domain::review::ReviewPlan;
use mala_domain::scope::{HeadState, ScopeSummary};
use mala_domain::scope::{ReviewInputs, review_id as id_of};
use std::sync::Arc;

/// Marks ignored and generated files of a change.
pub fn apply_path_settings(
    mut scoped: ReviewScope,
    ignore: &PathGlobs,
    generated: &PathGlobs,
) -> ReviewScope {
    if !ignore.is_empty() || !generated.is_empty() {
        let mut change = Arc::unwrap_or_clone(scoped.change);
        set_file_classes(&mut change, ignore, generated);
        scoped.change = Arc::new(change);
    }
    scoped
}

fn set_file_classes(change: &mut Change, ignore: &PathGlobs, generated: &PathGlobs) {
    for file in &mut change.files {
        if ignore.matches(&file.path) {
            file.class = FileClass::Ignored;
        } else if file.class == FileClass::Source && generated.matches(&file.path) {
            file.class = FileClass::Generated;
        }
    }
}

/// The id of this review. For a local change, base and diff replace the number of the pull request.
pub(super) fn review_id(
    plan: &ReviewPlan,
    scope: &ScopeSummary,
    reviewers: &[Arc<dyn Reviewer>],
) -> String {
    let names: Vec<&str> = reviewers.iter().map(|reviewer| reviewer.name()).collect();
    let local = format!("{} {}", scope.base.as_deref().unwrap_or_default(), scope.diff_hash);
    id_of(&ReviewInputs {
        repo: scope.repository.as_deref().unwrap_or_default(),
        subject: plan.subject.as_deref().unwrap_or(&local),
        head: match &scope.head {
            HeadState::Commit(sha) => sha,
            HeadState::Index => "index",
            HeadState::WorkingTree => "working tree",
            HeadState::Patch => "patch",
        },
        prompt_version: &plan.prompt_version,
        model: plan.model.as_deref().unwrap_or(&names.join(",")),
        budget_profile: &plan.budget_profile,
    })
}
