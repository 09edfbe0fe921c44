//! Appends records to a run.

use super::{EvalStoreError, io_error};
use crate::CaseRecord;
use crate::ports::RecordSink;
use mala_domain::ports::StoreError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How much is read at once to find the end of the last whole line.
const CHUNK: u64 = 64 << 10;

/// The right to add records to a run.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    file: Mutex<File>,
}

impl RecordWriter {
    pub(super) fn open(folder: &Path, name: &str) -> Result<Self, EvalStoreError> {
        let path = folder.join(name);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|source| io_error(&path, source))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(EvalStoreError::Busy { path: folder.to_owned() });
        }
        cut_torn_line(&mut file).map_err(|source| io_error(&path, source))?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::End(0))?;
        file.write_all(line)?;
        file.sync_data()
    }
}

impl RecordSink for RecordWriter {
    fn append(&self, record: &CaseRecord) -> Result<(), StoreError> {
        let failed =
            |source| StoreError { what: format!("writing {}", self.path.display()), source };
        let mut line = serde_json::to_vec(record).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.write(&line).map_err(failed)
    }
}

/// Removes an incomplete last line, which a crash can leave.
fn cut_torn_line(file: &mut File) -> io::Result<()> {
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let mut chunk = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&mut *file).take(end - start).read_to_end(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return file.set_len(start + at as u64 + 1);
        }
        end = start;
    }
    file.set_len(0)
}
