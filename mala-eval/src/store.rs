//! The files of evals: case sets, and the runs under `.mala/eval`.

pub mod runs;
pub mod sets;

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// A temporary file beside `path`, to be renamed to it.
fn draft_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
}

/// Replaces a file atomically.
fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = draft_beside(path)?;
    draft.write_all(bytes)?;
    publish(draft, path)
}

/// Renames a complete temporary file to its path. Temporary files are private by default; these are
/// readable like any other file of the folder.
fn publish(draft: NamedTempFile, path: &Path) -> io::Result<()> {
    finish_file(draft.as_file())?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn finish_file(file: &File) -> io::Result<()> {
    file.sync_data()?;
    file.set_permissions(Permissions::from_mode(0o644))
}
