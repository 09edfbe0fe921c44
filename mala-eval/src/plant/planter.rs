//! Plants defects into real changes of a repository.

use super::survey::{SurveyedChange, survey};
use super::{DefectKind, PlantedDefect, choose};
use crate::ports::{CaseGit, CaseRepository, FileContents};
use mala_domain::change::FilePath;
use mala_domain::ports::{RepositoryError, ScopeError};
use mala_domain::scope::ReviewTarget;
use std::collections::BTreeMap;
use thiserror::Error;

/// How many of the newest commits are considered.
const MAX_COMMITS: usize = 300;

/// Commits with more added lines or files are skipped.
const MAX_LINES: usize = 3_000;
const MAX_FILES: usize = 100;

/// The changes to plant into.
pub enum PlantTargets {
    /// These changes.
    Named(Vec<ReviewTarget>),
    /// The newest ordinary commits, as many as needed.
    Newest,
}

/// The defects to plant.
pub struct PlantRequest {
    /// The changes to plant into.
    pub targets: PlantTargets,
    /// How many defects.
    pub count: usize,
    /// The seed of the random choice.
    pub seed: u64,
    /// The kinds of defects; all when empty.
    pub kinds: Vec<DefectKind>,
}

/// The changes of a repository, and the defects planted into them.
pub struct PlantedDefects {
    /// The changes.
    pub changes: Vec<SurveyedChange>,
    /// The defects, each with the index of its change.
    pub defects: Vec<(usize, PlantedDefect)>,
}

/// Why planting failed.
#[derive(Debug, Error)]
pub enum PlantError {
    /// A change cannot be read.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A file of a change cannot be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

/// Plants defects into the changes of one repository.
pub struct DefectPlanter<'g> {
    /// Makes diffs.
    pub git: &'g dyn CaseGit,
    /// The repository.
    pub repository: &'g dyn CaseRepository,
}

impl DefectPlanter<'_> {
    /// Plants up to the requested number of defects.
    pub async fn plant(&self, request: &PlantRequest) -> Result<PlantedDefects, PlantError> {
        let changes = self.changes(request).await?;
        let all = changes.iter().enumerate();
        let candidates =
            all.flat_map(|(at, change)| change.candidates(at, &request.kinds)).collect();
        let mut defects = Vec::new();
        for candidate in choose(candidates, request.seed) {
            if defects.len() >= request.count {
                break;
            }
            let Some(change) = changes.get(candidate.change) else { continue };
            let Some(mutated) = change.mutate(candidate.place) else { continue };
            let diff = self.diff(&change.site.base, &mutated.head).await?;
            let defect = mutated.into_defect(diff);
            defects.extend(defect.map(|defect| (candidate.change, defect)));
        }
        Ok(PlantedDefects { changes, defects })
    }

    async fn changes(&self, request: &PlantRequest) -> Result<Vec<SurveyedChange>, PlantError> {
        let targets = match &request.targets {
            PlantTargets::Named(targets) => targets.clone(),
            PlantTargets::Newest => {
                let commits = self.repository.newest_commits(MAX_COMMITS).await?;
                commits.into_iter().map(|id| ReviewTarget::Commits(vec![id])).collect()
            }
        };
        let is_free = matches!(request.targets, PlantTargets::Newest);
        let mut changes = Vec::new();
        for target in targets {
            // One change per defect is enough.
            if is_free && changes.len() >= request.count {
                break;
            }
            let scoped = match self.repository.scope(&target, &[]).await {
                Err(_) if is_free => continue,
                scoped => scoped?,
            };
            let lines = scoped.change.n_lines();
            let is_large = lines.added > MAX_LINES || scoped.change.files.len() > MAX_FILES;
            if is_free && is_large {
                continue;
            }
            let change = survey(&scoped, &self.repository.name()).await?;
            if !is_free || !change.candidates(0, &request.kinds).is_empty() {
                changes.push(change);
            }
        }
        Ok(changes)
    }

    /// The unified diff between two sets of texts.
    pub async fn diff(
        &self,
        base: &BTreeMap<FilePath, String>,
        head: &BTreeMap<FilePath, String>,
    ) -> Result<String, ScopeError> {
        let differing = |files: &BTreeMap<FilePath, String>,
                         others: &BTreeMap<FilePath, String>| {
            let differs = |(path, text): &(&FilePath, &String)| others.get(*path) != Some(*text);
            let files = files.iter().filter(differs);
            files.map(|(path, text)| (path.clone(), text.as_bytes().to_vec())).collect()
        };
        let (base, head): (FileContents, FileContents) =
            (differing(base, head), differing(head, base));
        self.git.diff(&base, &head).await
    }
}
