//! Where defects are planted: real changes of the repository around the current folder, laid out in a
//! temporary folder to see what they look like with a defect in them.

use super::changes::{environment, failure};
use crate::surroundings::Surroundings;
use anyhow::Context;
use mala_adapters::cases::Checkout;
use mala_adapters::git::Git;
use mala_domain::change::FilePath;
use mala_domain::eval::BaseOrigin;
use mala_domain::eval::plant::{Candidate, DefectKind, Sprout, choose};
use mala_domain::eval::trees::{Files, Trees};
use mala_domain::ports::ChangeSource;
use mala_domain::scope::Target;
use mala_pipeline::eval::plant::{Ground, Grown, survey};
use std::collections::BTreeMap;
use tempfile::TempDir;

/// How many of the newest commits are looked at.
const MAX_COMMITS: usize = 300;

/// A commit that adds more lines, or changes more files, is no ordinary one.
const MAX_LINES: usize = 3_000;
const MAX_FILES: usize = 100;

/// Which changes are planted into.
pub enum Fields {
    /// These, each for itself.
    Named(Vec<Target>),
    /// The newest ordinary commits, as many as are needed.
    Newest,
}

/// What is to be planted.
pub struct Order {
    /// Into which changes.
    pub fields: Fields,
    /// How many defects.
    pub count: usize,
    /// Where chance starts.
    pub seed: u64,
    /// Of which kinds; of all when empty.
    pub kinds: Vec<DefectKind>,
}

/// The repository, and a place to lay changes out.
pub struct Nursery {
    git: Git,
    here: Surroundings,
    work: TempDir,
}

/// What was planted into one change.
pub struct Harvest {
    /// The changes.
    pub grounds: Vec<Ground>,
    /// What grew, and in which of them.
    pub sprouts: Vec<(usize, Sprout)>,
}

impl Nursery {
    /// Opens the repository around the current folder.
    pub async fn open(here: &Surroundings) -> anyhow::Result<Self> {
        let environment = environment(here).without("GIT_INDEX_FILE");
        let git = Git::open(&here.folder, &environment).await?;
        let work = tempfile::Builder::new().prefix("mala-plant-").tempdir();
        Ok(Self { git, here: here.clone(), work: work.context("making a folder")? })
    }

    /// Plants as much of what is asked for as the changes have room for.
    pub async fn plant(&self, order: &Order) -> anyhow::Result<Harvest> {
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

    async fn grounds(&self, order: &Order) -> anyhow::Result<Vec<Ground>> {
        let targets = match &order.fields {
            Fields::Named(targets) => targets.clone(),
            Fields::Newest => {
                let commits = self.git.non_merge_commits(MAX_COMMITS).await?;
                commits.into_iter().map(|id| Target::Commits(vec![id])).collect()
            }
        };
        let is_free = matches!(order.fields, Fields::Newest);
        let mut grounds = Vec::new();
        for target in targets {
            // With the change of a commit at hand for each defect, older ones add nothing.
            if is_free && grounds.len() >= order.count {
                break;
            }
            let scoped = self.git.scope(&target, &[]).await.map_err(failure);
            let scoped = match scoped {
                Err(_) if is_free => continue,
                scoped => scoped?,
            };
            let lines = scoped.change.n_lines();
            let is_large = lines.added > MAX_LINES || scoped.change.files.len() > MAX_FILES;
            if is_free && is_large {
                continue;
            }
            let ground = survey(&scoped, &self.name()).await?;
            if !is_free || !ground.candidates(0, &order.kinds).is_empty() {
                grounds.push(ground);
            }
        }
        Ok(grounds)
    }

    /// The repository, as a person would name it.
    fn name(&self) -> String {
        let folder = || self.git.top().file_name().map(|name| name.to_string_lossy().into_owned());
        self.git.url().map(str::to_owned).or_else(folder).unwrap_or_default()
    }

    /// What differs between two states, as a unified diff.
    pub async fn diff(
        &self,
        base: &BTreeMap<FilePath, String>,
        head: &BTreeMap<FilePath, String>,
    ) -> anyhow::Result<String> {
        let bytes = |files: &BTreeMap<FilePath, String>, others: &BTreeMap<FilePath, String>| {
            let differs = |(path, text): &(&FilePath, &String)| others.get(*path) != Some(*text);
            let files = files.iter().filter(differs);
            files.map(|(path, text)| (path.clone(), text.as_bytes().to_vec())).collect::<Files>()
        };
        let trees = Trees {
            base: bytes(base, head),
            head: bytes(head, base),
            origin: BaseOrigin::Given,
            notes: Vec::new(),
        };
        let around = environment(&self.here);
        let checkout = Checkout::of(&trees, self.work.path(), &around).await?;
        let git = Git::open(checkout.root(), &around.without("GIT_INDEX_FILE")).await?;
        let commits = checkout.commits();
        let diff = git.patch_between(Some(&commits.base), &commits.head).await;
        let diff = diff.map_err(|error| failure(error.into()))?;
        Ok(String::from_utf8_lossy(&diff).into_owned())
    }
}
