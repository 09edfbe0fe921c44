//! A child that does the work of the program that a person sees: in a session of its own, with the same
//! stdout and stderr, and a pipe as its stdin. When the pipe ends, nobody waits for it any more.

use super::{MARKER, ProcessError, Spec};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::Signal;
use std::io::{self, Read, Write};
use std::process::{ExitStatus, Stdio};
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

/// What a worker reads when it is asked to end and somebody waits for its last words.
const STOP: &[u8] = b"stop\n";

/// A worker. Dropping it does not end it: its pipe ends, and it does then what it has to.
#[derive(Debug)]
pub struct Worker {
    child: Box<dyn ChildWrapper>,
    stdin: Option<ChildStdin>,
    name: String,
}

/// Starts a worker. It does not carry the marker of whoever started us: who sweeps after us must not
/// find it.
pub fn start_worker(spec: &Spec) -> Result<Worker, ProcessError> {
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
    /// Waits for its end. Nothing is lost when the future is dropped.
    pub async fn wait(&mut self) -> Result<ExitStatus, ProcessError> {
        let ended = self.child.wait().await;
        ended.map_err(|source| ProcessError::Lost { program: self.name.clone(), source })
    }

    /// Asks it to come to an end; it may say last words.
    pub async fn ask_to_end(&mut self) {
        let Some(mut stdin) = self.stdin.take() else { return };
        if let Err(error) = stdin.write_all(STOP).await {
            tracing::debug!(%error, "the worker reads no more");
        }
    }

    /// Ends it now.
    pub fn end(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends it for good.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Err(error) = self.child.signal(signal.as_raw()) {
            tracing::debug!(%error, "the worker is gone already");
        }
    }
}

/// Why a worker is to come to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parting {
    /// It is asked to, and somebody waits.
    Asked,
    /// Nobody is there any more.
    Alone,
}

/// Waits, as a worker, until it is to come to an end.
pub fn wait_for_parting() -> Parting {
    let mut read = Vec::new();
    match io::stdin().lock().take(STOP.len() as u64).read_to_end(&mut read) {
        Ok(_) if read == STOP => Parting::Asked,
        _ => Parting::Alone,
    }
}

/// Says nothing from here on: stdout and stderr lead nowhere, and whoever reads them sees their end.
pub fn go_silent() -> io::Result<()> {
    io::stdout().flush().unwrap_or_default();
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(())
}
