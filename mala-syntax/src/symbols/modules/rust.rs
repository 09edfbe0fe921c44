//! Rust's modules: where a file is in its crate.

use super::parent;

/// The module of a file in its crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RustModule {
    /// The folder of the crate's sources; the file itself for a crate of one file.
    pub root: String,
    /// The modules from the crate's root down to the file.
    pub path: Vec<String>,
}

impl RustModule {
    /// The module of a file.
    pub fn of(file: &str) -> Self {
        let parts: Vec<&str> = file.split('/').collect();
        let last_source = parts.iter().rposition(|part| *part == "src");
        let own_crate = |at: usize| parts.get(at + 1..).is_some_and(|rest| rest.len() == 1);
        let is_crate = match last_source {
            Some(at) => parts.get(at + 1) == Some(&"bin") && own_crate(at + 1),
            None => parts
                .iter()
                .position(|part| matches!(*part, "tests" | "examples" | "benches"))
                .is_none_or(own_crate),
        };
        if is_crate {
            return Self { root: file.to_owned(), path: Vec::new() };
        }
        let start = last_source
            .or_else(|| {
                parts.iter().position(|part| matches!(*part, "tests" | "examples" | "benches"))
            })
            .unwrap_or_default();
        // `src/bin/tool/main.rs` is the root of a crate of its own.
        let is_tool = last_source.is_some() && parts.get(start + 1) == Some(&"bin");
        let start = if is_tool { start + 2 } else { start };
        let root = parts.get(..=start).unwrap_or_default().join("/");
        let mut path: Vec<String> =
            parts.get(start + 1..).unwrap_or_default().iter().map(|p| (*p).to_owned()).collect();
        let last = path.pop().unwrap_or_default();
        let stem = last.trim_end_matches(".rs");
        let is_root = path.is_empty() && matches!(stem, "lib" | "main");
        if stem != "mod" && !is_root {
            path.push(stem.to_owned());
        }
        Self { root, path }
    }
}

/// The files of `mod name;`: beside the file when it is a folder's own, else in its folder. Which of
/// the two a file is depends on the crate's targets, so both are given.
pub(super) fn submodule_files(importer: &str, name: &str) -> Vec<String> {
    let name = name.trim_start_matches("r#");
    let folder = parent(importer);
    let file = importer.rsplit('/').next().unwrap_or_default();
    let stem = file.trim_end_matches(".rs");
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut found = vec![format!("{prefix}{name}.rs"), format!("{prefix}{name}/mod.rs")];
    if !matches!(stem, "lib" | "main" | "mod") {
        found.push(format!("{prefix}{stem}/{name}.rs"));
        found.push(format!("{prefix}{stem}/{name}/mod.rs"));
    }
    found
}
