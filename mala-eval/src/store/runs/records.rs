//! Reads the records of a run in a stable order.

use super::{EvalStoreError, io_error};
use crate::CaseRecord;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The most bytes of one record.
const MAX_BYTES: u64 = 256 << 20;

/// The records of a run. Only their places are in memory.
#[derive(Debug)]
pub struct RecordIndex {
    path: PathBuf,
    file: Option<File>,
    places: BTreeMap<(String, String, u32), RecordSpan>,
    replaced: Vec<RecordSpan>,
}

#[derive(Debug, Clone, Copy)]
struct RecordSpan {
    start: u64,
    bytes: u64,
    is_reviewed: bool,
}

#[derive(Deserialize)]
struct RecordKey {
    set: String,
    case: String,
    trial: u32,
    could_not_review: Option<String>,
}

impl RecordIndex {
    pub(super) fn open(path: &Path) -> Result<Self, EvalStoreError> {
        let (places, replaced) = (BTreeMap::new(), Vec::new());
        let mut records = Self { path: path.to_owned(), file: None, places, replaced };
        match File::open(path) {
            Ok(file) => records.index(&file)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(records),
            Err(source) => return Err(io_error(path, source)),
        }
        records.file = Some(File::open(path).map_err(|source| io_error(path, source))?);
        Ok(records)
    }

    fn index(&mut self, file: &File) -> Result<(), EvalStoreError> {
        let mut reader = BufReader::new(file);
        let (mut start, mut number) = (0, 0);
        loop {
            let mut line = Vec::new();
            let n_read = (&mut reader).take(MAX_BYTES).read_until(b'\n', &mut line);
            let bytes = n_read.map_err(|source| io_error(&self.path, source))? as u64;
            number += 1;
            // The last line may be torn: it is no record yet.
            if line.last() != Some(&b'\n') {
                return Ok(());
            }
            let key: RecordKey = serde_json::from_slice(&line).map_err(|error| {
                let what = format!("line {number}: invalid record: {error}");
                EvalStoreError::Foreign { path: self.path.clone(), what }
            })?;
            let is_reviewed = key.could_not_review.is_none();
            let place = RecordSpan { start, bytes, is_reviewed };
            // If a case was run again, the last record counts.
            let before = self.places.insert((key.set, key.case, key.trial), place);
            self.replaced.extend(before);
            start += bytes;
        }
    }

    /// The trials with a record: set, case, trial.
    pub fn keys(&self) -> impl Iterator<Item = &(String, String, u32)> {
        self.places.keys()
    }

    /// The reviewed trials: set, case, trial.
    pub fn reviewed(&self) -> impl Iterator<Item = &(String, String, u32)> {
        self.places.iter().filter(|(_, place)| place.is_reviewed).map(|(key, _)| key)
    }

    /// The trials that could not be reviewed: set, case, trial.
    pub fn unreviewed(&self) -> impl Iterator<Item = &(String, String, u32)> {
        self.places.iter().filter(|(_, place)| !place.is_reviewed).map(|(key, _)| key)
    }

    /// Calls `take` for every record, in order.
    pub fn each(&self, take: impl FnMut(CaseRecord)) -> Result<(), EvalStoreError> {
        self.give(self.places.values(), take)
    }

    /// The same for records of cases that were run again: they do not count any more, but their
    /// cost does.
    pub fn each_replaced(&self, take: impl FnMut(CaseRecord)) -> Result<(), EvalStoreError> {
        self.give(self.replaced.iter(), take)
    }

    fn give<'a>(
        &self,
        places: impl Iterator<Item = &'a RecordSpan>,
        mut take: impl FnMut(CaseRecord),
    ) -> Result<(), EvalStoreError> {
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        for place in places {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(place.start))
                .and_then(|_| file.take(place.bytes).read_to_end(&mut bytes))
                .map_err(|source| io_error(&self.path, source))?;
            let record = serde_json::from_slice(&bytes).map_err(|error| {
                EvalStoreError::Foreign { path: self.path.clone(), what: error.to_string() }
            })?;
            take(record);
        }
        Ok(())
    }
}
