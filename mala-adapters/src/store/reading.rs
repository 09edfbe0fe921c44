//! Reads reviews that were kept. A folder that cannot be read is an entry with a reason: one broken
//! run hides no other.

use super::StateFolder;
use mala_domain::report::{Report, SCHEMA_VERSION};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use thiserror::Error;

/// A report of 10,000 findings has about 20 MB.
const MAX_BYTES: u64 = 256 << 20;

/// Why a kept review cannot be read.
#[derive(Debug, Error)]
pub enum RunError {
    /// Its file cannot be opened or read.
    #[error("review.json cannot be read: {0}")]
    Unreadable(io::Error),
    /// It is larger than any report.
    #[error("review.json has more than {MAX_BYTES} bytes")]
    TooLarge,
    /// A later mala wrote it.
    #[error(
        "a newer mala wrote this review: it has schema_version {found}, and this one reads up to {SCHEMA_VERSION}"
    )]
    Newer {
        /// What it has.
        found: u64,
    },
    /// It is no report.
    #[error("review.json is no report: {0}")]
    NoReport(serde_json::Error),
}

impl StateFolder {
    /// The names of the kept reviews, the newest first. None when nothing was kept.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.runs()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            // A name starts with its time; drafts start with a dot.
            if let Some(name) = entry.file_name().to_str()
                && !name.starts_with('.')
                && entry.path().is_dir()
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable_by(|a, b| b.cmp(a));
        Ok(names)
    }

    /// The report of a kept review.
    pub fn read(&self, name: &str) -> Result<Report, RunError> {
        let bytes = read_limited(&self.runs().join(name).join("review.json"))?;
        // What a later version means by its fields is unknown, even where they can be read.
        match serde_json::from_slice(&bytes) {
            Ok(Versioned { schema_version: found }) if found > u64::from(SCHEMA_VERSION) => {
                Err(RunError::Newer { found })
            }
            _ => serde_json::from_slice(&bytes).map_err(RunError::NoReport),
        }
    }
}

/// All that is read of a report before its version is known.
#[derive(serde::Deserialize)]
struct Versioned {
    #[serde(default)]
    schema_version: u64,
}

fn read_limited(path: &Path) -> Result<Vec<u8>, RunError> {
    let file = File::open(path).map_err(RunError::Unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(RunError::Unreadable)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= MAX_BYTES => Ok(bytes),
        _ => Err(RunError::TooLarge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_entries_hide_no_other_and_drafts_are_no_runs() {
        let top = tempfile::tempdir().unwrap();
        let store = StateFolder::of_work_tree(top.path());
        assert_eq!(store.names().unwrap(), [""; 0]);
        let newer = r#"{"schema_version": 7, "issues": {"by": "file"}}"#;
        for (name, text) in [("2", "{"), ("1", "{}"), ("0", newer), (".writing-x", "{}")] {
            let folder = store.runs().join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("review.json"), text).unwrap();
        }
        fs::create_dir(store.runs().join("3")).unwrap();
        fs::write(store.runs().join("a-file"), "").unwrap();
        assert_eq!(store.names().unwrap(), ["3", "2", "1", "0"]);
        for (name, why) in [
            ("3", "review.json cannot be read: "),
            ("2", "review.json is no report: EOF"),
            ("1", "review.json is no report: missing field"),
            ("0", "a newer mala wrote this review: it has schema_version 7, and this one reads"),
        ] {
            let error = store.read(name).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
