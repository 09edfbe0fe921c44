//! A selection of commits. Consecutive commits are a range. For others, the diff from before the
//! first to the last state is limited to the lines that `git blame` attributes to the selected
//! commits, so that line numbers match the last state.

use super::call::GitCall;
use super::diff::DiffSides;
use super::filter::PathFilter;
use super::overlay::Overlay;
use super::scope::ScopeDraft;
use super::tree::{ContentSource, FileContent, GitTree, TreeState};
use super::{Git, GitError, GitScopeError, ObjectId};
use mala_domain::change::{Change, FileDiff, FilePath, FileStatus, LineKind, read};
use mala_domain::ports::{ReviewScope, Side};
use mala_domain::scope::HeadState;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A commit and its parents.
struct PickedCommit {
    id: ObjectId,
    parents: Vec<ObjectId>,
}

impl Git {
    pub(super) async fn scope_commits(
        &self,
        revisions: &[String],
        filter: &PathFilter,
    ) -> Result<ReviewScope, GitScopeError> {
        let target = match revisions {
            [] => return Err(GitScopeError::NoCommits),
            [one] => format!("commit {one}"),
            several => format!("commits {}", several.join(" ")),
        };
        let mut ids = Vec::new();
        for revision in revisions {
            let id = self.commit(revision).await?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let picked = self.with_parents(&ids).await?;
        for commit in picked.iter().filter(|commit| commit.parents.is_empty()) {
            // A root commit has no parent. A commit at the edge of a shallow clone has lost it.
            self.first_parent(&commit.id).await?;
        }
        if let Some((oldest, newest)) = chain(&picked) {
            let (base, head) = (oldest.parents.first().cloned(), newest.id.clone());
            return self.scope_commit(target, base, head, filter).await;
        }
        self.scope_separate_commits(target, revisions, &picked, filter).await
    }

    async fn with_parents(&self, ids: &[ObjectId]) -> Result<Vec<PickedCommit>, GitError> {
        let call = GitCall::new(["rev-list", "--no-walk=unsorted", "--parents"]).args(ids);
        let listed = self.output(&call).await?;
        let lines = listed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let picked: Option<Vec<_>> = lines
            .map(|line| {
                let mut ids = line.split(|byte| *byte == b' ').map(ObjectId::parse);
                Some(PickedCommit { id: ids.next()??, parents: ids.collect::<Option<_>>()? })
            })
            .collect();
        picked.ok_or_else(|| call.unexpected())
    }

    async fn scope_separate_commits(
        &self,
        target: String,
        revisions: &[String],
        picked: &[PickedCommit],
        filter: &PathFilter,
    ) -> Result<ReviewScope, GitScopeError> {
        let Some(tip) = self.tip(picked).await? else {
            return Err(GitScopeError::NoCommonTip { commits: revisions.to_vec() });
        };
        let base = self.common_base(picked).await?;
        let git = self.with_attributes_of(&self.tree_of(base.as_ref()))?;
        let picked_changes = git.picked_changes(picked).await?;
        let sides = DiffSides::Trees(git.tree_of(base.as_ref()), tip.clone());
        let diff = git.diff(&sides, filter).await?;
        let mut kept = Vec::new();
        for file in read(&diff)? {
            let lines = git.lines_of(&picked_changes, base.as_ref(), &tip, &file).await?;
            kept.extend(picked_changes.part_of(&file, &lines));
        }
        let (tree, state) = (TreeState::Commit(tip.clone()), TreeState::Commit(tip.clone()));
        let tree = GitTree::new(&git, tree, state);
        let mut hash = Sha256::new();
        kept.iter().for_each(|file| hash.update(file.print()));
        let mut files: Vec<_> = kept.iter().cloned().map(FileDiff::into_changed_file).collect();
        git.check_paths(filter, &files, &tree).await?;
        let ids = picked.iter().map(|commit| commit.id.clone()).collect();
        let overlay = without_picked_lines(tree, &kept).await?.of_commits(ids);
        git.mark_natures(&overlay, &mut files).await?;
        let draft = ScopeDraft { target, base, head: HeadState::Commit(tip.0), hash };
        Ok(git.scoped(draft, Change { files }, Arc::new(overlay)))
    }

    /// The commit that contains all the others: one of them, or HEAD.
    async fn tip(&self, picked: &[PickedCommit]) -> Result<Option<ObjectId>, GitError> {
        let ids = picked.iter().map(|commit| &commit.id);
        let call = GitCall::new(["merge-base", "--independent"]).args(ids);
        let listed = self.output(&call).await?;
        let lines = listed.split(|byte| *byte == b'\n');
        let tips: Vec<_> = lines.filter_map(ObjectId::parse).collect();
        if let [tip] = tips.as_slice() {
            return Ok(Some(tip.clone()));
        }
        let Some(head) = self.head().await? else { return Ok(None) };
        for tip in &tips {
            if !self.is_ancestor(tip, &head).await? {
                return Ok(None);
            }
        }
        Ok(Some(head))
    }

    /// The newest commit that is an ancestor of all of them.
    async fn common_base(&self, picked: &[PickedCommit]) -> Result<Option<ObjectId>, GitError> {
        let parents: Option<Vec<_>> = picked.iter().map(|commit| commit.parents.first()).collect();
        let Some(parents) = parents else { return Ok(None) };
        let call = GitCall::new(["merge-base", "--octopus"]).args(parents);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => Ok(ObjectId::parse(finished.output.stdout.trim_ascii())),
            Some(1) => Ok(None),
            _ => Err(call.failed(&finished)),
        }
    }

    /// The changes of the selected commits, each against its first parent.
    async fn picked_changes(
        &self,
        picked: &[PickedCommit],
    ) -> Result<PickedChanges, GitScopeError> {
        let mut picked_changes = PickedChanges::default();
        for commit in picked {
            picked_changes.commits.insert(commit.id.clone());
            let parent = commit.parents.first();
            if let (Some(parent), true) = (parent, commit.parents.len() > 1) {
                let range = format!("{}..{}", parent.as_str(), commit.id.as_str());
                let listed = self.output(&GitCall::new(["rev-list", &range, "--"])).await?;
                let merged = listed.split(|byte| *byte == b'\n').filter_map(ObjectId::parse);
                picked_changes.commits.extend(merged);
            }
            let sides = DiffSides::Trees(self.tree_of(parent), commit.id.clone());
            let diff = self.diff(&sides, &PathFilter::default()).await?;
            read(&diff)?.iter().for_each(|file| picked_changes.add(file));
        }
        Ok(picked_changes)
    }

    /// The lines at the tip that a selected commit wrote last.
    async fn lines_of(
        &self,
        picked_changes: &PickedChanges,
        base: Option<&ObjectId>,
        tip: &ObjectId,
        file: &FileDiff<'_>,
    ) -> Result<HashSet<u32>, GitError> {
        let adds = |kind: LineKind| kind == LineKind::Added;
        let mut lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
        if file.status == FileStatus::Deleted || !lines.any(|line| adds(line.kind)) {
            return Ok(HashSet::new());
        }
        let range = match base {
            Some(base) => format!("{}..{}", base.as_str(), tip.as_str()),
            None => tip.as_str().to_owned(),
        };
        let path = super::filter::as_argument(&file.path);
        let call = GitCall::new(["blame", "--incremental", &range, "--"]).args([path]);
        let listed = self.output(&call).await?;
        let mut own = HashSet::new();
        for line in listed.split(|byte| *byte == b'\n') {
            if let Some((id, first, n_lines)) = blamed(line)
                && picked_changes.commits.contains(&id)
            {
                own.extend((first..).take(n_lines));
            }
        }
        Ok(own)
    }
}

/// The oldest and the newest commit, if the commits form a chain of first parents.
fn chain(picked: &[PickedCommit]) -> Option<(&PickedCommit, &PickedCommit)> {
    let by_id: HashMap<_, _> = picked.iter().map(|commit| (&commit.id, commit)).collect();
    let parents: HashSet<_> = picked.iter().filter_map(|commit| commit.parents.first()).collect();
    let mut newest = picked.iter().filter(|commit| !parents.contains(&commit.id));
    let (newest, None) = (newest.next()?, newest.next()) else { return None };
    let mut oldest = newest;
    for _ in 1..picked.len() {
        oldest = by_id.get(oldest.parents.first()?)?;
    }
    Some((oldest, newest))
}

/// `ID ORIGINAL-LINE FINAL-LINE COUNT`, the first line of each group of `git blame --incremental`.
fn blamed(line: &[u8]) -> Option<(ObjectId, u32, usize)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split(' ');
    let id = ObjectId::parse(words.next()?.as_bytes())?;
    let _: u32 = words.next()?.parse().ok()?;
    Some((id, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The changes of the selected commits.
#[derive(Default)]
struct PickedChanges {
    commits: HashSet<ObjectId>,
    files: HashMap<FilePath, PickedFileChanges>,
}

/// Their changes to the file of one name.
#[derive(Default)]
struct PickedFileChanges {
    statuses: Vec<FileStatus>,
    changed_mode: bool,
    removed: HashSet<Vec<u8>>,
}

impl PickedChanges {
    fn add(&mut self, file: &FileDiff<'_>) {
        let mut names = vec![&file.path];
        names.extend(file.old_path.as_ref());
        for name in names {
            let edits = self.files.entry(name.clone()).or_default();
            edits.statuses.push(file.status);
            let modes = file.old_mode.zip(file.new_mode);
            edits.changed_mode |= modes.is_some_and(|(old, new)| old != new);
            let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
            let removed = lines.filter(|line| line.kind == LineKind::Removed);
            edits.removed.extend(removed.map(|line| line.text.to_vec()));
        }
    }

    /// The part of a file's change that belongs to them; `None` if nothing does.
    fn part_of<'a>(&self, file: &FileDiff<'a>, lines: &HashSet<u32>) -> Option<FileDiff<'a>> {
        let edits = [Some(&file.path), file.old_path.as_ref()];
        let edits: Vec<_> = edits.into_iter().flatten().filter_map(|p| self.files.get(p)).collect();
        let did = |status| edits.iter().any(|edits| edits.statuses.contains(&status));
        if file.status == FileStatus::Deleted {
            return did(FileStatus::Deleted).then(|| file.clone());
        }
        let mut part = file.keep(|line, at_head| match at_head {
            Some(number) => lines.contains(&number),
            None => edits.iter().any(|edits| edits.removed.contains(line.text)),
        });
        if !did(file.status) && file.status != FileStatus::Modified {
            // Another commit added, renamed or changed the file.
            part.status = FileStatus::Modified;
            part.old_path = None;
            part.old_mode = part.new_mode;
        }
        if !edits.iter().any(|edits| edits.changed_mode) {
            part.old_mode = part.old_mode.and(part.new_mode);
        }
        let is_other = part.is_binary || file.hunks.is_empty();
        (!part.hunks.is_empty() || (is_other && !edits.is_empty())).then_some(part)
    }
}

/// The last state with the lines of the selected commits reverted.
async fn without_picked_lines(tree: GitTree, kept: &[FileDiff<'_>]) -> Result<Overlay, GitError> {
    let at_tip: Vec<_> = kept.iter().map(|file| file.path.clone()).collect();
    let contents = tree.contents(Side::Head, &at_tip).await?;
    let mut overlay = Overlay::over(Some(tree));
    for (file, content) in kept.iter().zip(contents) {
        if file.old_path.is_some() && file.status == FileStatus::Renamed {
            overlay.insert(Side::Base, file.path.clone(), FileContent::Missing);
        }
        let base = match (file.status, content) {
            (FileStatus::Added, _) => FileContent::Missing,
            (FileStatus::Deleted, _) => FileContent::of(file.revert(&[])),
            (_, FileContent::File(head)) => FileContent::of(file.revert(&head)),
            (_, other) => other,
        };
        overlay.insert(Side::Base, file.base_path().clone(), base);
    }
    Ok(overlay)
}
