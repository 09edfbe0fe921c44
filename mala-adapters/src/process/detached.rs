//! A child that outlives us: in a session of its own, with files for stdout and stderr.

use super::{MARKER, ProcessError, Spec};
use process_wrap::tokio::{CommandWrap, ProcessSession};
use rustix::io::{FdFlags, fcntl_setfd};
use std::fs::File;
use std::os::fd::{BorrowedFd, RawFd};
use std::process::Stdio;

/// Starts a child that nobody waits for; gives its process number. It reads nothing, and does not carry
/// the marker of whoever started us: who sweeps after us must not find it.
pub fn start_detached(spec: &Spec, stdout: File, stderr: File) -> Result<u32, ProcessError> {
    let program = spec.name();
    let Some(path) = spec.environment.find(&spec.program) else {
        return Err(ProcessError::NotFound { program });
    };
    keep_descriptors();
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

/// Whoever started us may have given us more than stdin, stdout and stderr, such as a lock or the end of a
/// pipe: a child that outlives us must not hold on to them.
fn keep_descriptors() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for number in numbers.filter(|number: &RawFd| *number > 2) {
        #[expect(unsafe_code, reason = "nothing else names a descriptor that we did not open")]
        // SAFETY: the number is borrowed for this one call, which changes nothing but whether children
        // get it; that of a descriptor which is closed by now is an error, and nothing happens.
        let inherited = unsafe { BorrowedFd::borrow_raw(number) };
        if let Err(error) = fcntl_setfd(inherited, FdFlags::CLOEXEC) {
            tracing::trace!(number, %error, "a descriptor is gone already");
        }
    }
}
