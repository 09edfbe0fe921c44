//! The state folder of a repository: `.mala/runs/<name>/`, one folder per review. A folder is
//! written under another name and renamed when it is whole, so a reader never sees half of it.

mod reading;

pub use reading::RunError;

use mala_domain::ports::{RunStore, StoreError};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What mala writes in the state folder, by paths in the work tree. None of it is anybody's work; the
/// rules beside it are.
pub(crate) const STATE: [&str; 5] =
    [".mala/eval", ".mala/gate", ".mala/hook", ".mala/old", ".mala/runs"];

/// How many copies of one file are kept.
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

    /// Where reviews are kept.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Keeps what a file said before it is replaced; gives the copy's path. No copy replaces another.
    pub fn keep_copy(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let folder = self.root.join("old");
        for folder in [&self.root, &folder] {
            refuse_link(folder)?;
        }
        fs::create_dir_all(&folder)?;
        keep_out_of_git(&self.root)?;
        for number in 1..=MAX_COPIES {
            let path = folder.join(format!("{name}.{number}"));
            match write_new(&path, bytes) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(path),
            }
        }
        Err(io::Error::other(format!("{} is full of copies", folder.display())))
    }
}

impl RunStore for StateFolder {
    fn prepare(&self, name: &str) -> Result<String, StoreError> {
        let runs = self.runs();
        for folder in [&self.root, &runs] {
            refuse_link(folder).map_err(|source| failed(folder, source))?;
        }
        fs::create_dir_all(&runs).map_err(|source| failed(&runs, source))?;
        keep_out_of_git(&self.root).map_err(|source| failed(&self.root, source))?;
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

/// A repository chooses its links, and must not choose where we write.
pub fn refuse_link(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_symlink() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link to another place"))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes a file, or leaves the old one as it is: what a reader sees is always whole.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    draft(path, bytes)?.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes where the user said: a file whole or not at all, behind a link too; a device or a pipe as it
/// is, since there is nothing to put in its place.
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

/// Writes a file that is not there yet, whole or not at all; fails with `AlreadyExists` otherwise.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    draft(path, bytes)?.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

fn draft(path: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut draft = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    draft.write_all(bytes)?;
    draft.as_file().sync_data()?;
    readable_by_all(draft.as_file())?;
    Ok(draft)
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// Temporary files are made for their owner alone; a report is for whoever may read the folder.
#[cfg(unix)]
pub(crate) fn readable_by_all(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
pub(crate) fn readable_by_all(_: &File) -> io::Result<()> {
    Ok(())
}

/// A `.gitignore` of its own keeps the state out of commits, and out of the next review, in a
/// repository where nobody ran `mala init`.
pub(crate) fn keep_out_of_git(root: &Path) -> io::Result<()> {
    const TEXT: &[u8] =
        b"# Written by mala: reviews are not part of the project.\n*\n!rules/\n!rules/**\n";
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
}
