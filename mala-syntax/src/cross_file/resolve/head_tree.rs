//! The files and manifests at head that name resolution looks at.

use super::ignored::IgnoredPaths;
use crate::cross_file::contract::Symbol;
use crate::cross_file::plan::{LookupPlan, package_beside};
use crate::cross_file::user::UserFile;
use crate::cross_file::words::is_standard_python;
use crate::symbols::{FileOutline, ImportedItem, parent, stands_for, stands_for_in_package};
use mala_domain::language::Language;
use std::collections::{HashMap, HashSet};

/// The files and manifests at head.
pub(crate) struct HeadTree<'a> {
    /// Every outline at head by path: of the changed files and of those that were found.
    pub(crate) outlines: HashMap<&'a str, &'a FileOutline>,
    /// The paths that were checked and exist at head.
    pub(crate) existing: HashSet<&'a str>,
    /// Go's module paths by the folder of their `go.mod`.
    pub(crate) go_modules: Vec<(String, String)>,
    /// The names of Rust's crates by the folder of their sources.
    pub(crate) crates: HashMap<String, String>,
    /// The names of JavaScript's packages with their folders.
    packages: Vec<(String, String)>,
    /// The files that are in no commit on purpose.
    pub(crate) ignored: IgnoredPaths,
    /// The files that re-export a definition, with its name there, by file and name of the
    /// definition.
    reexports: Reexports<'a>,
}

/// The files that re-export a definition, with its name there, by file and name of the definition.
type Reexports<'a> = HashMap<(String, String), Vec<(&'a str, &'a str)>>;

/// A manifest that was read: its path and its text.
pub(crate) type ManifestText<'a> = (&'a str, &'a str);

impl<'a> HeadTree<'a> {
    /// Indexes these files.
    pub(crate) fn new(
        plan: &'a LookupPlan,
        users: &'a [UserFile],
        existing: HashSet<&'a str>,
        manifests: &[ManifestText<'_>],
    ) -> Self {
        let mut outlines: HashMap<&str, &FileOutline> =
            users.iter().map(|user| (user.path.as_str(), &user.outline)).collect();
        for delta in &plan.deltas {
            if let (Some(path), Some(head)) = (&delta.head_path, &delta.head) {
                outlines.insert(path, head);
            }
        }
        let mut tree = Self {
            outlines,
            existing,
            go_modules: Vec::new(),
            crates: HashMap::new(),
            packages: Vec::new(),
            ignored: IgnoredPaths::default(),
            reexports: HashMap::new(),
        };
        for (path, text) in manifests {
            tree.read_manifest(path, text);
        }
        tree.reexports = tree.find_reexports(plan);
        tree
    }

    /// The files that re-export definitions of the plan.
    fn find_reexports(&self, plan: &'a LookupPlan) -> Reexports<'a> {
        let mut by_name: HashMap<&str, HashSet<(&str, Language)>> = HashMap::new();
        for symbol in plan.contracts.iter().map(|contract| &contract.symbol) {
            let top = symbol.container.as_deref().unwrap_or(&symbol.name);
            let top = top.split('.').next().unwrap_or_default();
            by_name.entry(top).or_default().insert((&symbol.file, symbol.language));
        }
        let mut found = Reexports::new();
        for (path, outline) in &self.outlines {
            for (module, name, local) in passed_on(outline) {
                for (wanted, files) in by_name.iter().filter(|(w, _)| name == **w || name == "*") {
                    let own = if name == "*" { wanted } else { local };
                    let leads = |(file, language): &&(&str, Language)| {
                        super::same_family(*language, outline.language)
                            && self.leads_to(path, outline.language, module, file)
                    };
                    for (file, _) in files.iter().filter(leads) {
                        if self.has_from_elsewhere(path, own, file) {
                            continue;
                        }
                        let thing = ((*file).to_owned(), (*wanted).to_owned());
                        found.entry(thing).or_default().push((path, own));
                    }
                }
            }
        }
        found
    }

    /// Whether a file that re-exports a name also gets it from another file than this one: a
    /// definition that moved is still found through it.
    fn has_from_elsewhere(&self, passer: &str, name: &str, file: &str) -> bool {
        let Some(outline) = self.outlines.get(passer) else { return false };
        let mut others = self.outlines.iter().filter(|(path, other)| {
            **path != file
                && **path != passer
                && super::same_family(other.language, outline.language)
                && other.definitions.iter().any(|it| it.name == name && it.is_top_level())
        });
        others.any(|(path, _)| {
            passed_on(outline).any(|(module, _, local)| {
                (local == name || local == "*")
                    && self.leads_to(passer, outline.language, module, path)
            })
        })
    }

    /// Whether a module name in a file leads to that path. A name that a build maps may match
    /// several files: then it is ambiguous and leads to none of them.
    pub(crate) fn leads_to(
        &self,
        user: &str,
        language: Language,
        module: &str,
        path: &str,
    ) -> bool {
        if language == Language::Python
            && (is_standard_python(module)
                || package_beside(path).is_some_and(|package| self.exists(&package)))
        {
            return false;
        }
        let fits = |path: &str| {
            stands_for(user, language, module, path)
                || self.packages.iter().any(|(name, folder)| {
                    module.starts_with(name.as_str())
                        && stands_for_in_package((name, folder), module, path)
                })
        };
        let is_mapped = !module.starts_with('.')
            && matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx);
        fits(path)
            && !(is_mapped && self.outlines.keys().any(|other| *other != path && fits(other)))
    }

    /// Whether a path that was checked or read exists at head.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.existing.contains(path) || self.outlines.contains_key(path)
    }

    /// The files that re-export the symbol, with its names there.
    pub(crate) fn reexports(&self, symbol: &Symbol) -> &[(&'a str, &'a str)] {
        let key = (symbol.file.clone(), symbol.name.clone());
        self.reexports.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    fn read_manifest(&mut self, path: &str, text: &str) {
        let folder = parent(path).to_owned();
        let line_after = |prefix: &str| {
            text.lines().find_map(|line| line.trim().strip_prefix(prefix)).map(str::trim)
        };
        if path.ends_with(".gitignore") {
            self.ignored.read(path, text);
        } else if path.ends_with("go.mod") {
            let module = line_after("module ").map(|name| name.trim_matches('"').to_owned());
            self.go_modules.extend(module.map(|module| (folder, module)));
        } else if path.ends_with("Cargo.toml") {
            let sources =
                if folder.is_empty() { "src".to_owned() } else { format!("{folder}/src") };
            let name = text
                .lines()
                .find_map(|line| line.trim().strip_prefix("name")?.trim().strip_prefix('='))
                .map(|name| name.trim().trim_matches('"').replace('-', "_"));
            if let Some(name) = name {
                self.crates.insert(sources, name);
            }
        } else if path.ends_with("package.json") {
            let name = text.lines().find_map(|line| {
                let rest = line.trim().strip_prefix("\"name\"")?.trim_start().strip_prefix(':')?;
                Some(rest.trim().trim_end_matches(',').trim_matches('"').to_owned())
            });
            self.packages.extend(name.filter(|name| name.len() > 2).map(|name| (name, folder)));
        }
    }
}

/// The re-exports of a file: the module, the name there and the exported name.
fn passed_on(outline: &FileOutline) -> impl Iterator<Item = (&str, &str, &str)> {
    let imported = outline.imports.iter().filter_map(|import| match &import.imported {
        ImportedItem::Name(name) => {
            Some((import.module.as_str(), name.as_str(), import.local.as_str()))
        }
        ImportedItem::All => Some((import.module.as_str(), "*", "*")),
        _ => None,
    });
    let exported = outline.exports.iter().filter_map(|export| {
        let from = export.from.as_deref()?;
        Some((from, export.local.as_str(), export.name.as_str()))
    });
    imported.chain(exported)
}
