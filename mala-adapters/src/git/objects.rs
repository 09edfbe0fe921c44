//! Reads objects of the repository through one long-lived `git cat-file --batch`.

use super::call::GitCall;
use super::tree::{TEXT_HEAD, is_text};
use super::{Git, GitError, ObjectId};
use crate::process::{InteractiveProcess, ProcessError, start};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::ChildStdout;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The time limit of one batch.
const TIME: Duration = Duration::from_secs(120);

/// An object, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GitObject {
    /// Its content.
    Whole(Vec<u8>),
    /// It is larger than the limit.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// Whether it starts like text.
        is_text: bool,
    },
    /// It does not exist.
    Missing,
}

/// Reads objects, one batch at a time.
pub(super) struct ObjectReader {
    git: Git,
    session: Mutex<Option<InteractiveProcess>>,
}

impl ObjectReader {
    pub(super) fn new(git: Git) -> Self {
        Self { git, session: Mutex::new(None) }
    }

    /// These objects, in the same order.
    pub(super) async fn read(
        &self,
        ids: &[ObjectId],
        limit: u64,
    ) -> Result<Vec<GitObject>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        // The process is put back only after all answers were read. In the middle of an answer it
        // is useless.
        let mut kept = self.session.lock().await;
        if let Some(mut session) = kept.take() {
            // A process that exited since the last batch is replaced.
            if let Ok(Ok(objects)) = timeout(TIME, exchange(&mut session, ids, limit)).await {
                *kept = Some(session);
                return Ok(objects);
            }
        }
        let mut session = start(&self.git.spec(&GitCall::new(["cat-file", "--batch"])))?;
        match timeout(TIME, exchange(&mut session, ids, limit)).await {
            Ok(Ok(objects)) => {
                *kept = Some(session);
                Ok(objects)
            }
            Ok(Err(source)) => {
                let message = session.read_stderr().await;
                let message = match message.is_empty() {
                    true => source.to_string(),
                    false => message.trim_start_matches("fatal: ").to_owned(),
                };
                Err(GitError::Failed { command: "cat-file".to_owned(), message })
            }
            Err(_) => {
                let (program, output) = ("git".to_owned(), Box::default());
                Err(ProcessError::TimedOut { program, after: TIME, output }.into())
            }
        }
    }
}

/// Writes and reads at the same time, to avoid a deadlock.
async fn exchange(
    session: &mut InteractiveProcess,
    ids: &[ObjectId],
    limit: u64,
) -> io::Result<Vec<GitObject>> {
    let mut questions = Vec::with_capacity(ids.len() * 65);
    for id in ids {
        questions.extend_from_slice(id.as_str().as_bytes());
        questions.push(b'\n');
    }
    let InteractiveProcess { stdin, stdout, .. } = session;
    let ask = async {
        stdin.write_all(&questions).await?;
        stdin.flush().await
    };
    let hear = async {
        let mut objects = Vec::with_capacity(ids.len());
        for _ in ids {
            objects.push(answer(stdout, limit).await?);
        }
        Ok(objects)
    };
    let ((), objects) = tokio::try_join!(ask, hear)?;
    Ok(objects)
}

/// `ID TYPE SIZE LF CONTENT LF`, or `ID missing LF`.
async fn answer(stdout: &mut BufReader<ChildStdout>, limit: u64) -> io::Result<GitObject> {
    let mut header = Vec::new();
    (&mut *stdout).take(200).read_until(b'\n', &mut header).await?;
    let header = String::from_utf8_lossy(&header);
    let mut words = header.split_whitespace().skip(1);
    let size = match (words.next(), words.next()) {
        (Some("missing"), None) => return Ok(GitObject::Missing),
        (Some(_), Some(size)) => size.parse::<u64>().ok(),
        _ => None,
    };
    let Some(size) = size else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "unexpected answer"));
    };
    if size > limit {
        let mut start = Vec::new();
        (&mut *stdout).take(size.min(TEXT_HEAD as u64)).read_to_end(&mut start).await?;
        discard(stdout, size + 1 - start.len() as u64).await?;
        return Ok(GitObject::TooLarge { size, is_text: is_text(&start) });
    }
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    (&mut *stdout).take(size + 1).read_to_end(&mut content).await?;
    match content.pop() {
        Some(b'\n') if content.len() as u64 == size => Ok(GitObject::Whole(content)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

async fn discard(stdout: &mut (impl AsyncRead + Unpin), n_bytes: u64) -> io::Result<()> {
    let copied = tokio::io::copy(&mut stdout.take(n_bytes), &mut tokio::io::sink()).await?;
    if copied == n_bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
