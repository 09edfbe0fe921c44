//! Temporary folders with copies of the repository and homes of lanes. A process that uses one holds a lock on
//! it. Folders without a lock and without a session are removed by the next process.

use super::GateFolder;
use crate::bounded_read::read_no_follow;
use crate::process;
use mala_domain::gate::MARKER;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The prefix of the names of such folders.
const PREFIX: &str = "mala-gate-held-";

/// The file with the path of the session that a scratch folder belongs to. No lane has such a name.
const SESSION: &str = ".session";
const MAX_SESSION: u64 = 8 << 10;

/// The number of attempts to lock a new folder before another process removes it.
const TRIES: usize = 10;

/// The locks of this process, by folder. The system releases them when the process ends.
static HELD: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());

fn held() -> MutexGuard<'static, BTreeMap<PathBuf, File>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The parents of such folders. Sandboxes of lanes do not work in the temporary folder of the system.
fn places(gate: &GateFolder) -> [PathBuf; 2] {
    [PathBuf::from("/var/tmp"), gate.root()]
}

/// Creates a scratch folder and locks it.
pub fn fresh_scratch(gate: &GateFolder) -> io::Result<PathBuf> {
    fs::create_dir_all(gate.root())?;
    let mut last = None;
    for place in places(gate) {
        for _ in 0..TRIES {
            // Other users of the machine must not read the copy of the repository.
            let own = Permissions::from_mode(0o700);
            let made = tempfile::Builder::new().prefix(PREFIX).permissions(own).tempdir_in(&place);
            match made.and_then(|folder| hold_scratch(folder.path()).map(|()| folder)) {
                Ok(folder) => return Ok(folder.keep()),
                // Another process removes it.
                Err(error) if is_taken(&error) => last = Some(error),
                Err(error) => {
                    last = Some(error);
                    break;
                }
            }
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound)
}

/// Locks a scratch folder, shared with other processes; `WouldBlock` if another process removes it.
pub fn hold_scratch(scratch: &Path) -> io::Result<()> {
    let folder = open(scratch)?;
    match flock(&folder, FlockOperation::NonBlockingLockShared) {
        // Without support for locks, no process removes the folders of others.
        Ok(()) | Err(Errno::NOTSUP | Errno::NOLCK | Errno::NOSYS) => {}
        Err(error) => return Err(error.into()),
    }
    if !is_at(&folder, scratch) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    held().insert(scratch.to_owned(), folder);
    Ok(())
}

/// Removes a scratch folder, including read-only parts. It may not exist.
pub fn remove_scratch(scratch: &Path) {
    let name = scratch.file_name().and_then(|name| name.to_str());
    if !name.is_some_and(|name| name.starts_with("mala-gate-")) {
        return;
    }
    crate::lanes::make_writable(scratch);
    if let Err(error) = fs::remove_dir_all(scratch) {
        tracing::debug!(%error, "the scratch folder stays");
    }
    held().remove(scratch);
}

/// Records the session that a scratch folder belongs to. Some tests have no scratch folder.
pub(super) fn assign(scratch: &Path, session: &Path) -> io::Result<()> {
    match fs::write(scratch.join(SESSION), session.as_os_str().as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the folders of processes that died before their session was written, or whose session is gone.
pub fn sweep_scratch(gate: &GateFolder) {
    for place in places(gate) {
        let Ok(entries) = fs::read_dir(place) else { continue };
        let is_one =
            |entry: &fs::DirEntry| entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        for folder in entries.flatten().filter(is_one).map(|entry| entry.path()) {
            if let Some(_turn) = abandoned(&folder) {
                process::kill_marked_inside(MARKER, &folder);
                if !process::has_process_inside(&folder) {
                    remove_scratch(&folder);
                }
            }
        }
    }
}

/// Locks a folder to remove it; `None` if it belongs to another user or a session, is a link, or is locked.
fn abandoned(path: &Path) -> Option<File> {
    let folder = open(path).ok()?;
    if folder.metadata().ok()?.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    if !is_at(&folder, path) {
        return None;
    }
    match read_no_follow(&path.join(SESSION), MAX_SESSION) {
        Ok(session) => {
            let session = Path::new(std::ffi::OsStr::from_bytes(&session));
            is_gone(session).then_some(folder)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(folder),
        Err(_) => None,
    }
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn open(folder: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(openat(CWD, folder, flags, Mode::empty())?))
}

/// Whether the open folder is still at this path.
fn is_at(folder: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (folder.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that a killed process left.
    fn left(gate: &GateFolder, name: &str) -> PathBuf {
        let folder = gate.root().join(format!("{PREFIX}{name}"));
        fs::create_dir_all(folder.join("repository")).unwrap();
        folder
    }

    #[test]
    fn only_unused_folders_are_swept() {
        let top = tempfile::tempdir().unwrap();
        let gate = GateFolder::of_work_tree(top.path());
        let [dead, held_by_us, of_session, of_gone, odd] =
            ["a", "b", "c", "d", "e"].map(|name| left(&gate, name));
        hold_scratch(&held_by_us).unwrap();
        let session = gate.root().join("session");
        fs::create_dir(&session).unwrap();
        assign(&of_session, &session).unwrap();
        assign(&of_gone, &gate.root().join("none")).unwrap();
        fs::create_dir(odd.join(SESSION)).unwrap();
        let elsewhere = top.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let link = gate.root().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let other = gate.root().join("mala-gate-other");
        fs::create_dir(&other).unwrap();
        crate::lanes::make_writable(&dead);
        sweep_scratch(&gate);
        for (folder, stays) in [
            (&dead, false),
            (&of_gone, false),
            (&held_by_us, true),
            (&of_session, true),
            (&odd, true),
            (&elsewhere, true),
            (&link, true),
            (&other, true),
        ] {
            assert_eq!(!is_gone(folder), stays, "{}", folder.display());
        }
        remove_scratch(&held_by_us);
        assert!(is_gone(&held_by_us));
    }

    #[test]
    fn a_folder_that_a_process_is_in_stays() {
        let top = tempfile::tempdir().unwrap();
        let gate = GateFolder::of_work_tree(top.path());
        let folder = left(&gate, "a");
        let start = |marked: &str| {
            let mut command = std::process::Command::new("sleep");
            command.arg("1000").current_dir(folder.join("repository")).env(marked, "x/y/");
            let child = command.spawn().unwrap();
            // The system shows its variables only a moment after it runs.
            while !fs::read(format!("/proc/{}/environ", child.id())).unwrap().ends_with(b"\0") {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            child
        };
        let (mut person, mut lane) = (start("OTHER"), start(MARKER));
        sweep_scratch(&gate);
        assert!(folder.exists());
        assert!(person.try_wait().unwrap().is_none(), "other processes go on");
        assert!(!lane.wait().unwrap().success());
        person.kill().unwrap();
        person.wait().unwrap();
        sweep_scratch(&gate);
        assert!(!folder.exists());
    }
}
