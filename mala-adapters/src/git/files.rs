//! Files of the work tree. A path is opened part by part without following links, so that it
//! cannot leave the tree.

use super::tree::{TEXT_HEAD, is_text};
use mala_domain::change::FilePath;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

/// A path of the work tree, as far as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WorkTreeFile {
    /// The content of a file.
    Content(Vec<u8>),
    /// A file over the limit.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// Whether it starts like text.
        is_text: bool,
    },
    /// Not a readable file: missing, a folder, a link, a device, or without permission.
    Nothing,
}

/// Reads a file up to a limit.
pub(super) fn read(top: &Path, path: &FilePath, limit: u64) -> std::io::Result<WorkTreeFile> {
    let Some((folder, name)) = open_folder(top, path)? else { return Ok(WorkTreeFile::Nothing) };
    // Without blocking, because a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(&folder, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::ACCESS | Errno::PERM) => {
            tracing::warn!(%path, "permission denied");
            return Ok(WorkTreeFile::Nothing);
        }
        Err(error) if is_absence(error) => return Ok(WorkTreeFile::Nothing),
        Err(error) => return Err(error.into()),
    };
    let stat = fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(WorkTreeFile::Nothing);
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    let n_bytes = if size > limit { TEXT_HEAD as u64 } else { limit + 1 };
    let mut content = Vec::new();
    File::from(file).take(n_bytes).read_to_end(&mut content)?;
    // The file may have grown since.
    let size = size.max(content.len() as u64);
    Ok(match size > limit {
        true => WorkTreeFile::TooLarge { size, is_text: is_text(&content) },
        false => WorkTreeFile::Content(content),
    })
}

/// The names of the files directly in a folder. Empty if it is not a folder.
pub(super) fn files_in(top: &Path, folder: &FilePath) -> std::io::Result<Vec<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = if folder.as_bytes().is_empty() {
        rustix::fs::open(top, flags, Mode::empty())?
    } else {
        let Some((parent, name)) = open_folder(top, folder)? else { return Ok(Vec::new()) };
        match openat(&parent, name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(error) if is_absence(error) || error == Errno::ACCESS => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
    };
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened)? {
        let name = entry?.file_name().to_bytes().to_vec();
        let stat = statat(&opened, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
        let file_type = FileType::from_raw_mode(stat.st_mode);
        if matches!(file_type, FileType::RegularFile | FileType::Symlink) {
            names.push(name);
        }
    }
    Ok(names)
}

/// The type of a path, without following links.
pub(super) fn file_type(top: &Path, path: &FilePath) -> std::io::Result<Option<FileType>> {
    let Some((folder, name)) = open_folder(top, path)? else { return Ok(None) };
    match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(error) if is_absence(error) || error == Errno::ACCESS => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The folder of a path and the name in it; `None` if a part is missing or not a folder.
fn open_folder<'a>(top: &Path, path: &'a FilePath) -> std::io::Result<Option<(OwnedFd, &'a [u8])>> {
    if !path.stays_inside() {
        return Ok(None);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open(top, flags, Mode::empty())?;
    let mut parts = path.as_bytes().split(|byte| *byte == b'/').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return Ok(Some((folder, part)));
        }
        folder = match openat(&folder, part, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(folder) => folder,
            Err(error) if is_absence(error) || error == Errno::ACCESS => return Ok(None),
            Err(error) => return Err(error.into()),
        };
    }
    Ok(None)
}

fn is_absence(error: Errno) -> bool {
    matches!(
        error,
        Errno::NOENT
            | Errno::NOTDIR
            | Errno::LOOP
            | Errno::NAMETOOLONG
            | Errno::NXIO
            | Errno::ISDIR
            | Errno::INVAL
            | Errno::ILSEQ
    )
}
