//! What the stop hook keeps, in the git folder, where no commit brings anything and nobody cleans up: a file
//! per conversation, the commit up to which the work passed, and the file with which a person turns the
//! hook off.

use super::json;
use super::stamp::Stamp;
use crate::bounded_read::read_no_follow;
use crate::store::write_atomically;
use mala_domain::gate::hook::{ConversationMemory, WorkStart};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A conversation that nobody went on with for so long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(30 * 86_400);

/// The stop hook's folder.
#[derive(Debug, Clone)]
pub struct HookFolder {
    git: PathBuf,
}

/// No file here is larger, but for settings.
const MAX_BYTES: u64 = 64 << 10;
const MAX_SETTINGS: u64 = 16 << 20;

/// The file that turns the hook off.
const SWITCH: &str = "mala-hook-off";

impl HookFolder {
    /// That of the work tree at `top`.
    pub fn of_work_tree(top: &Path) -> Self {
        Self { git: Stamp::of_work_tree(top).folder().to_owned() }
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

    /// What is remembered of a conversation. What cannot be understood is as good as nothing.
    pub fn memory(&self, session: &str) -> io::Result<ConversationMemory> {
        match read_no_follow(&self.conversation(session), MAX_BYTES) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(ConversationMemory::default())
            }
            Err(error) => Err(error),
        }
    }

    /// Remembers this of a conversation.
    pub fn remember(&self, session: &str, memory: &ConversationMemory) -> io::Result<()> {
        let folder = self.conversations();
        fs::create_dir_all(&folder)?;
        forget_old(&folder);
        write_atomically(&self.conversation(session), &json(memory)?)
    }

    /// The commit up to which the work passed.
    pub fn baseline(&self) -> Option<WorkStart> {
        let text = self.text(&self.root().join("baseline"))?;
        let word = text.trim();
        if word == NOTHING {
            return Some(WorkStart::Nothing);
        }
        let is_id = word.len() >= 40 && word.chars().all(|c| c.is_ascii_hexdigit());
        is_id.then(|| WorkStart::Commit(word.to_owned()))
    }

    /// The work passed up to here, or starts here.
    pub fn set_baseline(&self, baseline: &WorkStart) -> io::Result<()> {
        fs::create_dir_all(self.root())?;
        let word = match baseline {
            WorkStart::Unknown => UNKNOWN,
            WorkStart::Nothing => NOTHING,
            WorkStart::Commit(commit) => commit,
        };
        write_atomically(&self.root().join("baseline"), format!("{word}\n").as_bytes())
    }

    /// Forgets it.
    pub fn forget_baseline(&self) -> io::Result<()> {
        match fs::remove_file(self.root().join("baseline")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Keeps what a file of settings said before the hooks came into it.
    pub fn keep_settings(&self, name: &str, text: &str) -> io::Result<()> {
        let folder = self.root().join("before");
        fs::create_dir_all(&folder)?;
        write_atomically(&folder.join(name), text.as_bytes())
    }

    /// What it said; it is not kept any longer.
    pub fn take_settings(&self, name: &str) -> Option<String> {
        let path = self.root().join("before").join(name);
        let text = String::from_utf8(read_no_follow(&path, MAX_SETTINGS).ok()?).ok()?;
        fs::remove_file(path).ok().map(|()| text)
    }

    fn root(&self) -> PathBuf {
        self.git.join("mala-hook")
    }

    fn text(&self, path: &Path) -> Option<String> {
        String::from_utf8(read_no_follow(path, MAX_BYTES).ok()?).ok()
    }

    fn conversations(&self) -> PathBuf {
        self.root().join("conversations")
    }

    /// Hosts choose the names of their conversations; they do not choose our paths.
    fn conversation(&self, session: &str) -> PathBuf {
        let name = crate::git::hex(&Sha256::digest(session.as_bytes()));
        self.conversations().join(format!("{}.json", name.get(..32).unwrap_or(&name)))
    }
}

const NOTHING: &str = "nothing";

/// No commit, and so as good as nothing that is written.
const UNKNOWN: &str = "unknown";

/// Removes what nobody asks for any more. It is no failure when it stays.
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

    fn memory(blocks: u32) -> ConversationMemory {
        ConversationMemory { blocks, ..ConversationMemory::default() }
    }

    #[test]
    fn conversations_are_remembered_apart() {
        let top = work_tree();
        let folder = HookFolder::of_work_tree(top.path());
        let names = ["a", "b", "../../a", "", "a\0b", &"x".repeat(10_000)];
        for (blocks, name) in (1..).zip(names) {
            assert_eq!(folder.memory(name).unwrap(), ConversationMemory::default());
            folder.remember(name, &memory(blocks)).unwrap();
        }
        for (blocks, name) in (1..).zip(names) {
            assert_eq!(folder.memory(name).unwrap().blocks, blocks, "{name}");
        }
        assert_eq!(fs::read_dir(folder.conversations()).unwrap().count(), names.len());
    }

    #[test]
    fn what_cannot_be_understood_is_nothing_and_what_cannot_be_read_is_an_error() {
        let top = work_tree();
        let folder = HookFolder::of_work_tree(top.path());
        folder.remember("a", &memory(1)).unwrap();
        fs::write(folder.conversation("a"), "{").unwrap();
        assert_eq!(folder.memory("a").unwrap(), ConversationMemory::default());
        fs::remove_file(folder.conversation("a")).unwrap();
        fs::create_dir(folder.conversation("a")).unwrap();
        assert!(folder.memory("a").is_err());
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
    fn a_baseline_is_a_commit() {
        let top = work_tree();
        let folder = HookFolder::of_work_tree(top.path());
        assert_eq!(folder.baseline(), None);
        let commit = WorkStart::Commit("0123456789".repeat(4));
        for baseline in [commit, WorkStart::Nothing] {
            folder.set_baseline(&baseline).unwrap();
            assert_eq!(folder.baseline(), Some(baseline));
        }
        folder.set_baseline(&WorkStart::Commit("--all".to_owned())).unwrap();
        assert_eq!(folder.baseline(), None);
    }
}
