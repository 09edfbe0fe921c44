//! A child that runs to its end while the program itself ends: for what has to be done when a future
//! is dropped, where nobody can wait in any other way.

use super::{MARKER, ProcessError, Spec};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often to look whether it is over.
const LOOK: Duration = Duration::from_millis(10);

/// Runs a child and waits for its end, for so long; what is left of its group is killed. It reads
/// nothing, and what it prints is lost.
pub fn run_briefly(spec: &Spec, time: Duration) -> Result<(), ProcessError> {
    let program = spec.name();
    let Some(path) = spec.environment.find(&spec.program) else {
        return Err(ProcessError::NotFound { program });
    };
    let mut command = Command::new(path);
    command.args(&spec.args).current_dir(&spec.dir).process_group(0);
    command.env_clear().envs(spec.environment.vars()).env_remove(MARKER);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = command.spawn();
    let mut child =
        started.map_err(|source| ProcessError::NotStarted { program: program.clone(), source })?;
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
        tracing::trace!(program, %error, "the group is gone already");
    }
    if ended {
        return Ok(());
    }
    child.wait().map_err(lost)?;
    Err(ProcessError::TimedOut { program: spec.name(), after: time, output: Box::default() })
}
