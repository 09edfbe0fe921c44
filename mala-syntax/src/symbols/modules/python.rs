//! Python's modules.

use super::{folders_around, parent};

/// Folders between a project's root and its packages.
const SOURCE_FOLDERS: [&str; 4] = ["", "src", "lib", "python"];

/// The files of `..a.b` or `pkg.mod`.
pub(super) fn files(importer: &str, module: &str) -> Vec<String> {
    let n_dots = module.bytes().take_while(|byte| *byte == b'.').count();
    let path = module.get(n_dots..).unwrap_or_default().replace('.', "/");
    if n_dots > 0 {
        return relative(importer, n_dots, &path);
    }
    let folder = parent(importer);
    let mut found = Vec::new();
    for root in folders_around(folder) {
        let is_sibling = root == folder;
        for source_folder in SOURCE_FOLDERS {
            let Some(root) = super::join(root, source_folder) else { continue };
            let lone = !path.contains('/');
            let is_root = root.is_empty() || SOURCE_FOLDERS.contains(&last_part(&root));
            if !lone || is_root || is_sibling {
                found.extend(of_path(&root, &path));
            }
        }
    }
    found
}

/// Whether `..a.b` or `pkg.mod` in `importer` refers to `file`.
pub(super) fn stands_for(importer: &str, module: &str, file: &str) -> bool {
    let Some(stem) = stem(file) else { return false };
    let n_dots = module.bytes().take_while(|byte| *byte == b'.').count();
    let path = module.get(n_dots..).unwrap_or_default().replace('.', "/");
    let folder = parent(importer);
    if n_dots > 0 {
        let mut around = Some(folder);
        for _ in 1..n_dots {
            around = around.filter(|folder| !folder.is_empty()).map(parent);
        }
        return around.and_then(|around| super::join(around, &path)).as_deref() == Some(stem);
    }
    let Some(root) = super::before_parts(stem, &path) else { return false };
    let is_source = SOURCE_FOLDERS.contains(&last_part(root));
    if !path.contains('/') && !is_source && root != folder {
        return false;
    }
    super::is_around(root, folder) || is_source && super::is_around(parent(root), folder)
}

/// A file's path without the parts that are not in its module's name.
fn stem(file: &str) -> Option<&str> {
    let stem =
        [".py", ".pyi", ".pyx", ".so"].iter().find_map(|ending| file.strip_suffix(ending))?;
    Some(stem.strip_suffix("/__init__").unwrap_or(stem))
}

fn relative(importer: &str, n_dots: usize, path: &str) -> Vec<String> {
    let mut folder = Some(parent(importer));
    for _ in 1..n_dots {
        folder = folder.filter(|folder| !folder.is_empty()).map(parent);
    }
    folder.map(|folder| of_path(folder, path)).unwrap_or_default()
}

fn of_path(folder: &str, path: &str) -> Vec<String> {
    let Some(base) = super::join(folder, path) else { return Vec::new() };
    let package = super::join(&base, "__init__.py").into_iter();
    if path.is_empty() {
        return package.collect();
    }
    [".py", ".pyi", ".pyx", ".so"]
        .iter()
        .map(|ending| format!("{base}{ending}"))
        .chain(package)
        .chain([format!("{base}/__init__.pyi")])
        .collect()
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
