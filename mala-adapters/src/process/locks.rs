//! Locks that show which processes run. The process of another container has no id here, but its lock is seen.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Locks of processes, as files in a folder.
#[derive(Debug, Clone)]
pub struct ProcessLocks {
    folder: PathBuf,
}

/// A lock that is held until it is dropped or its process ends.
#[derive(Debug)]
pub struct HeldProcessLock {
    path: PathBuf,
    _file: File,
}

impl ProcessLocks {
    /// The locks in this folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Holds the lock of a process. The files of processes that died are removed.
    pub fn hold(&self, pid: u32, started: u64) -> io::Result<HeldProcessLock> {
        std::fs::create_dir_all(&self.folder)?;
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
                std::fs::remove_file(&path)?;
            }
        }
        let path = self.path(pid, started);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
        file.try_lock()?;
        Ok(HeldProcessLock { path, _file: file })
    }

    /// Whether a process holds its lock.
    pub fn is_held(&self, pid: u32, started: u64) -> bool {
        let file = File::open(self.path(pid, started));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn path(&self, pid: u32, started: u64) -> PathBuf {
        self.folder.join(format!("{pid}-{started}"))
    }
}

impl Drop for HeldProcessLock {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the lock of the process stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let locks = ProcessLocks::new(&folder.path().join("locks"));
        assert!(!locks.is_held(1, 2));
        let held = locks.hold(1, 2).unwrap();
        assert!(locks.is_held(1, 2) && !locks.is_held(1, 3));
        assert!(locks.hold(1, 2).is_err());
        drop(held);
        assert!(!locks.is_held(1, 2));
        // What a killed process leaves is no lock.
        std::fs::write(locks.path(1, 2), "").unwrap();
        assert!(!locks.is_held(1, 2));
        let _held = locks.hold(3, 4).unwrap();
        assert!(!locks.path(1, 2).exists() && locks.path(3, 4).exists());
    }
}
