//! The files of a recording: `recording.json` for the run and `HASH-NUMBER.json` for each call. A
//! call in progress is `HASH-NUMBER.asked`; one that was interrupted by a crash is
//! `HASH-NUMBER.lost-N` and may have cost money.

use crate::store::{write_atomically, write_new};
use mala_domain::conversation::{ChatReply, ChatRequest};
use mala_domain::ports::ModelFailure;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

const VERSION: u32 = 1;
const RUN_FILE: &str = "recording.json";
/// The largest file, in bytes. Requests and responses have smaller limits.
const MAX_BYTES: u64 = 256 << 20;

/// What is wrong with a recording.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The folder already contains a recording.
    #[error("{} already contains a recording", .0.display())]
    Exists(PathBuf),
    /// The folder contains no recording.
    #[error("{} does not contain a recording", .0.display())]
    Missing(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file has another format or version.
    #[error("{}: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

/// A call to store.
pub(super) struct RecordedCall<'c> {
    pub(super) key: &'c CallKey,
    /// Its number among identical calls.
    pub(super) number: u32,
    /// The failures of the attempts that were retried.
    pub(super) retried: &'c [ModelFailure],
    pub(super) outcome: &'c Result<ChatReply, ModelFailure>,
}

/// A stored call and its outcome.
#[derive(Deserialize)]
pub(super) struct StoredCall {
    schema_version: u32,
    key: String,
    #[serde(default)]
    pub(super) retried: Vec<ModelFailure>,
    pub(super) outcome: StoredOutcome,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredOutcome {
    Reply(Box<ChatReply>),
    Failure(ModelFailure),
}

#[derive(Deserialize)]
struct RecordingHeader {
    schema_version: u32,
    nonce: String,
}

/// Creates the folder of a recording.
pub(super) fn begin(folder: &Path, nonce: &str) -> Result<(), RecordingError> {
    std::fs::create_dir_all(folder).map_err(|source| unusable(folder, source))?;
    let path = folder.join(RUN_FILE);
    let run = json!({"schema_version": VERSION, "nonce": nonce});
    write_new(&path, format!("{run:#}\n").as_bytes()).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => RecordingError::Exists(folder.to_owned()),
        _ => unusable(&path, source),
    })
}

/// Removes the files of a recording, and the folder if it is empty then.
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
    let run: RecordingHeader =
        file(&path)?.ok_or_else(|| RecordingError::Missing(folder.to_owned()))?;
    check_version(&path, run.schema_version)?;
    Ok(run.nonce)
}

/// Stores a call.
pub(super) fn write(folder: &Path, call: &RecordedCall<'_>) -> Result<(), RecordingError> {
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

/// The reply as the caller uses it, so that a replay gives the same, with secrets redacted in the
/// provider's content too.
fn without_secrets(reply: &ChatReply) -> Value {
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

/// The stored call; `None` if there is none.
pub(super) fn read(
    folder: &Path,
    key: &CallKey,
    number: u32,
) -> Result<Option<StoredCall>, RecordingError> {
    let path = folder.join(name(key, number));
    let Some(kept) = file::<StoredCall>(&path)? else { return Ok(None) };
    check_version(&path, kept.schema_version)?;
    match kept.key == key.hash {
        true => Ok(Some(kept)),
        false => Err(foreign(&path, "it contains another call")),
    }
}

fn name(key: &CallKey, number: u32) -> String {
    format!("{}.json", stem(key, number))
}

/// The common start of the file names of a call.
pub(super) fn stem(key: &CallKey, number: u32) -> String {
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
    // In two steps: a syntax error is clearer than an error about a type.
    let value: Value =
        serde_json::from_str(&text).map_err(|error| foreign(path, &error.to_string()))?;
    T::deserialize(value).map(Some).map_err(|error| foreign(path, &error.to_string()))
}

fn check_version(path: &Path, version: u32) -> Result<(), RecordingError> {
    match version {
        VERSION => Ok(()),
        other => Err(foreign(path, &format!("unsupported version {other}; expected {VERSION}"))),
    }
}

pub(super) fn unusable(path: &Path, source: io::Error) -> RecordingError {
    RecordingError::Unusable { path: path.to_owned(), source }
}

fn foreign(path: &Path, what: &str) -> RecordingError {
    RecordingError::Foreign { path: path.to_owned(), what: what.to_owned() }
}

const ASKED: &str = "asked";
const LOST: &str = "lost";

/// Calls whose answers were lost, and what they may have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LostCalls {
    /// How many.
    pub calls: u64,
    /// Their highest cost in dollars, where it is known.
    pub worst_usd: f64,
    /// How many have no known price.
    pub unpriced: u64,
}

/// Marks a call as in progress.
pub(super) fn begin_call(
    folder: &Path,
    key: &CallKey,
    number: u32,
    worst_usd: Option<f64>,
) -> Result<(), RecordingError> {
    let path = folder.join(format!("{}.{ASKED}", stem(key, number)));
    let text = json!({ "worst_usd": worst_usd }).to_string();
    fs::write(&path, text).map_err(|source| unusable(&path, source))
}

/// Marks a call as finished.
pub(super) fn end_call(folder: &Path, key: &CallKey, number: u32) -> Result<(), RecordingError> {
    let path = folder.join(format!("{}.{ASKED}", stem(key, number)));
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable(&path, error)),
        _ => Ok(()),
    }
}

/// Marks the calls as lost that were in progress when the recording was interrupted.
pub(super) fn note_lost(folder: &Path) -> Result<(), RecordingError> {
    for path in files(folder).map_err(|source| unusable(folder, source))? {
        if path.extension().is_none_or(|end| end != ASKED) {
            continue;
        }
        // The answer may have been stored just before the crash.
        if path.with_extension("json").is_file() {
            fs::remove_file(&path).map_err(|source| unusable(&path, source))?;
            continue;
        }
        let mut number = 1;
        let mut lost = path.with_extension(format!("{LOST}-{number}"));
        while lost.exists() {
            number += 1;
            lost = path.with_extension(format!("{LOST}-{number}"));
        }
        fs::rename(&path, &lost).map_err(|source| unusable(&path, source))?;
    }
    Ok(())
}

/// The lost calls of all recordings below a folder, including those that are not marked yet.
pub fn lost_calls_below(folder: &Path) -> io::Result<LostCalls> {
    let mut lost = LostCalls::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in files(&folder)? {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let end = path.extension().unwrap_or_default().to_string_lossy();
            let is_open = end == ASKED && !path.with_extension("json").is_file();
            if is_open || end.starts_with(LOST) {
                lost.calls += 1;
                match worst(&path) {
                    Some(dollars) => lost.worst_usd += dollars,
                    None => lost.unpriced += 1,
                }
            }
        }
    }
    Ok(lost)
}

fn worst(path: &Path) -> Option<f64> {
    let value: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    value.get("worst_usd")?.as_f64()
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

/// A redacted request and its hash.
pub(super) struct CallKey {
    pub(super) ask: Value,
    pub(super) hash: String,
}

impl CallKey {
    pub(super) fn of(ask: &ChatRequest) -> Self {
        let ask = redacted(serde_json::to_value(ask).unwrap_or_default());
        // Object keys are sorted, so that identical requests have identical text.
        let hash = Sha256::digest(ask.to_string());
        let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { ask, hash }
    }
}

/// The value with secrets redacted in all of its texts.
pub(super) fn redacted(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(mala_domain::secrets::redact(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(redacted).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, redacted(value))).collect()
        }
        other => other,
    }
}
