//! Finds code in other files that a change breaks: runs the pure stages of
//! `mala_syntax::cross_file` and queries the tree in between, once each for words, paths and file
//! contents.

use mala_domain::change::{FileClass, FilePath};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;
use mala_domain::ports::{Blob, RepositoryError, Side};
use mala_domain::review::ReviewContext;
use mala_syntax::cross_file::{
    FileDelta, FileVersions, FoundFiles, LookupPlan, UNRESOLVED_IMPORT, UserFile, fold, plan,
};
use mala_syntax::parsed::parsed;
use rayon::prelude::*;
use thiserror::Error;

/// Why the check failed.
#[derive(Debug, Error)]
pub(super) enum CrossFileError {
    /// The tree cannot be read.
    #[error("checks across files: {0}")]
    Tree(#[from] RepositoryError),
    /// The work was stopped.
    #[error("checks across files: {0}")]
    Stopped(#[from] tokio::task::JoinError),
}

/// Claims about code that the change breaks, in other files and in the rest of its own.
pub(super) async fn check(request: &ReviewContext) -> Result<Vec<ReviewClaim>, CrossFileError> {
    let own = request.clone();
    let plan = tokio::task::spawn_blocking(move || plan(deltas(&own))).await?;
    if plan.is_empty() {
        return Ok(Vec::new());
    }
    let (found, blobs) = look_up(&plan, request).await?;
    let mut found = tokio::task::spawn_blocking(move || decide(&plan, found, &blobs)).await?;
    // In a partial tree, a missing file proves nothing.
    let is_complete = request.tree.is_complete();
    found
        .retain(|candidate| is_complete || candidate.rule.as_deref() != Some(UNRESOLVED_IMPORT.id));
    Ok(found)
}

/// The symbols of each reviewable file before and after the change.
fn deltas(request: &ReviewContext) -> Vec<FileDelta> {
    let texts = &request.texts;
    let files: Vec<_> = request.change.files.iter().filter(|file| file.is_reviewable()).collect();
    files
        .par_iter()
        .map(|file| {
            let base = texts.at_base(file.base_path()).filter(|_| file.existed_at_base());
            let head = texts.at_head(&file.path).filter(|_| file.exists_at_head());
            let before = base.and_then(|_| parsed(request, Side::Base, file.base_path()));
            let after = head.and_then(|_| parsed(request, Side::Head, &file.path));
            let versions = FileVersions { file, base, head };
            FileDelta::of_parsed(versions, before.as_deref(), after.as_deref())
        })
        .collect()
}

/// Changed code files that searches skip because of the attribute `-diff`. Symbols moved into them still
/// exist.
fn unsearched(request: &ReviewContext) -> impl Iterator<Item = FilePath> {
    const MAX_FILES: usize = 40;
    let hidden = request.change.files.iter().filter(|file| {
        file.class == FileClass::Binary && file.exists_at_head() && file.language().is_some()
    });
    hidden.take(MAX_FILES).map(|file| file.path.clone())
}

/// The files that were read, with their contents.
type Contents = Vec<(FilePath, Blob)>;

async fn look_up(
    plan: &LookupPlan,
    request: &ReviewContext,
) -> Result<(FoundFiles, Contents), RepositoryError> {
    let tree = request.tree.as_ref();
    let hits = match plan.query() {
        Some(query) => tree.find_words(&query).await?,
        None => Vec::new(),
    };
    let paths = plan.paths_to_check(&hits);
    let exist = if paths.is_empty() { Vec::new() } else { tree.exist(Side::Head, &paths).await? };
    let existing: Vec<FilePath> =
        paths.into_iter().zip(exist).filter(|(_, exists)| *exists).map(|(path, _)| path).collect();
    let mut to_read = plan.files_to_read(&hits, &existing);
    to_read.extend(unsearched(request).filter(|path| !to_read.contains(path)).collect::<Vec<_>>());
    let blobs = tree.read(Side::Head, &to_read).await?;
    let found = FoundFiles { hits, existing, ..FoundFiles::default() };
    Ok((found, to_read.into_iter().zip(blobs).collect()))
}

fn decide(plan: &LookupPlan, found: FoundFiles, contents: &Contents) -> Vec<ReviewClaim> {
    let texts = || contents.iter().filter_map(|(path, blob)| Some((path, blob.text()?)));
    let manifests = texts()
        .filter(|(path, _)| Language::of_path(path).is_none())
        .map(|(path, text)| (path.to_text().into_owned(), text.to_owned()))
        .collect();
    let files: Vec<UserFile> = texts()
        .collect::<Vec<_>>()
        .par_iter()
        .filter_map(|(path, text)| UserFile::of(path, text, plan))
        .collect();
    fold(plan, &FoundFiles { files, manifests, ..found })
}

#[cfg(test)]
mod tests;
