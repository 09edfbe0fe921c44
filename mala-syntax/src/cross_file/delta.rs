//! One changed file: its outlines at base and at head, and the contracts that it breaks.

mod removed;
mod signatures;

use super::contract::{Broken, Contract, Symbol};
use super::words;
use crate::parsed::ParsedFile;
use crate::source::Source;
use crate::symbols::{Definition, DefinitionKind, FileOutline, UseKind, Visibility, uses};
use mala_domain::change::{ChangedFile, FileStatus};
use mala_domain::language::Language;
use std::collections::{HashMap, HashSet};

/// A changed file with its two versions.
#[derive(Debug, Clone, Copy)]
pub struct FileVersions<'a> {
    /// The changed file.
    pub file: &'a ChangedFile,
    /// The text at base, when there is one.
    pub base: Option<&'a str>,
    /// The text at head, when there is one.
    pub head: Option<&'a str>,
}

/// The differences between the two versions of one file.
#[derive(Debug, Clone)]
pub struct FileDelta {
    /// The path at base.
    pub(crate) base_path: String,
    /// The path at head, unless the file is gone.
    pub(crate) head_path: Option<String>,
    /// How it changed.
    pub(crate) status: FileStatus,
    /// Its language.
    pub(crate) language: Option<Language>,
    /// The outline at base.
    pub(crate) base: Option<FileOutline>,
    /// The outline at head.
    pub(crate) head: Option<FileOutline>,
    /// The contracts that it breaks.
    pub(crate) contracts: Vec<Contract>,
    /// Whether it may still use at head a definition that it breaks itself.
    pub(crate) may_use_its_own: bool,
}

impl FileDelta {
    /// Compares the two versions of a file.
    pub fn of(versions: FileVersions<'_>) -> Self {
        let parse = |text: Option<&str>, language: Option<Language>| {
            text.zip(language).and_then(|(text, language)| ParsedFile::of(language, text))
        };
        let base = parse(versions.base, Language::of_path(versions.file.base_path()));
        let head = parse(versions.head, versions.file.language());
        Self::of_parsed(versions, base.as_ref(), head.as_ref())
    }

    /// Compares the two versions of a file, which are parsed already.
    pub fn of_parsed(
        versions: FileVersions<'_>,
        base: Option<&ParsedFile>,
        head: Option<&ParsedFile>,
    ) -> Self {
        let file = versions.file;
        let language = file.language();
        let base_language = Language::of_path(file.base_path());
        let head_source = head.map(|parsed| &parsed.source);
        let mut delta = Self {
            base_path: file.base_path().to_text().into_owned(),
            head_path: file.exists_at_head().then(|| file.path.to_text().into_owned()),
            status: file.status,
            language: base_language.or(language),
            base: base.map(|parsed| parsed.outline().clone()),
            head: head.map(|parsed| parsed.outline().clone()),
            contracts: Vec::new(),
            may_use_its_own: false,
        };
        let unread = file.exists_at_head() && language.is_some() && head_source.is_none();
        let is_checked = base_language.is_some_and(is_checked);
        if is_checked && !unread && file.status != FileStatus::Copied && !is_stub(&delta.base_path)
        {
            delta.contracts = delta.broken(head_source);
            let names: Vec<&str> =
                delta.contracts.iter().map(|contract| contract.symbol.name.as_str()).collect();
            let at_head = head_source.map(|source| uses(source, &names));
            delta.may_use_its_own =
                at_head.iter().flatten().any(|found| found.kind == UseKind::Reads);
        }
        delta
    }

    /// The contracts of the base version that the head version breaks.
    fn broken(&self, head_source: Option<&Source>) -> Vec<Contract> {
        let Some(base) = &self.base else { return Vec::new() };
        let moves = self.is_elsewhere() && module_is_its_file(base.language);
        if moves && !self.is_package() {
            return vec![self.lost_module(base)];
        }
        let base = OutlineSide::of(base);
        let head = self.head.as_ref().filter(|_| !moves).map(OutlineSide::of);
        let mut found = removed::contracts(self, &base, head.as_ref(), head_source);
        if let (Some(head), Some(path)) = (&head, &self.head_path) {
            found.extend(signatures::contracts(self, &base, head, (path, head_source)));
            found.extend(added_members(self, &base, head));
        }
        found
    }

    /// Whether the file is gone from its path at base.
    fn is_elsewhere(&self) -> bool {
        self.status == FileStatus::Deleted
            || self.head_path.as_deref().is_some_and(|path| path != self.base_path)
    }

    /// Whether it is a Python package's own file: without it the package's folder still imports.
    fn is_package(&self) -> bool {
        self.base_path.ends_with("__init__.py")
    }

    /// The module of a deleted or renamed file.
    fn lost_module(&self, base: &FileOutline) -> Contract {
        let name = module_name(&self.base_path).to_owned();
        let symbol = Symbol { name, ..self.symbol(base, None) };
        Contract { symbol, broken: Broken::Module { successor: self.head_path.clone() } }
    }

    /// The symbol of a definition of the base version.
    fn symbol(&self, base: &FileOutline, definition: Option<&Definition>) -> Symbol {
        Symbol {
            file: self.base_path.clone(),
            language: base.language,
            package: base.package.clone(),
            name: definition.map(|d| d.name.clone()).unwrap_or_default(),
            container: definition.and_then(|d| d.container.clone()),
            kind: definition.map_or(DefinitionKind::Module, |d| d.kind),
            visibility: definition.map_or(Visibility::Exported, |d| d.visibility),
            line: definition.map_or(1, |d| d.name_line),
        }
    }
}

/// An outline with its definitions by qualified name.
struct OutlineSide<'a> {
    outline: &'a FileOutline,
    by_name: HashMap<String, Vec<&'a Definition>>,
    bound: HashSet<&'a str>,
}

impl<'a> OutlineSide<'a> {
    fn of(outline: &'a FileOutline) -> Self {
        let mut by_name: HashMap<String, Vec<&Definition>> = HashMap::new();
        for definition in &outline.definitions {
            by_name.entry(definition.qualified()).or_default().push(definition);
        }
        Self { outline, by_name, bound: outline.bound() }
    }

    /// The definitions with this qualified name; several when it is overloaded.
    fn all(&self, qualified: &str) -> &[&'a Definition] {
        self.by_name.get(qualified).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Fewer members make no enum.
const MIN_MEMBERS: usize = 2;

/// The enums that base and head both have, with members added.
fn added_members(
    delta: &FileDelta,
    base: &OutlineSide<'_>,
    head: &OutlineSide<'_>,
) -> Vec<Contract> {
    if base.outline.language != Language::Rust {
        return Vec::new();
    }
    base.outline
        .definitions
        .iter()
        .filter(|definition| definition.visibility != Visibility::Local)
        .filter(|definition| definition.members.len() >= MIN_MEMBERS)
        .filter_map(|definition| {
            let all = head.all(&definition.qualified());
            let after = all.iter().find(|after| !after.members.is_empty())?;
            let (old, new) = (set(&definition.members), set(&after.members));
            let added: Vec<String> =
                after.members.iter().filter(|m| !old.contains(m.as_str())).cloned().collect();
            (old.is_subset(&new) && !added.is_empty()).then(|| Contract {
                symbol: delta.symbol(base.outline, Some(definition)),
                broken: Broken::Members {
                    before: definition.members.clone(),
                    added,
                    line: after.name_line,
                },
            })
        })
        .collect()
}

fn set(members: &[String]) -> HashSet<&str> {
    members.iter().map(String::as_str).collect()
}

/// Whether uses of definitions in this language can be found in other files.
fn is_checked(language: Language) -> bool {
    !words::globs(language).is_empty()
}

/// Whether a file only declares what another file defines.
fn is_stub(path: &str) -> bool {
    path.ends_with(".pyi") || path.ends_with(".d.ts")
}

/// Whether other files name a file of this language by its path.
fn module_is_its_file(language: Language) -> bool {
    matches!(
        language,
        Language::Python
            | Language::JavaScript
            | Language::TypeScript
            | Language::Tsx
            | Language::Rust
    )
}

/// The name by which other files refer to a file: its stem, or its folder for `index` and the like.
pub(crate) fn module_name(path: &str) -> &str {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').next().unwrap_or_default();
    match stem {
        "index" | "__init__" | "mod" if !folder.is_empty() => {
            folder.rsplit('/').next().unwrap_or_default()
        }
        _ => stem,
    }
}
