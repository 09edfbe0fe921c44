//! Captured cases: their code comes from the current repository, and they are stored among its sets.

use super::{EvalGit, prepare_state};
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use anyhow::Context;
use mala_domain::change::FilePath;
use mala_domain::report::Report;
use mala_eval::EvalCase;
use mala_eval::capture::{self, ReviewedCodeError, TAG};
use mala_eval::import::ChangeSides;
use mala_eval::store::runs::EvalStore;
use mala_eval::store::sets::write_case_folder;
use std::path::{Path, PathBuf};

/// The code of a kept review, and these other files.
pub async fn reviewed_code(
    here: &Environment,
    report: &Report,
    more: &[FilePath],
) -> anyhow::Result<ChangeSides> {
    let git = EvalGit::new(here);
    let repository = git.repository_around(here.root()).await?;
    let code = capture::reviewed_code(&git, &repository, report, more).await;
    code.map_err(|error| {
        let hint = match error {
            ReviewedCodeError::Changed => {
                Some("capture a review before its files change, or review commits")
            }
            ReviewedCodeError::Patch => Some("apply the patch and review the commit"),
            _ => None,
        };
        let failure = Failure::new(FailureKind::CouldNotReview, error.to_string());
        match hint {
            Some(hint) => failure.hint(hint).into(),
            None => failure.into(),
        }
    })
}

/// Writes a captured case to this folder or to the set of captured cases; returns the folder.
pub fn keep_captured(
    here: &Environment,
    case: &EvalCase,
    folder: Option<&Path>,
) -> anyhow::Result<PathBuf> {
    let evals = EvalStore::of_work_tree(here.root());
    let sets = evals.sets().join(TAG);
    let folder = folder.map_or_else(|| sets.join(&case.id), |folder| here.folder.join(folder));
    let writing = || format!("writing {}", folder.display());
    if folder.starts_with(evals.sets()) {
        prepare_state(here, &evals.sets()).with_context(writing)?;
        mala_adapters::store::reject_symlink(&sets).with_context(writing)?;
    }
    let above = folder.parent().unwrap_or(&folder);
    std::fs::create_dir_all(above).with_context(writing)?;
    write_case_folder(case, &folder).with_context(writing)?;
    Ok(folder)
}
