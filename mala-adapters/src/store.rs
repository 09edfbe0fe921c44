//! The state folder of a repository: `.mala/runs/<name>/`, one folder per review. A folder is
//! written under a temporary name and renamed when it is complete.

use mala_domain::ports::{RunStore, StoreError};
use mala_domain::report::{Report, SCHEMA_VERSION};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The paths that mala writes in the state folder, relative to the work tree. They are not part of
/// the reviewed change.
pub(crate) const STATE: [&str; 5] =
    [".mala/eval", ".mala/gate", ".mala/hook", ".mala/old", ".mala/runs"];

/// The start of the names of files that are being written, in the state folder. Until the first review of a
/// repository has written the `.gitignore` of that folder, git lists them.
pub(crate) const DRAFTS: &str = ".mala/.tmp";

/// How many backups of one file are kept.
const MAX_COPIES: usize = 1000;

/// The state folder.
#[derive(Debug, Clone)]
pub struct StateFolder {
    root: PathBuf,
}

impl StateFolder {
    /// The state folder `.mala` of the work tree at `top`.
    pub fn of_work_tree(top: &Path) -> Self {
        Self { root: top.join(".mala") }
    }

    /// The folder of stored reviews.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Stores the content of a file before it is replaced, and returns the path of the copy. Never
    /// overwrites another copy.
    pub fn back_up(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let folder = self.root.join("old");
        for folder in [&self.root, &folder] {
            reject_symlink(folder)?;
        }
        fs::create_dir_all(&folder)?;
        write_gitignore(&self.root)?;
        for number in 1..=MAX_COPIES {
            let path = folder.join(format!("{name}.{number}"));
            match write_new(&path, bytes) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(path),
            }
        }
        Err(io::Error::other(format!("{} contains too many copies", folder.display())))
    }
}

impl RunStore for StateFolder {
    fn prepare(&self, name: &str) -> Result<String, StoreError> {
        let runs = self.runs();
        for folder in [&self.root, &runs] {
            reject_symlink(folder).map_err(|source| failed(folder, source))?;
        }
        fs::create_dir_all(&runs).map_err(|source| failed(&runs, source))?;
        write_gitignore(&self.root).map_err(|source| failed(&self.root, source))?;
        Ok(runs.join(name).display().to_string())
    }

    fn save(&self, name: &str, files: &[(&str, String)]) -> Result<(), StoreError> {
        self.prepare(name)?;
        let runs = self.runs();
        let draft = tempfile::Builder::new()
            .prefix(".writing-")
            .tempdir_in(&runs)
            .map_err(|source| failed(&runs, source))?;
        for (file, text) in files {
            let path = draft.path().join(file);
            write_through(&path, text.as_bytes()).map_err(|source| failed(&path, source))?;
        }
        let whole = runs.join(name);
        fs::rename(draft.path(), &whole).map_err(|source| failed(&whole, source))
    }
}

/// Rejects a symbolic link: a repository must not choose where mala writes.
pub fn reject_symlink(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_symlink() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link"))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes a file, or leaves the old one unchanged. A reader never sees half of it.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    draft(path, bytes)?.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The same without waiting for the disk: for files of a process that does not survive a crash of the
/// machine either.
pub(crate) fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    unsynced_draft(path, bytes)?.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes to a path that the user named: a file atomically, also behind a link; a device or a pipe
/// directly.
pub fn write_output(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match (fs::symlink_metadata(path), fs::canonicalize(path)) {
        (Ok(found), Ok(real)) if found.is_symlink() || found.is_file() => match real.is_file() {
            true => write_atomically(&real, bytes),
            false => fs::write(path, bytes),
        },
        (Ok(_), _) => fs::write(path, bytes),
        (Err(_), _) => write_atomically(path, bytes),
    }
}

/// Writes a file that does not exist yet, atomically. Fails with `AlreadyExists` if it does.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    draft(path, bytes)?.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

fn draft(path: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let draft = unsynced_draft(path, bytes)?;
    draft.as_file().sync_data()?;
    Ok(draft)
}

fn unsynced_draft(path: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut draft = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    draft.write_all(bytes)?;
    readable_by_all(draft.as_file())?;
    Ok(draft)
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// Temporary files are private. A report is readable for everyone with access to the folder.
#[cfg(unix)]
pub(crate) fn readable_by_all(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
pub(crate) fn readable_by_all(_: &File) -> io::Result<()> {
    Ok(())
}

/// Writes a `.gitignore` that keeps the state out of commits and reviews, also in a repository
/// without `mala init`.
pub fn write_gitignore(root: &Path) -> io::Result<()> {
    const TEXT: &[u8] =
        b"# Written by mala: reviews are not part of the project.\n*\n!rules/\n!rules/**\n!waivers.yaml\n";
    let path = root.join(".gitignore");
    if path.exists() {
        return Ok(());
    }
    match write_new(&path, TEXT) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written,
    }
}

fn failed(path: &Path, source: io::Error) -> StoreError {
    StoreError { what: format!("writing {}", path.display()), source }
}

/// The largest report. One with 10,000 findings has about 20 MB.
const MAX_BYTES: u64 = 256 << 20;

/// Why a stored review cannot be read.
#[derive(Debug, Error)]
pub enum StoredRunError {
    /// Its file cannot be read.
    #[error("cannot read review.json: {0}")]
    Unreadable(io::Error),
    /// It is larger than the limit.
    #[error("review.json is larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// A newer mala wrote it.
    #[error(
        "review.json has schema_version {found}; this version of mala reads up to {SCHEMA_VERSION}"
    )]
    Newer {
        /// Its schema version.
        found: u64,
    },
    /// It is not a report.
    #[error("review.json is not a report: {0}")]
    NoReport(serde_json::Error),
}

impl StateFolder {
    /// The names of the stored reviews, newest first.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.runs()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            // A name starts with its time. Temporary folders start with a dot.
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

    /// The report of a stored review.
    pub fn read(&self, name: &str) -> Result<Report, StoredRunError> {
        read_report(&self.runs().join(name).join("review.json"))
    }
}

/// A report in a JSON file.
pub fn read_report(path: &Path) -> Result<Report, StoredRunError> {
    let bytes = read_limited(path)?;
    // Fields of a newer version may have another meaning, even if they can be parsed.
    match serde_json::from_slice(&bytes) {
        Ok(SchemaVersionOnly { schema_version: found }) if found > u64::from(SCHEMA_VERSION) => {
            Err(StoredRunError::Newer { found })
        }
        _ => serde_json::from_slice(&bytes).map_err(StoredRunError::NoReport),
    }
}

/// The version of a report, which is read before the rest.
#[derive(serde::Deserialize)]
struct SchemaVersionOnly {
    #[serde(default)]
    schema_version: u64,
}

fn read_limited(path: &Path) -> Result<Vec<u8>, StoredRunError> {
    let file = File::open(path).map_err(StoredRunError::Unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(StoredRunError::Unreadable)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= MAX_BYTES => Ok(bytes),
        _ => Err(StoredRunError::TooLarge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let store = StateFolder::of_work_tree(folder.path());
        let files = [("review.md", "# hi".to_owned()), ("review.json", "{}".to_owned())];
        store.save("run", &files).unwrap();
        assert_eq!(fs::read_to_string(store.runs().join("run/review.md")).unwrap(), "# hi");
        let twice = [("a", String::new()), ("a", String::new())];
        assert!(store.save("other", &twice).is_err());
        let names: Vec<_> =
            fs::read_dir(store.runs()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["run"], "nothing half-written stays");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        for link in [".mala", ".mala/runs"] {
            let folder = tempfile::tempdir().unwrap();
            let elsewhere = tempfile::tempdir().unwrap();
            let link = folder.path().join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
            let store = StateFolder::of_work_tree(folder.path());
            assert!(store.save("run", &[("a", "1".to_owned())]).is_err());
            assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn an_existing_run_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let store = StateFolder::of_work_tree(folder.path());
        store.save("run", &[("a", "1".to_owned())]).unwrap();
        assert!(store.save("run", &[("a", "2".to_owned())]).is_err());
        assert_eq!(fs::read_to_string(store.runs().join("run/a")).unwrap(), "1");
    }

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
            ("3", "cannot read review.json: "),
            ("2", "review.json is not a report: EOF"),
            ("1", "review.json is not a report: missing field"),
            ("0", "review.json has schema_version 7; this version of mala reads"),
        ] {
            let error = store.read(name).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
