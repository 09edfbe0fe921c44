//! Keys of configuration: environment variables and settings, the files that set them, and the code
//! that reads them.

mod reads;
mod settings;
mod variables;

pub(crate) use reads::{Deed as KeyDeed, Form, KeyUse, KeyUses, uses_of};
pub(crate) use settings::{defines, may_list_settings, sets_on_line};
pub(crate) use variables::is_set_by;

use super::delta::Versions;
use mala_domain::change::FileStatus;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A key of configuration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// An environment variable.
    Variable(String),
    /// A setting: its names, the outermost first.
    Setting(Vec<String>),
}

impl Key {
    /// Its last name.
    pub(crate) fn last(&self) -> &str {
        match self {
            Self::Variable(name) => name,
            Self::Setting(names) => names.last().map(String::as_str).unwrap_or_default(),
        }
    }

    /// Its first name.
    pub(crate) fn first(&self) -> &str {
        match self {
            Self::Variable(name) => name,
            Self::Setting(names) => names.first().map(String::as_str).unwrap_or_default(),
        }
    }

    /// The key and, of a setting, its ends, in the spelling in which they are compared.
    pub(crate) fn endings(&self) -> Vec<String> {
        match self {
            Self::Variable(name) => vec![name.clone()],
            Self::Setting(names) => {
                let names: Vec<String> = names.iter().map(|name| settings::normal(name)).collect();
                (0..names.len()).map(|start| names[start..].join(".")).collect()
            }
        }
    }

    /// The variable by which many programs let the environment set the same.
    pub(crate) fn as_variable(&self) -> String {
        match self {
            Self::Variable(name) => name.clone(),
            Self::Setting(names) => names.join("_").replace('-', "_").to_uppercase(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::Setting(names) => f.write_str(&names.join(".")),
        }
    }
}

/// A key that a file set at base and does not at head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    /// The key.
    pub(crate) key: Key,
    /// Its line at base.
    pub(crate) line: u32,
    /// The key that stands in its place at head.
    pub(crate) successor: Option<Key>,
}

/// The keys that a configuration file lost and has.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyChange {
    /// Keys at base that are not at head.
    pub(crate) lost: Vec<Lost>,
    /// Keys at head.
    pub(crate) kept: Vec<Key>,
}

/// The keys of one version of a file with their lines.
type Listed = BTreeMap<Key, u32>;

/// Keys beyond this many are left out.
const MAX_KEYS: usize = 2_000;

/// Lost keys beyond this many are left out: the file was replaced as a whole.
const MAX_LOST: usize = 60;

/// What a changed file lost and has; nothing when it is no configuration. A deleted file says nothing
/// of its keys: whoever deletes it has them elsewhere, or wants none of them.
pub(crate) fn compare(versions: Versions<'_>) -> KeyChange {
    if versions.file.status == FileStatus::Copied {
        return KeyChange::default();
    }
    let listed = |text: Option<&str>| {
        let text = text?;
        let path = versions.file.base_path();
        variables::listed(path, text).or_else(|| settings::listed(path, text))
    };
    let head = versions.head.filter(|_| versions.file.exists_at_head());
    let Some(head) = listed(head) else { return KeyChange::default() };
    let base = listed(versions.base).unwrap_or_default();
    let before: BTreeSet<&Key> = base.keys().collect();
    let added: Vec<&Key> = head.keys().filter(|key| !before.contains(key)).collect();
    let gone: Vec<(&Key, u32)> = base
        .iter()
        .filter(|(key, _)| !head.contains_key(key))
        .map(|(key, line)| (key, *line))
        .collect();
    let lost = gone
        .iter()
        .take(MAX_LOST)
        .map(|(key, line)| Lost {
            key: (*key).clone(),
            line: *line,
            successor: successor(key, &gone, &added).cloned(),
        })
        .collect();
    KeyChange { lost, kept: head.into_keys().collect() }
}

/// The only key that is added beside the only one that is lost there.
fn successor<'k>(key: &Key, gone: &[(&Key, u32)], added: &[&'k Key]) -> Option<&'k Key> {
    let around = |key: &Key| match key {
        Key::Variable(_) => None,
        Key::Setting(names) => Some(names[..names.len().saturating_sub(1)].to_vec()),
    };
    let place = around(key);
    if gone.iter().filter(|(other, _)| around(other) == place).count() != 1 {
        return None;
    }
    let mut beside = added.iter().filter(|other| around(other) == place);
    let only = beside.next()?;
    beside.next().is_none().then_some(*only)
}
