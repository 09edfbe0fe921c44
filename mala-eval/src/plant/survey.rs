//! Finds the places in a change where defects can be planted, and plants one.

use crate::case::language_word;
use crate::mutation::{MutatedFile, Mutation, mutations, supports};
use crate::plant::{DefectKind, PlantCandidate, PlantSite, PlantedDefect};
use crate::record::ChangedRegion;
use mala_domain::change::{Change, ChangedFile, FilePath, LineSpan, parse};
use mala_domain::language::Language;
use mala_domain::ports::{CommitWithMessage, Repository, RepositoryError, ReviewScope, Side};
use mala_domain::scope::HeadState;
use mala_syntax::rules::is_test_path;
use mala_syntax::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The most bytes of files around a change in a case.
const MAX_AROUND: usize = 256 << 10;

/// Larger files around a change are skipped.
const MAX_FILE: usize = 64 << 10;

/// The most files around a change.
const MAX_FILES: usize = 200;

/// The most mutation sites of one change.
const MAX_PLACES: usize = 3_000;

/// The most commits whose messages describe a change.
const MAX_TOLD: usize = 20;

/// Maximum distance of the nearest changed line from a defect that is a missing line.
const NEAR: u32 = 1;

/// A real change, and the places in it where a defect can be planted.
pub struct SurveyedChange {
    /// The change.
    pub site: PlantSite,
    places: Vec<MutationSite>,
}

struct MutationSite {
    file: FilePath,
    language: Language,
    mutation: Mutation,
}

/// A defect that is in a file, but not yet in a diff.
pub struct MutatedChange {
    /// The file.
    pub file: FilePath,
    /// The files at head, with the defect in one of them.
    pub head: BTreeMap<FilePath, String>,
    planted: MutatedFile,
    language: Language,
    mutation: Mutation,
}

/// Finds the places in a change where defects can be planted.
pub async fn survey(scoped: &ReviewScope, repo: &str) -> Result<SurveyedChange, RepositoryError> {
    let (base, head) = texts(scoped).await?;
    let mut places = Vec::new();
    for file in scoped.change.files.iter().filter(|file| is_plantable(file)) {
        let (Some(text), Some(language)) = (head.get(&file.path), file.language()) else {
            continue;
        };
        let Some(source) = Source::parse(language, text) else { continue };
        let found = mutations(&source, &file.added());
        let place = |mutation| MutationSite { file: file.path.clone(), language, mutation };
        places.extend(found.into_iter().map(place));
    }
    places.truncate(MAX_PLACES);
    let head_commit = match &scoped.scope.head {
        HeadState::Commit(id) => Some(id.clone()),
        _ => None,
    };
    let (title, description) = commit_texts(scoped).await?;
    let site = PlantSite {
        repo: repo.to_owned(),
        source: scoped.scope.target.clone(),
        title,
        description,
        diff: String::new(),
        base,
        head,
        base_commit: scoped.scope.base.clone(),
        head_commit,
    };
    Ok(SurveyedChange { site, places })
}

/// Whether a file is hand-written and not a test.
fn is_plantable(file: &ChangedFile) -> bool {
    file.is_reviewable()
        && file.exists_at_head()
        && !is_test_path(&file.path)
        && file.language().is_some_and(supports)
}

impl SurveyedChange {
    /// The possible defects of this change, which has this index.
    pub fn candidates(&self, change: usize, kinds: &[DefectKind]) -> Vec<PlantCandidate> {
        let wanted = |kind| kinds.is_empty() || kinds.contains(&kind);
        let places = self.places.iter().map(|place| place.mutation.kind).enumerate();
        places
            .filter(|(_, kind)| wanted(*kind))
            .map(|(place, kind)| PlantCandidate { kind, change, place })
            .collect()
    }

    /// Plants a defect at a site; `None` when the file would not parse.
    pub fn mutate(&self, place: usize) -> Option<MutatedChange> {
        let MutationSite { file, language, mutation } = self.places.get(place)?;
        let text = self.site.head.get(file)?;
        let planted = mutation.apply(&Source::parse(*language, text)?)?;
        let mut head = self.site.head.clone();
        head.insert(file.clone(), planted.text.clone());
        let (language, mutation) = (*language, mutation.clone());
        Some(MutatedChange { file: file.clone(), head, planted, language, mutation })
    }
}

impl MutatedChange {
    /// The defect with its diff; `None` when the diff does not show it.
    pub fn into_defect(self, diff: String) -> Option<PlantedDefect> {
        let change = Change { files: parse(diff.as_bytes()).ok()? };
        let lines = self.planted.lines;
        let near = LineSpan::between(lines.start().saturating_sub(NEAR).max(1), lines.end() + NEAR);
        let added = change.file(&self.file)?.added();
        let is_shown = ChangedRegion::all(&change).iter().any(|it| it.file == self.file);
        if !is_shown || !added.overlaps(near) {
            return None;
        }
        Some(PlantedDefect {
            kind: self.mutation.kind,
            language: language_word(self.language.name()).to_owned(),
            text: self.planted.text,
            lines,
            title: self.mutation.title,
            description: self.mutation.description,
            file: self.file,
            diff,
        })
    }

    /// The text of the file with the defect.
    pub fn text(&self) -> &str {
        &self.planted.text
    }
}

type SideTexts = (BTreeMap<FilePath, String>, BTreeMap<FilePath, String>);

/// The texts of the changed files on both sides, and of files around them.
async fn texts(scoped: &ReviewScope) -> Result<SideTexts, RepositoryError> {
    let files = &scoped.change.files;
    let at_base: Vec<FilePath> = files
        .iter()
        .filter(|file| file.existed_at_base())
        .map(|file| file.base_path().clone())
        .collect();
    let at_head: Vec<FilePath> =
        files.iter().filter(|file| file.exists_at_head()).map(|file| file.path.clone()).collect();
    let mut base = read(&*scoped.tree, Side::Base, &at_base).await?;
    let mut head = read(&*scoped.tree, Side::Head, &at_head).await?;
    let known: BTreeSet<FilePath> = at_base.into_iter().chain(at_head).collect();
    for (path, text) in around(&*scoped.tree, &known).await? {
        base.insert(path.clone(), text.clone());
        head.insert(path, text);
    }
    Ok((base, head))
}

async fn read(
    tree: &dyn Repository,
    side: Side,
    paths: &[FilePath],
) -> Result<BTreeMap<FilePath, String>, RepositoryError> {
    let blobs = tree.read(side, paths).await?;
    let texts = paths
        .iter()
        .zip(blobs)
        .filter_map(|(path, blob)| Some((path.clone(), blob.text()?.to_owned())));
    Ok(texts.collect())
}

/// Unchanged files in the folders of the changed ones, up to the limits.
async fn around(
    tree: &dyn Repository,
    known: &BTreeSet<FilePath>,
) -> Result<Vec<(FilePath, String)>, RepositoryError> {
    let folder = |path: &FilePath| {
        let bytes = path.as_bytes();
        let end = bytes.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        FilePath::from_bytes(bytes.get(..end).unwrap_or_default())
    };
    let folders: BTreeSet<FilePath> = known.iter().map(folder).collect();
    let mut paths = Vec::new();
    for folder in folders {
        let listed = tree.list(Side::Head, &folder).await?;
        paths.extend(listed.into_iter().filter(|path| !known.contains(path)));
        if paths.len() >= MAX_FILES {
            break;
        }
    }
    paths.truncate(MAX_FILES);
    let mut room = MAX_AROUND;
    let found = read(tree, Side::Head, &paths).await?.into_iter().filter(|(_, text)| {
        let fits = text.len() <= MAX_FILE.min(room);
        room -= if fits { text.len() } else { 0 };
        fits
    });
    Ok(found.collect())
}

/// The subject of the last commit, and the rest of the commit messages.
async fn commit_texts(scoped: &ReviewScope) -> Result<(String, String), RepositoryError> {
    let Some(history) = scoped.tree.history() else { return Ok(Default::default()) };
    let commits = history.reviewed(MAX_TOLD).await?;
    let title = commits.last().map(|told| told.commit.subject.clone()).unwrap_or_default();
    let text = |told: &CommitWithMessage| told.message.trim().to_owned();
    let texts: Vec<String> = commits.iter().map(text).collect();
    let only = texts.first().filter(|_| texts.len() == 1);
    let body = match only {
        Some(text) => text.strip_prefix(title.as_str()).unwrap_or(text).trim().to_owned(),
        None => texts.join("\n\n"),
    };
    Ok((title, body))
}
