//! Takes the code of drafts from clones: the changed files at base and at head, the diff and the commit
//! message. A draft is skipped when something is missing.

use crate::import::{
    CaseDraft, ChangeSides, DraftCode, DraftOutcome, DraftRevisions, SkippedRecord, build_case,
    case_of_added_files, choose_introducing_commit,
};
use crate::ports::{CaseGit, CaseRepository};
use crate::store::sets::MAX_CASE_BYTES;
use mala_domain::change::{ChangedFile, FilePath};
use mala_domain::ports::{Blob, Repository, Side};
use mala_domain::scope::{HeadState, ReviewTarget};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger changes are skipped.
const MAX_FILES: usize = 2_000;

/// The folder with clones.
pub struct CloneFolder {
    /// The folder with clones.
    pub folder: Option<PathBuf>,
    /// A repository, and a change in it.
    pub named: Option<(PathBuf, ReviewTarget)>,
    /// Opens repositories.
    pub git: Arc<dyn CaseGit>,
}

impl CloneFolder {
    /// Makes a case of a draft.
    pub async fn build_case(&self, draft: CaseDraft) -> DraftOutcome {
        let location = draft.location.clone();
        let tried = match &draft.code {
            DraftCode::Added(_) => return case_of_added_files(draft).unwrap_or_default(),
            DraftCode::Clone(choices) => self.of_clone(choices.clone(), draft).await,
            DraftCode::Named => self.of_named(draft).await,
            DraftCode::Introduced { .. } => self.introduced(draft).await,
        };
        tried.unwrap_or_else(|why| DraftOutcome {
            case: None,
            passed_over: vec![SkippedRecord { location, why }],
        })
    }

    async fn of_clone(
        &self,
        choices: Vec<(String, DraftRevisions)>,
        draft: CaseDraft,
    ) -> Result<DraftOutcome, String> {
        let mut troubles = Vec::new();
        for (repository, revisions) in choices {
            match self.sides_in(&repository, &revisions, &draft).await {
                Ok(sides) => return Ok(build_case(draft, sides)),
                Err(why) => troubles.push(why),
            }
        }
        Err(troubles.join("; "))
    }

    async fn sides_in(
        &self,
        repository: &str,
        revisions: &DraftRevisions,
        draft: &CaseDraft,
    ) -> Result<ChangeSides, String> {
        let git = self.clone_of(repository).await?;
        let target = match revisions {
            DraftRevisions::Commit(id) => ReviewTarget::Commits(vec![id.clone()]),
            DraftRevisions::PullRequest(number) => {
                let found = git.pull_request(*number).await.map_err(|error| error.to_string())?;
                found.ok_or_else(|| {
                    format!("the clone of {repository} lacks refs/pull/{number}/head or its base")
                })?
            }
            DraftRevisions::SinceMergeBase { base, head } => {
                let base = branch(&*git, base).await;
                ReviewTarget::SinceMergeBase { base, head: head.clone() }
            }
        };
        sides(&*git, &target, draft.named_files()).await
    }

    async fn of_named(&self, draft: CaseDraft) -> Result<DraftOutcome, String> {
        let (folder, target) = self.named.as_ref().ok_or("no repository given")?;
        let git = self.opened(folder).await;
        let git = git.ok_or_else(|| format!("{} is not a git repository", folder.display()))?;
        let sides = sides(&*git, target, draft.named_files()).await?;
        let repo = git.name();
        Ok(build_case(CaseDraft { repo, ..draft }, sides))
    }

    async fn introduced(&self, mut draft: CaseDraft) -> Result<DraftOutcome, String> {
        let DraftCode::Introduced { repository, at, fix, lines } = draft.code.clone() else {
            return Err("no line givens".to_owned());
        };
        let git = self.clone_of(&repository).await?;
        let mut origins = Vec::new();
        for (file, lines) in &lines {
            let found = git.line_origins(&at, file, lines).await;
            origins.extend(found.map_err(|error| format!("{file}: {error}"))?);
        }
        let fix = git.message(&fix).await.unwrap_or_default();
        let commit = choose_introducing_commit(&mut draft, &origins, &fix);
        let commit = commit.ok_or("cannot determine the origin of its lines")?;
        let sides = sides(&*git, &ReviewTarget::Commits(vec![commit]), draft.named_files()).await?;
        Ok(build_case(draft, sides))
    }

    /// The clone of `owner/name`: in `owner/name`, `owner+name`, `owner__name` or `name`.
    async fn clone_of(&self, repository: &str) -> Result<Box<dyn CaseRepository>, String> {
        let folder = self.folder.as_ref().ok_or("no folder with clones given")?;
        for path in clone_paths(folder, repository) {
            if let Some(git) = self.opened(&path).await {
                return Ok(git);
            }
        }
        Err(format!("no clone of {repository} found"))
    }

    /// The repository of this very folder, and not of one around it.
    async fn opened(&self, path: &Path) -> Option<Box<dyn CaseRepository>> {
        self.git.open(path).await
    }
}

/// Possible paths of the clone of a repository: `owner/name`, `owner+name`, `owner__name` or
/// `name`, with or without `.git`. The repository may be given by its URL.
pub fn clone_paths(folder: &Path, repository: &str) -> Vec<PathBuf> {
    let repository = repository.trim_end_matches('/');
    let repository = repository.strip_suffix(".git").unwrap_or(repository);
    let mut parts = repository.rsplit(['/', ':']);
    let name = parts.next().unwrap_or_default();
    let owner = parts.next().unwrap_or_default();
    // A name such as `..` must not lead out of the folder.
    let is_plain = |part: &str| !part.chars().all(|c| c == '.') && !part.contains('\\');
    if !is_plain(name) || !(owner.is_empty() || is_plain(owner)) {
        return Vec::new();
    }
    let mut names = vec![name.to_owned()];
    if !owner.is_empty() {
        names = [format!("{owner}/{name}"), format!("{owner}+{name}"), format!("{owner}__{name}")]
            .into_iter()
            .chain(names)
            .collect();
    }
    let paths = names.into_iter().flat_map(|name| [name.clone(), format!("{name}.git")]);
    paths.map(|name| folder.join(name)).collect()
}

/// A branch by its own name, or as the clone's origin has it.
async fn branch(git: &dyn CaseRepository, name: &str) -> String {
    for known in [format!("refs/remotes/origin/{name}"), format!("refs/heads/{name}")] {
        if git.has_commit(&known).await {
            return known;
        }
    }
    name.to_owned()
}

async fn sides(
    git: &dyn CaseRepository,
    target: &ReviewTarget,
    more: impl Iterator<Item = &FilePath>,
) -> Result<ChangeSides, String> {
    let scoped = git.scope(target, &[]).await.map_err(|error| error.to_string())?;
    let HeadState::Commit(head_id) = scoped.scope.head else {
        return Err("not a commit".to_owned());
    };
    let base_id = scoped.scope.base;
    let files = &scoped.change.files;
    if files.len() > MAX_FILES {
        return Err(format!("the change has more than {MAX_FILES} files"));
    }
    let diff = git.patch(base_id.as_deref(), &head_id).await;
    let diff = diff.map_err(|error| error.to_string())?;
    let at_base = files.iter().filter(|file| file.existed_at_base()).map(ChangedFile::base_path);
    let at_head = files.iter().filter(|file| file.exists_at_head()).map(|file| file.path.clone());
    let base = texts(&*scoped.tree, Side::Base, at_base.cloned().collect()).await?;
    let head = texts(&*scoped.tree, Side::Head, at_head.chain(more.cloned()).collect()).await?;
    let n_bytes: usize = base.values().chain(head.values()).map(String::len).sum();
    if n_bytes + diff.len() > MAX_CASE_BYTES / 2 {
        return Err("the files are too large for a case".to_owned());
    }
    Ok(ChangeSides {
        diff,
        base,
        head,
        message: git.message(&head_id).await.unwrap_or_default(),
        base_id,
        head_id,
        change: scoped.change.as_ref().clone(),
    })
}

/// The files that are text.
pub(crate) async fn texts(
    tree: &dyn Repository,
    side: Side,
    paths: BTreeSet<FilePath>,
) -> Result<BTreeMap<FilePath, String>, String> {
    let paths: Vec<FilePath> = paths.into_iter().filter(FilePath::stays_inside).collect();
    let blobs = tree.read(side, &paths).await.map_err(|error| error.to_string())?;
    let texts = paths.into_iter().zip(blobs).filter_map(|(path, blob)| match blob {
        Blob::Text(text) => Some((path, text)),
        _ => None,
    });
    Ok(texts.collect())
}
