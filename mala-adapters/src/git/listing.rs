//! All paths of a state of the tree. A commit's are found by its trees; the index and the work tree
//! are listed once, and no path is spelled out to git: it fails on those behind links and submodules.

use super::call::Call;
use super::tree::{GitTree, State, unreadable};
use super::trees::{Entry, Kind};
use super::{Git, GitError, ObjectId, files};
use mala_domain::change::{EntryKind, FilePath};
use mala_domain::ports::{
    BoxFuture, FoundLines, RepositoryError, Search, Side, TextQuery, TreeEntry,
};
use rustix::fs::FileType;

impl GitTree {
    async fn entries_below(
        &self,
        side: Side,
        below: &FilePath,
    ) -> Result<Vec<TreeEntry>, GitError> {
        let place = self.place(side);
        if let Some(trees) = &place.trees {
            return match trees.entry(&self.objects, below).await? {
                Some(Entry { kind: Kind::Folder, id }) => self.git.list_tree(&id, below).await,
                Some(Entry { kind, .. }) => Ok(entry(kind, below.clone()).into_iter().collect()),
                None => Ok(Vec::new()),
            };
        }
        let is_work_tree = matches!(place.state, State::WorkTree);
        let list = || async {
            if is_work_tree {
                self.git.list_work_tree().await
            } else {
                self.git.whole_index().await
            }
        };
        let all = place.listed.get_or_try_init(list).await?;
        let inside: Vec<_> = all.iter().filter(|entry| below.holds(&entry.path)).cloned().collect();
        if is_work_tree { self.as_on_disk(inside) } else { Ok(inside) }
    }

    /// What these are on disk, where the index may say something else or be of yesterday.
    fn as_on_disk(&self, entries: Vec<TreeEntry>) -> Result<Vec<TreeEntry>, GitError> {
        let paths: Vec<_> = entries.into_iter().map(|entry| entry.path).collect();
        let types = self.on_disk(&paths, files::file_type)?;
        let found = paths.into_iter().zip(types).filter_map(|(path, file_type)| {
            let kind = match file_type? {
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Symlink,
                FileType::Directory => EntryKind::Submodule,
                _ => return None,
            };
            Some(TreeEntry { path, kind })
        });
        Ok(found.collect())
    }

    pub(super) async fn texts(&self, query: &TextQuery) -> Result<FoundLines, GitError> {
        let mut found = self.git.grep_texts(&self.haystack(), query).await?;
        self.keep_inside(&mut found.lines)?;
        Ok(found)
    }
}

impl Search for GitTree {
    fn entries<'a>(
        &'a self,
        side: Side,
        below: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<TreeEntry>, RepositoryError>> {
        Box::pin(async move { self.entries_below(side, below).await.map_err(unreadable) })
    }

    fn find_texts<'a>(
        &'a self,
        query: &'a TextQuery,
    ) -> BoxFuture<'a, Result<FoundLines, RepositoryError>> {
        Box::pin(async move { self.texts(query).await.map_err(unreadable) })
    }
}

impl Git {
    /// Everything in a tree, as seen from the root above it.
    async fn list_tree(
        &self,
        tree: &ObjectId,
        folder: &FilePath,
    ) -> Result<Vec<TreeEntry>, GitError> {
        let call = Call::new(["ls-tree", "-r", "-z", "--full-tree", tree.as_str()]);
        let listed = self.output(&call).await?;
        let prefix = match folder.as_bytes() {
            b"" => Vec::new(),
            folder => [folder, b"/"].concat(),
        };
        Ok(entries_of(&listed, &prefix))
    }

    async fn whole_index(&self) -> Result<Vec<TreeEntry>, GitError> {
        let call = Call::new(["ls-files", "--stage", "--full-name", "-z"]);
        Ok(entries_of(&self.output(&call).await?, b""))
    }

    async fn list_work_tree(&self) -> Result<Vec<TreeEntry>, GitError> {
        let mut entries = self.whole_index().await?;
        let untracked = self.untracked().await?;
        let as_entry = |kind| move |path| TreeEntry { path, kind };
        entries.extend(untracked.files.into_iter().map(as_entry(EntryKind::File)));
        entries.extend(untracked.repositories.into_iter().map(as_entry(EntryKind::Submodule)));
        entries.sort();
        Ok(entries)
    }
}

/// `MODE SPACE ... TAB PATH NUL`, over and over; a path in several versions counts once.
fn entries_of(listed: &[u8], prefix: &[u8]) -> Vec<TreeEntry> {
    let lines = listed.split(|byte| *byte == 0).filter_map(|line| {
        let space = line.iter().position(|byte| *byte == b' ')?;
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let path = FilePath::from_bytes([prefix, &line[tab + 1..]].concat());
        entry(Kind::of_mode(&line[..space]), path)
    });
    let mut entries: Vec<_> = lines.collect();
    entries.sort();
    entries.dedup_by(|a, b| a.path == b.path);
    entries
}

fn entry(kind: Kind, path: FilePath) -> Option<TreeEntry> {
    let kind = match kind {
        Kind::File => EntryKind::File,
        Kind::Link => EntryKind::Symlink,
        Kind::Submodule => EntryKind::Submodule,
        Kind::Folder => return None,
    };
    Some(TreeEntry { path, kind })
}
