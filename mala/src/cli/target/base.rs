//! Which branch `--base` means when it is given no name.

use super::super::failure::Failure;
use crate::surroundings::Surroundings;
use crate::wiring::changes::{Changes, base_branch};
use mala_domain::scope::ReviewTarget;

/// The target with the branch filled in.
pub(super) async fn named(
    target: &ReviewTarget,
    here: &Surroundings,
    changes: &Changes,
) -> anyhow::Result<ReviewTarget> {
    let ReviewTarget::SinceMergeBase { base, head } = target else {
        return Ok(target.clone());
    };
    if !base.is_empty() {
        return Ok(target.clone());
    }
    let base = base_branch(here, changes).await?.ok_or_else(|| {
        Failure::usage("nobody knows the default branch of this repository")
            .hint("name it: mala review --base BRANCH")
    })?;
    Ok(ReviewTarget::SinceMergeBase { base, head: head.clone() })
}
