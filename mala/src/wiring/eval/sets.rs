//! Sets of cases: the one in the binary, a file or a folder, or a name in `.mala/eval/sets`.

use crate::environment::Environment;
use anyhow::Context;
use include_dir::{Dir, DirEntry, include_dir};
use mala_adapters::store::{reject_symlink, write_gitignore};
use mala_eval::store::runs::EvalStore;
use mala_eval::store::sets::{CaseSet, SetWriter, read_files};
use mala_eval::{CaseError, EvalCase};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The name of the set that is in the binary.
pub const STARTER: &str = "starter";

/// The default file of planted defects, below the folder of sets.
pub const PLANTED_SET: &str = "planted.jsonl.gz";

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../eval/data/starter");

/// The set in the binary.
pub fn starter() -> Result<CaseSet, CaseError> {
    let mut cases = FILES.dirs().map(case).collect::<Result<Vec<_>, _>>()?;
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(CaseSet::of(STARTER, STARTER, cases))
}

fn case(folder: &Dir<'_>) -> Result<EvalCase, CaseError> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder];
    while let Some(inner) = folders.pop() {
        for entry in inner.entries() {
            match entry {
                DirEntry::Dir(inner) => folders.push(inner),
                DirEntry::File(file) => {
                    let path = file.path().strip_prefix(folder.path()).unwrap_or(file.path());
                    let text = String::from_utf8_lossy(file.contents()).into_owned();
                    files.insert(path.to_string_lossy().into_owned(), text);
                }
            }
        }
    }
    let about = files.remove("case.json").unwrap_or_default();
    read_files(&format!("{}/case.json", folder.path().display()), &about, files)
}

/// The set with this name or path.
pub fn find_set(name: &str, folder: &Path, evals: &EvalStore) -> Result<CaseSet, String> {
    if name == STARTER {
        return starter().map_err(|error| error.to_string());
    }
    let kept = evals.sets();
    let endings = ["", ".jsonl", ".jsonl.gz"];
    let places = std::iter::once(folder.join(name))
        .chain(endings.iter().map(|ending| kept.join(format!("{name}{ending}"))));
    let found = places.into_iter().find(|place| place.exists());
    match found {
        Some(place) => CaseSet::at(&place).map_err(|error| format!("{}: {error}", place.display())),
        None => Err(format!("set '{name}' not found")),
    }
}

/// Begins a set that is written case by case.
pub fn begin_set(here: &Environment, path: &Path) -> anyhow::Result<SetWriter> {
    let writing = || format!("writing {}", path.display());
    let sets = EvalStore::of_work_tree(here.root()).sets();
    if path.starts_with(&sets) {
        prepare_state(here, &sets).with_context(writing)?;
    }
    SetWriter::begin(path).with_context(writing)
}

/// Creates a folder below `.mala` that git ignores. Links are refused: a repository must not choose
/// where files are written.
pub fn prepare_state(here: &Environment, folder: &Path) -> io::Result<()> {
    let state = here.root().join(".mala");
    let below = folder.strip_prefix(&state).unwrap_or(Path::new(""));
    reject_symlink(&state)?;
    for part in below.ancestors().filter(|part| !part.as_os_str().is_empty()) {
        reject_symlink(&state.join(part))?;
    }
    std::fs::create_dir_all(folder)?;
    write_gitignore(&state)
}
