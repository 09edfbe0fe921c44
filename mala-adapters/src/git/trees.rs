//! The entries of a commit, found folder by folder. Only the folders on the way are read, whatever the
//! size of the repository, and no path is ever spelled out to git.

use super::objects::{Object, Objects};
use super::{Git, GitError, ObjectId};
use mala_domain::change::FilePath;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// A folder with more entries than this is damaged or a trap: about a million names.
const MAX_TREE: u64 = 64 << 20;

/// An entry of a tree or of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) id: ObjectId,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Link,
    Folder,
    Submodule,
}

impl Kind {
    pub(super) fn of_mode(mode: &[u8]) -> Self {
        match mode {
            b"120000" => Self::Link,
            b"160000" => Self::Submodule,
            b"40000" | b"040000" => Self::Folder,
            _ => Self::File,
        }
    }
}

type Folder = Arc<HashMap<Vec<u8>, Entry>>;

/// One tree, read as far as somebody asked.
pub(super) struct Trees {
    /// A commit or a tree.
    start: ObjectId,
    root: OnceCell<ObjectId>,
    n_id_bytes: usize,
    known: Mutex<HashMap<ObjectId, Folder>>,
}

impl Trees {
    pub(super) fn new(git: &Git, start: ObjectId) -> Self {
        let (root, known) = (OnceCell::new(), Mutex::new(HashMap::new()));
        Self { start, root, n_id_bytes: git.inner.hash.n_bytes(), known }
    }

    /// The tree that everything is in. A commit says in its first line which one it is.
    async fn root(&self, objects: &Objects) -> Result<&ObjectId, GitError> {
        let find = || async {
            let read = objects.read(std::slice::from_ref(&self.start), MAX_TREE).await?;
            let Some(Object::Whole(bytes)) = read.first() else {
                return Err(damaged(&self.start));
            };
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let named = line.strip_prefix(b"tree ").and_then(ObjectId::parse);
            Ok(named.unwrap_or_else(|| self.start.clone()))
        };
        self.root.get_or_try_init(find).await
    }

    /// What these paths are, in the same order.
    pub(super) async fn entries(
        &self,
        objects: &Objects,
        paths: &[FilePath],
    ) -> Result<Vec<Option<Entry>>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let root = Entry { kind: Kind::Folder, id: self.root(objects).await?.clone() };
        let mut walks: Vec<_> = paths
            .iter()
            .map(|path| Walk { at: Some(root.clone()), rest: Some(path.as_bytes()) })
            .collect();
        while walks.iter().any(Walk::goes_on) {
            let wanted = walks.iter().filter(|walk| walk.goes_on()).filter_map(Walk::folder);
            let wanted: HashSet<_> = wanted.cloned().collect();
            let folders = self.folders(objects, wanted).await?;
            for walk in walks.iter_mut().filter(|walk| walk.goes_on()) {
                walk.step(&folders);
            }
        }
        Ok(walks.into_iter().map(|walk| walk.at).collect())
    }

    /// What a path is; the empty one is the root.
    pub(super) async fn entry(
        &self,
        objects: &Objects,
        path: &FilePath,
    ) -> Result<Option<Entry>, GitError> {
        if path.as_bytes().is_empty() {
            let id = self.root(objects).await?.clone();
            return Ok(Some(Entry { kind: Kind::Folder, id }));
        }
        Ok(self.entries(objects, std::slice::from_ref(path)).await?.pop().flatten())
    }

    /// The names of the files directly in a folder; none when it is no folder.
    pub(super) async fn files_in(
        &self,
        objects: &Objects,
        folder: &FilePath,
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let id = match self.entry(objects, folder).await? {
            Some(Entry { kind: Kind::Folder, id }) => id,
            _ => return Ok(Vec::new()),
        };
        let folders = self.folders(objects, HashSet::from([id])).await?;
        let entries = folders.values().flat_map(|folder| folder.iter());
        let is_file = |entry: &Entry| matches!(entry.kind, Kind::File | Kind::Link);
        Ok(entries.filter(|(_, entry)| is_file(entry)).map(|(name, _)| name.clone()).collect())
    }

    async fn folders(
        &self,
        objects: &Objects,
        wanted: HashSet<ObjectId>,
    ) -> Result<HashMap<ObjectId, Folder>, GitError> {
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
            let Object::Whole(bytes) = object else {
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
    let complaint = format!("unable to read {}", id.as_str());
    GitError::Failed { command: "cat-file".to_owned(), complaint }
}

/// A path on its way down.
struct Walk<'a> {
    at: Option<Entry>,
    rest: Option<&'a [u8]>,
}

impl Walk<'_> {
    fn goes_on(&self) -> bool {
        self.at.is_some() && self.rest.is_some()
    }

    fn folder(&self) -> Option<&ObjectId> {
        self.at.as_ref().filter(|entry| entry.kind == Kind::Folder).map(|entry| &entry.id)
    }

    fn step(&mut self, folders: &HashMap<ObjectId, Folder>) {
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

/// `MODE SPACE NAME NUL ID`, over and over.
fn parse(bytes: &[u8], n_id_bytes: usize) -> HashMap<Vec<u8>, Entry> {
    let mut entries = HashMap::new();
    let mut rest = bytes;
    while let Some((name, entry)) = take_entry(&mut rest, n_id_bytes) {
        entries.insert(name, entry);
    }
    entries
}

fn take_entry(rest: &mut &[u8], n_id_bytes: usize) -> Option<(Vec<u8>, Entry)> {
    let space = rest.iter().position(|byte| *byte == b' ')?;
    let (mode, after) = (&rest[..space], &rest[space + 1..]);
    let end = after.iter().position(|byte| *byte == 0)?;
    let (name, after) = (&after[..end], &after[end + 1..]);
    let (id, after) = after.split_at_checked(n_id_bytes)?;
    *rest = after;
    Some((name.to_vec(), Entry { kind: Kind::of_mode(mode), id: ObjectId::from_raw(id) }))
}
