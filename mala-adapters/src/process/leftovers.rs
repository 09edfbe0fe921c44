//! Processes that left their group. A child may start a daemon in a session of its own, which no
//! group kill reaches; the marker in its environment gives it away, and so does its parent once it is
//! an orphan of ours.

use super::MARKER;
use std::sync::atomic::{AtomicU64, Ordering};

static N_STARTED: AtomicU64 = AtomicU64::new(0);

/// How often leftovers are looked for again: one that is killed may have started another just before.
const ROUNDS: usize = 20;

/// A marker that no other child has.
pub(super) fn fresh_marker() -> String {
    let number = N_STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Kills every process that carries this marker.
pub(super) fn sweep(marker: &str) {
    end_all(|_, variables| {
        variables
            .iter()
            .any(|it| it.strip_prefix(MARKER.as_bytes()) == Some(value(marker).as_slice()))
    });
}

fn value(marker: &str) -> Vec<u8> {
    format!("={marker}").into_bytes()
}

/// Kills every process in whose environment this variable starts with this text, until there is none.
pub fn end_marked(variable: &str, start: &str) {
    let wanted = format!("{variable}={start}").into_bytes();
    end_all(|_, variables| variables.iter().any(|it| it.starts_with(&wanted)));
}

/// Takes over the orphans of all that this process starts, so that `end_orphans` finds them.
pub fn adopt_orphans() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Kills every child of this process, and their orphans in turn, until there is none.
pub fn end_orphans() {
    let own = std::process::id();
    end_all(|pid, _| super::alive::parent(pid) == Some(own));
}

/// Kills all processes but this one that fit, until none does.
#[cfg(target_os = "linux")]
fn end_all(fits: impl Fn(u32, &[&[u8]]) -> bool) {
    for _ in 0..ROUNDS {
        let Ok(entries) = std::fs::read_dir("/proc") else { return };
        let mut found = false;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            if pid == std::process::id() || super::alive::started(pid).is_none() {
                continue;
            }
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            let variables: Vec<&[u8]> = environ.split(|byte| *byte == 0).collect();
            if fits(pid, &variables) {
                found = true;
                super::alive::kill(pid);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Elsewhere nothing shows another process's environment.
#[cfg(not(target_os = "linux"))]
fn end_all(_: impl Fn(u32, &[&[u8]]) -> bool) {
    tracing::trace!(MARKER, "leftovers are not looked for on this system");
}
