//! The files of a recording: `recording.json` for the run, and `HASH-NUMBER.json` for each call.

use super::key::{Key, redacted};
use crate::store::{write_atomically, write_new};
use mala_domain::conversation::Reply;
use mala_domain::ports::ModelFailure;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

const VERSION: u32 = 1;
const RUN_FILE: &str = "recording.json";
/// The most bytes of a file: an answer has a limit, and so has what was asked.
const MAX_BYTES: u64 = 256 << 20;

/// What is wrong with a recording.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The folder has one already; two in one folder would answer for each other.
    #[error("{} holds a recording already", .0.display())]
    Exists(PathBuf),
    /// There is none.
    #[error("{} holds no recording", .0.display())]
    Missing(PathBuf),
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not one that this version reads.
    #[error("{}: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

/// A call that is to be kept.
pub(super) struct Call<'c> {
    pub(super) key: &'c Key,
    /// Its number among the same calls.
    pub(super) number: u32,
    /// What came of the requests that were made again.
    pub(super) retried: &'c [ModelFailure],
    pub(super) outcome: &'c Result<Reply, ModelFailure>,
}

/// A call and what came of it.
#[derive(Deserialize)]
pub(super) struct Kept {
    schema_version: u32,
    key: String,
    #[serde(default)]
    pub(super) retried: Vec<ModelFailure>,
    pub(super) outcome: Outcome,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Reply(Box<Reply>),
    Failure(ModelFailure),
}

#[derive(Deserialize)]
struct Run {
    schema_version: u32,
    nonce: String,
}

/// Makes the folder of a recording.
pub(super) fn begin(folder: &Path, nonce: &str) -> Result<(), RecordingError> {
    std::fs::create_dir_all(folder).map_err(|source| unusable(folder, source))?;
    let path = folder.join(RUN_FILE);
    let run = json!({"schema_version": VERSION, "nonce": nonce});
    write_new(&path, format!("{run:#}\n").as_bytes()).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => RecordingError::Exists(folder.to_owned()),
        _ => unusable(&path, source),
    })
}

/// Takes away what a recording wrote, and the folder when nothing else is in it.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_call = name.ends_with(".json")
            && name.get(..16).is_some_and(|key| key.bytes().all(|b| b.is_ascii_hexdigit()))
            && name.get(16..17) == Some("-");
        if name == RUN_FILE || is_call {
            std::fs::remove_file(entry.path())?;
        }
    }
    match std::fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

/// The nonce of a recording.
pub(super) fn nonce(folder: &Path) -> Result<String, RecordingError> {
    let path = folder.join(RUN_FILE);
    let run: Run = file(&path)?.ok_or_else(|| RecordingError::Missing(folder.to_owned()))?;
    check_version(&path, run.schema_version)?;
    Ok(run.nonce)
}

/// Keeps a call.
pub(super) fn write(folder: &Path, call: &Call<'_>) -> Result<(), RecordingError> {
    let path = folder.join(name(call.key, call.number));
    let outcome = match call.outcome {
        Ok(reply) => json!({"reply": without_secrets(reply)}),
        Err(failure) => redacted(json!({"failure": failure})),
    };
    let kept = json!({
        "schema_version": VERSION,
        "key": call.key.hash,
        "ask": call.key.ask,
        "retried": redacted(json!(call.retried)),
        "outcome": outcome,
    });
    write_atomically(&path, format!("{kept:#}\n").as_bytes())
        .map_err(|source| unusable(&path, source))
}

/// The reply as whoever asked for it goes on with it, so that a replay says the same; without secrets in
/// the provider's own words too.
fn without_secrets(reply: &Reply) -> Value {
    let mut reply = json!(reply.clone().without_secrets());
    if let Some(verbatim) = reply.pointer_mut("/said/verbatim") {
        *verbatim = redacted(verbatim.take());
    }
    let calls = reply.pointer_mut("/said/calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        for name in ["id", "name"] {
            if let Some(field) = call.get_mut(name) {
                *field = redacted(field.take());
            }
        }
    }
    reply
}

/// The call that was kept; `None` when there is none.
pub(super) fn read(folder: &Path, key: &Key, number: u32) -> Result<Option<Kept>, RecordingError> {
    let path = folder.join(name(key, number));
    let Some(kept) = file::<Kept>(&path)? else { return Ok(None) };
    check_version(&path, kept.schema_version)?;
    match kept.key == key.hash {
        true => Ok(Some(kept)),
        false => Err(foreign(&path, "it is of another call")),
    }
}

fn name(key: &Key, number: u32) -> String {
    format!("{}.json", stem(key, number))
}

/// What the files of a call begin with.
pub(super) fn stem(key: &Key, number: u32) -> String {
    format!("{}-{number}", key.hash.get(..16).unwrap_or_default())
}

fn file<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, RecordingError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(unusable(path, source)),
    };
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(|source| unusable(path, source))?;
    // In two steps: a value says more clearly than a type where the text is no JSON.
    let value: Value =
        serde_json::from_str(&text).map_err(|error| foreign(path, &error.to_string()))?;
    T::deserialize(value).map(Some).map_err(|error| foreign(path, &error.to_string()))
}

fn check_version(path: &Path, version: u32) -> Result<(), RecordingError> {
    match version {
        VERSION => Ok(()),
        other => Err(foreign(path, &format!("it has version {other}, and {VERSION} is known"))),
    }
}

pub(super) fn unusable(path: &Path, source: io::Error) -> RecordingError {
    RecordingError::Unusable { path: path.to_owned(), source }
}

fn foreign(path: &Path, what: &str) -> RecordingError {
    RecordingError::Foreign { path: path.to_owned(), what: what.to_owned() }
}
