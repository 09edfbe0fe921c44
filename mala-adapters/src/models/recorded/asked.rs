//! Calls that were made and are not answered yet: `HASH-NUMBER.asked` while they are under way,
//! `HASH-NUMBER.lost-N` when a crash came between. A lost call may have been paid for.

use super::RecordingError;
use super::folder::{stem, unusable};
use super::key::Key;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const ASKED: &str = "asked";
const LOST: &str = "lost";

/// Calls whose answers were lost, and what they may have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Lost {
    /// How many.
    pub calls: u64,
    /// What they may have cost at worst, where that is known.
    pub worst_usd: f64,
    /// How many have no known price.
    pub unpriced: u64,
}

/// Notes that a call is made.
pub(super) fn begin(
    folder: &Path,
    key: &Key,
    number: u32,
    worst_usd: Option<f64>,
) -> Result<(), RecordingError> {
    let path = folder.join(format!("{}.{ASKED}", stem(key, number)));
    let text = json!({ "worst_usd": worst_usd }).to_string();
    fs::write(&path, text).map_err(|source| unusable(&path, source))
}

/// Notes that the call is over.
pub(super) fn answered(folder: &Path, key: &Key, number: u32) -> Result<(), RecordingError> {
    let path = folder.join(format!("{}.{ASKED}", stem(key, number)));
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable(&path, error)),
        _ => Ok(()),
    }
}

/// Notes the calls as lost that were under way when the recording was cut short.
pub(super) fn note_lost(folder: &Path) -> Result<(), RecordingError> {
    for path in files(folder).map_err(|source| unusable(folder, source))? {
        if path.extension().is_none_or(|end| end != ASKED) {
            continue;
        }
        // Its answer may have been kept just before the crash.
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

/// The lost calls of all recordings below a folder, with those that nobody noted yet.
pub fn lost_below(folder: &Path) -> io::Result<Lost> {
    let mut lost = Lost::default();
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
