//! The files of the hooks. They are in the git folder, out of reach of commits and `git clean`.
//! Shared by all work trees: a record per conversation, accepted work, and released work. Per work
//! tree: the file that turns the hooks off, and earlier settings.

use super::json;
use crate::bounded_read::read_no_follow;
use crate::git::{git_dir_of, shared_git_dir_of};
use crate::store::write_atomically;
use mala_domain::hook::ConversationRecord;
use mala_domain::hook::scope::RepositoryState;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Records of conversations that did not stop for this time are removed.
const FORGOTTEN: Duration = Duration::from_secs(30 * 86_400);

/// The folders of the hooks.
#[derive(Debug, Clone)]
pub struct HookFolder {
    /// The git folder of the work tree.
    git: PathBuf,
    /// The git folder that all work trees share.
    shared: PathBuf,
}

/// The largest file that is read: a repository can have many refs.
const MAX_BYTES: u64 = 64 << 20;
const MAX_SETTINGS: u64 = 16 << 20;

/// The file that turns the hook off.
const SWITCH: &str = "mala-hook-off";

const FOLDER: &str = "mala-hook";
const ACCEPTED: &str = "accepted.json";
const RELEASED: &str = "released.json";

/// The most hashes of released work that are kept.
const MAX_RELEASED: usize = 500;

impl HookFolder {
    /// The folders of the work tree at `top`.
    pub fn of_work_tree(top: &Path) -> Self {
        Self { git: git_dir_of(top), shared: shared_git_dir_of(top) }
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

    /// The state that a person accepted last, with the files of all work trees.
    pub fn accepted(&self) -> io::Result<Option<RepositoryState>> {
        self.read(&self.root().join(ACCEPTED))
    }

    /// Accepts this state, and the work that was blocked or refused last in the same work tree. That work is
    /// released too, so that it stays accepted when it is committed or amended.
    pub fn accept(&self, state: &RepositoryState) -> io::Result<()> {
        let known = self.accepted().ok().flatten().unwrap_or_default();
        let mut accepted = known.followed_by(state);
        fs::create_dir_all(self.root())?;
        for entry in fs::read_dir(self.conversations()).into_iter().flatten().flatten() {
            let Ok(Some(record)) = self.read::<ConversationRecord>(&entry.path()) else { continue };
            if record.blocks > 0 && state.trees.contains_key(&record.work_tree) {
                self.release(&record.work)?;
                accepted.commits.extend(record.tips.iter().cloned());
                write_atomically(&entry.path(), &json(&record.with_accepted_work())?)?;
            }
        }
        write_atomically(&self.root().join(ACCEPTED), &json(&accepted)?)
    }

    /// Removes all accepted work.
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

    /// Releases work with these hashes.
    pub fn release(&self, hashes: &BTreeSet<String>) -> io::Result<()> {
        let mut released = self.released();
        released.retain(|known| !hashes.contains(known));
        released.extend(hashes.iter().cloned());
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
        let folder = self.git.join(FOLDER).join("before");
        fs::create_dir_all(&folder)?;
        write_atomically(&folder.join(name), text.as_bytes())
    }

    /// Returns the stored settings file and removes it.
    pub fn take_settings(&self, name: &str) -> Option<String> {
        let path = self.git.join(FOLDER).join("before").join(name);
        let text = String::from_utf8(read_no_follow(&path, MAX_SETTINGS).ok()?).ok()?;
        fs::remove_file(path).ok().map(|()| text)
    }

    fn root(&self) -> PathBuf {
        self.shared.join(FOLDER)
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
            folder.release(&BTreeSet::from([number.to_string()])).unwrap();
        }
        assert!(!folder.is_released("0") && folder.is_released("1"));
    }

    #[test]
    fn blocked_work_of_this_work_tree_is_accepted_in_every_form() {
        let top = work_tree();
        let folder = HookFolder::of_work_tree(top.path());
        for (name, tree) in [("here", "/here"), ("there", "/there")] {
            let work = BTreeSet::from([format!("hash {name}")]);
            let tips = BTreeSet::from([format!("tip {name}")]);
            let work_tree = tree.to_owned();
            let record = ConversationRecord { work, tips, work_tree, ..memory(2) };
            folder.set_record(name, &record).unwrap();
        }
        let at = |tree: &str| RepositoryState {
            trees: std::collections::BTreeMap::from([(tree.to_owned(), Default::default())]),
            ..RepositoryState::default()
        };
        folder.accept(&at("/here")).unwrap();
        assert!(folder.is_released("hash here") && !folder.is_released("hash there"));
        let record = |name: &str| folder.record(name).unwrap();
        assert_eq!((record("here").blocks, record("here").is_accepted), (0, true));
        assert_eq!((record("there").blocks, record("there").is_accepted), (2, false));
        let commits = |expected: &[&str]| {
            let expected = expected.iter().map(|it| (*it).to_owned()).collect::<BTreeSet<_>>();
            assert_eq!(folder.accepted().unwrap().unwrap().commits, expected);
        };
        commits(&["tip here"]);
        folder.accept(&at("/there")).unwrap();
        commits(&["tip here", "tip there"]);
        assert_eq!(folder.accepted().unwrap().unwrap().trees.len(), 2, "each work tree");
    }

    #[test]
    fn linked_work_trees_share_conversations_and_not_the_switch() {
        let top = work_tree();
        let git = top.path().join(".git/worktrees/linked");
        fs::create_dir_all(&git).unwrap();
        fs::write(git.join("commondir"), "../..\n").unwrap();
        let linked = tempfile::tempdir().unwrap();
        fs::write(linked.path().join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
        let (one, other) =
            (HookFolder::of_work_tree(top.path()), HookFolder::of_work_tree(linked.path()));
        one.set_record("a", &memory(1)).unwrap();
        assert_eq!(other.record("a").unwrap().blocks, 1);
        other.turn_off().unwrap();
        assert!(other.is_off() && !one.is_off());
    }
}
