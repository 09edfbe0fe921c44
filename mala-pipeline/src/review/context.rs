//! Gathers the context of a review once for all reviewers: the texts of the changed files on both sides
//! and, if a reviewer needs it, the code around the change.

use mala_domain::agent::brief::HunkSymbol;
use mala_domain::change::{ChangedFile, EntryKind, FilePath};
use mala_domain::ports::{Blob, Repository, RepositoryError, ReviewScope, ScopeError, Side};
use mala_domain::review::{CodeSurroundings, FileTexts, ReviewContext, ReviewPlan};
use mala_syntax::context::{self as syntax, FileView, SymbolContext};
use mala_syntax::parsed::parsed;
use mala_syntax::symbols::FileOutline;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Files with a project's instructions for reviewers.
const RULES_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "REVIEW.md"];
const RULES_FOLDER: &str = ".mala/rules";

/// Reads the changed files on both sides, and looks around them where that is wanted.
pub(super) async fn gather(
    plan: &ReviewPlan,
    scope: ReviewScope,
    with_surroundings: bool,
) -> Result<ReviewContext, ScopeError> {
    let trusted = Arc::clone(scope.trusted_tree());
    let mut context = texts_of(scope).await?;
    context.tasks = plan.tasks.clone().into();
    context.timeout = plan.timeout;
    if with_surroundings && !context.change.is_empty() {
        let symbols = symbols(&context).await?;
        context.surroundings = Arc::new(CodeSurroundings {
            enclosing: enclosing(&context),
            references: references(&symbols),
            rules: project_rules(&context, trusted.as_ref()).await?,
        });
    }
    Ok(context)
}

/// The surroundings of a change, in full.
pub struct ChangeSurroundings {
    /// Regions, changed symbols and their callers.
    pub context: SymbolContext,
    /// The files with the project's rules, with their texts.
    pub rules: Vec<(FilePath, String)>,
}

/// Looks around a change without reviewing it.
pub async fn surroundings_of(scope: ReviewScope) -> Result<ChangeSurroundings, ScopeError> {
    let trusted = Arc::clone(scope.trusted_tree());
    let context = texts_of(scope).await?;
    let rules = project_rules(&context, trusted.as_ref()).await?;
    Ok(ChangeSurroundings { context: symbols(&context).await?, rules })
}

/// The change with the texts of its files.
async fn texts_of(scope: ReviewScope) -> Result<ReviewContext, ScopeError> {
    let files = || {
        let files = scope.change.files.iter();
        files.filter(|file| file.is_reviewable() && file.kind == EntryKind::File)
    };
    let at_base: Vec<FilePath> =
        files().filter(|f| f.existed_at_base()).map(|f| f.base_path().clone()).collect();
    let at_head: Vec<FilePath> =
        files().filter(|f| f.exists_at_head()).map(|f| f.path.clone()).collect();
    let base = read(scope.tree.as_ref(), Side::Base, at_base).await?;
    let head = read(scope.tree.as_ref(), Side::Head, at_head).await?;
    Ok(ReviewContext::new(scope, FileTexts { base, head }))
}

/// The contents of these files on one side, by path.
pub(super) async fn read(
    tree: &dyn Repository,
    side: Side,
    paths: Vec<FilePath>,
) -> Result<BTreeMap<FilePath, Blob>, ScopeError> {
    if paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    let blobs = tree.read(side, &paths).await.map_err(unreadable)?;
    Ok(paths.into_iter().zip(blobs).collect())
}

/// Finds the surroundings of a change, with one search for all words and one read of the results.
async fn symbols(context: &ReviewContext) -> Result<SymbolContext, ScopeError> {
    let files = context.change.files.iter().filter(|file| file.is_reviewable());
    let views: Vec<FileView> = files.map(|file| view(context, file)).collect();
    let hits = match syntax::query(&views) {
        Some(query) => context.tree.find_words(&query).await.map_err(unreadable)?,
        None => Vec::new(),
    };
    let found = syntax::files_to_read(&views, &hits);
    let found = read(context.tree.as_ref(), Side::Head, found).await?;
    let users = found.into_iter().filter_map(|(file, blob)| match blob {
        Blob::Text(text) => Some((file, text)),
        _ => None,
    });
    Ok(syntax::assemble(views, &hits, &users.collect()))
}

fn view(context: &ReviewContext, file: &ChangedFile) -> FileView {
    let before = parsed(context, Side::Base, file.base_path());
    let after = parsed(context, Side::Head, &file.path);
    let outlines = [&before, &after].map(|parsed| parsed.as_ref().map(|parsed| parsed.outline()));
    let [before, after] = outlines;
    FileView::of_outlines(file, context.texts.at_head(&file.path), before, after)
}

/// Uses of the changed definitions elsewhere, one per line.
fn references(symbols: &SymbolContext) -> Vec<String> {
    let callers = symbols.callers.iter().map(|caller| {
        let within = caller.within.as_deref().map(|it| format!(" in {it}")).unwrap_or_default();
        format!("{} {}:{}{within}: {}", caller.symbol, caller.file, caller.line, caller.text)
    });
    callers.collect()
}

/// The function around each hunk, by file.
fn enclosing(context: &ReviewContext) -> BTreeMap<FilePath, Vec<Option<HunkSymbol>>> {
    let files = context.change.files.iter().filter(|file| file.is_reviewable());
    files
        .filter_map(|file| {
            let parsed = parsed(context, Side::Head, &file.path)?;
            Some((file.path.clone(), around_hunks(file, parsed.outline())))
        })
        .collect()
}

fn around_hunks(file: &ChangedFile, outline: &FileOutline) -> Vec<Option<HunkSymbol>> {
    let around = |line| {
        let found = outline.enclosing(line)?;
        Some(HunkSymbol { symbol: found.symbol, span: found.span })
    };
    let first = |hunk: &mala_domain::change::Hunk| {
        hunk.added_lines().map(|(line, _)| line).next().unwrap_or(hunk.new_start.max(1))
    };
    file.hunks.iter().map(|hunk| around(first(hunk))).collect()
}

async fn project_rules(
    context: &ReviewContext,
    trusted: &dyn Repository,
) -> Result<Vec<(FilePath, String)>, ScopeError> {
    let folder = FilePath::from(RULES_FOLDER);
    let own = trusted.list(Side::Base, &folder).await.map_err(unreadable)?;
    let folders = governing_folders(context.change.files.iter().map(|file| &file.path));
    let files = folders
        .iter()
        .flat_map(|folder| {
            RULES_FILES.map(|name| FilePath::from_bytes([folder, name.as_bytes()].concat()))
        })
        .chain(own.into_iter().filter(|file| file.file_name().ends_with(".md")));
    let texts = read(trusted, Side::Base, files.collect()).await?;
    let text = |(file, blob): (FilePath, Blob)| Some((file, blob.text()?.to_owned()));
    Ok(texts.into_iter().filter_map(text).collect())
}

/// The folders whose rule files govern these files: the root and every folder above them, each with a
/// slash at its end.
fn governing_folders<'f>(files: impl Iterator<Item = &'f FilePath>) -> BTreeSet<&'f [u8]> {
    let mut folders = BTreeSet::from([&b""[..]]);
    for file in files {
        let path = file.as_bytes();
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        folders.extend(slashes.filter_map(|(at, _)| path.get(..=at)));
    }
    folders
}

fn unreadable(error: RepositoryError) -> ScopeError {
    ScopeError::Broken { what: error.to_string(), hint: None }
}
