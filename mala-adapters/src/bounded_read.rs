//! Reads regular files up to a size, without blocking. Rejects pipes, devices and oversized files.

use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file that another program wrote. Rejects symbolic links.
pub fn read_no_follow(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    read(path, max, OFlags::NOFOLLOW)
}

/// Reads a file that the user named. Follows symbolic links.
pub fn read_following_links(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    read(path, max, OFlags::empty())
}

fn read(path: &Path, max: u64, more: OFlags) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(openat(CWD, path, flags | more, Mode::empty())?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let too_large = || {
        let why = format!("it is larger than {max} bytes");
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    };
    if found.len() > max {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let n_bytes = file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    match u64::try_from(n_bytes) {
        Ok(n_bytes) if n_bytes <= max => Ok(bytes),
        _ => Err(too_large()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_some_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("text"), "12345678").unwrap();
        std::os::unix::fs::symlink(at("text"), at("link")).unwrap();
        File::create(at("hole")).unwrap().set_len(3 << 30).unwrap();
        rustix::fs::mknodat(
            CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        assert_eq!(read_no_follow(&at("text"), 8).unwrap(), b"12345678");
        assert_eq!(read_following_links(&at("link"), 8).unwrap(), b"12345678");
        for (path, max) in [
            (at("text"), 7),
            (at("link"), 8),
            (at("hole"), 8),
            (at("pipe"), 8),
            (folder.path().to_owned(), 8),
            ("/dev/zero".into(), 8),
        ] {
            assert!(read_no_follow(&path, max).is_err(), "{}", path.display());
        }
    }
}
