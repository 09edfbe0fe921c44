//! Sets of cases on disk: `.jsonl`, `.jsonl.gz`, or a folder with a file or a folder per case. Cases are read
//! one by one with a size limit, so that a set can have any length.

mod case_folder;
mod folder;
mod lines;
mod writer;

pub use case_folder::write_case_folder;
pub use folder::read_files;
pub use writer::SetWriter;

use crate::{CaseError, EvalCase};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The most bytes of one case: a pull request of thousands of files has fewer.
pub const MAX_CASE_BYTES: usize = 64 << 20;

/// Cases, one by one.
pub type CaseIterator = Box<dyn Iterator<Item = Result<EvalCase, CaseError>> + Send>;

/// A set of cases.
#[derive(Debug, Clone)]
pub struct CaseSet {
    /// Its name.
    pub name: String,
    /// Its path, as shown to the user.
    pub source: String,
    place: SetStorage,
}

#[derive(Debug, Clone)]
enum SetStorage {
    CaseLines(PathBuf),
    Folder(PathBuf),
    Here(Vec<EvalCase>),
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
        let place = if is_folder { SetStorage::Folder } else { SetStorage::CaseLines };
        let source = path.display().to_string();
        Ok(Self { name: name.to_owned(), source, place: place(path.to_owned()) })
    }

    /// A set of cases that are known already.
    pub fn of(name: &str, source: &str, cases: Vec<EvalCase>) -> Self {
        Self { name: name.to_owned(), source: source.to_owned(), place: SetStorage::Here(cases) }
    }

    /// Its cases.
    pub fn cases(&self) -> CaseIterator {
        match &self.place {
            SetStorage::CaseLines(path) => lines::cases(path),
            SetStorage::Folder(path) => folder::cases(path),
            SetStorage::Here(cases) => Box::new(cases.clone().into_iter().map(Ok)),
        }
    }
}

/// The ids of the cases so far, with the place of each.
#[derive(Debug, Default)]
struct CaseIds {
    places: BTreeMap<String, String>,
}

impl CaseIds {
    /// A case with an id of its own.
    fn admit(&mut self, case: EvalCase, file: &str, line: usize) -> Result<EvalCase, CaseError> {
        match self.places.insert(case.id.clone(), format!("{file}:{line}")) {
            None => Ok(case),
            Some(first) => {
                let why = format!("case {:?}: duplicate id, also used at {first}", case.id);
                Err(CaseError::at_line(file, line, why))
            }
        }
    }
}

/// The identity of a set: its cases, in order.
#[derive(Default)]
pub struct SetFingerprint {
    hash: Sha256,
}

impl SetFingerprint {
    /// Takes a case in.
    pub fn add(&mut self, case: &EvalCase) {
        let text = serde_json::to_string(case).unwrap_or_default();
        self.hash.update(text.len().to_le_bytes());
        self.hash.update(text);
    }

    /// The SHA-256 of all of them.
    pub fn finish(self) -> String {
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
