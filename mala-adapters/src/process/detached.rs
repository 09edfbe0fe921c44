//! A child that outlives us: in a session of its own, with files for stdout and stderr.

use super::{MARKER, ProcessError, Spec};
use process_wrap::tokio::{CommandWrap, ProcessSession};
use std::fs::File;
use std::process::Stdio;

/// Starts a child that nobody waits for; gives its process number. It reads nothing, and does not carry
/// the marker of whoever started us: who sweeps after us must not find it.
pub fn start_detached(spec: &Spec, stdout: File, stderr: File) -> Result<u32, ProcessError> {
    let program = spec.name();
    let Some(path) = spec.environment.find(&spec.program) else {
        return Err(ProcessError::NotFound { program });
    };
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
