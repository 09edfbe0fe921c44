//! The entries of a commit, looked up folder by folder. Only the folders on the way are read, and
//! no path is passed to git.

use super::objects::{GitObject, ObjectReader};
use super::{Git, GitError, ObjectId};
use mala_domain::change::FilePath;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// The largest tree object, in bytes: about a million names.
const MAX_TREE: u64 = 64 << 20;

/// An entry of a tree or of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitEntry {
    pub(super) kind: GitEntryKind,
    pub(super) id: ObjectId,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitEntryKind {
    File,
    Link,
    Folder,
    Submodule,
}

impl GitEntryKind {
    pub(super) fn of_mode(mode: &[u8]) -> Self {
        match mode {
            b"120000" => Self::Link,
            b"160000" => Self::Submodule,
            b"40000" | b"040000" => Self::Folder,
            _ => Self::File,
        }
    }
}

type TreeEntries = Arc<HashMap<Vec<u8>, GitEntry>>;

/// One tree, read on demand.
pub(super) struct CommitTree {
    /// A commit or a tree.
    start: ObjectId,
    root: OnceCell<ObjectId>,
    n_id_bytes: usize,
    known: Mutex<HashMap<ObjectId, TreeEntries>>,
}

impl CommitTree {
    pub(super) fn new(git: &Git, start: ObjectId) -> Self {
        let (root, known) = (OnceCell::new(), Mutex::new(HashMap::new()));
        Self { start, root, n_id_bytes: git.inner.hash.n_bytes(), known }
    }

    /// The root tree. The first line of a commit names it.
    async fn root(&self, objects: &ObjectReader) -> Result<&ObjectId, GitError> {
        let find = || async {
            let read = objects.read(std::slice::from_ref(&self.start), MAX_TREE).await?;
            let Some(GitObject::Whole(bytes)) = read.first() else {
                return Err(damaged(&self.start));
            };
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let named = line.strip_prefix(b"tree ").and_then(ObjectId::parse);
            Ok(named.unwrap_or_else(|| self.start.clone()))
        };
        self.root.get_or_try_init(find).await
    }

    /// The entries of these paths, in the same order.
    pub(super) async fn entries(
        &self,
        objects: &ObjectReader,
        paths: &[FilePath],
    ) -> Result<Vec<Option<GitEntry>>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let root = GitEntry { kind: GitEntryKind::Folder, id: self.root(objects).await?.clone() };
        let mut walks: Vec<_> = paths
            .iter()
            .map(|path| TreeWalk { at: Some(root.clone()), rest: Some(path.as_bytes()) })
            .collect();
        while walks.iter().any(TreeWalk::goes_on) {
            let wanted = walks.iter().filter(|walk| walk.goes_on()).filter_map(TreeWalk::folder);
            let wanted: HashSet<_> = wanted.cloned().collect();
            let folders = self.folders(objects, wanted).await?;
            for walk in walks.iter_mut().filter(|walk| walk.goes_on()) {
                walk.step(&folders);
            }
        }
        Ok(walks.into_iter().map(|walk| walk.at).collect())
    }

    /// The entry of a path; the empty path is the root.
    pub(super) async fn entry(
        &self,
        objects: &ObjectReader,
        path: &FilePath,
    ) -> Result<Option<GitEntry>, GitError> {
        if path.as_bytes().is_empty() {
            let id = self.root(objects).await?.clone();
            return Ok(Some(GitEntry { kind: GitEntryKind::Folder, id }));
        }
        Ok(self.entries(objects, std::slice::from_ref(path)).await?.pop().flatten())
    }

    /// The names of the files directly in a folder. Empty if it is not a folder.
    pub(super) async fn files_in(
        &self,
        objects: &ObjectReader,
        folder: &FilePath,
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let id = match self.entry(objects, folder).await? {
            Some(GitEntry { kind: GitEntryKind::Folder, id }) => id,
            _ => return Ok(Vec::new()),
        };
        let folders = self.folders(objects, HashSet::from([id])).await?;
        let entries = folders.values().flat_map(|folder| folder.iter());
        let is_file =
            |entry: &GitEntry| matches!(entry.kind, GitEntryKind::File | GitEntryKind::Link);
        Ok(entries.filter(|(_, entry)| is_file(entry)).map(|(name, _)| name.clone()).collect())
    }

    async fn folders(
        &self,
        objects: &ObjectReader,
        wanted: HashSet<ObjectId>,
    ) -> Result<HashMap<ObjectId, TreeEntries>, GitError> {
        let mut found = HashMap::new();
        let mut unknown = Vec::new();
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for id in wanted {
                match known.get(&id) {
                    Some(folder) => drop(found.insert(id, Arc::clone(folder))),
                    None => unknown.push(id),
                }
            }
        }
        let read = objects.read(&unknown, MAX_TREE).await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, object) in unknown.into_iter().zip(read) {
            let GitObject::Whole(bytes) = object else {
                return Err(damaged(&id));
            };
            let folder = Arc::new(parse(&bytes, self.n_id_bytes));
            known.insert(id.clone(), Arc::clone(&folder));
            found.insert(id, folder);
        }
        Ok(found)
    }
}

fn damaged(id: &ObjectId) -> GitError {
    let message = format!("unable to read {}", id.as_str());
    GitError::Failed { command: "cat-file".to_owned(), message }
}

/// A path during the lookup.
struct TreeWalk<'a> {
    at: Option<GitEntry>,
    rest: Option<&'a [u8]>,
}

impl TreeWalk<'_> {
    fn goes_on(&self) -> bool {
        self.at.is_some() && self.rest.is_some()
    }

    fn folder(&self) -> Option<&ObjectId> {
        self.at.as_ref().filter(|entry| entry.kind == GitEntryKind::Folder).map(|entry| &entry.id)
    }

    fn step(&mut self, folders: &HashMap<ObjectId, TreeEntries>) {
        let rest = self.rest.take().unwrap_or_default();
        let name = match rest.iter().position(|byte| *byte == b'/') {
            Some(end) => {
                self.rest = Some(&rest[end + 1..]);
                &rest[..end]
            }
            None => rest,
        };
        let folder = self.folder().and_then(|id| folders.get(id));
        self.at = folder.and_then(|folder| folder.get(name)).cloned();
    }
}

/// `MODE SPACE NAME NUL ID`, repeated.
fn parse(bytes: &[u8], n_id_bytes: usize) -> HashMap<Vec<u8>, GitEntry> {
    let mut entries = HashMap::new();
    let mut rest = bytes;
    while let Some((name, entry)) = take_entry(&mut rest, n_id_bytes) {
        entries.insert(name, entry);
    }
    entries
}

fn take_entry(rest: &mut &[u8], n_id_bytes: usize) -> Option<(Vec<u8>, GitEntry)> {
    let space = rest.iter().position(|byte| *byte == b' ')?;
    let (mode, after) = (&rest[..space], &rest[space + 1..]);
    let end = after.iter().position(|byte| *byte == 0)?;
    let (name, after) = (&after[..end], &after[end + 1..]);
    let (id, after) = after.split_at_checked(n_id_bytes)?;
    *rest = after;
    Some((
        name.to_vec(),
        GitEntry { kind: GitEntryKind::of_mode(mode), id: ObjectId::from_raw(id) },
    ))
}
