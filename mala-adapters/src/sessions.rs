//! The sessions of `review-gate`: one folder `.mala/gate/<key>/` each. A session's folder is created
//! together with its `session.json`, and files are replaced atomically.

mod canaries;
mod clone_secret;
mod hook;
mod result;
mod scratch;
mod supervisor;
mod trees;

pub use canaries::{CanaryFolder, CanaryTurn};
pub use hook::HookFolder;
pub use scratch::{fresh_scratch, hold_scratch, remove_scratch, sweep_scratch};
pub use supervisor::SupervisorStatus;
pub use trees::GateFolders;

use crate::bounded_read::read_no_follow;
use crate::process;
use crate::store::{reject_symlink, write_gitignore, write_unsynced};
use clone_secret::CloneSecret;
use mala_domain::gate::session::{Heartbeat, Session, SessionProgress, SessionState};
use mala_domain::ports::{SessionFiles, StoreError};
use mala_domain::render::gate::{GateResultJson, SessionFacts};
use mala_domain::render::markdown::render_panel;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use uuid::Uuid;

/// The largest file of a session that is read.
const MAX_BYTES: u64 = 256 << 20;

const SESSION: &str = "session.json";
const PROGRESS: &str = "progress.json";
const REPORT: &str = "report.md";
const HEARTBEAT: &str = "heartbeat.json";
const PROCESSES: &str = "processes.json";

/// The sessions of one work tree.
#[derive(Debug, Clone)]
pub struct GateFolder {
    state: PathBuf,
    secret: CloneSecret,
}

impl GateFolder {
    /// The sessions of the work tree at `top`.
    pub fn of_work_tree(top: &Path) -> Self {
        Self { state: top.join(".mala"), secret: CloneSecret::of_work_tree(top) }
    }

    /// The root of the work tree.
    pub fn top(&self) -> &Path {
        self.state.parent().unwrap_or(&self.state)
    }

    /// Fails if the folder of the sessions is a link, which the repository could have committed.
    pub fn refuse_links(&self) -> io::Result<()> {
        for folder in [&self.state, &self.root()] {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
            };
            reject_symlink(folder).map_err(named)?;
        }
        Ok(())
    }

    fn root(&self) -> PathBuf {
        self.state.join("gate")
    }

    /// Writes the files of a new session.
    pub fn create(&self, session: &Session) -> io::Result<SessionFolder> {
        let root = self.root();
        self.refuse_links()?;
        // The signature covers the session as it will be read: numbers may change when they are parsed.
        let read: Session = serde_json::from_slice(&json(session)?)?;
        let signed =
            Session { signature: self.secret.sign(&signed_text(&read)?)?, ..session.clone() };
        let written = || {
            fs::create_dir_all(&root)?;
            write_gitignore(&self.state)?;
            let draft = tempfile::Builder::new().prefix(".writing-").tempdir_in(&root)?;
            // Only the user may read the secret in it.
            let own = fs::File::options().write(true).create_new(true).mode(0o600).clone();
            own.open(draft.path().join(SESSION))?.write_all(&json(&signed)?)?;
            let path = root.join(&session.key);
            scratch::assign(Path::new(&session.scratch), &path)?;
            fs::rename(draft.keep(), &path)?;
            Ok(SessionFolder { path, secret: self.secret.clone() })
        };
        written().map_err(|error: io::Error| {
            io::Error::new(error.kind(), format!("writing to {}: {error}", root.display()))
        })
    }

    /// The session with this key; `None` if this clone wrote none.
    pub fn find(&self, key: &str) -> Option<SessionFolder> {
        let folder = self.folder(key)?;
        self.is_ours(&folder, &folder.session().ok()?).then_some(folder)
    }

    /// All sessions that this clone wrote, the most recent one first. Unreadable ones are left out.
    pub fn all(&self) -> Vec<(SessionFolder, Session)> {
        let mut sessions: Vec<(SessionFolder, Session)> = self
            .folders()
            .into_iter()
            .filter_map(|folder| Some((folder.session().ok()?, folder)))
            .filter(|(session, folder)| self.is_ours(folder, session))
            .map(|(session, folder)| (folder, session))
            .collect();
        newest_first(&mut sessions);
        sessions
    }

    /// The most recent session that no hook started. It is an error if a session that was written later cannot be read.
    pub fn most_recent(&self) -> io::Result<Option<(SessionFolder, Session)>> {
        self.refuse_links()?;
        let recent = self.all().into_iter().find(|(_, session)| !session.is_of_hook);
        let since = recent.as_ref().and_then(|(folder, _)| folder.date());
        match self.unreadable().into_iter().find(|(folder, _)| folder.date() > since) {
            Some((folder, error)) => {
                let file = folder.path().join(SESSION);
                let what = format!(
                    "cannot read the most recent session: {}: {error} (run `review-gate clean \
                     --older-than 0s` to remove it)",
                    file.display()
                );
                Err(io::Error::new(error.kind(), what))
            }
            None => Ok(recent),
        }
    }

    /// Sessions that cannot be read, and why.
    pub fn unreadable(&self) -> Vec<(SessionFolder, io::Error)> {
        let folders = self.folders().into_iter();
        folders
            .filter_map(|folder| Some((folder.session().err()?, folder)))
            .map(|(error, folder)| (folder, error))
            .collect()
    }

    fn folders(&self) -> Vec<SessionFolder> {
        let Ok(entries) = fs::read_dir(self.root()) else { return Vec::new() };
        entries.flatten().filter_map(|entry| self.folder(entry.file_name().to_str()?)).collect()
    }

    fn folder(&self, key: &str) -> Option<SessionFolder> {
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        let folder = SessionFolder { path: self.root().join(key), secret: self.secret.clone() };
        let is_folder = || fs::symlink_metadata(&folder.path).is_ok_and(|meta| meta.is_dir());
        let has_file = || fs::symlink_metadata(folder.path.join(SESSION)).is_ok();
        (is_key && self.refuse_links().is_ok() && is_folder() && has_file()).then_some(folder)
    }

    fn is_ours(&self, folder: &SessionFolder, session: &Session) -> bool {
        let signature = signed_text(session).ok().and_then(|text| self.secret.signature(&text));
        folder.path.ends_with(&session.key) && signature.is_some_and(|it| it == session.signature)
    }
}

/// The text that the signature of a session covers: all of its fields.
fn signed_text(session: &Session) -> io::Result<String> {
    let words = json(&Session { signature: String::new(), ..session.clone() })?;
    Ok(format!("session {}", crate::git::hex(&Sha256::digest(words))))
}

fn newest_first(sessions: &mut [(SessionFolder, Session)]) {
    sessions.sort_by(|(_, a), (_, b)| (&b.created, &b.key).cmp(&(&a.created, &a.key)));
}

/// The folder of one session.
#[derive(Debug, Clone)]
pub struct SessionFolder {
    path: PathBuf,
    secret: CloneSecret,
}

impl SessionFolder {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The work tree that it is of.
    pub fn work_tree(&self) -> &Path {
        self.path.ancestors().nth(3).unwrap_or(&self.path)
    }

    /// When it was created, by the date of its file.
    pub fn date(&self) -> Option<SystemTime> {
        fs::symlink_metadata(self.path.join(SESSION)).and_then(|meta| meta.modified()).ok()
    }

    /// Ends the supervisor and the processes that it recorded.
    pub fn end_processes(&self) {
        if let Some(pid) = self.supervisor() {
            process::kill(pid);
        }
        let noted: Vec<Heartbeat> = self.read(PROCESSES).ok().flatten().unwrap_or_default();
        process::kill_started(noted.iter().map(|it| (it.pid, it.started)));
    }

    /// The description of the session.
    pub fn session(&self) -> io::Result<Session> {
        self.read(SESSION)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Its progress.
    pub fn progress(&self) -> io::Result<SessionProgress> {
        Ok(self.read(PROGRESS)?.unwrap_or_default())
    }

    /// Writes its progress.
    pub fn set_progress(&self, progress: &SessionProgress) -> io::Result<()> {
        write_unsynced(&self.path.join(PROGRESS), &json(progress)?)
    }

    /// The path of the report in Markdown. Writes it unless it exists.
    pub fn report(&self, state: &SessionState) -> io::Result<PathBuf> {
        let path = self.path.join(REPORT);
        // The process that wrote the result may have ended before it wrote the report.
        if !path.exists() {
            let session = self.session().ok();
            let book = GateFolder::of_work_tree(self.work_tree()).canaries().book();
            let members = session.iter().flat_map(|session| &session.members);
            let names = members.map(|member| member.lane.name.clone());
            let measured = names.filter_map(|name| Some((name.clone(), book.measured(&name)?)));
            let measured = measured.collect();
            let progress = self.progress().unwrap_or_default();
            let facts = SessionFacts { session, measured, progress, folder: None };
            let result = GateResultJson::of(state, &facts);
            write_unsynced(&path, render_panel(&result).as_bytes())?;
        }
        Ok(path)
    }

    /// Removes the session and its scratch folder.
    pub fn remove(&self) -> io::Result<()> {
        if let Ok(session) = self.session() {
            remove_scratch(Path::new(&session.scratch));
        }
        fs::remove_dir_all(&self.path)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        match read_no_follow(&self.path.join(name), MAX_BYTES) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl SessionFiles for SessionFolder {
    fn write(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let path = self.path.join(name);
        let parent = path.parent().unwrap_or(&self.path);
        fs::create_dir_all(parent)
            .and_then(|()| write_unsynced(&path, text.as_bytes()))
            .map_err(|source| StoreError { what: format!("writing {}", path.display()), source })
    }
}

/// A random UUID, as the key of a session.
pub fn fresh_key() -> String {
    Uuid::new_v4().to_string()
}

/// 32 random hexadecimal digits.
pub fn fresh_secret() -> String {
    Uuid::new_v4().simple().to_string()
}

fn json(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_uuids_and_never_the_same() {
        let key = fresh_key();
        let lengths: Vec<usize> = key.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{key}");
        assert_eq!(key.chars().nth(14), Some('4'));
        assert_ne!(key, fresh_key());
    }

    #[test]
    fn no_key_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let gate = GateFolder::of_work_tree(folder.path());
        for key in ["", "..", "../..", "a/b", "/etc"] {
            assert!(gate.find(key).is_none(), "{key}");
        }
    }
}
