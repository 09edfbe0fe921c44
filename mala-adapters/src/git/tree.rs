//! The reviewed tree in both of its states, behind the port that the rules know.

use super::files::{self, OnDisk};
use super::grep::Haystack;
use super::objects::{Object, Objects};
use super::trees::{Entry, Kind, Trees};
use super::{Git, GitError, ObjectId};
use mala_domain::change::FilePath;
use mala_domain::ports::{
    Blob, BoxFuture, History, Repository, RepositoryError, Search, Side, TreeEntry, WordHit,
    WordQuery,
};
use rustix::fs::FileType;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use tokio::sync::OnceCell;

/// A file larger than this is not read.
pub(super) const MAX_FILE: u64 = 16 << 20;

/// How many bytes of files are kept in memory for the next reader.
const MAX_KEPT: usize = 64 << 20;

/// Git looks for a NUL in so many bytes to tell binary files from text.
pub(super) const TEXT_HEAD: usize = 8000;

/// A state of the tree.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// A commit or a tree.
    Commit(ObjectId),
    Index,
    WorkTree,
}

/// The tree before and after a change.
pub struct GitTree {
    pub(super) git: Git,
    pub(super) objects: Objects,
    base: Place,
    head: Place,
    kept: Mutex<Kept>,
}

pub(super) struct Place {
    pub(super) state: State,
    pub(super) trees: Option<Trees>,
    /// The paths that the index or the work tree has, once somebody asked.
    pub(super) listed: OnceCell<Vec<TreeEntry>>,
}

impl Place {
    fn new(git: &Git, state: State) -> Self {
        let trees = match &state {
            State::Commit(id) => Some(Trees::new(git, id.clone())),
            State::Index | State::WorkTree => None,
        };
        Self { state, trees, listed: OnceCell::new() }
    }
}

/// Contents that were read, until there are too many of them.
#[derive(Default)]
struct Kept {
    blobs: HashMap<(Side, FilePath), Content>,
    n_bytes: usize,
}

/// The content of a path, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// A file.
    File(Vec<u8>),
    /// A file over the limit.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// Whether it starts like text.
        is_text: bool,
    },
    /// No file.
    Missing,
}

/// Whatever gives the contents of paths on both sides of a change.
pub(crate) trait Contents: Sync {
    /// The contents of these paths, in the same order.
    fn contents(
        &self,
        side: Side,
        paths: &[FilePath],
    ) -> impl Future<Output = Result<Vec<Content>, GitError>> + Send;
}

impl Content {
    /// A file with these bytes, or none.
    pub(crate) fn of(bytes: Option<Vec<u8>>) -> Self {
        bytes.map_or(Self::Missing, Self::File)
    }

    /// The bytes of a file.
    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::File(bytes) => Some(bytes),
            Self::TooLarge { .. } | Self::Missing => None,
        }
    }

    /// As the port has it.
    pub(crate) fn into_blob(self) -> Blob {
        match self {
            Self::File(bytes) if !is_text(&bytes) => Blob::Binary,
            Self::File(bytes) => Blob::Text(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
            Self::TooLarge { size, .. } => Blob::TooLarge(size),
            Self::Missing => Blob::Missing,
        }
    }
}

/// Whether bytes look like text, by git's own rule.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    !bytes.get(..TEXT_HEAD).unwrap_or(bytes).contains(&0)
}

impl GitTree {
    pub(super) fn new(git: &Git, base: State, head: State) -> Self {
        Self {
            objects: Objects::new(git.clone()),
            base: Place::new(git, base),
            head: Place::new(git, head),
            kept: Mutex::default(),
            git: git.clone(),
        }
    }

    pub(super) fn place(&self, side: Side) -> &Place {
        match side {
            Side::Base => &self.base,
            Side::Head => &self.head,
        }
    }

    async fn kept_or_read(&self, side: Side, paths: &[FilePath]) -> Result<Vec<Content>, GitError> {
        let mut found: Vec<Option<Content>> = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            paths.iter().map(|path| kept.blobs.get(&(side, path.clone())).cloned()).collect()
        };
        let unknown: Vec<_> = paths
            .iter()
            .zip(&found)
            .filter(|(_, content)| content.is_none())
            .map(|(path, _)| path.clone())
            .collect();
        let read = self.read_contents(side, &unknown).await?;
        self.keep(side, &unknown, &read);
        let mut read = read.into_iter();
        for content in found.iter_mut().filter(|content| content.is_none()) {
            *content = read.next();
        }
        Ok(found.into_iter().map(|content| content.unwrap_or(Content::Missing)).collect())
    }

    fn keep(&self, side: Side, paths: &[FilePath], contents: &[Content]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, content) in paths.iter().zip(contents) {
            let n_bytes = match content {
                Content::File(bytes) => bytes.len() + 100,
                _ => 100,
            };
            if kept.n_bytes + n_bytes <= MAX_KEPT {
                kept.n_bytes += n_bytes;
                kept.blobs.insert((side, path.clone()), content.clone());
            }
        }
    }

    async fn read_contents(
        &self,
        side: Side,
        paths: &[FilePath],
    ) -> Result<Vec<Content>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        if matches!(self.place(side).state, State::WorkTree) {
            return self.on_disk(paths, |top, path| {
                Ok(match files::read(top, path, MAX_FILE)? {
                    OnDisk::Content(bytes) => Content::File(bytes),
                    OnDisk::TooLarge { size, is_text } => Content::TooLarge { size, is_text },
                    OnDisk::Nothing => Content::Missing,
                })
            });
        }
        let entries = self.entries(side, paths).await?;
        let is_file = |entry: &&Entry| entry.kind == Kind::File;
        let ids: Vec<_> =
            entries.iter().flatten().filter(is_file).map(|entry| entry.id.clone()).collect();
        let mut objects = self.objects.read(&ids, MAX_FILE).await?.into_iter();
        let mut contents = Vec::with_capacity(paths.len());
        for entry in &entries {
            let object = entry.as_ref().filter(is_file).and_then(|_| objects.next());
            contents.push(match (object, entry) {
                (Some(Object::Whole(bytes)), _) => Content::File(bytes),
                (Some(Object::TooLarge { size, is_text }), _) => {
                    Content::TooLarge { size, is_text }
                }
                (Some(Object::Missing), Some(entry)) => {
                    let complaint = format!("unable to read {}", entry.id.as_str());
                    return Err(GitError::Failed { command: "cat-file".to_owned(), complaint });
                }
                _ => Content::Missing,
            });
        }
        Ok(contents)
    }

    /// Which of these paths are there, as anything at all when folders count.
    pub(super) async fn kinds(
        &self,
        side: Side,
        paths: &[FilePath],
    ) -> Result<Vec<Option<Kind>>, GitError> {
        if matches!(self.place(side).state, State::WorkTree) {
            return self.on_disk(paths, |top, path| {
                Ok(files::file_type(top, path)?.map(|file_type| match file_type {
                    FileType::Directory => Kind::Folder,
                    FileType::Symlink => Kind::Link,
                    _ => Kind::File,
                }))
            });
        }
        let entries = self.entries(side, paths).await?;
        Ok(entries.into_iter().map(|entry| entry.map(|entry| entry.kind)).collect())
    }

    async fn entries(
        &self,
        side: Side,
        paths: &[FilePath],
    ) -> Result<Vec<Option<Entry>>, GitError> {
        match &self.place(side).trees {
            Some(trees) => trees.entries(&self.objects, paths).await,
            None => self.git.index_entries(paths).await,
        }
    }

    pub(super) fn on_disk<T>(
        &self,
        paths: &[FilePath],
        look: impl Fn(&std::path::Path, &FilePath) -> std::io::Result<T>,
    ) -> Result<Vec<T>, GitError> {
        let look = |path: &FilePath| {
            look(self.git.top(), path)
                .map_err(|source| GitError::Io { what: format!("reading {path}"), source })
        };
        paths.iter().map(look).collect()
    }

    /// The files directly in a folder.
    async fn files_in(&self, side: Side, folder: &FilePath) -> Result<Vec<FilePath>, GitError> {
        let place = self.place(side);
        let names = match (&place.trees, &place.state) {
            (Some(trees), _) => trees.files_in(&self.objects, folder).await?,
            (None, State::WorkTree) => files::files_in(self.git.top(), folder)
                .map_err(|source| GitError::Io { what: format!("reading {folder}"), source })?,
            (None, _) => self.git.index_files_in(folder).await?,
        };
        let prefix = folder.as_bytes();
        let slash: &[u8] = if prefix.is_empty() { b"" } else { b"/" };
        let mut paths: Vec<_> =
            names.iter().map(|name| FilePath::from_bytes([prefix, slash, name].concat())).collect();
        paths.sort();
        Ok(paths)
    }

    /// The lines at head with any of the words.
    pub(crate) async fn words(&self, query: &WordQuery) -> Result<Vec<WordHit>, GitError> {
        let mut hits = self.git.grep(&self.haystack(), query).await?;
        self.keep_inside(&mut hits)?;
        Ok(hits)
    }

    pub(super) fn haystack(&self) -> Haystack {
        match &self.head.state {
            State::Commit(id) => Haystack::Commit(id.clone()),
            State::Index => Haystack::Index,
            State::WorkTree => Haystack::WorkTree,
        }
    }

    /// Drops what is behind a link that took the place of a folder: it leads anywhere, and git goes
    /// there whenever it looks for files by its index.
    pub(super) fn keep_inside(&self, hits: &mut Vec<WordHit>) -> Result<(), GitError> {
        if !matches!(self.head.state, State::WorkTree) {
            return Ok(());
        }
        let mut files: Vec<_> = hits.iter().map(|hit| hit.file.clone()).collect();
        files.dedup();
        let types = self.on_disk(&files, files::file_type)?;
        let is_file = |(file, kind)| (kind == Some(FileType::RegularFile)).then_some(file);
        let inside: HashSet<_> = files.into_iter().zip(types).filter_map(is_file).collect();
        hits.retain(|hit| inside.contains(&hit.file));
        Ok(())
    }
}

impl Contents for GitTree {
    async fn contents(&self, side: Side, paths: &[FilePath]) -> Result<Vec<Content>, GitError> {
        self.kept_or_read(side, paths).await
    }
}

impl Repository for GitTree {
    fn read<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<Blob>, RepositoryError>> {
        Box::pin(async move {
            let contents = self.contents(side, paths).await.map_err(unreadable)?;
            Ok(contents.into_iter().map(Content::into_blob).collect())
        })
    }

    fn exist<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<bool>, RepositoryError>> {
        Box::pin(async move {
            let kinds = self.kinds(side, paths).await.map_err(unreadable)?;
            let is_file = |kind| matches!(kind, Some(Kind::File | Kind::Link));
            Ok(kinds.into_iter().map(is_file).collect())
        })
    }

    fn list<'a>(
        &'a self,
        side: Side,
        folder: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<FilePath>, RepositoryError>> {
        Box::pin(async move { self.files_in(side, folder).await.map_err(unreadable) })
    }

    fn find_words<'a>(
        &'a self,
        query: &'a WordQuery,
    ) -> BoxFuture<'a, Result<Vec<WordHit>, RepositoryError>> {
        Box::pin(async move { self.words(query).await.map_err(unreadable) })
    }

    fn search(&self) -> Option<&dyn Search> {
        Some(self)
    }

    fn history(&self) -> Option<&dyn History> {
        Some(self)
    }
}

pub(crate) fn unreadable(error: GitError) -> RepositoryError {
    RepositoryError { what: error.to_string(), source: Some(Box::new(error)) }
}
