//! Runs a child to its end: writes its stdin, keeps a bounded part of its output, and stops it at
//! its limits.

use super::group::{ProcessGroup, StdinSource};
use super::{ProcessError, ProcessSpec};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use tokio::time::{Instant, sleep_until, timeout};

/// Bytes to read from a pipe at once.
const CHUNK: usize = 64 * 1024;

/// How long to read output after the child exits. Its output is in the pipe by then, so this only
/// waits for the event.
const DRAIN: Duration = Duration::from_millis(100);

/// How long a child pauses before its output is checked, and when it is checked again.
const PAUSE: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(500);

/// How long a child may write before its output is checked anyway.
const BUSY: Duration = Duration::from_secs(2);

/// How long a child may take to exit after its output is complete.
const GRACE: Duration = Duration::from_secs(2);

/// The limits of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Time from start to exit.
    pub wall: Duration,
    /// Time without output.
    pub idle: Option<Duration>,
    /// Bytes kept of stdout. The child is stopped if it writes more.
    pub stdout: usize,
    /// Bytes kept of stderr. The rest is discarded.
    pub stderr: usize,
    /// How to treat its process group when it exits.
    pub group: GroupPolicy,
}

/// How to treat the process group of a child when the child exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupPolicy {
    /// It is killed.
    Kill,
    /// It keeps running. The caller kills it later, by its marker.
    Keep,
}

impl ProcessLimits {
    /// This much time, 64 MiB of stdout and 64 KiB of stderr.
    pub fn within(wall: Duration) -> Self {
        let group = GroupPolicy::Kill;
        Self { wall, idle: None, stdout: 64 << 20, stderr: 64 << 10, group }
    }

    /// Limits the time without output.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Keeps the process group running when the child exits.
    #[must_use]
    pub fn keep_group(mut self) -> Self {
        self.group = GroupPolicy::Keep;
        self
    }

    /// Limits stdout to this many bytes.
    #[must_use]
    pub fn stdout(mut self, bytes: usize) -> Self {
        self.stdout = bytes;
        self
    }
}

/// The output of a child, as far as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessOutput {
    /// Its stdout.
    pub stdout: Vec<u8>,
    /// Its stderr.
    pub stderr: Vec<u8>,
    /// Whether it wrote more to stdout than is kept. It was stopped then.
    pub stdout_cut: bool,
    /// Whether it wrote more to stderr than is kept.
    pub stderr_cut: bool,
}

impl ProcessOutput {
    /// Its stderr as trimmed text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }
}

/// A child that exited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedProcess {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its output.
    pub output: ProcessOutput,
}

impl FinishedProcess {
    /// Its exit code; `None` if it was killed by a signal.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The signal that killed it.
    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

/// Observes the output of a child while it runs.
pub trait OutputWatcher: Send {
    /// The child has started.
    fn on_start(&mut self) {}

    /// There is more output. `output` is all that is kept so far.
    fn on_output(&mut self, output: &ProcessOutput);

    /// Whether the output is complete. Called when the child pauses, or has written for a while. A
    /// child with complete output may exit within a grace period and is stopped then.
    fn is_complete(&mut self, output: &ProcessOutput) -> bool;
}

/// Observes nothing.
struct NoWatcher;

impl OutputWatcher for NoWatcher {
    fn on_output(&mut self, _: &ProcessOutput) {}

    fn is_complete(&mut self, _: &ProcessOutput) -> bool {
        false
    }
}

/// Starts a child and waits for its exit, within its limits. Dropping the future kills it.
pub async fn run(
    spec: ProcessSpec,
    limits: ProcessLimits,
) -> Result<FinishedProcess, ProcessError> {
    run_watched(spec, limits, &mut NoWatcher).await
}

/// The same, with an observer that can end it early.
pub async fn run_watched(
    spec: ProcessSpec,
    limits: ProcessLimits,
    watch: &mut dyn OutputWatcher,
) -> Result<FinishedProcess, ProcessError> {
    let reads = if spec.stdin.is_empty() { StdinSource::Nothing } else { StdinSource::Us };
    let mut group = ProcessGroup::start(&spec, reads, limits.group)?;
    watch.on_start();
    let program = group.name().to_owned();
    let lost = |source| ProcessError::Lost { program: program.clone(), source };
    let (stdin, stdout, stderr) = group.take_pipes();
    let mut reader = OutputReader::new(limits, stdout, stderr);

    let feeding = write_stdin(stdin, spec.stdin);
    tokio::pin!(feeding);
    let mut pause = Instant::now() + PAUSE;
    let mut latest = Instant::now() + BUSY;
    let mut enough: Option<Instant> = None;
    let ending = loop {
        tokio::select! {
            biased;
            on_output = reader.read_next() => match on_output {
                PipeEvent::Something => {
                    watch.on_output(&reader.output);
                    pause = latest.min(Instant::now() + PAUSE);
                }
                PipeEvent::TooMuch => break ChildEnd::Flooded,
                PipeEvent::TooLate => break ChildEnd::TimedOut,
                PipeEvent::Silence => break ChildEnd::Idle,
            },
            () = &mut feeding, if !reader.fed => reader.fed = true,
            status = group.wait(limits.group) => break ChildEnd::Exited(status.map_err(&lost)?),
            () = until(enough) => break ChildEnd::Enough,
            () = sleep_until(pause), if enough.is_none() => {
                (pause, latest) = (Instant::now() + LOOK, Instant::now() + BUSY);
                enough = watch.is_complete(&reader.output).then(|| Instant::now() + GRACE);
            }
        }
    };
    let finished = finish_child(group, reader, ending).await;
    if let Ok(finished) = &finished {
        watch.on_output(&finished.output);
    }
    finished
}

enum ChildEnd {
    Exited(ExitStatus),
    Enough,
    Flooded,
    TimedOut,
    Idle,
}

async fn finish_child<O: AsyncRead + Unpin, E: AsyncRead + Unpin>(
    mut group: ProcessGroup,
    mut reader: OutputReader<O, E>,
    ending: ChildEnd,
) -> Result<FinishedProcess, ProcessError> {
    let limits = reader.limits;
    let program = group.name().to_owned();
    let lost = |source| ProcessError::Lost { program: program.clone(), source };
    let status = match ending {
        ChildEnd::Exited(status) => status,
        _ => group.stop().await.map_err(lost)?,
    };
    reader.drain().await;
    let output = reader.output;
    match ending {
        ChildEnd::Exited(_) | ChildEnd::Enough | ChildEnd::Flooded => {
            Ok(FinishedProcess { status, output })
        }
        ChildEnd::TimedOut => {
            let output = Box::new(output);
            Err(ProcessError::TimedOut { program, after: limits.wall, output })
        }
        ChildEnd::Idle => {
            let after = limits.idle.unwrap_or(limits.wall);
            Err(ProcessError::Idle { program, after, output: Box::new(output) })
        }
    }
}

/// Writes the stdin of the child and closes it. It is not an error if the child does not read all
/// of it.
async fn write_stdin(stdin: Option<ChildStdin>, bytes: Vec<u8>) {
    let Some(mut stdin) = stdin else { return };
    if let Err(error) = stdin.write_all(&bytes).await {
        tracing::trace!(%error, "the child did not read all of its stdin");
    }
}

enum PipeEvent {
    Something,
    TooMuch,
    TooLate,
    Silence,
}

/// The output pipes of a child and what was read from them.
struct OutputReader<O, E> {
    limits: ProcessLimits,
    deadline: Instant,
    last: Instant,
    stdout: Option<O>,
    stderr: Option<E>,
    output: ProcessOutput,
    fed: bool,
}

impl<O: AsyncRead + Unpin, E: AsyncRead + Unpin> OutputReader<O, E> {
    fn new(limits: ProcessLimits, stdout: Option<O>, stderr: Option<E>) -> Self {
        let now = Instant::now();
        let deadline = now + limits.wall;
        let output = ProcessOutput::default();
        Self { limits, deadline, last: now, stdout, stderr, output, fed: false }
    }

    /// Waits for the next bytes or for a limit. Dropping the future loses nothing.
    async fn read_next(&mut self) -> PipeEvent {
        let silence = self.limits.idle.map(|idle| self.last + idle);
        tokio::select! {
            biased;
            () = sleep_until(self.deadline) => return PipeEvent::TooLate,
            open = take(&mut self.stdout, &mut self.output.stdout) => if !open {
                self.stdout = None;
            },
            open = take(&mut self.stderr, &mut self.output.stderr) => if !open {
                self.stderr = None;
            },
            () = until(silence) => return PipeEvent::Silence,
        }
        self.last = Instant::now();
        self.output.stderr_cut |= truncate_to(&mut self.output.stderr, self.limits.stderr);
        self.output.stdout_cut |= truncate_to(&mut self.output.stdout, self.limits.stdout);
        if self.output.stdout_cut { PipeEvent::TooMuch } else { PipeEvent::Something }
    }

    /// Reads what is left in the pipes, without waiting for other processes that hold them open.
    async fn drain(&mut self) {
        let until = Instant::now() + 20 * DRAIN;
        self.limits.idle = None;
        self.deadline = until + DRAIN;
        while Instant::now() < until && (self.stdout.is_some() || self.stderr.is_some()) {
            match timeout(DRAIN, self.read_next()).await {
                Ok(PipeEvent::Something) => {}
                _ => return,
            }
        }
    }
}

/// Reads once; false at the end of the pipe. A closed pipe is never ready.
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

fn truncate_to(kept: &mut Vec<u8>, limit: usize) -> bool {
    let over = kept.len() > limit;
    kept.truncate(limit);
    over
}
