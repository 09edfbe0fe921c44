//! Sets of cases on disk: `.jsonl`, `.jsonl.gz`, or a folder with a file or a folder per case. They are
//! read one by one, and no line or file may be larger than a limit: a set can be of any length.

mod folder;
mod keep;
mod lines;
mod writer;

pub use folder::read_files;
pub use keep::keep;
pub use writer::SetWriter;

use crate::{Case, CaseError};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The most bytes of one case: a pull request of thousands of files has fewer.
pub const MAX_CASE_BYTES: usize = 64 << 20;

/// Cases, one by one.
pub type Cases = Box<dyn Iterator<Item = Result<Case, CaseError>> + Send>;

/// A set of cases.
#[derive(Debug, Clone)]
pub struct CaseSet {
    /// Its name.
    pub name: String,
    /// Where it is, as a person would write it.
    pub source: String,
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    Lines(PathBuf),
    Folder(PathBuf),
    Here(Vec<Case>),
}

impl CaseSet {
    /// The set in this file or folder.
    pub fn at(path: &Path) -> io::Result<Self> {
        let is_folder = std::fs::metadata(path)?.is_dir();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let name =
            [".jsonl", ".json"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        let place = if is_folder { Place::Folder } else { Place::Lines };
        let source = path.display().to_string();
        Ok(Self { name: name.to_owned(), source, place: place(path.to_owned()) })
    }

    /// A set of cases that are known already.
    pub fn of(name: &str, source: &str, cases: Vec<Case>) -> Self {
        Self { name: name.to_owned(), source: source.to_owned(), place: Place::Here(cases) }
    }

    /// Its cases.
    pub fn cases(&self) -> Cases {
        match &self.place {
            Place::Lines(path) => lines::cases(path),
            Place::Folder(path) => folder::cases(path),
            Place::Here(cases) => Box::new(cases.clone().into_iter().map(Ok)),
        }
    }
}

/// The ids of the cases so far, with the place of each.
#[derive(Debug, Default)]
struct Ids {
    places: BTreeMap<String, String>,
}

impl Ids {
    /// A case with an id of its own.
    fn admit(&mut self, case: Case, file: &str, line: usize) -> Result<Case, CaseError> {
        match self.places.insert(case.id.clone(), format!("{file}:{line}")) {
            None => Ok(case),
            Some(first) => {
                let why = format!("case {:?}: the case at {first} has this id too", case.id);
                Err(CaseError::at_line(file, line, why))
            }
        }
    }
}

/// What makes two sets the same: their cases, in order.
#[derive(Default)]
pub struct Fingerprint {
    hash: Sha256,
}

impl Fingerprint {
    /// Takes a case in.
    pub fn add(&mut self, case: &Case) {
        let text = serde_json::to_string(case).unwrap_or_default();
        self.hash.update(text.len().to_le_bytes());
        self.hash.update(text);
    }

    /// SHA-256 over all of them.
    pub fn finish(self) -> String {
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
