//! Processes that left their group. A child may start a daemon in a session of its own, which no
//! group kill reaches; the marker in its environment gives it away.

use super::MARKER;
use std::sync::atomic::{AtomicU64, Ordering};

static N_STARTED: AtomicU64 = AtomicU64::new(0);

/// A marker that no other child has.
pub(super) fn fresh_marker() -> String {
    let number = N_STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Kills every process that carries this marker.
#[cfg(target_os = "linux")]
pub(super) fn sweep(marker: &str) {
    let wanted = format!("{MARKER}={marker}").into_bytes();
    let Ok(entries) = std::fs::read_dir("/proc") else { return };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Ok(environ) = std::fs::read(entry.path().join("environ")) else { continue };
        if environ.split(|byte| *byte == 0).any(|var| var == wanted) {
            kill(pid);
        }
    }
}

/// Elsewhere nothing shows another process's environment.
#[cfg(not(target_os = "linux"))]
pub(super) fn sweep(_: &str) {
    tracing::trace!(MARKER, "leftovers are not looked for on this system");
}

#[cfg(target_os = "linux")]
fn kill(pid: i32) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(pid) = Pid::from_raw(pid)
        && let Err(error) = kill_process(pid, Signal::KILL)
    {
        tracing::debug!(?pid, %error, "a leftover is gone already");
    }
}
