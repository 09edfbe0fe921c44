//! Resolves a review target to a change and to the two states of the tree.

use super::diff::DiffSides;
use super::filter::{PathFilter, holds};
use super::index::IndexCopy;
use super::tree::{ContentSource, FileContent, GitTree, TreeState};
use super::{Git, GitError, GitScopeError, ObjectId};
use mala_domain::change::{Change, ChangedFile, EntryKind, FileClass, FilePath, FileStatus, parse};
use mala_domain::ports::{self, BoxFuture, ChangeSource, Repository, ReviewScope, Side};
use mala_domain::scope::{HeadState, ReviewTarget, ScopeSummary};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A scope before its files are known.
pub(super) struct ScopeDraft {
    pub(super) target: String,
    pub(super) base: Option<ObjectId>,
    pub(super) head: HeadState,
    pub(super) hash: Sha256,
}

/// The two commits of a change.
struct CommitRange<'e> {
    target: String,
    base: Option<ObjectId>,
    head: ObjectId,
    dirty: &'e [FilePath],
}

impl Git {
    /// The change of a target, limited to some paths (files, folders, globs, from the folder where
    /// the repository was opened).
    pub async fn change(
        &self,
        target: &ReviewTarget,
        paths: &[String],
    ) -> Result<ReviewScope, GitScopeError> {
        let filter = PathFilter::read(self, paths)?;
        match target {
            ReviewTarget::WorkingTree
            | ReviewTarget::WorkingTreeSince(_)
            | ReviewTarget::Staged
                if self.inner.is_bare =>
            {
                Err(GitError::Bare { dir: self.inner.dir.clone() }.into())
            }
            ReviewTarget::WorkingTree => {
                let base = self.head().await?;
                let target = "the working tree against HEAD".to_owned();
                self.scope_work_tree(target, base, &filter).await
            }
            ReviewTarget::WorkingTreeSince(commit) => {
                let base = self.since_merge_base(commit, "HEAD").await?.0;
                let target = format!("the working tree since {commit}");
                self.scope_work_tree(target, Some(base), &filter).await
            }
            ReviewTarget::Staged => self.scope_index(&filter).await,
            ReviewTarget::Range { base, head } => {
                let target = format!("{base}..{head}");
                let (base, head) = match *base == self.empty_tree().0 {
                    true => (None, self.commit(head).await?),
                    false => {
                        let (base, head) = self.both_commits(base, head).await?;
                        (Some(base), head)
                    }
                };
                self.scope_commit(target, base, head, &filter).await
            }
            ReviewTarget::SinceMergeBase { base, head } => {
                let target = format!("{base}...{head}");
                let (meeting, head) = self.since_merge_base(base, head).await?;
                self.scope_commit(target, Some(meeting), head, &filter).await
            }
            ReviewTarget::Commits(commits) => self.scope_commits(commits, &filter).await,
            ReviewTarget::Patch(bytes) => self.scope_patch(bytes, &filter).await,
        }
    }

    /// The ids of the two commits that a target is between; `None` if it is not between two commits.
    pub async fn commit_range(
        &self,
        target: &ReviewTarget,
    ) -> Result<Option<(String, String)>, GitScopeError> {
        let (base, head) = match target {
            ReviewTarget::Range { base, head } => self.both_commits(base, head).await?,
            ReviewTarget::SinceMergeBase { base, head } => {
                self.since_merge_base(base, head).await?
            }
            _ => return Ok(None),
        };
        Ok(Some((base.0, head.0)))
    }

    async fn both_commits(
        &self,
        base: &str,
        head: &str,
    ) -> Result<(ObjectId, ObjectId), GitScopeError> {
        let (base, head) = tokio::join!(self.commit(base), self.commit(head));
        Ok((base?, head?))
    }

    /// The merge base of two revisions, and the second one.
    async fn since_merge_base(
        &self,
        base: &str,
        head: &str,
    ) -> Result<(ObjectId, ObjectId), GitScopeError> {
        let ids = self.both_commits(base, head).await?;
        match self.merge_base(&ids.0, &ids.1).await? {
            Some(meeting) => Ok((meeting, ids.1)),
            None => {
                let (base, head) = (base.to_owned(), head.to_owned());
                let is_shallow = self.inner.is_shallow;
                Err(GitScopeError::NoMergeBase { base, head, is_shallow })
            }
        }
    }

    /// The committed content of a file at a revision; `None` if there is none.
    pub async fn committed(
        &self,
        revision: &str,
        path: &FilePath,
    ) -> Result<Option<Vec<u8>>, GitScopeError> {
        let commit = TreeState::Commit(self.commit(revision).await?);
        let tree = GitTree::new(self, commit.clone(), commit);
        let contents = tree.contents(Side::Base, std::slice::from_ref(path)).await?;
        Ok(contents.into_iter().next().and_then(FileContent::into_bytes))
    }

    async fn scope_work_tree(
        &self,
        target: String,
        base: Option<ObjectId>,
        filter: &PathFilter,
    ) -> Result<ReviewScope, GitScopeError> {
        let git = self.with_attributes_of(&self.tree_of(base.as_ref()))?;
        let untracked = git.untracked().await?;
        let index = match untracked.files.as_slice() {
            [] => None,
            files => Some(git.index_with(files).await?),
        };
        let sides =
            DiffSides::WorkTree(self.tree_of(base.as_ref()), index.as_ref().map(IndexCopy::path));
        let diff = git.diff(&sides, filter).await?;
        drop(index);
        let mut files = parse(&diff)?;
        let mut hash = Sha256::new_with_prefix(&diff);
        drop(diff);
        for repository in untracked.repositories.into_iter().filter(|path| filter.includes(path)) {
            hash.update([b"untracked repository ", repository.as_bytes(), b"\n"].concat());
            files.push(entry(repository, FileStatus::Added));
        }
        for submodule in git.dirty_submodules(&files, filter).await? {
            add_dirty(&mut files, &mut hash, submodule);
        }
        let tree = GitTree::new(&git, git.state_of(base.clone()), TreeState::WorkTree);
        let draft = ScopeDraft { target, base, head: HeadState::WorkingTree, hash };
        git.finish_scope(draft, files, tree, filter).await
    }

    async fn scope_index(&self, filter: &PathFilter) -> Result<ReviewScope, GitScopeError> {
        let unmerged = self.unmerged().await?;
        if !unmerged.is_empty() {
            let paths = unmerged.iter().take(10).map(FilePath::to_string).collect();
            return Err(GitScopeError::Unmerged { paths });
        }
        let base = self.head().await?;
        let git = self.with_attributes_of(&self.tree_of(base.as_ref()))?;
        let sides = DiffSides::Index(self.tree_of(base.as_ref()));
        let diff = git.diff(&sides, filter).await?;
        let tree = GitTree::new(&git, git.state_of(base.clone()), TreeState::Index);
        let (target, hash) = ("the index against HEAD".to_owned(), Sha256::new_with_prefix(&diff));
        let draft = ScopeDraft { target, base, head: HeadState::Index, hash };
        git.finish_scope(draft, parse(&diff)?, tree, filter).await
    }

    /// The change between a commit and a snapshot of the work tree, with the submodules that were
    /// dirty.
    pub async fn snapshot_change(
        &self,
        base: &str,
        head: &str,
        dirty: &[FilePath],
    ) -> Result<ReviewScope, GitScopeError> {
        let target = format!("{base}..{head}");
        let (base, head) = match [base, head].map(|id| ObjectId::parse(id.as_bytes())) {
            [Some(base), Some(head)] => (base, head),
            _ => self.both_commits(base, head).await?,
        };
        let range = CommitRange { target, base: Some(base), head, dirty };
        self.scope_range(range, &PathFilter::default()).await
    }

    /// The change between two commits, or from nothing to a commit.
    pub(super) async fn scope_commit(
        &self,
        target: String,
        base: Option<ObjectId>,
        head: ObjectId,
        filter: &PathFilter,
    ) -> Result<ReviewScope, GitScopeError> {
        self.scope_range(CommitRange { target, base, head, dirty: &[] }, filter).await
    }

    async fn scope_range(
        &self,
        ends: CommitRange<'_>,
        filter: &PathFilter,
    ) -> Result<ReviewScope, GitScopeError> {
        let CommitRange { target, base, head, dirty } = ends;
        let git = self.with_attributes_of(&self.tree_of(base.as_ref()))?;
        let sides = DiffSides::Trees(self.tree_of(base.as_ref()), head.clone());
        let diff = git.diff(&sides, filter).await?;
        let tree = GitTree::new(&git, git.state_of(base.clone()), TreeState::Commit(head.clone()));
        let (mut files, mut hash) = (parse(&diff)?, Sha256::new_with_prefix(&diff));
        let is_new = |path: &&FilePath| !files.iter().any(|file| file.path == **path);
        let dirty: Vec<FilePath> = dirty.iter().filter(is_new).cloned().collect();
        for submodule in dirty {
            add_dirty(&mut files, &mut hash, submodule);
        }
        let draft = ScopeDraft { target, base, head: HeadState::Commit(head.0), hash };
        git.finish_scope(draft, files, tree, filter).await
    }

    async fn finish_scope(
        &self,
        mut draft: ScopeDraft,
        mut files: Vec<ChangedFile>,
        tree: GitTree,
        filter: &PathFilter,
    ) -> Result<ReviewScope, GitScopeError> {
        self.check_paths(filter, &files, &tree).await?;
        if files.is_empty() && !filter.is_everything() {
            draft.target = format!("{} in {}", draft.target, filter.written());
        }
        self.mark_natures(&tree, &mut files).await?;
        Ok(self.scoped(draft, Change { files }, Arc::new(tree)))
    }

    pub(super) fn scoped(
        &self,
        draft: ScopeDraft,
        change: Change,
        tree: Arc<dyn Repository>,
    ) -> ReviewScope {
        let scope = ScopeSummary {
            repository: self.inner.url.clone(),
            target: draft.target,
            base: draft.base.map(|id| id.0),
            head: draft.head,
            diff_hash: hex(&draft.hash.finalize()),
            files: change.files.len(),
            hunks: change.n_hunks(),
            lines: change.n_lines(),
        };
        ReviewScope { scope, change: Arc::new(change), tree, trusted: None }
    }

    /// Rejects a path or glob that exists on neither side. It is a typo, and would pass as an empty
    /// change.
    pub(super) async fn check_paths(
        &self,
        filter: &PathFilter,
        files: &[ChangedFile],
        tree: &GitTree,
    ) -> Result<(), GitScopeError> {
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
            // The index has no folders, but the disk has.
            if !self.inner.dir.join(written).is_dir() {
                let name = written.to_owned();
                return Err(match self.resolve(&format!("{written}^{{commit}}")).await? {
                    Some(_) => GitScopeError::LoneRevision { revision: name },
                    None => GitScopeError::NoSuchPath { path: name },
                });
            }
        }
        self.check_globs(filter, files, tree).await
    }

    async fn check_globs(
        &self,
        filter: &PathFilter,
        files: &[ChangedFile],
        tree: &GitTree,
    ) -> Result<(), GitScopeError> {
        let mut all = Vec::new();
        let changed = files.iter().flat_map(|file| [&file.path, file.base_path()]);
        if filter.unmatched_globs(changed.clone()).is_empty() {
            return Ok(());
        }
        for side in [Side::Head, Side::Base] {
            all.extend(tree.entries_below(side, &FilePath::from("")).await?);
        }
        let unknown = filter.unmatched_globs(all.iter().map(|entry| &entry.path).chain(changed));
        match unknown.into_iter().next() {
            Some(glob) => Err(GitScopeError::NoMatch { glob: glob.to_owned() }),
            None => Ok(()),
        }
    }

    pub(super) fn tree_of(&self, commit: Option<&ObjectId>) -> ObjectId {
        commit.cloned().unwrap_or_else(|| self.empty_tree())
    }

    pub(super) fn state_of(&self, commit: Option<ObjectId>) -> TreeState {
        TreeState::Commit(commit.unwrap_or_else(|| self.empty_tree()))
    }
}

impl ChangeSource for Git {
    fn scope<'a>(
        &'a self,
        target: &'a ReviewTarget,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<ReviewScope, ports::ScopeError>> {
        Box::pin(async move { Ok(self.change(target, paths).await?) })
    }
}

/// Adds a dirty submodule to a change.
fn add_dirty(files: &mut Vec<ChangedFile>, hash: &mut Sha256, submodule: FilePath) {
    hash.update([b"dirty submodule ", submodule.as_bytes(), b"\n"].concat());
    files.push(entry(submodule, FileStatus::Modified));
}

/// A nested repository, whose content is not reviewed: an untracked one, or a dirty submodule.
fn entry(path: FilePath, status: FileStatus) -> ChangedFile {
    ChangedFile {
        path,
        old_path: None,
        status,
        kind: EntryKind::Submodule,
        mode_change: None,
        class: FileClass::Source,
        script: None,
        hunks: Vec::new(),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
