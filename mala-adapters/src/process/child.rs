//! Runs a child to its end: feeds it, keeps a bounded part of what it writes, and stops it at its
//! limits.

use super::group::{Group, Reads};
use super::{ProcessError, Spec};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use tokio::time::{Instant, sleep_until, timeout};

/// How much of a pipe is read at once.
const CHUNK: usize = 64 * 1024;

/// How long to look for output after the child is gone. All that it wrote is in the pipe by then,
/// so this is not a wait for the child, only for the event that says so.
const DRAIN: Duration = Duration::from_millis(100);

/// How long a child writes nothing before somebody looks at what it wrote, and how soon they look again.
const PAUSE: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(500);

/// How long a child may go on writing until somebody looks all the same.
const BUSY: Duration = Duration::from_secs(2);

/// How long a child that said enough may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// What a child may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time from start to end.
    pub wall: Duration,
    /// Time without output.
    pub idle: Option<Duration>,
    /// Bytes kept of stdout. One more stops the child: what is cut is of no use to its reader.
    pub stdout: usize,
    /// Bytes kept of stderr. The rest is thrown away, and the child goes on.
    pub stderr: usize,
    /// What becomes of its group when it ends by itself.
    pub group: GroupAfter,
}

/// What becomes of a child's group when the child ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupAfter {
    /// It ends too.
    Ends,
    /// It goes on: the child is there to start it. Whoever asks for this ends it later, by a mark.
    GoesOn,
}

impl Limits {
    /// This much time, 64 MiB of stdout and 64 KiB of stderr.
    pub fn within(wall: Duration) -> Self {
        let group = GroupAfter::Ends;
        Self { wall, idle: None, stdout: 64 << 20, stderr: 64 << 10, group }
    }

    /// At most this much time without output.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// What the child starts goes on when it ends by itself.
    #[must_use]
    pub fn letting_go(mut self) -> Self {
        self.group = GroupAfter::GoesOn;
        self
    }

    /// At most this many bytes of stdout.
    #[must_use]
    pub fn stdout(mut self, bytes: usize) -> Self {
        self.stdout = bytes;
        self
    }
}

/// What a child wrote, as far as it was kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// Its stdout.
    pub stdout: Vec<u8>,
    /// Its stderr.
    pub stderr: Vec<u8>,
    /// Whether it wrote more to stdout than is kept; it was stopped then.
    pub stdout_cut: bool,
    /// Whether it wrote more to stderr than is kept.
    pub stderr_cut: bool,
}

impl Output {
    /// Its stderr as text, without white space around it.
    pub fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }
}

/// A child that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote.
    pub output: Output,
}

impl Finished {
    /// Its exit code; `None` when a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

/// Looks at what a child writes while it runs.
pub trait Watch: Send {
    /// The child runs.
    fn began(&mut self) {}

    /// More was written. The output is all that is kept so far.
    fn heard(&mut self, output: &Output);

    /// The child pauses, or has written for a while: whether what it wrote is all that anybody wants of it. It gets a moment to end
    /// by itself then, and is stopped.
    fn is_enough(&mut self, output: &Output) -> bool;
}

/// Nobody looks.
struct Nobody;

impl Watch for Nobody {
    fn heard(&mut self, _: &Output) {}

    fn is_enough(&mut self, _: &Output) -> bool {
        false
    }
}

/// Starts a child and waits for its end, within its limits. Dropping the future kills it.
pub async fn run(spec: Spec, limits: Limits) -> Result<Finished, ProcessError> {
    run_watched(spec, limits, &mut Nobody).await
}

/// The same, with somebody who looks at what it writes and may say that it is enough.
pub async fn run_watched(
    spec: Spec,
    limits: Limits,
    watch: &mut dyn Watch,
) -> Result<Finished, ProcessError> {
    let reads = if spec.stdin.is_empty() { Reads::Nothing } else { Reads::Us };
    let mut group = Group::start(&spec, reads, limits.group)?;
    watch.began();
    let program = group.name().to_owned();
    let lost = |source| ProcessError::Lost { program: program.clone(), source };
    let (stdin, stdout, stderr) = group.take_pipes();
    let mut listening = Listening::new(limits, stdout, stderr);

    let feeding = feed(stdin, spec.stdin);
    tokio::pin!(feeding);
    let mut pause = Instant::now() + PAUSE;
    let mut latest = Instant::now() + BUSY;
    let mut enough: Option<Instant> = None;
    let ending = loop {
        tokio::select! {
            biased;
            heard = listening.hear() => match heard {
                Heard::Something => {
                    watch.heard(&listening.output);
                    pause = latest.min(Instant::now() + PAUSE);
                }
                Heard::TooMuch => break Ending::Flooded,
                Heard::TooLate => break Ending::TimedOut,
                Heard::Silence => break Ending::Idle,
            },
            () = &mut feeding, if !listening.fed => listening.fed = true,
            status = group.wait(limits.group) => break Ending::Exited(status.map_err(&lost)?),
            () = until(enough) => break Ending::Enough,
            () = sleep_until(pause), if enough.is_none() => {
                (pause, latest) = (Instant::now() + LOOK, Instant::now() + BUSY);
                enough = watch.is_enough(&listening.output).then(|| Instant::now() + GRACE);
            }
        }
    };
    let finished = conclude(group, listening, ending).await;
    if let Ok(finished) = &finished {
        watch.heard(&finished.output);
    }
    finished
}

enum Ending {
    Exited(ExitStatus),
    Enough,
    Flooded,
    TimedOut,
    Idle,
}

async fn conclude<O: AsyncRead + Unpin, E: AsyncRead + Unpin>(
    mut group: Group,
    mut listening: Listening<O, E>,
    ending: Ending,
) -> Result<Finished, ProcessError> {
    let limits = listening.limits;
    let program = group.name().to_owned();
    let lost = |source| ProcessError::Lost { program: program.clone(), source };
    let status = match ending {
        Ending::Exited(status) => status,
        _ => group.stop().await.map_err(lost)?,
    };
    listening.drain().await;
    let output = listening.output;
    match ending {
        Ending::Exited(_) | Ending::Enough | Ending::Flooded => Ok(Finished { status, output }),
        Ending::TimedOut => {
            let output = Box::new(output);
            Err(ProcessError::TimedOut { program, after: limits.wall, output })
        }
        Ending::Idle => {
            let after = limits.idle.unwrap_or(limits.wall);
            Err(ProcessError::Idle { program, after, output: Box::new(output) })
        }
    }
}

/// Writes what the child is to read, then closes its stdin. A child that does not read it all is no
/// failure: it knows what it needs.
async fn feed(stdin: Option<ChildStdin>, bytes: Vec<u8>) {
    let Some(mut stdin) = stdin else { return };
    if let Err(error) = stdin.write_all(&bytes).await {
        tracing::trace!(%error, "the child does not read its stdin to the end");
    }
}

enum Heard {
    Something,
    TooMuch,
    TooLate,
    Silence,
}

/// Both pipes of a child and what came out of them.
struct Listening<O, E> {
    limits: Limits,
    deadline: Instant,
    last: Instant,
    stdout: Option<O>,
    stderr: Option<E>,
    output: Output,
    fed: bool,
}

impl<O: AsyncRead + Unpin, E: AsyncRead + Unpin> Listening<O, E> {
    fn new(limits: Limits, stdout: Option<O>, stderr: Option<E>) -> Self {
        let now = Instant::now();
        let deadline = now + limits.wall;
        let output = Output::default();
        Self { limits, deadline, last: now, stdout, stderr, output, fed: false }
    }

    /// Waits for the next bytes or for a limit. Nothing is lost when the future is dropped.
    async fn hear(&mut self) -> Heard {
        let silence = self.limits.idle.map(|idle| self.last + idle);
        tokio::select! {
            biased;
            () = sleep_until(self.deadline) => return Heard::TooLate,
            open = take(&mut self.stdout, &mut self.output.stdout) => if !open {
                self.stdout = None;
            },
            open = take(&mut self.stderr, &mut self.output.stderr) => if !open {
                self.stderr = None;
            },
            () = until(silence) => return Heard::Silence,
        }
        self.last = Instant::now();
        self.output.stderr_cut |= cut(&mut self.output.stderr, self.limits.stderr);
        self.output.stdout_cut |= cut(&mut self.output.stdout, self.limits.stdout);
        if self.output.stdout_cut { Heard::TooMuch } else { Heard::Something }
    }

    /// Reads what is still in the pipes, without waiting for others that hold them open.
    async fn drain(&mut self) {
        let until = Instant::now() + 20 * DRAIN;
        self.limits.idle = None;
        self.deadline = until + DRAIN;
        while Instant::now() < until && (self.stdout.is_some() || self.stderr.is_some()) {
            match timeout(DRAIN, self.hear()).await {
                Ok(Heard::Something) => {}
                _ => return,
            }
        }
    }
}

/// Reads once; false at the end of the pipe. A pipe that is closed never gets ready.
async fn take(pipe: &mut Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) -> bool {
    let Some(pipe) = pipe else { return std::future::pending().await };
    kept.reserve(CHUNK);
    matches!(pipe.read_buf(kept).await, Ok(n) if n > 0)
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

fn cut(kept: &mut Vec<u8>, limit: usize) -> bool {
    let over = kept.len() > limit;
    kept.truncate(limit);
    over
}
