//! A tree with some files replaced by contents that no state of the repository has, such as those
//! of a patch.

mod search;

use super::tree::{ContentSource, FileContent, GitTree, repository_error};
use super::{GitError, ObjectId};
use aho_corasick::AhoCorasick;
use globset::{Glob, GlobSet, GlobSetBuilder};
use mala_domain::change::FilePath;
use mala_domain::ports::{
    Blob, BoxFuture, History, Repository, RepositoryError, Search, Side, WordHit, WordQuery,
};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Files over a tree, or over nothing.
#[derive(Default)]
pub(crate) struct Overlay {
    under: Option<GitTree>,
    files: HashMap<(Side, FilePath), FileContent>,
    /// The commits that the files come from, if any.
    commits: Vec<ObjectId>,
}

impl Overlay {
    pub(crate) fn over(under: Option<GitTree>) -> Self {
        Self { under, files: HashMap::new(), commits: Vec::new() }
    }

    /// Sets the commits that the files come from.
    pub(in crate::git) fn of_commits(mut self, commits: Vec<ObjectId>) -> Self {
        self.commits = commits;
        self
    }

    /// Replaces a file on one side.
    pub(crate) fn insert(&mut self, side: Side, path: FilePath, content: FileContent) {
        self.files.insert((side, path), content);
    }

    async fn contents_over(
        &self,
        side: Side,
        paths: &[FilePath],
    ) -> Result<Vec<FileContent>, GitError> {
        let laid = |path: &FilePath| self.files.get(&(side, path.clone()));
        let below: Vec<_> = paths.iter().filter(|path| laid(path).is_none()).cloned().collect();
        let mut read = match &self.under {
            Some(tree) => tree.contents(side, &below).await?,
            None => Vec::new(),
        }
        .into_iter();
        Ok(paths
            .iter()
            .map(|path| match laid(path) {
                Some(content) => content.clone(),
                None => read.next().unwrap_or(FileContent::Missing),
            })
            .collect())
    }

    async fn exist_in(&self, side: Side, paths: &[FilePath]) -> Result<Vec<bool>, RepositoryError> {
        let mut exist = match &self.under {
            Some(tree) => tree.exist(side, paths).await?,
            None => vec![false; paths.len()],
        };
        for (exists, path) in exist.iter_mut().zip(paths) {
            if let Some(content) = self.files.get(&(side, path.clone())) {
                *exists = *content != FileContent::Missing;
            }
        }
        Ok(exist)
    }

    async fn files_in(
        &self,
        side: Side,
        folder: &FilePath,
    ) -> Result<Vec<FilePath>, RepositoryError> {
        let mut found: BTreeSet<_> = match &self.under {
            Some(tree) => tree.list(side, folder).await?.into_iter().collect(),
            None => BTreeSet::new(),
        };
        for ((_, path), content) in self.files.iter().filter(|((of, _), _)| *of == side) {
            let bytes = path.as_bytes();
            let end = bytes.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
            if bytes.get(..end) == Some(folder.as_bytes()) {
                match content {
                    FileContent::Missing => found.remove(path),
                    _ => found.insert(path.clone()),
                };
            }
        }
        Ok(found.into_iter().collect())
    }

    async fn words(&self, query: &WordQuery) -> Result<Vec<WordHit>, RepositoryError> {
        let mut hits = match &self.under {
            Some(tree) => tree.find_words(query).await?,
            None => Vec::new(),
        };
        hits.retain(|hit| !self.files.contains_key(&(Side::Head, hit.file.clone())));
        let finder = WordFinder::new(query).map_err(|source| RepositoryError {
            what: "invalid search words".to_owned(),
            source: Some(source),
        })?;
        for ((side, path), content) in &self.files {
            if let (Side::Head, FileContent::File(bytes)) = (side, content) {
                finder.find(path, bytes, &mut hits);
            }
        }
        hits.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        hits.truncate(query.max_hits);
        Ok(hits)
    }
}

impl ContentSource for Overlay {
    async fn contents(&self, side: Side, paths: &[FilePath]) -> Result<Vec<FileContent>, GitError> {
        self.contents_over(side, paths).await
    }
}

impl Repository for Overlay {
    fn read<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<Blob>, RepositoryError>> {
        Box::pin(async move {
            let contents = self.contents(side, paths).await.map_err(repository_error)?;
            Ok(contents.into_iter().map(FileContent::into_blob).collect())
        })
    }

    fn exist<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<bool>, RepositoryError>> {
        Box::pin(self.exist_in(side, paths))
    }

    fn list<'a>(
        &'a self,
        side: Side,
        folder: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<FilePath>, RepositoryError>> {
        Box::pin(self.files_in(side, folder))
    }

    fn find_words<'a>(
        &'a self,
        query: &'a WordQuery,
    ) -> BoxFuture<'a, Result<Vec<WordHit>, RepositoryError>> {
        Box::pin(self.words(query))
    }

    fn search(&self) -> Option<&dyn Search> {
        Some(self)
    }

    fn history(&self) -> Option<&dyn History> {
        self.under.is_some().then_some(self)
    }
}

/// Searches words like `git grep -w`.
struct WordFinder {
    words: AhoCorasick,
    globs: Option<GlobSet>,
}

impl WordFinder {
    fn new(query: &WordQuery) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let words = AhoCorasick::new(query.words.iter().filter(|word| !word.is_empty()))?;
        let mut globs = GlobSetBuilder::new();
        for glob in &query.globs {
            globs.add(Glob::new(glob)?);
        }
        let globs = if query.globs.is_empty() { None } else { Some(globs.build()?) };
        Ok(Self { words, globs })
    }

    fn find(&self, path: &FilePath, bytes: &[u8], hits: &mut Vec<WordHit>) {
        let name = OsStr::from_bytes(path.as_bytes());
        if self.globs.as_ref().is_some_and(|globs| !globs.is_match(name)) {
            return;
        }
        for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            let is_whole = |found: &aho_corasick::Match| {
                let before = found.start().checked_sub(1).and_then(|at| text.get(at));
                ![before, text.get(found.end())].into_iter().flatten().any(|byte| is_word(*byte))
            };
            if self.words.find_overlapping_iter(text).any(|found| is_whole(&found)) {
                let text = String::from_utf8_lossy(text).into_owned();
                hits.push(WordHit { file: path.clone(), line, text });
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
