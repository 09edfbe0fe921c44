//! Determines what to look up to decide whether a change breaks other code.

mod imports;
mod names;
mod select;
mod settle;

pub(crate) use imports::ImportCheck;
pub(crate) use names::{ModuleLocation, NameCheck};

use super::contract::{Broken, Contract, Symbol};
use super::delta::FileDelta;
use super::words;
use crate::symbols::{Visibility, files_of_module, parent};
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use mala_domain::ports::{WordHit, WordQuery};
use std::collections::{BTreeSet, HashSet};

/// Words beyond this many are not looked for.
const MAX_WORDS: usize = 240;

/// Common words are searched only if there are at most this many words.
const MAX_WITH_COMMON: usize = 8;

/// Maximum number of hits to search for.
const MAX_HITS: usize = 10_000;

/// Folders beyond this many are not searched for another file of the same name.
const MAX_TWIN_FOLDERS: usize = 50;

/// The contracts that a change may break, and what to look up for them.
#[derive(Debug)]
pub struct LookupPlan {
    pub(crate) deltas: Vec<FileDelta>,
    pub(crate) contracts: Vec<Contract>,
    pub(crate) checks: Vec<ImportCheck>,
    pub(crate) names_imported: Vec<NameCheck>,
    words: Vec<String>,
    names: HashSet<String>,
}

/// Plans the lookups for these files.
pub fn plan(deltas: Vec<FileDelta>) -> LookupPlan {
    let contracts = settle::broken(&deltas);
    let checks = imports::checks(&deltas);
    let names_imported = names::checks(&deltas);
    let words = words_to_find(&contracts);
    let names = contracts.iter().flat_map(names_of).chain(words.iter().cloned()).collect();
    LookupPlan { deltas, contracts, checks, names_imported, words, names }
}

/// The words to search for. Common words are searched only for a small change, because they are the
/// most expensive and displace the others.
fn words_to_find(contracts: &[Contract]) -> Vec<String> {
    let mut seen = HashSet::new();
    let (rare, common): (Vec<String>, Vec<String>) = contracts
        .iter()
        .flat_map(words_of)
        .filter(|word| words::can_be_searched(word) && seen.insert(word.clone()))
        .partition(|word| !words::is_common(word));
    let room = MAX_WITH_COMMON.saturating_sub(rare.len());
    rare.into_iter().take(MAX_WORDS).chain(common.into_iter().take(room)).collect()
}

impl LookupPlan {
    /// Whether there is nothing to look up and nothing to decide.
    pub fn is_empty(&self) -> bool {
        self.contracts.is_empty() && self.checks.is_empty() && self.names_imported.is_empty()
    }

    /// The words to search for at head; `None` if there are none.
    pub fn query(&self) -> Option<WordQuery> {
        if self.words.is_empty() {
            return None;
        }
        let languages = self.contracts.iter().map(|contract| contract.symbol.language);
        let globs: BTreeSet<&str> = languages.flat_map(words::globs).copied().collect();
        Some(WordQuery {
            words: self.words.clone(),
            globs: globs.into_iter().map(str::to_owned).collect(),
            max_hits: MAX_HITS,
        })
    }

    /// The paths whose existence at head affects the decision.
    pub fn paths_to_check(&self, hits: &[WordHit]) -> Vec<FilePath> {
        let imported = self.checks.iter().flat_map(|check| check.candidates.iter().cloned());
        let spellings = self
            .contracts
            .iter()
            .filter(|contract| matches!(contract.broken, Broken::Module { .. }))
            .flat_map(|contract| other_spellings(&contract.symbol.file, contract.symbol.language));
        let twins = self.twins_beside(hits);
        let python = self.contracts.iter().map(|contract| &contract.symbol);
        let python = python.filter(|symbol| symbol.language == Language::Python);
        let packages = python.filter_map(|symbol| package_beside(&symbol.file));
        let named = self.names_imported.iter().flat_map(NameCheck::paths).cloned();
        let all: BTreeSet<String> =
            imported.chain(spellings).chain(twins).chain(named).chain(packages).collect();
        all.iter().map(|path| FilePath::from(path.as_str())).collect()
    }

    /// The files that Python may find beside a user in place of a module that is gone: a script's
    /// own folder comes first.
    fn twins_beside(&self, hits: &[WordHit]) -> Vec<String> {
        let gone = self.contracts.iter().filter(|contract| {
            contract.symbol.language == Language::Python
                && matches!(contract.broken, Broken::Module { .. })
        });
        let modules: BTreeSet<&str> = gone
            .filter_map(|contract| contract.symbol.file.strip_suffix(".py"))
            .map(|file| file.strip_suffix("/__init__").unwrap_or(file))
            .flat_map(|file| [file, file.split_once('/').map_or(file, |(_, inner)| inner)])
            .collect();
        if modules.is_empty() {
            return Vec::new();
        }
        let users: BTreeSet<_> = hits.iter().map(|hit| hit.file.to_text()).collect();
        let folders: BTreeSet<&str> = users.iter().map(|user| parent(user)).collect();
        let places = folders.into_iter().take(MAX_TWIN_FOLDERS);
        places
            .flat_map(|folder| modules.iter().flat_map(move |module| in_folder(folder, module)))
            .collect()
    }

    /// The files at head to read, given the search results and the existing paths.
    pub fn files_to_read(&self, hits: &[WordHit], existing: &[FilePath]) -> Vec<FilePath> {
        select::files(self, hits, existing)
    }

    /// The names that the change imports from a module that may be this file.
    pub(crate) fn names_imported_from(&self, path: &str) -> Vec<&str> {
        self.names_imported
            .iter()
            .filter(|check| check.files().any(|file| file == path))
            .map(|check| check.name.as_str())
            .collect()
    }

    /// The words that occur in files that were not read.
    pub(crate) fn words_half_seen(
        &self,
        hits: &[WordHit],
        read: &HashSet<&FilePath>,
    ) -> HashSet<String> {
        if hits.len() >= MAX_HITS {
            return self.words.iter().cloned().collect();
        }
        select::words_half_seen(self, hits, read)
    }

    /// The names whose uses matter.
    pub(crate) fn names(&self) -> HashSet<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// The words to search for.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether Rust matches are needed.
    pub(crate) fn asks_for_matches(&self) -> bool {
        self.contracts.iter().any(|contract| matches!(contract.broken, Broken::Members { .. }))
    }
}

/// The words that find uses of a broken definition in other files.
fn words_of(contract: &Contract) -> Vec<String> {
    let symbol = &contract.symbol;
    let searched = symbol.visibility == Visibility::Exported || symbol.language == Language::Go;
    if !searched {
        return Vec::new();
    }
    match &contract.broken {
        Broken::Members { before, .. } => {
            [symbol.name.clone()].into_iter().chain(before.first().cloned()).collect()
        }
        Broken::Removed { .. } if symbol.name == "default" => {
            vec![super::delta::module_name(&symbol.file).to_owned()]
        }
        Broken::Module { .. } => vec![symbol.name.clone()],
        _ => [symbol.name.clone()].into_iter().chain(word_beside(symbol)).collect(),
    }
}

/// An additional word for a name that is too common or short: its type, or the module or package
/// that it is imported from.
fn word_beside(symbol: &Symbol) -> Option<String> {
    match &symbol.container {
        Some(container) if words::is_common(&symbol.name) || words::is_short(&symbol.name) => {
            container.rsplit('.').next().map(str::to_owned)
        }
        None if words::is_short(&symbol.name) => match symbol.language {
            Language::Go => symbol.package.clone(),
            _ => Some(super::delta::module_name(&symbol.file).to_owned()),
        },
        _ => None,
    }
}

/// The names whose uses affect a contract.
fn names_of(contract: &Contract) -> Vec<String> {
    let symbol = &contract.symbol;
    let container = symbol.container.iter().flat_map(|path| path.rsplit('.').take(1));
    [symbol.name.clone()].into_iter().chain(container.map(str::to_owned)).collect()
}

/// The package that Python imports in place of a module of the same name.
pub(crate) fn package_beside(module: &str) -> Option<String> {
    let stem = module.strip_suffix(".py").filter(|stem| !stem.ends_with("__init__"))?;
    Some(format!("{stem}/__init__.py"))
}

/// The possible files of a Python module in a folder.
pub(crate) fn in_folder(folder: &str, module: &str) -> [String; 2] {
    let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    [format!("{start}{module}.py"), format!("{start}{module}/__init__.py")]
}

/// The same script with another ending: `a.root.mts` may be left as `a.root.mjs`.
fn other_scripts(file: &str) -> Vec<String> {
    const ENDINGS: [&str; 9] =
        [".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];
    let stem = ENDINGS.iter().find_map(|ending| file.strip_suffix(ending));
    stem.map(|stem| ENDINGS.map(|ending| format!("{stem}{ending}")).to_vec()).unwrap_or_default()
}

/// Other paths that the same module name may refer to.
pub(crate) fn other_spellings(file: &str, language: Language) -> Vec<String> {
    let name = super::delta::module_name(file);
    let folder = parent(file);
    let is_index = file.rsplit('/').next().is_some_and(|last| last.split('.').next() != Some(name));
    let around = if is_index { parent(folder) } else { folder };
    let beside = if around.is_empty() { "x".to_owned() } else { format!("{around}/x") };
    let found = match language {
        Language::Python => files_of_module(&beside, language, &format!(".{name}")),
        Language::Rust => crate::symbols::files_of_submodule(&format!("{beside}/mod.rs"), name)
            .into_iter()
            .chain([format!("{around}/{name}.rs"), format!("{around}/{name}/mod.rs")])
            .collect(),
        _ => {
            let mut found = files_of_module(&beside, language, &format!("./{name}"));
            found.extend(other_scripts(file));
            found
        }
    };
    found.into_iter().filter(|path| path != file).collect()
}
