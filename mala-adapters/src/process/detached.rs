//! Children that outlive the current operation: detached ones, short ones that run while the
//! program exits, and workers.

use super::{MARKER, ProcessError, ProcessSpec};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

/// Starts a child in a session of its own and returns its process id. It has no stdin and no
/// marker, so that cleaning up after this process does not kill it.
pub fn start_detached(spec: &ProcessSpec, stdout: File, stderr: File) -> Result<u32, ProcessError> {
    let program = spec.name();
    let Some(path) = spec.environment.find(&spec.program) else {
        return Err(ProcessError::NotFound { program });
    };
    close_inherited_descriptors();
    let mut command = CommandWrap::with_new(path, |command| {
        command.args(&spec.args).current_dir(&spec.dir);
        command.env_clear().envs(spec.environment.vars()).env_remove(MARKER);
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    });
    match command.wrap(ProcessSession).spawn() {
        Ok(child) => child.id().ok_or_else(|| ProcessError::Lost {
            program,
            source: std::io::ErrorKind::BrokenPipe.into(),
        }),
        Err(source) => Err(ProcessError::NotStarted { program, source }),
    }
}

/// Prevents the child from inheriting other file descriptors, such as a lock or the end of a pipe.
fn close_inherited_descriptors() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for number in numbers.filter(|number: &RawFd| *number > 2) {
        #[expect(unsafe_code, reason = "nothing else names a descriptor that we did not open")]
        // SAFETY: the descriptor is borrowed for this call, which only sets its close-on-exec
        // flag. If it is closed by now, the call fails and changes nothing.
        let inherited = unsafe { BorrowedFd::borrow_raw(number) };
        if let Err(error) = fcntl_setfd(inherited, FdFlags::CLOEXEC) {
            tracing::trace!(number, %error, "the descriptor is already closed");
        }
    }
}

/// How often to check whether the child exited.
const LOOK: Duration = Duration::from_millis(10);

/// Runs a child without stdin and output, and blocks until it exits or the time is up. Then kills
/// what is left of its group. For cleaning up when a future is dropped.
pub fn run_blocking(spec: &ProcessSpec, time: Duration) -> Result<(), ProcessError> {
    let program = spec.name();
    let Some(path) = spec.environment.find(&spec.program) else {
        return Err(ProcessError::NotFound { program });
    };
    let mut command = Command::new(path);
    command.args(&spec.args).current_dir(&spec.dir).process_group(0);
    command.env_clear().envs(spec.environment.vars()).env_remove(MARKER);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start_time = command.spawn();
    let mut child = start_time
        .map_err(|source| ProcessError::NotStarted { program: program.clone(), source })?;
    let lost = |source| ProcessError::Lost { program: program.clone(), source };
    let deadline = Instant::now() + time;
    let ended = loop {
        match child.try_wait().map_err(lost)? {
            Some(_) => break true,
            None if Instant::now() >= deadline => break false,
            None => std::thread::sleep(LOOK),
        }
    };
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(Err(error)) = group.map(|group| kill_process_group(group, Signal::KILL)) {
        tracing::trace!(program, %error, "the group has already exited");
    }
    if ended {
        return Ok(());
    }
    child.wait().map_err(lost)?;
    Err(ProcessError::TimedOut { program: spec.name(), after: time, output: Box::default() })
}

/// Written to a worker's stdin to stop it while its parent waits.
const STOP: &[u8] = b"stop\n";

/// A child that does the work of the visible program: in a session of its own, with the same
/// stdout and stderr, and a pipe as stdin. Dropping the value closes the pipe, which the worker
/// notices.
#[derive(Debug)]
pub struct Worker {
    child: Box<dyn ChildWrapper>,
    stdin: Option<ChildStdin>,
    name: String,
}

/// Starts a worker. It has no marker, so that cleaning up after this process does not kill it.
pub fn start_worker(spec: &ProcessSpec) -> Result<Worker, ProcessError> {
    let name = spec.name();
    let Some(path) = spec.environment.find(&spec.program) else {
        return Err(ProcessError::NotFound { program: name });
    };
    let mut command = CommandWrap::with_new(path, |command| {
        command.args(&spec.args).current_dir(&spec.dir);
        command.env_clear().envs(spec.environment.vars()).env_remove(MARKER);
        command.stdin(Stdio::piped()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    });
    match command.wrap(ProcessSession).spawn() {
        Ok(mut child) => {
            let stdin = child.stdin().take();
            Ok(Worker { child, stdin, name })
        }
        Err(source) => Err(ProcessError::NotStarted { program: name, source }),
    }
}

impl Worker {
    /// Waits for its exit. Dropping the future loses nothing.
    pub async fn wait(&mut self) -> Result<ExitStatus, ProcessError> {
        let ended = self.child.wait().await;
        ended.map_err(|source| ProcessError::Lost { program: self.name.clone(), source })
    }

    /// Asks it to stop. It may still write output.
    pub async fn ask_to_exit(&mut self) {
        let Some(mut stdin) = self.stdin.take() else { return };
        if let Err(error) = stdin.write_all(STOP).await {
            tracing::debug!(%error, "the worker has closed its stdin");
        }
    }

    /// Terminates it.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills it.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Err(error) = self.child.signal(signal.as_raw()) {
            tracing::debug!(%error, "the worker has already exited");
        }
    }
}

/// Why a worker has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRequest {
    /// Its parent requests it and waits.
    Requested,
    /// Its parent is gone.
    Disconnected,
}

/// Waits, in a worker, until it has to stop.
pub fn wait_for_stop_request() -> StopRequest {
    let mut read = Vec::new();
    match io::stdin().lock().take(STOP.len() as u64).read_to_end(&mut read) {
        Ok(_) if read == STOP => StopRequest::Requested,
        _ => StopRequest::Disconnected,
    }
}

/// Redirects stdout and stderr to `/dev/null`. Readers of the old ones see their end.
pub fn discard_output() -> io::Result<()> {
    io::stdout().flush().unwrap_or_default();
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(())
}
