//! The reviewed tree on both sides of a change, as the repository port.

use super::files::{self, WorkTreeFile};
use super::grep::GrepTarget;
use super::objects::{GitObject, ObjectReader};
use super::trees::{CommitTree, GitEntry, GitEntryKind};
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

/// The largest file that is read, in bytes.
pub(super) const MAX_FILE: u64 = 16 << 20;

/// The most bytes of files that are cached.
const MAX_KEPT: usize = 64 << 20;

/// Git searches this many bytes for a NUL to detect binary files.
pub(super) const TEXT_HEAD: usize = 8000;

/// A state of the tree.
#[derive(Debug, Clone)]
pub(super) enum TreeState {
    /// A commit or a tree.
    Commit(ObjectId),
    Index,
    WorkTree,
}

/// The tree before and after a change.
pub struct GitTree {
    pub(super) git: Git,
    pub(super) objects: ObjectReader,
    base: TreeSide,
    head: TreeSide,
    kept: Mutex<ContentCache>,
}

pub(super) struct TreeSide {
    pub(super) state: TreeState,
    pub(super) trees: Option<CommitTree>,
    /// All paths of the index or the work tree, listed on first use.
    pub(super) listed: OnceCell<Vec<TreeEntry>>,
}

impl TreeSide {
    fn new(git: &Git, state: TreeState) -> Self {
        let trees = match &state {
            TreeState::Commit(id) => Some(CommitTree::new(git, id.clone())),
            TreeState::Index | TreeState::WorkTree => None,
        };
        Self { state, trees, listed: OnceCell::new() }
    }
}

/// A bounded cache of file contents.
#[derive(Default)]
struct ContentCache {
    blobs: HashMap<(Side, FilePath), FileContent>,
    n_bytes: usize,
}

/// The content of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileContent {
    /// A file.
    File(Vec<u8>),
    /// A file over the limit.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// Whether it starts like text.
        is_text: bool,
    },
    /// Not a file.
    Missing,
}

/// Provides file contents on both sides of a change.
pub(crate) trait ContentSource: Sync {
    /// The contents of these paths, in the same order.
    fn contents(
        &self,
        side: Side,
        paths: &[FilePath],
    ) -> impl Future<Output = Result<Vec<FileContent>, GitError>> + Send;
}

impl FileContent {
    /// A file with these bytes, or a missing one.
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

    /// The content in the form of the port.
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
    pub(super) fn new(git: &Git, base: TreeState, head: TreeState) -> Self {
        Self {
            objects: ObjectReader::new(git.clone()),
            base: TreeSide::new(git, base),
            head: TreeSide::new(git, head),
            kept: Mutex::default(),
            git: git.clone(),
        }
    }

    pub(super) fn place(&self, side: Side) -> &TreeSide {
        match side {
            Side::Base => &self.base,
            Side::Head => &self.head,
        }
    }

    async fn cached_or_read(
        &self,
        side: Side,
        paths: &[FilePath],
    ) -> Result<Vec<FileContent>, GitError> {
        let mut found: Vec<Option<FileContent>> = {
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
        Ok(found.into_iter().map(|content| content.unwrap_or(FileContent::Missing)).collect())
    }

    fn keep(&self, side: Side, paths: &[FilePath], contents: &[FileContent]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, content) in paths.iter().zip(contents) {
            let n_bytes = match content {
                FileContent::File(bytes) => bytes.len() + 100,
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
    ) -> Result<Vec<FileContent>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        if matches!(self.place(side).state, TreeState::WorkTree) {
            return self.on_disk(paths, |top, path| {
                Ok(match files::read(top, path, MAX_FILE)? {
                    WorkTreeFile::Content(bytes) => FileContent::File(bytes),
                    WorkTreeFile::TooLarge { size, is_text } => {
                        FileContent::TooLarge { size, is_text }
                    }
                    WorkTreeFile::Nothing => FileContent::Missing,
                })
            });
        }
        let entries = self.entries(side, paths).await?;
        let is_file = |entry: &&GitEntry| entry.kind == GitEntryKind::File;
        let ids: Vec<_> =
            entries.iter().flatten().filter(is_file).map(|entry| entry.id.clone()).collect();
        let mut objects = self.objects.read(&ids, MAX_FILE).await?.into_iter();
        let mut contents = Vec::with_capacity(paths.len());
        for entry in &entries {
            let object = entry.as_ref().filter(is_file).and_then(|_| objects.next());
            contents.push(match (object, entry) {
                (Some(GitObject::Whole(bytes)), _) => FileContent::File(bytes),
                (Some(GitObject::TooLarge { size, is_text }), _) => {
                    FileContent::TooLarge { size, is_text }
                }
                (Some(GitObject::Missing), Some(entry)) => {
                    let message = format!("unable to read {}", entry.id.as_str());
                    return Err(GitError::Failed { command: "cat-file".to_owned(), message });
                }
                _ => FileContent::Missing,
            });
        }
        Ok(contents)
    }

    /// The kinds of these paths; `None` if a path does not exist.
    pub(super) async fn kinds(
        &self,
        side: Side,
        paths: &[FilePath],
    ) -> Result<Vec<Option<GitEntryKind>>, GitError> {
        if matches!(self.place(side).state, TreeState::WorkTree) {
            return self.on_disk(paths, |top, path| {
                Ok(files::file_type(top, path)?.map(|file_type| match file_type {
                    FileType::Directory => GitEntryKind::Folder,
                    FileType::Symlink => GitEntryKind::Link,
                    _ => GitEntryKind::File,
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
    ) -> Result<Vec<Option<GitEntry>>, GitError> {
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
            (None, TreeState::WorkTree) => files::files_in(self.git.top(), folder)
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
        let mut hits = self.git.grep(&self.grep_target(), query).await?;
        self.drop_linked(&mut hits)?;
        Ok(hits)
    }

    pub(super) fn grep_target(&self) -> GrepTarget {
        match &self.head.state {
            TreeState::Commit(id) => GrepTarget::Commit(id.clone()),
            TreeState::Index => GrepTarget::Index,
            TreeState::WorkTree => GrepTarget::WorkTree,
        }
    }

    /// Drops hits behind a link that replaced a folder. Git follows such links when it searches by
    /// its index.
    pub(super) fn drop_linked(&self, hits: &mut Vec<WordHit>) -> Result<(), GitError> {
        if !matches!(self.head.state, TreeState::WorkTree) {
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

impl ContentSource for GitTree {
    async fn contents(&self, side: Side, paths: &[FilePath]) -> Result<Vec<FileContent>, GitError> {
        self.cached_or_read(side, paths).await
    }
}

impl Repository for GitTree {
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
        Box::pin(async move {
            let kinds = self.kinds(side, paths).await.map_err(repository_error)?;
            let is_file = |kind| matches!(kind, Some(GitEntryKind::File | GitEntryKind::Link));
            Ok(kinds.into_iter().map(is_file).collect())
        })
    }

    fn list<'a>(
        &'a self,
        side: Side,
        folder: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<FilePath>, RepositoryError>> {
        Box::pin(async move { self.files_in(side, folder).await.map_err(repository_error) })
    }

    fn find_words<'a>(
        &'a self,
        query: &'a WordQuery,
    ) -> BoxFuture<'a, Result<Vec<WordHit>, RepositoryError>> {
        Box::pin(async move { self.words(query).await.map_err(repository_error) })
    }

    fn search(&self) -> Option<&dyn Search> {
        Some(self)
    }

    fn history(&self) -> Option<&dyn History> {
        Some(self)
    }
}

pub(crate) fn repository_error(error: GitError) -> RepositoryError {
    RepositoryError { what: error.to_string(), source: Some(Box::new(error)) }
}
