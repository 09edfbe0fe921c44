//! The files of runs in `.mala/run`: a log of JSON lines, `run_metadata.json` and the reports. One
//! run at a time holds the lock of the repository, in any of its work trees. The lock is released
//! when its process ends in any way.

use crate::git::common_dir_of;
use crate::store::{reject_symlink, write_atomically, write_gitignore};
use mala_domain::ports::{RunLog, RunLogError};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

const LOG: &str = "events.jsonl";
const METADATA: &str = "run_metadata.json";
const LOCK: &str = "mala-run.lock";

/// The id of a new run.
pub fn fresh_run_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The files of the runs of one work tree, for reading.
#[derive(Debug, Clone)]
pub struct RunFolder {
    root: PathBuf,
    lock: PathBuf,
}

/// The files, while a run holds the lock.
#[derive(Debug)]
pub struct LockedRunFolder {
    folder: RunFolder,
    _lock: File,
}

impl RunFolder {
    /// The files of the work tree at `top`.
    pub fn of_work_tree(top: &Path) -> Self {
        let root = top.join(".mala").join("run");
        let shared = Some(common_dir_of(top)).filter(|folder| folder.is_dir());
        Self { lock: shared.unwrap_or_else(|| root.clone()).join(LOCK), root }
    }

    /// Takes the lock. A last line of the log that was not completely written is removed.
    pub fn lock(self) -> Result<LockedRunFolder, RunLogError> {
        let state = self.root.parent().unwrap_or(&self.root);
        for folder in [state, &self.root] {
            reject_symlink(folder).map_err(failed(folder))?;
            fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        write_gitignore(state).map_err(failed(state))?;
        let path = self.lock.clone();
        let open =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut lock = open.map_err(failed(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(RunLogError::Locked { holder: self.holder().unwrap_or_default() });
            }
            Err(TryLockError::Error(error)) => return Err(failed(&path)(error)),
        }
        let holder = format!("process {} in {}", std::process::id(), state.display());
        let written = lock.set_len(0).and_then(|()| lock.rewind());
        written.and_then(|()| lock.write_all(holder.as_bytes())).map_err(failed(&path))?;
        self.cut_torn_line()?;
        Ok(LockedRunFolder { folder: self, _lock: lock })
    }

    /// The process that holds the lock, if any.
    pub fn holder(&self) -> Option<String> {
        let mut file = File::open(&self.lock).ok()?;
        if file.try_lock_shared().is_ok() {
            return None;
        }
        let mut holder = String::new();
        file.read_to_string(&mut holder).ok()?;
        Some(holder)
    }

    /// Requests the run that holds the lock to stop, like Ctrl-C. False if there is none.
    pub fn request_stop(&self) -> io::Result<bool> {
        let Some(holder) = self.holder() else { return Ok(false) };
        let number = holder.split(' ').nth(1).and_then(|it| it.parse().ok());
        let Some(process) = number.and_then(Pid::from_raw) else { return Ok(false) };
        kill_process(process, Signal::INT)?;
        Ok(true)
    }

    /// The lines of the log, the oldest first.
    pub fn log_lines(&self) -> Result<Vec<String>, RunLogError> {
        let path = self.root.join(LOG);
        let text = read(&path)?.unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        Ok(whole.lines().map(ToOwned::to_owned).collect())
    }

    /// The metadata of the last run.
    pub fn metadata(&self) -> Result<Option<String>, RunLogError> {
        read(&self.root.join(METADATA))
    }

    fn cut_torn_line(&self) -> Result<(), RunLogError> {
        let path = self.root.join(LOG);
        let Some(text) = read(&path)? else { return Ok(()) };
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        if whole < text.len() {
            let file = OpenOptions::new().write(true).open(&path).map_err(failed(&path))?;
            file.set_len(whole as u64).map_err(failed(&path))?;
        }
        Ok(())
    }
}

impl RunLog for LockedRunFolder {
    fn append(&self, line: &str) -> Result<(), RunLogError> {
        let path = self.folder.root.join(LOG);
        let open = OpenOptions::new().append(true).create(true).open(&path);
        let written = open.and_then(|mut file| {
            file.write_all(format!("{line}\n").as_bytes())?;
            file.sync_data()
        });
        written.map_err(failed(&path))
    }

    fn lines(&self) -> Result<Vec<String>, RunLogError> {
        self.folder.log_lines()
    }

    fn start(&self, run_id: &str) -> Result<(), RunLogError> {
        let path = self.folder.root.join(LOG);
        let kept = self.folder.root.join(format!("before-{run_id}.jsonl"));
        match fs::rename(&path, kept) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&path)(error)),
            _ => Ok(()),
        }
    }

    fn metadata(&self) -> Result<Option<String>, RunLogError> {
        self.folder.metadata()
    }

    fn save_metadata(&self, text: &str) -> Result<(), RunLogError> {
        let path = self.folder.root.join(METADATA);
        write_atomically(&path, text.as_bytes()).map_err(failed(&path))
    }

    fn save_report(&self, name: &str, text: &str) -> Result<String, RunLogError> {
        let path = self.folder.root.join(name);
        write_atomically(&path, text.as_bytes()).map_err(failed(&path))?;
        Ok(path.display().to_string())
    }
}

fn read(path: &Path) -> Result<Option<String>, RunLogError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path)(error)),
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> RunLogError + use<> {
    let what = path.display().to_string();
    move |source| RunLogError::Io { what: what.clone(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_at_a_time_and_torn_lines_are_cut() {
        let top = tempfile::tempdir().unwrap();
        let folder = RunFolder::of_work_tree(top.path());
        assert_eq!(folder.holder(), None);
        let log = folder.clone().lock().unwrap();
        log.append("one").unwrap();
        log.append("two").unwrap();
        let place = top.path().join(".mala");
        let holder = format!("process {} in {}", std::process::id(), place.display());
        assert_eq!(folder.holder().as_deref(), Some(holder.as_str()));
        let second = folder.clone().lock().unwrap_err();
        assert_eq!(second.to_string(), format!("another run holds the lock: {holder}"));
        drop(log);
        let path = top.path().join(".mala/run/events.jsonl");
        fs::write(&path, "one\ntwo\n{\"half").unwrap();
        assert_eq!(folder.log_lines().unwrap(), ["one", "two"]);
        let log = folder.lock().unwrap();
        log.append("three").unwrap();
        assert_eq!(log.lines().unwrap(), ["one", "two", "three"]);
    }

    #[test]
    fn metadata_and_old_logs_are_kept() {
        let top = tempfile::tempdir().unwrap();
        let log = RunFolder::of_work_tree(top.path()).lock().unwrap();
        assert_eq!(log.metadata().unwrap(), None);
        log.save_metadata("{}").unwrap();
        log.append("old").unwrap();
        log.start("r2").unwrap();
        assert_eq!(log.metadata().unwrap().as_deref(), Some("{}"));
        assert!(log.lines().unwrap().is_empty());
        assert!(top.path().join(".mala/run/before-r2.jsonl").is_file());
    }
}
