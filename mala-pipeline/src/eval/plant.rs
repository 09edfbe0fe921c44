//! Plants defects: a change is read, the places in it are found, and what grows in one of them is a
//! case. Who decides how many of them, and where the changes come from, is not said here.

use mala_domain::change::{Change, ChangedFile, FilePath, LineSpan, parse};
use mala_domain::eval::case::language::word;
use mala_domain::eval::plant::{Candidate, DefectKind, Soil, Sprout};
use mala_domain::eval::record::Region;
use mala_domain::language::Language;
use mala_domain::ports::{Repository, RepositoryError, ReviewScope, Side, ToldCommit};
use mala_domain::scope::Head;
use mala_syntax::plant::{Mutant, Planted, is_fertile, mutants};
use mala_syntax::rules::is_test_path;
use mala_syntax::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// How much of the files around a change a case has.
const MAX_AROUND: usize = 256 << 10;

/// A larger file around a change is left out.
const MAX_FILE: usize = 64 << 10;

/// So many files around a change are read.
const MAX_FILES: usize = 200;

/// How many places of one change are kept.
const MAX_PLACES: usize = 3_000;

/// How many commits tell what a change is for.
const MAX_TOLD: usize = 20;

/// How far the nearest changed line may be from a defect that is a gap.
const NEAR: u32 = 1;

/// A real change, and the places in it where a defect can be planted.
pub struct Ground {
    /// The change.
    pub soil: Soil,
    /// The commit before it.
    pub base: Option<String>,
    /// The last commit of it, when it is committed.
    pub head: Option<String>,
    places: Vec<Place>,
}

struct Place {
    file: FilePath,
    language: Language,
    mutant: Mutant,
}

/// A defect that is in a file, but not yet in a diff.
pub struct Grown {
    /// The file.
    pub file: FilePath,
    /// The files at head, with the defect in one of them.
    pub head: BTreeMap<FilePath, String>,
    planted: Planted,
    language: Language,
    mutant: Mutant,
}

/// Reads a change and finds the places in it.
pub async fn survey(scoped: &ReviewScope, repo: &str) -> Result<Ground, RepositoryError> {
    let (base, head) = texts(scoped).await?;
    let mut places = Vec::new();
    for file in scoped.change.files.iter().filter(|file| is_ground(file)) {
        let (Some(text), Some(language)) = (head.get(&file.path), file.language()) else {
            continue;
        };
        let Some(source) = Source::parse(language, text) else { continue };
        let found = mutants(&source, &file.added());
        let place = |mutant| Place { file: file.path.clone(), language, mutant };
        places.extend(found.into_iter().map(place));
    }
    places.truncate(MAX_PLACES);
    let soil = Soil {
        repo: repo.to_owned(),
        source: scoped.scope.target.clone(),
        told: told(scoped).await?,
        diff: String::new(),
        base,
        head,
    };
    let head = match &scoped.scope.head {
        Head::Commit(id) => Some(id.clone()),
        _ => None,
    };
    Ok(Ground { soil, base: scoped.scope.base.clone(), head, places })
}

/// Whether people wrote a file, and not as a test.
fn is_ground(file: &ChangedFile) -> bool {
    file.is_reviewable()
        && file.exists_at_head()
        && !is_test_path(&file.path)
        && file.language().is_some_and(is_fertile)
}

impl Ground {
    /// What can be planted, as the change with this number.
    pub fn candidates(&self, change: usize, kinds: &[DefectKind]) -> Vec<Candidate> {
        let wanted = |kind| kinds.is_empty() || kinds.contains(&kind);
        let places = self.places.iter().map(|place| place.mutant.kind).enumerate();
        places
            .filter(|(_, kind)| wanted(*kind))
            .map(|(place, kind)| Candidate { kind, change, place })
            .collect()
    }

    /// Plants what grows in a place; `None` when the file would not parse.
    pub fn grow(&self, place: usize) -> Option<Grown> {
        let Place { file, language, mutant } = self.places.get(place)?;
        let text = self.soil.head.get(file)?;
        let planted = mutant.apply(&Source::parse(*language, text)?)?;
        let mut head = self.soil.head.clone();
        head.insert(file.clone(), planted.text.clone());
        let (language, mutant) = (*language, mutant.clone());
        Some(Grown { file: file.clone(), head, planted, language, mutant })
    }
}

impl Grown {
    /// What came of it, with the diff in which it is; `None` when the diff does not show it.
    pub fn sprout(self, diff: String) -> Option<Sprout> {
        let change = Change { files: parse(diff.as_bytes()).ok()? };
        let lines = self.planted.lines;
        let near = LineSpan::between(lines.start().saturating_sub(NEAR).max(1), lines.end() + NEAR);
        let added = change.file(&self.file)?.added();
        let is_shown = Region::all(&change).iter().any(|it| it.file == self.file);
        if !is_shown || !added.touch(near) {
            return None;
        }
        Some(Sprout {
            kind: self.mutant.kind,
            language: word(self.language.name()).to_owned(),
            text: self.planted.text,
            lines,
            title: self.mutant.title,
            description: self.mutant.description,
            file: self.file,
            diff,
        })
    }

    /// The text of the file with the defect.
    pub fn text(&self) -> &str {
        &self.planted.text
    }
}

type Sides = (BTreeMap<FilePath, String>, BTreeMap<FilePath, String>);

/// The texts of the changed files on both sides, and of files around them.
async fn texts(scoped: &ReviewScope) -> Result<Sides, RepositoryError> {
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

/// The unchanged files in the folders of the changed ones, as many as a case has room for.
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

/// What the authors say of a change: the title of its last commit, and all else that they wrote.
async fn told(scoped: &ReviewScope) -> Result<(String, String), RepositoryError> {
    let Some(history) = scoped.tree.history() else { return Ok(Default::default()) };
    let commits = history.reviewed(MAX_TOLD).await?;
    let title = commits.last().map(|told| told.commit.subject.clone()).unwrap_or_default();
    let text = |told: &ToldCommit| told.message.trim().to_owned();
    let texts: Vec<String> = commits.iter().map(text).collect();
    let only = texts.first().filter(|_| texts.len() == 1);
    let body = match only {
        Some(text) => text.strip_prefix(title.as_str()).unwrap_or(text).trim().to_owned(),
        None => texts.join("\n\n"),
    };
    Ok((title, body))
}
