//! Decides which of the found uses refer to a broken definition.

mod calls;
mod members;
mod modules;
mod names;
mod removed;
mod resolved_uses;

use super::contract::{Broken, Symbol};
use super::plan::LookupPlan;
use super::resolve::HeadTree;
use super::user::UserFile;
use crate::rules::is_kept_as_sample;
use crate::symbols::{Definition, UseKind};
use mala_domain::change::FilePath;
use mala_domain::finding::ReviewClaim;
use mala_domain::ports::WordHit;
use std::collections::{HashMap, HashSet};

/// The files and lines found at head for a plan.
#[derive(Debug, Default)]
pub struct FoundFiles {
    /// The lines with the words of the plan.
    pub hits: Vec<WordHit>,
    /// The files that were read.
    pub files: Vec<UserFile>,
    /// The manifests among them, with their texts.
    pub manifests: Vec<(String, String)>,
    /// The paths of the plan that exist.
    pub existing: Vec<FilePath>,
}

/// Maximum number of findings about one broken definition.
const MAX_PER_CONTRACT: usize = 20;

/// The claims that follow from the plan and the found files.
pub fn fold(plan: &LookupPlan, found: &FoundFiles) -> Vec<ReviewClaim> {
    let existing: Vec<String> =
        found.existing.iter().map(|path| path.to_text().into_owned()).collect();
    let manifests: Vec<(&str, &str)> =
        found.manifests.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = HeadTree::new(
        plan,
        &found.files,
        existing.iter().map(String::as_str).collect(),
        &manifests,
    );
    let context = FoldContext::new(plan, found, &tree);
    let mut candidates = Vec::new();
    for contract in &plan.contracts {
        let mut of_contract = match &contract.broken {
            Broken::Removed { .. } => removed::candidates(&context, contract),
            Broken::SignatureChange(signature) => {
                calls::misfits(&context, &contract.symbol, signature)
            }
            Broken::Members { .. } => calls::unhandled_members(&context, contract),
            Broken::Module { successor } => {
                modules::candidates(&context, &contract.symbol, successor.as_deref())
            }
        };
        of_contract.truncate(MAX_PER_CONTRACT);
        candidates.extend(of_contract);
    }
    candidates.extend(modules::unresolved(&context));
    candidates.extend(names::candidates(&context));
    settled(candidates)
}

/// The data for all decisions.
pub(super) struct FoldContext<'a> {
    pub(super) plan: &'a LookupPlan,
    pub(super) found: &'a FoundFiles,
    pub(super) tree: &'a HeadTree<'a>,
    /// The definitions at head by unqualified name, with their file.
    defined: HashMap<&'a str, Vec<(&'a str, &'a Definition)>>,
    /// The members that some code assigns to.
    assigned: HashSet<&'a str>,
    /// The words that also occur in files that were not read.
    half_seen: HashSet<String>,
}

impl<'a> FoldContext<'a> {
    fn new(plan: &'a LookupPlan, found: &'a FoundFiles, tree: &'a HeadTree<'a>) -> Self {
        let mut defined: HashMap<&str, Vec<(&str, &Definition)>> = HashMap::new();
        for (path, outline) in &tree.outlines {
            for definition in &outline.definitions {
                defined.entry(&definition.name).or_default().push((path, definition));
            }
        }
        let uses = found.files.iter().flat_map(|file| &file.uses);
        let assigned = uses
            .filter(|one| one.kind == UseKind::AssignsMember)
            .map(|one| one.name.as_str())
            .collect();
        let read = found.files.iter().map(|file| &file.file).collect();
        let half_seen = plan.words_half_seen(&found.hits, &read);
        Self { plan, found, tree, defined, assigned, half_seen }
    }

    /// Whether every file with the name was read.
    pub(super) fn saw_all(&self, name: &str) -> bool {
        self.plan.words().iter().any(|word| word == name) && !self.half_seen.contains(name)
    }

    /// Whether head has another definition with the symbol's name.
    pub(super) fn has_other(&self, symbol: &Symbol) -> bool {
        let name = symbol.name.as_str();
        let own = symbol.qualified();
        self.assigned.contains(name)
            || self.defined.get(name).is_some_and(|all| {
                all.iter()
                    .any(|(path, definition)| *path != symbol.file || definition.qualified() != own)
            })
    }

    /// Whether some code assigns to a member of this name.
    pub(super) fn is_assigned(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }

    /// The definitions at head with this unqualified name.
    pub(super) fn definers(&self, name: &str) -> Vec<&'a Definition> {
        self.defined.get(name).into_iter().flatten().map(|(_, definition)| *definition).collect()
    }

    /// The files that may use a definition, without test samples, which are broken on purpose.
    pub(super) fn users(&self) -> impl Iterator<Item = &'a UserFile> {
        self.found.files.iter().filter(|user| !is_kept_as_sample(&user.file))
    }

    /// Whether the file is part of the change.
    pub(super) fn is_changed(&self, path: &str) -> bool {
        self.plan.deltas.iter().any(|delta| delta.head_path.as_deref() == Some(path))
    }
}

/// One finding a line and rule, in the order of files and lines.
fn settled(mut candidates: Vec<ReviewClaim>) -> Vec<ReviewClaim> {
    candidates.sort_by(|a, b| {
        (&a.file, a.span, &a.rule).cmp(&(&b.file, b.span, &b.rule)).then(a.title.cmp(&b.title))
    });
    candidates.dedup_by(|a, b| {
        a.file == b.file && a.span == b.span && a.rule == b.rule && a.title == b.title
    });
    candidates
}
