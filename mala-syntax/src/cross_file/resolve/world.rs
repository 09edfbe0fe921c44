//! What is known of the tree at head when names are resolved.

use crate::cross_file::delta::FileDelta;
use crate::cross_file::user::UserFile;
use crate::symbols::{Outline, files_of_module, parent};
use std::collections::{HashMap, HashSet};

/// What is known of the tree at head.
pub(crate) struct World<'a> {
    /// Every outline at head by path: of the changed files and of those that were found.
    pub(crate) outlines: HashMap<&'a str, &'a Outline>,
    /// The paths that were asked for and exist at head.
    pub(crate) existing: HashSet<&'a str>,
    /// Go's module paths by the folder of their `go.mod`.
    pub(crate) go_modules: Vec<(String, String)>,
    /// The names of Rust's crates by the folder of their sources.
    pub(crate) crates: HashMap<String, String>,
}

/// A manifest that was read: its path and its text.
pub(crate) type Manifest<'a> = (&'a str, &'a str);

impl<'a> World<'a> {
    /// What these files say.
    pub(crate) fn new(
        deltas: &'a [FileDelta],
        users: &'a [UserFile],
        existing: HashSet<&'a str>,
        manifests: &[Manifest<'_>],
    ) -> Self {
        let mut outlines: HashMap<&str, &Outline> =
            users.iter().map(|user| (user.path.as_str(), &user.outline)).collect();
        for delta in deltas {
            if let (Some(path), Some(head)) = (&delta.head_path, &delta.head) {
                outlines.insert(path, head);
            }
        }
        let mut world = Self { outlines, existing, go_modules: Vec::new(), crates: HashMap::new() };
        for (path, text) in manifests {
            world.read_manifest(path, text);
        }
        world
    }

    fn read_manifest(&mut self, path: &str, text: &str) {
        let folder = parent(path).to_owned();
        let line_after = |prefix: &str| {
            text.lines().find_map(|line| line.trim().strip_prefix(prefix)).map(str::trim)
        };
        if path.ends_with("go.mod") {
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
        }
    }

    /// Whether a file passes a name of `origin` on to those who import it.
    pub(crate) fn passes_on(&self, file: &str, name: &str, origin: (&str, &str)) -> bool {
        let Some(outline) = self.outlines.get(file) else { return false };
        let (origin_file, origin_name) = origin;
        let leads = |module: &str| {
            files_of_module(file, outline.language, module).iter().any(|path| path == origin_file)
        };
        let by_import = outline.imports.iter().any(|import| {
            let named = import.local == name && import.name() == Some(origin_name);
            let all = import.local == "*" && name == origin_name;
            (named || all) && leads(&import.module)
        });
        by_import
            || outline.exports.iter().any(|export| {
                let named = export.name == name && export.local == origin_name;
                let all = export.name == "*" && name == origin_name;
                (named || all) && export.from.as_deref().is_some_and(leads)
            })
    }
}

/// Whether a module name in a file leads to this path.
pub(crate) fn leads_to(user: &UserFile, module: &str, path: &str) -> bool {
    files_of_module(&user.path, user.outline.language, module).iter().any(|file| file == path)
}
