//! The last attempt to start a session. One that came to nothing is written down, so that whoever waits
//! without a key is told so, and is not given the verdict on something else.

use super::{GateFolder, json};
use crate::regular::read_foreign;
use crate::store::{keep_out_of_git, write_atomically};
use serde::{Deserialize, Serialize};
use std::{fs, io};

const NAME: &str = "attempt.json";
const MAX_BYTES: u64 = 64 << 10;
const MAX_WHY: usize = 2_000;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Attempt {
    /// When it was made, in the form in which sessions have it.
    pub(super) created: String,
    /// What shows that this clone wrote it down.
    stamp: String,
    /// Why it came to nothing; `None` as long as nobody knows.
    pub(super) why: Option<String>,
}

impl GateFolder {
    /// Writes down that somebody tries to start a session, or why they could not. A session that is
    /// written down later takes its place.
    pub fn attempt(&self, created: &str, why: Option<&str>) -> io::Result<()> {
        self.refuse_links()?;
        fs::create_dir_all(self.root())?;
        keep_out_of_git(&self.state)?;
        let attempt = Attempt {
            created: created.to_owned(),
            stamp: self.stamp.make(&name(created))?,
            why: why.map(|why| why.chars().take(MAX_WHY).collect()),
        };
        write_atomically(&self.root().join(NAME), &json(&attempt)?)
    }

    /// The last attempt, if no session was written down after it.
    pub(super) fn unsettled(&self, recent: Option<&str>) -> Option<Attempt> {
        let attempt = self.last_attempt()?;
        let is_last = recent.is_none_or(|recent| recent < attempt.created.as_str());
        is_last.then_some(attempt)
    }

    /// A session was written down at this time: attempts before it are of no interest any more.
    pub(super) fn settle(&self, created: &str) {
        let is_over =
            self.last_attempt().is_some_and(|attempt| attempt.created.as_str() <= created);
        if is_over && let Err(error) = fs::remove_file(self.root().join(NAME)) {
            tracing::debug!(%error, "an attempt is still written down");
        }
    }

    fn last_attempt(&self) -> Option<Attempt> {
        let bytes = read_foreign(&self.root().join(NAME), MAX_BYTES).ok()?;
        let attempt: Attempt = serde_json::from_slice(&bytes).ok()?;
        (self.stamp.mark(&name(&attempt.created))? == attempt.stamp).then_some(attempt)
    }
}

/// What the mark of an attempt is made for. No session has such a key.
fn name(created: &str) -> String {
    format!("attempt {created}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_counts_until_a_session_is_written_down_after_it() {
        let clone = || {
            let top = tempfile::tempdir().unwrap();
            fs::create_dir(top.path().join(".git")).unwrap();
            (GateFolder::of_work_tree(top.path()), top)
        };
        let (gate, _top) = clone();
        let why = |gate: &GateFolder, recent| gate.unsettled(recent).map(|it| it.why);
        assert_eq!(why(&gate, None), None);
        gate.attempt("2026-01-02", None).unwrap();
        assert_eq!(why(&gate, None), Some(None));
        assert_eq!(why(&gate, Some("2026-01-01")), Some(None));
        assert_eq!(why(&gate, Some("2026-01-03")), None);
        gate.attempt("2026-01-04", Some("no such lane")).unwrap();
        assert_eq!(why(&gate, Some("2026-01-03")), Some(Some("no such lane".to_owned())));
        gate.settle("2026-01-03");
        assert!(why(&gate, None).is_some(), "it came later");
        gate.settle("2026-01-05");
        assert_eq!(why(&gate, None), None);
        gate.attempt("2026-01-06", None).unwrap();
        let (other, _top) = clone();
        fs::create_dir_all(other.root()).unwrap();
        fs::copy(gate.root().join(NAME), other.root().join(NAME)).unwrap();
        assert_eq!(why(&other, None), None, "what another clone wrote down is not there");
        other.stamp.make("anything").unwrap();
        assert_eq!(why(&other, None), None);
    }
}
