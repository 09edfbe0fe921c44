//! What the stop hook keeps. In `.mala/hook/`, a file per conversation and the commit up to which the work
//! passed; each carries the mark of this clone: what a change brings along counts for nothing. In the git
//! folder, where nothing is in the way of it, the file with which a person turns the hook off.

use super::json;
use super::stamp::Stamp;
use crate::regular::read_foreign;
use crate::store::{keep_out_of_git, refuse_link, write_atomically};
use mala_domain::gate::hook::{Memory, Start};
use serde::{Deserialize, Serialize};
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
    stamp: Stamp,
}

/// What is remembered of a conversation, with the mark of this clone.
#[derive(Serialize, Deserialize)]
struct Kept {
    stamp: String,
    memory: Memory,
}

/// No file here is larger.
const MAX_BYTES: u64 = 64 << 10;

/// The file that turns the hook off.
const SWITCH: &str = "mala-hook-off";

impl HookFolder {
    /// That of the work tree at `top`.
    pub fn of_work_tree(top: &Path) -> Self {
        Self { state: top.join(".mala"), stamp: Stamp::of_work_tree(top) }
    }

    /// The file that turns the hook off.
    pub fn switch(&self) -> PathBuf {
        self.stamp.folder().join(SWITCH)
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
    pub fn memory(&self, session: &str) -> io::Result<Memory> {
        let kept: Option<Kept> = match read_foreign(&self.conversation(session), MAX_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let ours = kept.filter(|kept| self.stamp.mark(session).as_ref() == Some(&kept.stamp));
        Ok(ours.map(|kept| kept.memory).unwrap_or_default())
    }

    /// Remembers this of a conversation.
    pub fn remember(&self, session: &str, memory: &Memory) -> io::Result<()> {
        let folder = self.conversations();
        self.prepare(&folder)?;
        forget_old(&folder);
        let kept = Kept { stamp: self.stamp.make(session)?, memory: memory.clone() };
        write_atomically(&self.conversation(session), &json(&kept)?)
    }

    /// The commit up to which the work passed.
    pub fn baseline(&self) -> Option<Start> {
        let text = self.text(&self.root().join("baseline"))?;
        let (word, mark) = text.trim().split_once(' ')?;
        if self.stamp.mark(&baseline_name(word))? != mark {
            return None;
        }
        if word == NOTHING {
            return Some(Start::Nothing);
        }
        let is_id = word.len() >= 40 && word.chars().all(|c| c.is_ascii_hexdigit());
        is_id.then(|| Start::Commit(word.to_owned()))
    }

    /// The work passed up to here, or starts here.
    pub fn set_baseline(&self, baseline: &Start) -> io::Result<()> {
        self.prepare(&self.root())?;
        let word = match baseline {
            Start::Unknown => UNKNOWN,
            Start::Nothing => NOTHING,
            Start::Commit(commit) => commit,
        };
        let mark = self.stamp.make(&baseline_name(word))?;
        write_atomically(&self.root().join("baseline"), format!("{word} {mark}\n").as_bytes())
    }

    /// Forgets it.
    pub fn forget_baseline(&self) -> io::Result<()> {
        match fs::remove_file(self.root().join("baseline")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Keeps what a file of settings said that had nothing in it.
    pub fn keep_settings(&self, name: &str, text: &str) -> io::Result<()> {
        let folder = self.root().join("before");
        self.prepare(&folder)?;
        write_atomically(&folder.join(name), text.as_bytes())
    }

    /// What it said; it is not kept any longer.
    pub fn take_settings(&self, name: &str) -> Option<String> {
        let path = self.root().join("before").join(name);
        let text = self.text(&path)?;
        fs::remove_file(path).ok().map(|()| text)
    }

    fn root(&self) -> PathBuf {
        self.state.join("hook")
    }

    fn text(&self, path: &Path) -> Option<String> {
        String::from_utf8(read_foreign(path, MAX_BYTES).ok()?).ok()
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

const NOTHING: &str = "nothing";

/// No commit, and so as good as nothing that is written.
const UNKNOWN: &str = "unknown";

fn baseline_name(word: &str) -> String {
    format!("baseline {word}")
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

    /// A work tree of a repository.
    fn work_tree() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join(".git")).unwrap();
        top
    }

    fn memory(blocks: u32) -> Memory {
        Memory { blocks, ..Memory::default() }
    }

    #[test]
    fn conversations_are_remembered_apart() {
        let top = work_tree();
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
        let top = work_tree();
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
        let top = work_tree();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), top.path().join(".mala")).unwrap();
        let folder = HookFolder::of_work_tree(top.path());
        assert!(folder.remember("a", &memory(1)).is_err());
        folder.turn_off().unwrap();
        assert!(folder.is_off(), "the way out is open");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
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
        let commit = Start::Commit("0123456789".repeat(4));
        for baseline in [commit, Start::Nothing] {
            folder.set_baseline(&baseline).unwrap();
            assert_eq!(folder.baseline(), Some(baseline));
        }
        folder.set_baseline(&Start::Commit("--all".to_owned())).unwrap();
        assert_eq!(folder.baseline(), None);
    }

    #[test]
    fn what_another_clone_wrote_counts_for_nothing() {
        let (one, other) = (work_tree(), work_tree());
        let folder = HookFolder::of_work_tree(one.path());
        folder.turn_off().unwrap();
        folder.remember("a", &memory(9)).unwrap();
        folder.set_baseline(&Start::Nothing).unwrap();
        fs::rename(one.path().join(".mala"), other.path().join(".mala")).unwrap();
        let planted = HookFolder::of_work_tree(other.path());
        for is_known in [false, true] {
            if is_known {
                planted.stamp.make("x").unwrap();
            }
            assert!(!planted.is_off());
            assert_eq!(planted.memory("a").unwrap(), Memory::default());
            assert_eq!(planted.baseline(), None);
        }
    }
}
