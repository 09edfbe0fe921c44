//! The runs in `.mala/eval/<run>/`: the header (`run.json`), a record per line (`results.jsonl`), the result
//! (`result.json`) and the model traffic (`traffic/`). Records are only appended, each with one durable write;
//! an incomplete last line is not a record.

mod journal;
mod records;

pub use journal::RecordWriter;
pub use records::RecordIndex;

use crate::store::write_atomically;
use crate::{EvalResult, RunHeader};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use thiserror::Error;

const HEADER: &str = "run.json";
const RESULT: &str = "result.json";
const RECORDS: &str = "results.jsonl";
/// Stores the folder in which a run checks out its cases, so that the next start can clean up after
/// a crash.
const WORK: &str = "work-folder";
const WORK_PREFIX: &str = "mala-eval-";
/// The most bytes of a header or a result.
const MAX_BYTES: u64 = 256 << 20;

/// Why a kept eval cannot be used.
#[derive(Debug, Error)]
pub enum EvalStoreError {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file has unexpected content.
    #[error("{}: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process works on the run.
    #[error("{}: another mala process is working on this run", path.display())]
    Busy {
        /// The run's folder.
        path: PathBuf,
    },
}

/// The evals of a work tree.
#[derive(Debug, Clone)]
pub struct EvalStore {
    state: PathBuf,
}

impl EvalStore {
    /// The evals that are kept below this work tree.
    pub fn of_work_tree(top: &Path) -> Self {
        Self { state: top.join(".mala") }
    }

    /// The folder of all runs.
    pub fn folder(&self) -> PathBuf {
        self.state.join("eval")
    }

    /// The folder for the user's own sets.
    pub fn sets(&self) -> PathBuf {
        self.folder().join("sets")
    }

    /// The names of the runs, the newest first.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.folder()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.path().join(HEADER).is_file()
                && let Some(name) = entry.file_name().to_str()
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable_by(|a, b| b.cmp(a));
        Ok(names)
    }

    /// Begins a run in the folder of all runs, which exists. Its name is the header's id.
    pub fn create(&self, header: &RunHeader) -> Result<EvalRunFolder, EvalStoreError> {
        let run = self.run(&header.run_id);
        fs::create_dir(&run.path).map_err(|source| io_error(&run.path, source))?;
        let path = run.path.join(HEADER);
        write_atomically(&path, &json(header)).map_err(|source| io_error(&path, source))?;
        Ok(run)
    }

    /// The run of this name, which may not be there.
    pub fn run(&self, name: &str) -> EvalRunFolder {
        EvalRunFolder { path: self.folder().join(name) }
    }
}

/// The folder of one run.
#[derive(Debug, Clone)]
pub struct EvalRunFolder {
    path: PathBuf,
}

impl EvalRunFolder {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The header of the run.
    pub fn header(&self) -> Result<RunHeader, EvalStoreError> {
        read(&self.path.join(HEADER))
    }

    /// Replaces the header of the run, for example with a larger budget.
    pub fn save_header(&self, header: &RunHeader) -> Result<(), EvalStoreError> {
        self.save(HEADER, header)
    }

    /// The result, when the run has one.
    pub fn result(&self) -> Result<EvalResult, EvalStoreError> {
        read(&self.path.join(RESULT))
    }

    /// Keeps the result.
    pub fn save_result(&self, result: &EvalResult) -> Result<(), EvalStoreError> {
        self.save(RESULT, result)
    }

    /// The records so far, by set, case and trial.
    pub fn records(&self) -> Result<RecordIndex, EvalStoreError> {
        RecordIndex::open(&self.path.join(RECORDS))
    }

    /// Locks the run for adding records, until the writer is dropped.
    pub fn writer(&self) -> Result<RecordWriter, EvalStoreError> {
        RecordWriter::open(&self.path, RECORDS)
    }

    /// The folder with the recorded traffic of one trial of a case.
    pub fn traffic(&self, set: &str, case: &str, trial: u32) -> PathBuf {
        self.path.join("traffic").join(folder_name(set, case)).join(trial.to_string())
    }

    /// Moves the traffic of a trial away, so that all of its calls are made again.
    pub fn archive_traffic(&self, set: &str, case: &str, trial: u32) -> Result<(), EvalStoreError> {
        let folder = self.traffic(set, case, trial);
        if !folder.exists() {
            return Ok(());
        }
        let mut number = 1;
        let mut aside = folder.with_extension(format!("old-{number}"));
        while aside.exists() {
            number += 1;
            aside = folder.with_extension(format!("old-{number}"));
        }
        fs::rename(&folder, &aside).map_err(|source| io_error(&folder, source))
    }

    /// A temporary folder to check out cases, removed on drop. Removes the folder of an earlier
    /// start that crashed.
    pub fn work(&self) -> Result<TempDir, EvalStoreError> {
        let note = self.path.join(WORK);
        if let Ok(left) = fs::read_to_string(&note) {
            remove_leftover(Path::new(left.trim()));
        }
        let place = std::env::temp_dir();
        let folder = tempfile::Builder::new()
            .prefix(WORK_PREFIX)
            .tempdir()
            .map_err(|source| io_error(&place, source))?;
        let path = folder.path().display().to_string();
        write_atomically(&note, path.as_bytes()).map_err(|source| io_error(&note, source))?;
        Ok(folder)
    }

    fn save(&self, name: &str, value: &impl Serialize) -> Result<(), EvalStoreError> {
        let path = self.path.join(name);
        write_atomically(&path, &json(value)).map_err(|source| io_error(&path, source))
    }
}

/// Removes the folder of an earlier start, if it looks like one of ours.
fn remove_leftover(folder: &Path) {
    let is_ours = folder.file_name().is_some_and(|name| {
        name.to_string_lossy().starts_with(WORK_PREFIX) && folder.is_absolute()
    });
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    if is_ours
        && is_folder
        && let Err(error) = fs::remove_dir_all(folder)
    {
        tracing::warn!(folder = %folder.display(), %error, "cannot remove the folder of an earlier start");
    }
}

/// A name that a folder may have, and that no other case has.
fn folder_name(set: &str, case: &str) -> String {
    let hash = Sha256::digest(format!("{}\0{case}", set));
    let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let plain: String = case
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' })
        .take(60)
        .collect();
    format!("{plain}-{hash}")
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, EvalStoreError> {
    let file = File::open(path).map_err(|source| io_error(path, source))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|source| io_error(path, source))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| EvalStoreError::Foreign { path: path.to_owned(), what: error.to_string() })
}

fn io_error(path: &Path, source: io::Error) -> EvalStoreError {
    EvalStoreError::Io { path: path.to_owned(), source }
}
