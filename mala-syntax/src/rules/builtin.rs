//! The rules that come with the program: one folder per language, parsed only for the needed
//! languages.

use super::RuleError;
use super::rule::Rule;
use include_dir::{Dir, File, include_dir};
use mala_domain::language::Language;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

static FOLDERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/rules");

/// The parsed rules, by languages. They never change, and parsing takes longer than most reviews.
static KNOWN: Mutex<BTreeMap<Vec<Language>, Vec<Arc<Rule>>>> = Mutex::new(BTreeMap::new());

/// Maximum number of cached sets of languages; others are parsed again.
const MAX_KNOWN: usize = 64;

/// The parsed rules, and the invalid ones; tests ensure that there are none.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) rules: Vec<Arc<Rule>>,
    pub(super) refused: Vec<RuleError>,
}

/// The rules for some languages, read once.
pub(super) fn rules(languages: &[Language]) -> Vec<Arc<Rule>> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(rules) = known().get(languages) {
        return rules.clone();
    }
    // Not under the lock: another thread that needs them at the same time reads them too.
    let rules = load(languages).rules;
    let mut known = known();
    if known.len() < MAX_KNOWN {
        known.insert(languages.to_vec(), rules.clone());
    }
    rules
}

/// Reads the rules for some languages.
pub(super) fn load(languages: &[Language]) -> Loaded {
    let files: Vec<_> = files(languages).collect();
    let read: Vec<_> =
        files.par_iter().map(|(name, yaml)| Rule::parse_embedded(name, yaml, languages)).collect();
    let mut loaded = Loaded::default();
    for rule in read {
        match rule {
            Ok(rule) => loaded.rules.extend(rule.map(Arc::new)),
            Err(error) => loaded.refused.push(error),
        }
    }
    loaded.rules.sort_by(|a, b| a.id.cmp(&b.id));
    loaded
}

/// Name and text of the rule files in the folders of some languages.
pub(super) fn files(languages: &[Language]) -> impl Iterator<Item = (&'static str, &'static str)> {
    FOLDERS
        .dirs()
        .filter(|folder| {
            let name = folder.path().to_str().unwrap_or_default();
            languages_of(name).iter().any(|language| languages.contains(language))
        })
        .flat_map(Dir::files)
        .filter_map(named_text)
        .filter(|(name, _)| name.ends_with(".yaml"))
}

fn named_text(file: &'static File<'static>) -> Option<(&'static str, &'static str)> {
    Some((file.path().to_str()?, file.contents_utf8()?))
}

/// The languages that the rules of a folder may look at.
pub(super) fn languages_of(folder: &str) -> Vec<Language> {
    match folder {
        "javascript" => vec![Language::JavaScript, Language::TypeScript, Language::Tsx],
        "typescript" => vec![Language::TypeScript, Language::Tsx],
        "c" => vec![Language::C, Language::Cpp],
        name => Language::ALL.into_iter().filter(|language| language.name() == name).collect(),
    }
}
