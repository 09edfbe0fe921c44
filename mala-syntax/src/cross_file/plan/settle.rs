//! Determines what the change breaks as a whole: definitions that only moved still exist.

use crate::cross_file::contract::{Broken, Contract, Symbol};
use crate::cross_file::delta::FileDelta;
use crate::symbols::{Definition, DefinitionRole, parent};
use mala_domain::change::FilePath;
use mala_domain::language::Language;
use std::collections::{HashMap, HashSet};

/// The contracts that the change as a whole breaks.
pub(super) fn broken(deltas: &[FileDelta]) -> Vec<Contract> {
    let mut at_head: HashMap<String, Vec<(&FileDelta, &Definition)>> = HashMap::new();
    for delta in deltas {
        for definition in delta.head.iter().flat_map(|head| &head.definitions) {
            at_head.entry(definition.qualified()).or_default().push((delta, definition));
        }
    }
    let rewritten: HashSet<&str> = deltas
        .iter()
        .filter_map(|delta| delta.head_path.as_deref())
        .filter(|path| Language::of_path(&FilePath::from(*path)).is_none())
        .filter_map(stem)
        .collect();
    deltas
        .iter()
        .flat_map(|delta| &delta.contracts)
        // `Call.java` became `Call.kt`: its definitions cannot be parsed here.
        .filter(|contract| !stem(&contract.symbol.file).is_some_and(|it| rewritten.contains(it)))
        .filter_map(|contract| {
            let Broken::Removed { successor, .. } = &contract.broken else {
                return Some(contract.clone());
            };
            let symbol = &contract.symbol;
            let elsewhere = at_head.get(&symbol.qualified()).map(Vec::as_slice).unwrap_or_default();
            let elsewhere: Vec<_> = elsewhere
                .iter()
                .filter(|(delta, definition)| {
                    definition.role != DefinitionRole::Declares
                        && delta.head_path.as_deref() != Some(symbol.file.as_str())
                        && delta.language == Some(symbol.language)
                })
                .collect();
            if elsewhere.iter().any(|(delta, _)| is_same_place(symbol, delta)) {
                return None;
            }
            let moved_to = elsewhere.first().and_then(|(delta, _)| delta.head_path.clone());
            let broken = Broken::Removed { successor: successor.clone(), moved_to };
            Some(Contract { broken, symbol: symbol.clone() })
        })
        .collect()
}

/// The name of a file without its ending.
fn stem(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty())
}

/// Whether a definition in that file is found by code that looked for the symbol.
fn is_same_place(symbol: &Symbol, delta: &FileDelta) -> bool {
    let path = delta.head_path.as_deref().unwrap_or_default();
    let package = delta.head.as_ref().and_then(|head| head.package.clone());
    match symbol.language {
        Language::Go => parent(path) == parent(&symbol.file),
        Language::Java => package == symbol.package,
        Language::Python => python_module(path) == python_module(&symbol.file),
        _ => false,
    }
}

/// `a/b.py` and `a/b/__init__.py` are one module.
fn python_module(path: &str) -> &str {
    let path = path.strip_suffix(".py").unwrap_or(path);
    path.strip_suffix("/__init__").unwrap_or(path)
}
