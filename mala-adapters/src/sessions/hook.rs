//! What the stop hook keeps in `.mala/hook/`: a file per conversation, the commit up to which the work
//! passed, and the file with which a person turns the hook off.

use super::json;
use crate::store::{keep_out_of_git, refuse_link, write_atomically};
use mala_domain::gate::hook::Memory;
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
    state: PathBuf,
}

impl HookFolder {
    /// That of the work tree at `top`.
    pub fn of_work_tree(top: &Path) -> Self {
        Self { state: top.join(".mala") }
    }

    /// The file that turns the hook off.
    pub fn switch(&self) -> PathBuf {
        self.root().join("off")
    }

    /// Whether the hook is turned off.
    pub fn is_off(&self) -> bool {
        fs::symlink_metadata(self.switch()).is_ok()
    }

    /// Turns it off.
    pub fn turn_off(&self) -> io::Result<()> {
        self.prepare(&self.root())?;
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
    pub fn memory(&self, session: &str) -> io::Result<Memory> {
        match fs::read(self.conversation(session)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Memory::default()),
            Err(error) => Err(error),
        }
    }

    /// Remembers this of a conversation.
    pub fn remember(&self, session: &str, memory: &Memory) -> io::Result<()> {
        let folder = self.conversations();
        self.prepare(&folder)?;
        forget_old(&folder);
        write_atomically(&self.conversation(session), &json(memory)?)
    }

    /// The commit up to which the work passed.
    pub fn baseline(&self) -> Option<String> {
        let text = fs::read_to_string(self.root().join("baseline")).ok()?;
        let commit = text.trim();
        let is_id = commit.len() >= 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
        is_id.then(|| commit.to_owned())
    }

    /// The work passed up to this commit.
    pub fn set_baseline(&self, commit: &str) -> io::Result<()> {
        self.prepare(&self.root())?;
        write_atomically(&self.root().join("baseline"), format!("{commit}\n").as_bytes())
    }

    /// Forgets it.
    pub fn forget_baseline(&self) -> io::Result<()> {
        match fs::remove_file(self.root().join("baseline")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn root(&self) -> PathBuf {
        self.state.join("hook")
    }

    fn conversations(&self) -> PathBuf {
        self.root().join("conversations")
    }

    /// Hosts choose the names of their conversations; they do not choose our paths.
    fn conversation(&self, session: &str) -> PathBuf {
        let name = crate::git::hex(&Sha256::digest(session.as_bytes()));
        self.conversations().join(format!("{}.json", name.get(..32).unwrap_or(&name)))
    }

    fn prepare(&self, folder: &Path) -> io::Result<()> {
        for part in [&self.state, &self.root(), folder] {
            refuse_link(part)?;
        }
        fs::create_dir_all(folder)?;
        keep_out_of_git(&self.state)
    }
}

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

    fn memory(blocks: u32) -> Memory {
        Memory { blocks, ..Memory::default() }
    }

    #[test]
    fn conversations_are_remembered_apart() {
        let top = tempfile::tempdir().unwrap();
        let folder = HookFolder::of_work_tree(top.path());
        let names = ["a", "b", "../../a", "", "a\0b", &"x".repeat(10_000)];
        for (blocks, name) in (1..).zip(names) {
            assert_eq!(folder.memory(name).unwrap(), Memory::default());
            folder.remember(name, &memory(blocks)).unwrap();
        }
        for (blocks, name) in (1..).zip(names) {
            assert_eq!(folder.memory(name).unwrap().blocks, blocks, "{name}");
        }
        assert_eq!(fs::read_dir(folder.conversations()).unwrap().count(), names.len());
    }

    #[test]
    fn what_cannot_be_understood_is_nothing_and_what_cannot_be_read_is_an_error() {
        let top = tempfile::tempdir().unwrap();
        let folder = HookFolder::of_work_tree(top.path());
        folder.remember("a", &memory(1)).unwrap();
        fs::write(folder.conversation("a"), "{").unwrap();
        assert_eq!(folder.memory("a").unwrap(), Memory::default());
        fs::remove_file(folder.conversation("a")).unwrap();
        fs::create_dir(folder.conversation("a")).unwrap();
        assert!(folder.memory("a").is_err());
    }

    #[test]
    fn a_folder_that_leads_elsewhere_is_refused() {
        let top = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), top.path().join(".mala")).unwrap();
        let folder = HookFolder::of_work_tree(top.path());
        assert!(folder.remember("a", &memory(1)).is_err());
        assert!(folder.turn_off().is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_switch_is_a_file() {
        let top = tempfile::tempdir().unwrap();
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
        let top = tempfile::tempdir().unwrap();
        let folder = HookFolder::of_work_tree(top.path());
        assert_eq!(folder.baseline(), None);
        let commit = "0123456789".repeat(4);
        folder.set_baseline(&commit).unwrap();
        assert_eq!(folder.baseline(), Some(commit));
        folder.set_baseline("--all").unwrap();
        assert_eq!(folder.baseline(), None);
    }
}
