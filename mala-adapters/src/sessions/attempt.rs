//! The last attempt to start a session, and what became of it. One that came to nothing is written down, so
//! that whoever waits without a key is told so, and is not given the verdict on something else. It lies in
//! the git folder, where no commit brings anything; where it is missing though there are sessions, or
//! cannot be read, nobody knows what came last.

use super::{GateFolder, json};
use crate::bounded_read::read_no_follow;
use crate::store::write_atomically;
use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::{fs, io};

const NAME: &str = "mala-attempt.json";
const MAX_BYTES: u64 = 64 << 10;
const MAX_WHY: usize = 2_000;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Attempt {
    /// When it was made, in the form in which sessions have it.
    pub(super) created: String,
    /// Why it came to nothing; `None` as long as nobody knows.
    pub(super) why: Option<String>,
    /// Whether a session came of it.
    has_session: bool,
}

impl GateFolder {
    /// Writes down that somebody tries to start a session, or why they could not. A session that is
    /// written down later takes its place.
    pub fn attempt(&self, created: &str, why: Option<&str>) -> io::Result<()> {
        let why = why.map(|why| why.chars().take(MAX_WHY).collect());
        self.note(&Attempt { created: created.to_owned(), why, has_session: false })
    }

    /// The last attempt, if no session was written down after it.
    pub(super) fn unsettled(&self, recent: Option<&str>) -> Option<Attempt> {
        let attempt = self.last_attempt().ok()??;
        let is_last = recent.is_none_or(|recent| recent < attempt.created.as_str());
        (is_last && !attempt.has_session).then_some(attempt)
    }

    /// A session was written down at this time: attempts before it are of no interest any more.
    pub(super) fn settle(&self, created: &str) {
        let last = self.last_attempt().ok().flatten();
        if last.is_some_and(|attempt| attempt.created.as_str() > created) {
            return;
        }
        let settled = Attempt { created: created.to_owned(), why: None, has_session: true };
        if let Err(error) = self.note(&settled) {
            tracing::debug!(%error, "nobody knows that this session is the last one");
        }
    }

    /// Whether what became of the last attempt is known: whoever chooses the most recent session relies on
    /// it.
    pub(super) fn refuse_unnoted(&self) -> io::Result<()> {
        let unknown = |why: String| {
            let what = "nobody knows whether the last review was started";
            io::Error::other(format!("{what}: {why}; name a session with --session-key"))
        };
        let path = self.attempt_path();
        match self.last_attempt() {
            Ok(Some(_)) => {}
            Ok(None) if self.all().is_empty() => return Ok(()),
            Ok(None) => return Err(unknown(format!("{} is missing", path.display()))),
            Err(error) => return Err(unknown(format!("{}: {error}", path.display()))),
        }
        let folder = self.stamp.folder();
        // What could not be started could not be written down either.
        access(folder, Access::WRITE_OK)
            .map_err(|error| unknown(format!("{} cannot be written: {error}", folder.display())))
    }

    /// Where it cannot be written, the one before it goes: a full disk leaves no other way to say that it is
    /// not the last one.
    fn note(&self, attempt: &Attempt) -> io::Result<()> {
        let path = self.attempt_path();
        let written = json(attempt).and_then(|bytes| write_atomically(&path, &bytes));
        if written.is_err() {
            fs::remove_file(&path).unwrap_or_default();
        }
        written
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    fn last_attempt(&self) -> io::Result<Option<Attempt>> {
        match read_no_follow(&self.attempt_path(), MAX_BYTES) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn attempt_path(&self) -> PathBuf {
        self.stamp.folder().join(NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_counts_until_a_session_is_written_down_after_it() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join(".git")).unwrap();
        let gate = GateFolder::of_work_tree(top.path());
        let why = |recent| gate.unsettled(recent).map(|it| it.why);
        assert_eq!(why(None), None);
        gate.attempt("2026-01-02", None).unwrap();
        assert_eq!(why(None), Some(None));
        assert_eq!(why(Some("2026-01-01")), Some(None));
        assert_eq!(why(Some("2026-01-03")), None);
        gate.attempt("2026-01-04", Some("no such lane")).unwrap();
        assert_eq!(why(Some("2026-01-03")), Some(Some("no such lane".to_owned())));
        gate.settle("2026-01-03");
        assert!(why(None).is_some(), "it came later");
        gate.settle("2026-01-05");
        assert_eq!(why(None), None);
        assert!(gate.refuse_unnoted().is_ok());
        fs::write(gate.attempt_path(), "{").unwrap();
        assert!(gate.refuse_unnoted().is_err(), "nobody can read it");
        gate.settle("2026-01-05");
        assert!(gate.refuse_unnoted().is_ok());
        fs::remove_file(gate.attempt_path()).unwrap();
        fs::create_dir(gate.attempt_path()).unwrap();
        assert!(gate.attempt("2026-01-06", None).is_err());
        assert!(gate.refuse_unnoted().is_err(), "something is in its place");
    }
}
