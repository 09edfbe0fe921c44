//! Reads the files of a format. Symbolic links are not followed.

use crate::import::{ImportFile, ImportFormat, RecordLocation, SkippedRecord};
use crate::store::sets::MAX_CASE_BYTES;
use mala_domain::change::FilePath;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum number of files, and of bytes in total.
const MAX_FILES: usize = 200_000;
const MAX_BYTES: usize = 1 << 30;

/// The files that were read.
#[derive(Debug, Default)]
pub struct ImportFiles {
    /// The files.
    pub files: Vec<ImportFile>,
    /// The files that could not be read, with the reason.
    pub passed_over: Vec<SkippedRecord>,
    n_bytes: usize,
}

/// Reads these files, and the files of the format below these folders. Relative paths start at
/// `here`; messages show paths as given.
pub fn gather(format: ImportFormat, here: &Path, paths: &[PathBuf]) -> io::Result<ImportFiles> {
    let mut gathered = ImportFiles::default();
    for path in paths {
        let shown =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let real = here.join(path);
        if fs::metadata(&real).map_err(shown)?.is_dir() {
            gathered.folder(format, &real, path).map_err(shown)?;
        } else {
            let inside = FilePath::from_bytes(path.file_name().unwrap_or_default().as_bytes());
            gathered.file(&real, path, inside).map_err(shown)?;
        }
    }
    Ok(gathered)
}

impl ImportFiles {
    fn folder(&mut self, format: ImportFormat, root: &Path, shown: &Path) -> io::Result<()> {
        let mut found: Vec<(FilePath, PathBuf)> = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let (path, kind) = (entry.path(), entry.file_type()?);
                let inside = path.strip_prefix(root).unwrap_or(&path);
                let inside = FilePath::from_bytes(inside.as_os_str().as_bytes());
                if kind.is_dir() && entry.file_name() != ".git" {
                    folders.push(path);
                } else if kind.is_file() && format.wants(&inside) {
                    found.push((inside, path));
                }
                if found.len() > MAX_FILES {
                    return Err(io::Error::other(format!("more than {MAX_FILES} files")));
                }
            }
        }
        // In one order on every machine.
        found.sort();
        found.into_iter().try_for_each(|(inside, path)| {
            let shown = shown.join(path.strip_prefix(root).unwrap_or(&path));
            self.file(&path, &shown, inside)
        })
    }

    fn file(&mut self, path: &Path, shown: &Path, inside: FilePath) -> io::Result<()> {
        let name = shown.display().to_string();
        let mut bytes = Vec::new();
        let read = File::open(path)
            .and_then(|file| file.take(MAX_CASE_BYTES as u64 + 1).read_to_end(&mut bytes));
        let why = match (read, bytes.len()) {
            (Err(error), _) => error.to_string(),
            (_, length) if length > MAX_CASE_BYTES => {
                format!("more than {MAX_CASE_BYTES} bytes")
            }
            (Ok(_), length) => {
                self.n_bytes += length;
                if self.n_bytes > MAX_BYTES {
                    return Err(io::Error::other(format!("more than {MAX_BYTES} bytes in all")));
                }
                match String::from_utf8(bytes) {
                    Ok(text) => {
                        self.files.push(ImportFile { name, path: inside, text });
                        return Ok(());
                    }
                    Err(_) => "not UTF-8".to_owned(),
                }
            }
        };
        self.passed_over
            .push(SkippedRecord { location: RecordLocation { file: name, line: 1 }, why });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_format_are_read_and_links_are_not_followed() {
        let here = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: &[u8]| {
            let path = here.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        write("ql/b/a.py", b"x");
        write("ql/.git/b.py", b"x");
        write("ql/a.py", b"\xff");
        write("ql/notes.txt", b"x");
        write("other/secret.py", b"x");
        std::os::unix::fs::symlink(here.path().join("other"), here.path().join("ql/link")).unwrap();
        let paths = [PathBuf::from("ql"), PathBuf::from("ql/notes.txt")];
        let gathered = gather(ImportFormat::CodeQl, here.path(), &paths).unwrap();
        let names: Vec<(&str, String)> =
            gathered.files.iter().map(|file| (file.name.as_str(), file.path.to_string())).collect();
        let expected = [("ql/b/a.py", "b/a.py"), ("ql/notes.txt", "notes.txt")];
        assert_eq!(names, expected.map(|(name, path)| (name, path.to_owned())));
        let over: Vec<String> = gathered.passed_over.iter().map(ToString::to_string).collect();
        assert_eq!(over, ["ql/a.py:1: not UTF-8"]);
        let gone = gather(ImportFormat::CodeQl, here.path(), &[PathBuf::from("gone")]).unwrap_err();
        assert!(gone.to_string().starts_with("gone: "), "{gone}");
    }
}
