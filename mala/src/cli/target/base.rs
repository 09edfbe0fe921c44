//! Which branch `--base` means when it is given no name. It is never the change that says so: the
//! environment, the user's file, or `mala.yaml` on the default branch.

use super::super::failure::Failure;
use crate::settings::{self, Chosen, RepositoryFile};
use crate::surroundings::Surroundings;
use crate::wiring::changes::Changes;
use mala_domain::config::Config;
use mala_domain::scope::Target;

/// The target with the branch filled in.
pub(super) async fn named(
    target: &Target,
    here: &Surroundings,
    changes: &Changes,
) -> anyhow::Result<Target> {
    let Target::SinceMergeBase { base, head } = target else {
        return Ok(target.clone());
    };
    if !base.is_empty() {
        return Ok(target.clone());
    }
    let default = changes.default_branch().await;
    let file = default.as_ref().and_then(|(branch, bytes)| {
        bytes.as_ref().map(|bytes| RepositoryFile::committed(branch, bytes.clone()))
    });
    let settings = settings::load(here, Chosen { file, notice: None }, Config::default())?;
    let base =
        settings.policy.base.value.or(default.map(|(branch, _)| branch)).ok_or_else(|| {
            Failure::usage("nobody knows the default branch of this repository")
                .hint("name it: mala review --base BRANCH")
        })?;
    Ok(Target::SinceMergeBase { base, head: head.clone() })
}
