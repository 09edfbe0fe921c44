//! All paths of a state of the tree. Paths of a commit come from its trees. The index and the work
//! tree are listed once as a whole, because git fails on paths behind links and submodules.

use super::call::GitCall;
use super::tree::{GitTree, TreeState, repository_error};
use super::trees::{GitEntry, GitEntryKind};
use super::{Git, GitError, ObjectId, files};
use mala_domain::change::{EntryKind, FilePath};
use mala_domain::ports::{
    BoxFuture, FoundLines, RepositoryError, Search, Side, TextQuery, TreeEntry,
};
use rustix::fs::FileType;

impl GitTree {
    pub(super) async fn entries_below(
        &self,
        side: Side,
        below: &FilePath,
    ) -> Result<Vec<TreeEntry>, GitError> {
        let place = self.place(side);
        if let Some(trees) = &place.trees {
            return match trees.entry(&self.objects, below).await? {
                Some(GitEntry { kind: GitEntryKind::Folder, id }) => {
                    self.git.list_tree(&id, below).await
                }
                Some(GitEntry { kind, .. }) => Ok(entry(kind, below.clone()).into_iter().collect()),
                None => Ok(Vec::new()),
            };
        }
        let is_work_tree = matches!(place.state, TreeState::WorkTree);
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

    /// The types of these paths on disk, where the index may be out of date.
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
        let mut found = self.git.grep_texts(&self.grep_target(), query).await?;
        self.drop_linked(&mut found.lines)?;
        Ok(found)
    }
}

impl Search for GitTree {
    fn entries<'a>(
        &'a self,
        side: Side,
        below: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<TreeEntry>, RepositoryError>> {
        Box::pin(async move { self.entries_below(side, below).await.map_err(repository_error) })
    }

    fn find_texts<'a>(
        &'a self,
        query: &'a TextQuery,
    ) -> BoxFuture<'a, Result<FoundLines, RepositoryError>> {
        Box::pin(async move { self.texts(query).await.map_err(repository_error) })
    }
}

impl Git {
    /// All entries of a tree, with paths from the root.
    async fn list_tree(
        &self,
        tree: &ObjectId,
        folder: &FilePath,
    ) -> Result<Vec<TreeEntry>, GitError> {
        let call = GitCall::new(["ls-tree", "-r", "-z", "--full-tree", tree.as_str()]);
        let listed = self.output(&call).await?;
        let prefix = match folder.as_bytes() {
            b"" => Vec::new(),
            folder => [folder, b"/"].concat(),
        };
        Ok(entries_of(&listed, &prefix))
    }

    async fn whole_index(&self) -> Result<Vec<TreeEntry>, GitError> {
        let call = GitCall::new(["ls-files", "--stage", "--full-name", "-z"]);
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

/// `MODE SPACE ... TAB PATH NUL`, repeated. A path with several versions counts once.
fn entries_of(listed: &[u8], prefix: &[u8]) -> Vec<TreeEntry> {
    let lines = listed.split(|byte| *byte == 0).filter_map(|line| {
        let space = line.iter().position(|byte| *byte == b' ')?;
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let path = FilePath::from_bytes([prefix, &line[tab + 1..]].concat());
        entry(GitEntryKind::of_mode(&line[..space]), path)
    });
    let mut entries: Vec<_> = lines.collect();
    entries.sort();
    entries.dedup_by(|a, b| a.path == b.path);
    entries
}

fn entry(kind: GitEntryKind, path: FilePath) -> Option<TreeEntry> {
    let kind = match kind {
        GitEntryKind::File => EntryKind::File,
        GitEntryKind::Link => EntryKind::Symlink,
        GitEntryKind::Submodule => EntryKind::Submodule,
        GitEntryKind::Folder => return None,
    };
    Some(TreeEntry { path, kind })
}
