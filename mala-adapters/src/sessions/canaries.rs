//! The files of canaries: `.mala/gate/canaries/`, with the results of all runs and the answers of the last
//! one. One process at a time writes them. The results carry the signature of this clone: a file that a commit
//! brings along is not trusted.

use super::{CloneSecret, GateFolder, SessionFolder, json};
use crate::bounded_read::read_no_follow;
use crate::store::{reject_symlink, write_atomically, write_gitignore};
use mala_domain::gate::canary::CanaryBook;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const BOOK: &str = "book.json";

/// The largest file with results.
const MAX_BYTES: u64 = 8 << 20;

const LAST: &str = "last";
const LOCK: &str = "lock";

/// The folder of the canaries of a work tree.
#[derive(Debug, Clone)]
pub struct CanaryFolder {
    state: PathBuf,
    path: PathBuf,
    secret: CloneSecret,
}

/// The lock of a canary run; dropping it releases the lock.
#[derive(Debug)]
pub struct CanaryTurn {
    _lock: File,
}

impl GateFolder {
    /// The folder of the canaries.
    pub fn canaries(&self) -> CanaryFolder {
        let (state, secret) = (self.state.clone(), self.secret.clone());
        CanaryFolder { state, path: self.root().join("canaries"), secret }
    }
}

impl CanaryFolder {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The stored results; empty if they cannot be read or have no valid signature of this clone.
    pub fn book(&self) -> CanaryBook {
        self.marked_book().unwrap_or_default()
    }

    fn marked_book(&self) -> Option<CanaryBook> {
        self.refuse_links().ok()?;
        let bytes = read_no_follow(&self.path.join(BOOK), MAX_BYTES).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let book: CanaryBook = serde_json::from_str(&text).ok()?;
        if book.signature.is_empty() {
            return None;
        }
        // The signature covers the text without it: numbers may change when they are parsed and written.
        let bare = text.replacen(&book.signature, "", 1);
        let is_ours = self.secret.signature(&name(&bare))? == book.signature;
        is_ours.then(|| CanaryBook { signature: String::new(), ..book })
    }

    /// Stores the results.
    pub fn keep(&self, book: &CanaryBook) -> io::Result<()> {
        self.prepare()?;
        let bare = CanaryBook { signature: String::new(), ..book.clone() };
        let text = String::from_utf8(json(&bare)?).map_err(io::Error::other)?;
        let signature = self.secret.sign(&name(&text))?;
        write_atomically(&self.path.join(BOOK), &json(&CanaryBook { signature, ..bare })?)
    }

    /// Locks the canaries; `None` while another process has the lock.
    pub fn turn(&self) -> io::Result<Option<CanaryTurn>> {
        self.prepare()?;
        let file = own_file(&self.path.join(LOCK), OFlags::empty())?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(CanaryTurn { _lock: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A new folder for the answers to a canary. The first canary of a run removes those of earlier runs.
    pub fn place(&self, number: usize) -> io::Result<SessionFolder> {
        let last = self.path.join(LAST);
        if number == 1 && fs::symlink_metadata(&last).is_ok() {
            fs::remove_dir_all(&last)?;
        }
        let path = last.join(number.to_string());
        fs::create_dir_all(&path)?;
        Ok(SessionFolder { path, secret: self.secret.clone() })
    }

    /// A log file for the output of a background run.
    pub fn log(&self, name: &str) -> io::Result<File> {
        self.prepare()?;
        own_file(&self.path.join(name), OFlags::TRUNC)
    }

    fn prepare(&self) -> io::Result<()> {
        self.refuse_links()?;
        fs::create_dir_all(&self.path)?;
        write_gitignore(&self.state)
    }

    fn refuse_links(&self) -> io::Result<()> {
        let gate = self.path.parent().unwrap_or(&self.path);
        [self.state.as_path(), gate, &self.path].into_iter().try_for_each(reject_symlink)
    }
}

/// The text that the signature of the results covers. It differs from that of a session by its first word.
fn name(text: &str) -> String {
    format!("canaries {text}")
}

/// Opens a regular file of this folder for writing. It is an error if a commit put a link or another kind of
/// file in its place.
fn own_file(path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mode = Mode::from_raw_mode(0o644);
    Ok(File::from(openat(CWD, path, flags | OFlags::CLOEXEC | more, mode)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clone() -> (CanaryFolder, tempfile::TempDir) {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join(".git")).unwrap();
        (GateFolder::of_work_tree(top.path()).canaries(), top)
    }

    #[test]
    fn only_what_this_clone_wrote_down_is_known() {
        let ((ours, _top), (theirs, _other)) = (clone(), clone());
        let book = CanaryBook { since: Some(7), ..CanaryBook::default() };
        ours.keep(&book).unwrap();
        theirs.keep(&CanaryBook::default()).unwrap();
        let (at, text) = (ours.path().join(BOOK), fs::read(ours.path().join(BOOK)).unwrap());
        fs::write(theirs.path().join(BOOK), &text).unwrap();
        assert_eq!(theirs.book(), CanaryBook::default(), "of another clone");
        let text = String::from_utf8(text).unwrap();
        fs::write(&at, text.replace("\"since\": 7", "\"since\": 1")).unwrap();
        assert_eq!(ours.book(), CanaryBook::default(), "changed since");
        fs::write(&at, text.replace('7', "7 ")).unwrap();
        assert_eq!(ours.book(), CanaryBook::default(), "written otherwise");
        fs::write(&at, &text).unwrap();
        assert_eq!(ours.book(), book);
        let elsewhere = ours.path().join("elsewhere");
        fs::rename(&at, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &at).unwrap();
        assert_eq!(ours.book(), CanaryBook::default(), "behind a link");
        for name in ["run.out", LOCK] {
            std::os::unix::fs::symlink(&elsewhere, ours.path().join(name)).unwrap();
        }
        assert!(ours.log("run.out").is_err() && ours.turn().is_err());
        assert_eq!(fs::read_to_string(elsewhere).unwrap(), text);
    }

    #[test]
    fn one_at_a_time_and_nothing_broken_is_in_the_way() {
        let (canaries, _top) = clone();
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
