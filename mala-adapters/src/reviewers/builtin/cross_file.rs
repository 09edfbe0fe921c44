//! What a change breaks in other files: the pure stages of `mala_syntax::cross_file`, with the tree
//! asked in between. It asks for words once, for paths once, and reads once.

use mala_domain::change::{Change, ChangedFile, FilePath};
use mala_domain::finding::Candidate;
use mala_domain::language::Language;
use mala_domain::ports::{Blob, Repository, RepositoryError, Side};
use mala_domain::review::ReviewContext;
use mala_domain::scope::Head;
use mala_syntax::cross_file::{
    DELETED_TESTS, FileDelta, Found, Plan, UserFile, Versions, fold, plan,
};
use mala_syntax::parsed::parsed;
use mala_syntax::rules::is_test_path;
use rayon::prelude::*;
use thiserror::Error;

/// Why the check could not be done.
#[derive(Debug, Error)]
pub(super) enum Trouble {
    /// The tree could not be asked.
    #[error("checks across files: {0}")]
    Tree(#[from] RepositoryError),
    /// The work was stopped.
    #[error("checks across files: {0}")]
    Stopped(#[from] tokio::task::JoinError),
}

/// What the change breaks in other files, and in the rest of its own.
pub(super) async fn check(request: &ReviewContext) -> Result<Vec<Candidate>, Trouble> {
    let own = request.clone();
    let plan = tokio::task::spawn_blocking(move || plan(deltas(&own))).await?;
    if plan.is_empty() {
        return Ok(Vec::new());
    }
    let (found, blobs) = look_up(&plan, request.tree.as_ref()).await?;
    let mut found = tokio::task::spawn_blocking(move || decide(&plan, found, &blobs)).await?;
    found.retain(|candidate| {
        candidate.rule.as_deref() != Some(DELETED_TESTS.id)
            || !explains_its_tests(request) && !shrinks(&request.change, &candidate.file)
    });
    Ok(found)
}

/// Whether a file loses more lines than it gets: what its tests were about may be gone.
fn shrinks(change: &Change, path: &FilePath) -> bool {
    let hunks =
        || change.files.iter().filter(|file| file.path == *path).flat_map(|file| &file.hunks);
    let removed = hunks().flat_map(|hunk| hunk.removed_lines()).count();
    removed > hunks().flat_map(|hunk| hunk.added_lines()).count()
}

/// Whether the change says why tests go: it takes code away with them, or it is about nothing but tests,
/// in commits with messages.
fn explains_its_tests(request: &ReviewContext) -> bool {
    let files = request.change.files.iter().filter(|file| file.language().is_some());
    let code: Vec<&ChangedFile> = files.filter(|file| !is_test_path(&file.path)).collect();
    let hunks = || code.iter().flat_map(|file| &file.hunks);
    let removed = hunks().flat_map(|hunk| hunk.removed_lines()).count();
    let added = hunks().flat_map(|hunk| hunk.added_lines()).count();
    removed > added || code.is_empty() && matches!(request.scope.head, Head::Commit(_))
}

/// What became of each changed file that people write.
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
            let versions = Versions { file, base, head };
            FileDelta::of_parsed(versions, before.as_deref(), after.as_deref())
        })
        .collect()
}

/// The files that were read, with their contents.
type Contents = Vec<(FilePath, Blob)>;

async fn look_up(plan: &Plan, tree: &dyn Repository) -> Result<(Found, Contents), RepositoryError> {
    let hits = match plan.query() {
        Some(query) => tree.find_words(&query).await?,
        None => Vec::new(),
    };
    let paths = plan.paths_to_check(&hits);
    let exist = if paths.is_empty() { Vec::new() } else { tree.exist(Side::Head, &paths).await? };
    let existing: Vec<FilePath> =
        paths.into_iter().zip(exist).filter(|(_, exists)| *exists).map(|(path, _)| path).collect();
    let to_read = plan.files_to_read(&hits, &existing);
    let blobs = tree.read(Side::Head, &to_read).await?;
    let found = Found { hits, existing, ..Found::default() };
    Ok((found, to_read.into_iter().zip(blobs).collect()))
}

fn decide(plan: &Plan, found: Found, contents: &Contents) -> Vec<Candidate> {
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
    fold(plan, &Found { files, manifests, ..found })
}

#[cfg(test)]
mod tests;
