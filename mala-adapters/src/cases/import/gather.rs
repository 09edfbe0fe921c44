//! Reads the files of a format. Links are not followed: what they show may be anybody's.

use crate::cases::MAX_CASE_BYTES;
use mala_domain::change::FilePath;
use mala_domain::eval::import::{Format, PassedOver, Source, Spot};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most files, and the most bytes of all of them.
const MAX_FILES: usize = 200_000;
const MAX_BYTES: usize = 1 << 30;

/// What was read.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The files.
    pub files: Vec<Source>,
    /// Those that could not be read, with the reason.
    pub passed_over: Vec<PassedOver>,
    n_bytes: usize,
}

/// Reads these files, and those below these folders that a format wants. Paths start at `here`, and are
/// told as they were given.
pub fn gather(format: Format, here: &Path, paths: &[PathBuf]) -> io::Result<Gathered> {
    let mut gathered = Gathered::default();
    for path in paths {
        let told =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let real = here.join(path);
        if fs::metadata(&real).map_err(told)?.is_dir() {
            gathered.folder(format, &real, path).map_err(told)?;
        } else {
            let inside = FilePath::from_bytes(path.file_name().unwrap_or_default().as_bytes());
            gathered.file(&real, path, inside).map_err(told)?;
        }
    }
    Ok(gathered)
}

impl Gathered {
    fn folder(&mut self, format: Format, root: &Path, told: &Path) -> io::Result<()> {
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
                    return Err(io::Error::other(format!("it has more than {MAX_FILES} files")));
                }
            }
        }
        // In one order on every machine.
        found.sort();
        found.into_iter().try_for_each(|(inside, path)| {
            let told = told.join(path.strip_prefix(root).unwrap_or(&path));
            self.file(&path, &told, inside)
        })
    }

    fn file(&mut self, path: &Path, told: &Path, inside: FilePath) -> io::Result<()> {
        let name = told.display().to_string();
        let mut bytes = Vec::new();
        let read = File::open(path)
            .and_then(|file| file.take(MAX_CASE_BYTES as u64 + 1).read_to_end(&mut bytes));
        let why = match (read, bytes.len()) {
            (Err(error), _) => error.to_string(),
            (_, length) if length > MAX_CASE_BYTES => {
                format!("it has more than {MAX_CASE_BYTES} bytes")
            }
            (Ok(_), length) => {
                self.n_bytes += length;
                if self.n_bytes > MAX_BYTES {
                    return Err(io::Error::other(format!("more than {MAX_BYTES} bytes in all")));
                }
                match String::from_utf8(bytes) {
                    Ok(text) => {
                        self.files.push(Source { name, path: inside, text });
                        return Ok(());
                    }
                    Err(_) => "it is no UTF-8".to_owned(),
                }
            }
        };
        self.passed_over.push(PassedOver { spot: Spot { file: name, line: 1 }, why });
        Ok(())
    }
}
