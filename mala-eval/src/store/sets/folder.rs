//! Reads a folder of cases: each is a `.json` file, or a folder with a `case.json`, which may have its files
//! beside it: `head/`, `base/` and `change.diff`.

use super::{CaseIds, CaseIterator, MAX_CASE_BYTES};
use crate::{CaseError, EvalCase};
use mala_domain::change::FilePath;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum number of files of a case.
const MAX_FILES: usize = 20_000;

/// The cases of a folder, by name. The iterator ends after the first error.
pub(super) fn cases(folder: &Path) -> CaseIterator {
    let places = match places(folder) {
        Ok(places) => places,
        Err(error) => {
            let file = folder.display().to_string();
            return Box::new(std::iter::once(Err(CaseError::at_line(&file, 1, error.to_string()))));
        }
    };
    let mut is_over = false;
    let mut ids = CaseIds::default();
    let cases = places.into_iter().map_while(move |place| {
        if is_over {
            return None;
        }
        let file = place.display().to_string();
        let case = read(&place).and_then(|case| ids.admit(case, &file, 1));
        is_over = case.is_err();
        Some(case)
    });
    Box::new(cases)
}

/// The files with a case each, by name.
fn places(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut places = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && path.join("case.json").is_file() {
            places.push(path.join("case.json"));
        } else if path.extension().is_some_and(|end| end == "json") {
            places.push(path);
        }
    }
    places.sort();
    Ok(places)
}

pub(super) fn read(place: &Path) -> Result<EvalCase, CaseError> {
    let file = place.display().to_string();
    let wrong = |why: String| CaseError::at_line(&file, 1, why);
    let text = text(place).map_err(|error| wrong(error.to_string()))?;
    let folder = match place.file_name() {
        Some(name) if name == "case.json" => place.parent(),
        _ => None,
    };
    let Some(folder) = folder else { return EvalCase::parse(&file, 1, &text) };
    let mut files = BTreeMap::new();
    for name in ["head", "base"] {
        let root = folder.join(name);
        if root.is_dir() {
            let tree = tree(&root).map_err(|(path, error)| wrong(format!("{path}: {error}")))?;
            files.extend(tree.into_iter().map(|(path, text)| (format!("{name}/{path}"), text)));
        }
    }
    let diff = folder.join("change.diff");
    if diff.is_file() {
        let text = super::folder::text(&diff).map_err(|error| wrong(error.to_string()))?;
        files.insert("change.diff".to_owned(), text);
    }
    read_files(&file, &text, files)
}

/// A case from the text of its `case.json` and the files beside it, by their paths: `head/...`,
/// `base/...` and `change.diff`.
pub fn read_files(
    file: &str,
    text: &str,
    files: BTreeMap<String, String>,
) -> Result<EvalCase, CaseError> {
    // Both are inserted before the case is checked, because it may have no other content.
    let mut value: serde_json::Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) => return EvalCase::parse(file, 1, text),
    };
    let Some(fields) = value.as_object_mut() else { return EvalCase::parse(file, 1, text) };
    for (path, content) in files {
        let (field, path) = match path.split_once('/') {
            Some(("head", path)) => ("files", path),
            Some(("base", path)) => ("base_files", path),
            _ if path == "change.diff" => {
                fields.insert("diff".to_owned(), content.into());
                continue;
            }
            _ => continue,
        };
        let tree = fields.entry(field).or_insert_with(|| serde_json::json!({}));
        if let Some(tree) = tree.as_object_mut() {
            tree.insert(FilePath::from(path).to_string(), content.into());
        }
    }
    let parsed = EvalCase::parse(file, 1, &value.to_string());
    match parsed {
        Ok(case) => Ok(case),
        // The position in the combined text is meaningless; use that in the file, if it has one.
        Err(merge_duplicates) => match EvalCase::parse(file, 1, text) {
            Err(own) if own.column > 1 => Err(own),
            _ => Err(CaseError::at_line(file, 1, merge_duplicates.why)),
        },
    }
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut file = std::fs::File::open(path)?.take(MAX_CASE_BYTES as u64 + 1);
    file.read_to_string(&mut text)?;
    match text.len() > MAX_CASE_BYTES {
        true => Err(io::Error::other(format!("more than {MAX_CASE_BYTES} bytes"))),
        false => Ok(text),
    }
}

/// The files below a folder. Symbolic links are not followed.
fn tree(root: &Path) -> Result<BTreeMap<String, String>, (String, io::Error)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    let mut n_bytes = 0;
    while let Some(folder) = folders.pop() {
        let name = |path: &Path| path.display().to_string();
        let entries = std::fs::read_dir(&folder).map_err(|error| (name(&folder), error))?;
        for entry in entries {
            let entry = entry.map_err(|error| (name(&folder), error))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|error| (name(&path), error))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let text = text(&path).map_err(|error| (name(&path), error))?;
                n_bytes += text.len();
                if n_bytes > MAX_CASE_BYTES || found.len() >= MAX_FILES {
                    let limit = format!("{MAX_FILES} files or {MAX_CASE_BYTES} bytes");
                    return Err((name(&path), io::Error::other(format!("more than {limit}"))));
                }
                let inside = path.strip_prefix(root).unwrap_or(&path);
                found.insert(inside.to_string_lossy().into_owned(), text);
            }
        }
    }
    Ok(found)
}
