//! From what a person asks for to the change, and to the two states of the tree that it leads between.

use super::diff::Sides;
use super::filter::{Filter, holds};
use super::tree::{Content, Contents, GitTree, State};
use super::working_tree::IndexCopy;
use super::{Git, GitError, ObjectId, ScopeError};
use mala_domain::change::{Change, ChangedFile, EntryKind, FilePath, FileStatus, Nature, parse};
use mala_domain::ports::{self, BoxFuture, ChangeSource, Repository, ReviewScope, Side};
use mala_domain::scope::{Head, Scope, Target};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// What a scope says of itself before its files are known.
pub(super) struct Draft {
    pub(super) target: String,
    pub(super) base: Option<ObjectId>,
    pub(super) head: Head,
    pub(super) hash: Sha256,
}

/// The commits that a change is between.
struct Ends<'e> {
    target: String,
    base: Option<ObjectId>,
    head: ObjectId,
    dirty: &'e [FilePath],
}

impl Git {
    /// The change that a target names, kept to some paths (files, folders, globs, from the folder
    /// where the repository was opened).
    pub async fn change(
        &self,
        target: &Target,
        paths: &[String],
    ) -> Result<ReviewScope, ScopeError> {
        let filter = Filter::read(self, paths)?;
        match target {
            Target::WorkingTree | Target::Staged if self.inner.is_bare => {
                Err(GitError::Bare { dir: self.inner.dir.clone() }.into())
            }
            Target::WorkingTree => self.scope_work_tree(&filter).await,
            Target::Staged => self.scope_index(&filter).await,
            Target::Range { base, head } => {
                let target = format!("{base}..{head}");
                let (base, head) = (self.commit(base).await?, self.commit(head).await?);
                self.scope_commit(target, Some(base), head, &filter).await
            }
            Target::SinceMergeBase { base, head } => {
                let target = format!("{base}...{head}");
                let ids = (self.commit(base).await?, self.commit(head).await?);
                let Some(meeting) = self.merge_base(&ids.0, &ids.1).await? else {
                    let (base, head, is_shallow) =
                        (base.clone(), head.clone(), self.inner.is_shallow);
                    return Err(ScopeError::NoMergeBase { base, head, is_shallow });
                };
                self.scope_commit(target, Some(meeting), ids.1, &filter).await
            }
            Target::Commits(commits) => self.scope_commits(commits, &filter).await,
            Target::Patch(bytes) => self.scope_patch(bytes, &filter).await,
        }
    }

    /// The content of a file as it is committed at a revision; `None` when there is none.
    pub async fn committed(
        &self,
        revision: &str,
        path: &FilePath,
    ) -> Result<Option<Vec<u8>>, ScopeError> {
        let commit = State::Commit(self.commit(revision).await?);
        let tree = GitTree::new(self, commit.clone(), commit);
        let contents = tree.contents(Side::Base, std::slice::from_ref(path)).await?;
        Ok(contents.into_iter().next().and_then(Content::into_bytes))
    }

    async fn scope_work_tree(&self, filter: &Filter) -> Result<ReviewScope, ScopeError> {
        let base = self.head().await?;
        let git = self.with_attributes_of(&self.tree_of(base.as_ref()));
        let untracked = git.untracked().await?;
        let index = match untracked.files.as_slice() {
            [] => None,
            files => Some(git.index_with(files).await?),
        };
        let sides =
            Sides::WorkTree(self.tree_of(base.as_ref()), index.as_ref().map(IndexCopy::path));
        let diff = git.diff(&sides, filter).await?;
        drop(index);
        let mut files = parse(&diff)?;
        let mut hash = Sha256::new_with_prefix(&diff);
        drop(diff);
        for repository in untracked.repositories.into_iter().filter(|path| filter.keeps(path)) {
            hash.update([b"untracked repository ", repository.as_bytes(), b"\n"].concat());
            files.push(entry(repository, FileStatus::Added));
        }
        for submodule in git.dirty_submodules(&files, filter).await? {
            add_dirty(&mut files, &mut hash, submodule);
        }
        let tree = GitTree::new(&git, git.state_of(base.clone()), State::WorkTree);
        let target = "the working tree against HEAD".to_owned();
        let draft = Draft { target, base, head: Head::WorkingTree, hash };
        git.conclude(draft, files, tree, filter).await
    }

    async fn scope_index(&self, filter: &Filter) -> Result<ReviewScope, ScopeError> {
        let unmerged = self.unmerged().await?;
        if !unmerged.is_empty() {
            let paths = unmerged.iter().take(10).map(FilePath::to_string).collect();
            return Err(ScopeError::Unmerged { paths });
        }
        let base = self.head().await?;
        let git = self.with_attributes_of(&self.tree_of(base.as_ref()));
        let sides = Sides::Index(self.tree_of(base.as_ref()));
        let diff = git.diff(&sides, filter).await?;
        let tree = GitTree::new(&git, git.state_of(base.clone()), State::Index);
        let (target, hash) = ("the index against HEAD".to_owned(), Sha256::new_with_prefix(&diff));
        let draft = Draft { target, base, head: Head::Index, hash };
        git.conclude(draft, parse(&diff)?, tree, filter).await
    }

    /// What differs between two commits, of which the later one is a work tree that was kept, and the
    /// submodules that were dirty there.
    pub async fn kept_change(
        &self,
        base: &str,
        head: &str,
        dirty: &[FilePath],
    ) -> Result<ReviewScope, ScopeError> {
        let target = format!("{base}..{head}");
        let (base, head) = (Some(self.commit(base).await?), self.commit(head).await?);
        self.scope_ends(Ends { target, base, head, dirty }, &Filter::default()).await
    }

    /// A commit against another, or against nothing.
    pub(super) async fn scope_commit(
        &self,
        target: String,
        base: Option<ObjectId>,
        head: ObjectId,
        filter: &Filter,
    ) -> Result<ReviewScope, ScopeError> {
        self.scope_ends(Ends { target, base, head, dirty: &[] }, filter).await
    }

    async fn scope_ends(&self, ends: Ends<'_>, filter: &Filter) -> Result<ReviewScope, ScopeError> {
        let Ends { target, base, head, dirty } = ends;
        let git = self.with_attributes_of(&self.tree_of(base.as_ref()));
        let sides = Sides::Trees(self.tree_of(base.as_ref()), head.clone());
        let diff = git.diff(&sides, filter).await?;
        let tree = GitTree::new(&git, git.state_of(base.clone()), State::Commit(head.clone()));
        let (mut files, mut hash) = (parse(&diff)?, Sha256::new_with_prefix(&diff));
        let is_new = |path: &&FilePath| !files.iter().any(|file| file.path == **path);
        let dirty: Vec<FilePath> = dirty.iter().filter(is_new).cloned().collect();
        for submodule in dirty {
            add_dirty(&mut files, &mut hash, submodule);
        }
        let draft = Draft { target, base, head: Head::Commit(head.0), hash };
        git.conclude(draft, files, tree, filter).await
    }

    async fn conclude(
        &self,
        draft: Draft,
        mut files: Vec<ChangedFile>,
        tree: GitTree,
        filter: &Filter,
    ) -> Result<ReviewScope, ScopeError> {
        self.check_paths(filter, &files, &tree).await?;
        self.mark_natures(&tree, &mut files).await?;
        Ok(self.scoped(draft, Change { files }, Arc::new(tree)))
    }

    pub(super) fn scoped(
        &self,
        draft: Draft,
        change: Change,
        tree: Arc<dyn Repository>,
    ) -> ReviewScope {
        let scope = Scope {
            repository: self.inner.url.clone(),
            target: draft.target,
            base: draft.base.map(|id| id.0),
            head: draft.head,
            diff_hash: hex(&draft.hash.finalize()),
            files: change.files.len(),
            hunks: change.n_hunks(),
            lines: change.n_lines(),
        };
        ReviewScope { scope, change: Arc::new(change), tree }
    }

    /// A plain path that nothing bears, before or after, is a slip of the pen: without an error it
    /// would pass as an empty change.
    pub(super) async fn check_paths(
        &self,
        filter: &Filter,
        files: &[ChangedFile],
        tree: &GitTree,
    ) -> Result<(), ScopeError> {
        for (written, path) in filter.plain() {
            let is_changed =
                |file: &ChangedFile| holds(path, &file.path) || holds(path, file.base_path());
            let path = [FilePath::from_bytes(path)];
            if files.iter().any(is_changed)
                || tree.kinds(Side::Head, &path).await?.iter().any(Option::is_some)
                || tree.kinds(Side::Base, &path).await?.iter().any(Option::is_some)
            {
                continue;
            }
            // The index knows no folders; on disk they are.
            if !self.inner.dir.join(written).is_dir() {
                return Err(ScopeError::NoSuchPath { path: written.to_owned() });
            }
        }
        Ok(())
    }

    pub(super) fn tree_of(&self, commit: Option<&ObjectId>) -> ObjectId {
        commit.cloned().unwrap_or_else(|| self.empty_tree())
    }

    pub(super) fn state_of(&self, commit: Option<ObjectId>) -> State {
        State::Commit(commit.unwrap_or_else(|| self.empty_tree()))
    }
}

impl ChangeSource for Git {
    fn scope<'a>(
        &'a self,
        target: &'a Target,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<ReviewScope, ports::ScopeError>> {
        Box::pin(async move { Ok(self.change(target, paths).await?) })
    }
}

/// Puts a submodule with changes of its own into a change.
fn add_dirty(files: &mut Vec<ChangedFile>, hash: &mut Sha256, submodule: FilePath) {
    hash.update([b"dirty submodule ", submodule.as_bytes(), b"\n"].concat());
    files.push(entry(submodule, FileStatus::Modified));
}

/// A repository inside of this one, which is not looked into: one that nobody added, or one with
/// changes of its own.
fn entry(path: FilePath, status: FileStatus) -> ChangedFile {
    ChangedFile {
        path,
        old_path: None,
        status,
        kind: EntryKind::Submodule,
        mode_change: None,
        nature: Nature::Source,
        script: None,
        hunks: Vec::new(),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
