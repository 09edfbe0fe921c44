//! What is kept of canaries: `.mala/gate/canaries/`, with the book of all runs, and what the lanes said in
//! the last one. One process at a time adds to it.

use super::{GateFolder, SessionFolder, Stamp, json};
use crate::store::{keep_out_of_git, refuse_link, write_atomically};
use mala_domain::gate::canary::CanaryBook;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

const BOOK: &str = "book.json";
const LAST: &str = "last";
const LOCK: &str = "lock";

/// The folder of the canaries of a work tree.
#[derive(Debug, Clone)]
pub struct CanaryFolder {
    state: PathBuf,
    path: PathBuf,
    stamp: Stamp,
}

/// The right to give canaries: it ends with the value.
#[derive(Debug)]
pub struct CanaryTurn {
    _lock: File,
}

impl GateFolder {
    /// The folder of the canaries.
    pub fn canaries(&self) -> CanaryFolder {
        let (state, stamp) = (self.state.clone(), self.stamp.clone());
        CanaryFolder { state, path: self.root().join("canaries"), stamp }
    }
}

impl CanaryFolder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known. What cannot be understood is as good as nothing.
    pub fn book(&self) -> CanaryBook {
        let bytes = fs::read(self.path.join(BOOK)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Keeps what is known.
    pub fn keep(&self, book: &CanaryBook) -> io::Result<()> {
        self.prepare()?;
        write_atomically(&self.path.join(BOOK), &json(book)?)
    }

    /// The right to give canaries; `None` while somebody else has it.
    pub fn turn(&self) -> io::Result<Option<CanaryTurn>> {
        self.prepare()?;
        let path = self.path.join(LOCK);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(CanaryTurn { _lock: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A new folder for what the lanes say to a canary. Those of former runs are gone with the first.
    pub fn place(&self, number: usize) -> io::Result<SessionFolder> {
        let last = self.path.join(LAST);
        if number == 1 && last.exists() {
            fs::remove_dir_all(&last)?;
        }
        let path = last.join(number.to_string());
        fs::create_dir_all(&path)?;
        Ok(SessionFolder { path, stamp: self.stamp.clone() })
    }

    /// A file for what a run that nobody watches prints.
    pub fn log(&self, name: &str) -> io::Result<File> {
        self.prepare()?;
        File::create(self.path.join(name))
    }

    fn prepare(&self) -> io::Result<()> {
        for folder in [&self.state, &self.path] {
            refuse_link(folder)?;
        }
        fs::create_dir_all(&self.path)?;
        keep_out_of_git(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_nothing_broken_is_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let canaries = GateFolder::of_work_tree(folder.path()).canaries();
        assert_eq!(canaries.book(), CanaryBook::default());
        let turn = canaries.turn().unwrap();
        assert!(turn.is_some() && canaries.turn().unwrap().is_none());
        drop(turn);
        assert!(canaries.turn().unwrap().is_some());
        let book = CanaryBook { since: Some(7), ..CanaryBook::default() };
        canaries.keep(&book).unwrap();
        assert_eq!(canaries.book(), book);
        fs::write(canaries.path().join(BOOK), "{").unwrap();
        assert_eq!(canaries.book(), CanaryBook::default());
    }
}
