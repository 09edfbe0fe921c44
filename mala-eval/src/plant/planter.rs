//! Plants defects into real changes of a repository.

use super::survey::{Ground, Grown, survey};
use super::{Candidate, DefectKind, Sprout, choose};
use crate::ports::{CaseGit, CaseRepository, FileContents};
use mala_domain::change::FilePath;
use mala_domain::ports::{RepositoryError, ScopeError};
use mala_domain::scope::Target;
use std::collections::BTreeMap;
use thiserror::Error;

/// How many of the newest commits are considered.
const MAX_COMMITS: usize = 300;

/// Commits with more added lines or files are skipped.
const MAX_LINES: usize = 3_000;
const MAX_FILES: usize = 100;

/// The changes to plant into.
pub enum Fields {
    /// These changes.
    Named(Vec<Target>),
    /// The newest ordinary commits, as many as needed.
    Newest,
}

/// What to plant.
pub struct Order {
    /// The changes to plant into.
    pub fields: Fields,
    /// How many defects.
    pub count: usize,
    /// The seed of the random choice.
    pub seed: u64,
    /// The kinds of defects; all when empty.
    pub kinds: Vec<DefectKind>,
}

/// The changes of a repository, and the defects planted into them.
pub struct Harvest {
    /// The changes.
    pub grounds: Vec<Ground>,
    /// The defects, each with the index of its change.
    pub sprouts: Vec<(usize, Sprout)>,
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
pub struct Nursery<'g> {
    /// Makes diffs.
    pub git: &'g dyn CaseGit,
    /// The repository.
    pub repository: &'g dyn CaseRepository,
}

impl Nursery<'_> {
    /// Plants up to the requested number of defects.
    pub async fn plant(&self, order: &Order) -> Result<Harvest, PlantError> {
        let grounds = self.grounds(order).await?;
        let all = grounds.iter().enumerate();
        let candidates = all.flat_map(|(at, ground)| ground.candidates(at, &order.kinds)).collect();
        let mut sprouts = Vec::new();
        for Candidate { change, place, .. } in choose(candidates, order.seed) {
            if sprouts.len() >= order.count {
                break;
            }
            let Some(ground) = grounds.get(change) else { continue };
            let Some(grown) = ground.grow(place) else { continue };
            let diff = self.diff(&ground.soil.base, &grown.head).await?;
            sprouts.extend(Grown::sprout(grown, diff).map(|sprout| (change, sprout)));
        }
        Ok(Harvest { grounds, sprouts })
    }

    async fn grounds(&self, order: &Order) -> Result<Vec<Ground>, PlantError> {
        let targets = match &order.fields {
            Fields::Named(targets) => targets.clone(),
            Fields::Newest => {
                let commits = self.repository.newest_commits(MAX_COMMITS).await?;
                commits.into_iter().map(|id| Target::Commits(vec![id])).collect()
            }
        };
        let is_free = matches!(order.fields, Fields::Newest);
        let mut grounds = Vec::new();
        for target in targets {
            // One change per defect is enough.
            if is_free && grounds.len() >= order.count {
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
            let ground = survey(&scoped, &self.repository.name()).await?;
            if !is_free || !ground.candidates(0, &order.kinds).is_empty() {
                grounds.push(ground);
            }
        }
        Ok(grounds)
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
