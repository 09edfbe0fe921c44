//! Objects of the repository, by one long-lived `git cat-file --batch`.

use super::call::Call;
use super::tree::{TEXT_HEAD, is_text};
use super::{Git, GitError, ObjectId};
use crate::process::{ProcessError, Session, start};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::ChildStdout;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long one round of questions may take.
const TIME: Duration = Duration::from_secs(120);

/// An object, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Object {
    /// Its content.
    Whole(Vec<u8>),
    /// It is over the limit.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// Whether it starts like text.
        is_text: bool,
    },
    /// The repository does not have it.
    Missing,
}

/// Answers questions for objects, one round at a time.
pub(super) struct Objects {
    git: Git,
    session: Mutex<Option<Session>>,
}

impl Objects {
    pub(super) fn new(git: Git) -> Self {
        Self { git, session: Mutex::new(None) }
    }

    /// These objects, in the same order.
    pub(super) async fn read(&self, ids: &[ObjectId], limit: u64) -> Result<Vec<Object>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        // The session is taken out, and put back only when all answers were read: one that was left
        // in the middle of an answer is of no use.
        let mut kept = self.session.lock().await;
        if let Some(mut session) = kept.take() {
            // One that died since it was last asked is replaced.
            if let Ok(Ok(objects)) = timeout(TIME, exchange(&mut session, ids, limit)).await {
                *kept = Some(session);
                return Ok(objects);
            }
        }
        let mut session = start(&self.git.spec(&Call::new(["cat-file", "--batch"])))?;
        match timeout(TIME, exchange(&mut session, ids, limit)).await {
            Ok(Ok(objects)) => {
                *kept = Some(session);
                Ok(objects)
            }
            Ok(Err(source)) => {
                let complaint = session.last_words().await;
                let complaint = match complaint.is_empty() {
                    true => source.to_string(),
                    false => complaint.trim_start_matches("fatal: ").to_owned(),
                };
                Err(GitError::Failed { command: "cat-file".to_owned(), complaint })
            }
            Err(_) => {
                let (program, output) = ("git".to_owned(), Box::default());
                Err(ProcessError::TimedOut { program, after: TIME, output }.into())
            }
        }
    }
}

/// Asks and reads at the same time, or both sides would wait for each other.
async fn exchange(session: &mut Session, ids: &[ObjectId], limit: u64) -> io::Result<Vec<Object>> {
    let mut questions = Vec::with_capacity(ids.len() * 65);
    for id in ids {
        questions.extend_from_slice(id.as_str().as_bytes());
        questions.push(b'\n');
    }
    let Session { stdin, stdout, .. } = session;
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
async fn answer(stdout: &mut BufReader<ChildStdout>, limit: u64) -> io::Result<Object> {
    let mut header = Vec::new();
    (&mut *stdout).take(200).read_until(b'\n', &mut header).await?;
    let header = String::from_utf8_lossy(&header);
    let mut words = header.split_whitespace().skip(1);
    let size = match (words.next(), words.next()) {
        (Some("missing"), None) => return Ok(Object::Missing),
        (Some(_), Some(size)) => size.parse::<u64>().ok(),
        _ => None,
    };
    let Some(size) = size else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no answer"));
    };
    if size > limit {
        let mut start = Vec::new();
        (&mut *stdout).take(size.min(TEXT_HEAD as u64)).read_to_end(&mut start).await?;
        discard(stdout, size + 1 - start.len() as u64).await?;
        return Ok(Object::TooLarge { size, is_text: is_text(&start) });
    }
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    (&mut *stdout).take(size + 1).read_to_end(&mut content).await?;
    match content.pop() {
        Some(b'\n') if content.len() as u64 == size => Ok(Object::Whole(content)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

async fn discard(stdout: &mut (impl AsyncRead + Unpin), n_bytes: u64) -> io::Result<()> {
    let copied = tokio::io::copy(&mut stdout.take(n_bytes), &mut tokio::io::sink()).await?;
    if copied == n_bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
