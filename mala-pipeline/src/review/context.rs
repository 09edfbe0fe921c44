//! What a reviewer needs to see: the texts of the changed files on both sides; and, for those who
//! want it, what is around them.

use mala_domain::change::{ChangedFile, EntryKind, FilePath};
use mala_domain::ports::{Blob, RepositoryError, ScopeError, Scoped, Side};
use mala_domain::review::Texts;
use mala_syntax::context::{self, ChangeContext, FileView};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The texts of the changed files.
pub(crate) struct Read {
    pub(crate) texts: Arc<Texts>,
}

pub(crate) async fn gather(scoped: &Scoped) -> Result<Read, ScopeError> {
    let files = || {
        scoped
            .change
            .files
            .iter()
            .filter(|file| file.is_reviewable() && file.kind == EntryKind::File)
    };
    let at_base: Vec<FilePath> =
        files().filter(|f| f.existed_at_base()).map(|f| f.base_path().clone()).collect();
    let at_head: Vec<FilePath> = files().filter(|f| f.exists_at_head()).map(path_at_head).collect();
    let base = read(scoped, Side::Base, at_base).await?;
    let head = read(scoped, Side::Head, at_head).await?;
    Ok(Read { texts: Arc::new(Texts { base, head }) })
}

fn path_at_head(file: &ChangedFile) -> FilePath {
    file.path.clone()
}

/// The contents of these files on one side, by path.
pub(crate) async fn read(
    scoped: &Scoped,
    side: Side,
    paths: Vec<FilePath>,
) -> Result<BTreeMap<FilePath, Blob>, ScopeError> {
    if paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    let blobs = scoped.tree.read(side, &paths).await.map_err(unreadable)?;
    Ok(paths.into_iter().zip(blobs).collect())
}

/// The surroundings of a change: regions, changed symbols, who refers to them, and the project's own
/// rules for reviewers, as its base has them.
pub struct Surroundings {
    /// Regions, symbols and callers.
    pub context: ChangeContext,
    /// The files with the project's rules, with their texts.
    pub rules: Vec<(FilePath, String)>,
}

/// Files in which projects tell reviewers what to look for.
const RULES_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "REVIEW.md"];
const RULES_FOLDER: &str = ".mala/rules";

/// Looks around a change: one search for all words, one read of what it finds.
pub async fn look_around(scoped: &Scoped) -> Result<Surroundings, ScopeError> {
    let texts = gather(scoped).await?.texts;
    let views: Vec<FileView> = scoped
        .change
        .files
        .iter()
        .filter(|file| file.is_reviewable())
        .map(|file| FileView::of(file, texts.at_base(file.base_path()), texts.at_head(&file.path)))
        .collect();
    let hits = match context::query(&views) {
        Some(query) => scoped.tree.find_words(&query).await.map_err(unreadable)?,
        None => Vec::new(),
    };
    let found = context::files_to_read(&views, &hits);
    let found = read(scoped, Side::Head, found).await?;
    let users = found.into_iter().filter_map(|(file, blob)| match blob {
        Blob::Text(text) => Some((file, text)),
        _ => None,
    });
    let context = context::assemble(views, &hits, &users.collect());
    Ok(Surroundings { context, rules: project_rules(scoped).await? })
}

async fn project_rules(scoped: &Scoped) -> Result<Vec<(FilePath, String)>, ScopeError> {
    let folder = FilePath::from(RULES_FOLDER);
    let own = scoped.tree.list(Side::Base, &folder).await.map_err(unreadable)?;
    let files = RULES_FILES
        .into_iter()
        .map(FilePath::from)
        .chain(own.into_iter().filter(|file| file.file_name().ends_with(".md")));
    let texts = read(scoped, Side::Base, files.collect()).await?;
    let text = |(file, blob): (FilePath, Blob)| Some((file, blob.text()?.to_owned()));
    Ok(texts.into_iter().filter_map(text).collect())
}

fn unreadable(error: RepositoryError) -> ScopeError {
    ScopeError::Broken { what: error.to_string(), hint: None }
}
