//! A child that stays and answers questions, such as `git cat-file --batch`.

use super::group::{Group, Reads};
use super::{GroupAfter, ProcessError, Spec};
use std::time::Duration;
use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

/// How long a dead child's last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A running child with open pipes. Dropping it kills its group.
pub struct Session {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it writes.
    pub stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
    _group: Group,
}

/// Starts a child that reads from us and is not waited for.
pub fn start(spec: &Spec) -> Result<Session, ProcessError> {
    let mut group = Group::start(spec, Reads::Us, GroupAfter::Ends)?;
    match group.take_pipes() {
        (Some(stdin), Some(stdout), Some(stderr)) => {
            Ok(Session { stdin, stdout: BufReader::new(stdout), stderr, _group: group })
        }
        _ => Err(ProcessError::Lost {
            program: group.name().to_owned(),
            source: std::io::ErrorKind::BrokenPipe.into(),
        }),
    }
}

impl Session {
    /// What it complains about, once it has stopped answering.
    pub async fn last_words(&mut self) -> String {
        let mut words = Vec::new();
        let mut stderr = (&mut self.stderr).take(4096);
        if let Ok(Err(error)) = timeout(LAST_WORDS, stderr.read_to_end(&mut words)).await {
            tracing::debug!(%error, "stderr of a child is lost");
        }
        String::from_utf8_lossy(&words).trim().to_owned()
    }
}
