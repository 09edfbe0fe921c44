//! The files of the stop hook. They are in the git folder, where no commit and no `git clean` reaches them:
//! a record per conversation, what a person accepted, what was released, and the file that turns the hook
//! off.

use super::clone_secret::CloneSecret;
use super::json;
use crate::bounded_read::read_no_follow;
use crate::store::write_atomically;
use mala_domain::hook::ConversationRecord;
use mala_domain::hook::scope::RepositoryState;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Records of conversations that did not stop for this time are removed.
const FORGOTTEN: Duration = Duration::from_secs(30 * 86_400);

/// The stop hook's folder.
#[derive(Debug, Clone)]
pub struct HookFolder {
    git: PathBuf,
}

/// The largest file that is read: a repository can have many refs.
const MAX_BYTES: u64 = 64 << 20;
const MAX_SETTINGS: u64 = 16 << 20;

/// The file that turns the hook off.
const SWITCH: &str = "mala-hook-off";

const ACCEPTED: &str = "accepted.json";
const RELEASED: &str = "released.json";

/// The most hashes of released work that are kept.
const MAX_RELEASED: usize = 500;

impl HookFolder {
    /// The folder of the work tree at `top`.
    pub fn of_work_tree(top: &Path) -> Self {
        Self { git: CloneSecret::of_work_tree(top).folder().to_owned() }
    }

    /// The file that turns the hook off.
    pub fn switch(&self) -> PathBuf {
        self.git.join(SWITCH)
    }

    /// Whether the hook is turned off.
    pub fn is_off(&self) -> bool {
        self.switch().symlink_metadata().is_ok()
    }

    /// Turns it off.
    pub fn turn_off(&self) -> io::Result<()> {
        write_atomically(&self.switch(), b"")
    }

    /// Turns it on; false when it was on.
    pub fn turn_on(&self) -> io::Result<bool> {
        match fs::remove_file(self.switch()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The record of a conversation; the default one if there is none or it is damaged.
    pub fn record(&self, session: &str) -> io::Result<ConversationRecord> {
        Ok(self.read(&self.conversation(session))?.unwrap_or_default())
    }

    /// Writes the record of a conversation.
    pub fn set_record(&self, session: &str, record: &ConversationRecord) -> io::Result<()> {
        let folder = self.conversations();
        fs::create_dir_all(&folder)?;
        forget_old(&folder);
        write_atomically(&self.conversation(session), &json(record)?)
    }

    /// The state that a person accepted last.
    pub fn accepted(&self) -> io::Result<Option<RepositoryState>> {
        self.read(&self.root().join(ACCEPTED))
    }

    /// Accepts this state.
    pub fn accept(&self, state: &RepositoryState) -> io::Result<()> {
        fs::create_dir_all(self.root())?;
        write_atomically(&self.root().join(ACCEPTED), &json(state)?)
    }

    /// Forgets what was accepted.
    pub fn forget_accepted(&self) -> io::Result<()> {
        match fs::remove_file(self.root().join(ACCEPTED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether work with this hash was released.
    pub fn is_released(&self, hash: &str) -> bool {
        self.released().iter().any(|known| known == hash)
    }

    /// Releases work with this hash.
    pub fn release(&self, hash: &str) -> io::Result<()> {
        let mut released = self.released();
        released.retain(|known| known != hash);
        released.push(hash.to_owned());
        let n_old = released.len().saturating_sub(MAX_RELEASED);
        released.drain(..n_old);
        fs::create_dir_all(self.root())?;
        write_atomically(&self.root().join(RELEASED), &json(&released)?)
    }

    fn released(&self) -> Vec<String> {
        self.read(&self.root().join(RELEASED)).ok().flatten().unwrap_or_default()
    }

    fn read<T: DeserializeOwned>(&self, path: &Path) -> io::Result<Option<T>> {
        match read_no_follow(path, MAX_BYTES) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores a settings file as it was before the hooks were added.
    pub fn keep_settings(&self, name: &str, text: &str) -> io::Result<()> {
        let folder = self.root().join("before");
        fs::create_dir_all(&folder)?;
        write_atomically(&folder.join(name), text.as_bytes())
    }

    /// Returns the stored settings file and removes it.
    pub fn take_settings(&self, name: &str) -> Option<String> {
        let path = self.root().join("before").join(name);
        let text = String::from_utf8(read_no_follow(&path, MAX_SETTINGS).ok()?).ok()?;
        fs::remove_file(path).ok().map(|()| text)
    }

    fn root(&self) -> PathBuf {
        self.git.join("mala-hook")
    }

    fn conversations(&self) -> PathBuf {
        self.root().join("conversations")
    }

    /// A host chooses the name of a conversation, but not a path.
    fn conversation(&self, session: &str) -> PathBuf {
        let name = crate::git::hex(&Sha256::digest(session.as_bytes()));
        self.conversations().join(format!("{}.json", name.get(..32).unwrap_or(&name)))
    }
}

/// Removes old records. Failures are logged only.
fn forget_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|meta| meta.modified());
        let age = modified.ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > FORGOTTEN)
            && let Err(error) = fs::remove_file(entry.path())
        {
            tracing::debug!(%error, "an old conversation stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A work tree of a repository.
    fn work_tree() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join(".git")).unwrap();
        top
    }

    fn memory(blocks: u32) -> ConversationRecord {
        ConversationRecord { blocks, ..ConversationRecord::default() }
    }

    #[test]
    fn each_conversation_has_a_record() {
        let top = work_tree();
        let folder = HookFolder::of_work_tree(top.path());
        let names = ["a", "b", "../../a", "", "a\0b", &"x".repeat(10_000)];
        for (blocks, name) in (1..).zip(names) {
            assert_eq!(folder.record(name).unwrap(), ConversationRecord::default());
            folder.set_record(name, &memory(blocks)).unwrap();
        }
        for (blocks, name) in (1..).zip(names) {
            assert_eq!(folder.record(name).unwrap().blocks, blocks, "{name}");
        }
        assert_eq!(fs::read_dir(folder.conversations()).unwrap().count(), names.len());
    }

    #[test]
    fn a_damaged_record_is_empty_and_an_unreadable_one_is_an_error() {
        let top = work_tree();
        let folder = HookFolder::of_work_tree(top.path());
        folder.set_record("a", &memory(1)).unwrap();
        fs::write(folder.conversation("a"), "{").unwrap();
        assert_eq!(folder.record("a").unwrap(), ConversationRecord::default());
        fs::remove_file(folder.conversation("a")).unwrap();
        fs::create_dir(folder.conversation("a")).unwrap();
        assert!(folder.record("a").is_err());
    }

    #[test]
    fn the_switch_is_a_file() {
        let top = work_tree();
        let folder = HookFolder::of_work_tree(top.path());
        assert!(!folder.is_off());
        assert!(!folder.turn_on().unwrap());
        folder.turn_off().unwrap();
        assert!(folder.is_off());
        assert!(folder.turn_on().unwrap());
        assert!(!folder.is_off());
    }

    #[test]
    fn what_a_person_accepts_and_what_is_released_is_kept() {
        let top = work_tree();
        let folder = HookFolder::of_work_tree(top.path());
        assert_eq!(folder.accepted().unwrap(), None);
        let state = RepositoryState {
            commits: std::collections::BTreeSet::from(["a".to_owned()]),
            ..RepositoryState::default()
        };
        folder.accept(&state).unwrap();
        assert_eq!(folder.accepted().unwrap(), Some(state));
        folder.forget_accepted().unwrap();
        folder.forget_accepted().unwrap();
        assert_eq!(folder.accepted().unwrap(), None);
        assert!(!folder.is_released("0"));
        for number in 0..=MAX_RELEASED {
            folder.release(&number.to_string()).unwrap();
        }
        assert!(!folder.is_released("0") && folder.is_released("1"));
    }
}
