//! Processes that left their group. A child may start a daemon in a session of its own, which no
//! group kill reaches; the marker in its environment gives it away, and so does its parent once it is
//! an orphan of ours.

use super::MARKER;
use super::alive::{kill, parent, started};
use std::collections::BTreeMap;
use std::path::Path;
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
    end_all(|pid, _| parent(pid) == Some(own));
}

/// Kills every process whose current folder is in this one, until there is none.
pub fn end_inside(folder: &Path) {
    let Ok(folder) = folder.canonicalize() else { return };
    end_all(|pid, _| is_inside(pid, &folder));
}

/// The same, but only those that have this variable.
pub fn end_marked_inside(variable: &str, folder: &Path) {
    let Ok(folder) = folder.canonicalize() else { return };
    let wanted = format!("{variable}=").into_bytes();
    end_all(|pid, variables| {
        is_inside(pid, &folder) && variables.iter().any(|it| it.starts_with(&wanted))
    });
}

/// Whether the current folder of any process is in this one, where the system shows it.
pub fn is_anybody_inside(folder: &Path) -> bool {
    folder
        .canonicalize()
        .is_ok_and(|folder| all().any(|pid| started(pid).is_some() && is_inside(pid, &folder)))
}

fn is_inside(pid: u32, folder: &Path) -> bool {
    std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
}

/// Kills these processes, where they are still those that started at that time.
pub fn end_started(processes: impl Iterator<Item = (u32, u64)>) {
    for (pid, at) in processes {
        if started(pid) == Some(at) {
            kill(pid);
        }
    }
}

/// All that this process has started and what they started in turn, with the time at which each began.
pub fn descendants() -> Vec<(u32, u64)> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in all() {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![std::process::id()];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            open.push(child);
            found.extend(started(child).map(|at| (child, at)));
        }
    }
    found
}

/// The numbers of all processes, where the system shows them.
fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Kills all processes but this one that fit, until none does.
#[cfg(target_os = "linux")]
fn end_all(fits: impl Fn(u32, &[&[u8]]) -> bool) {
    for _ in 0..ROUNDS {
        let mut found = false;
        for pid in all() {
            if pid == std::process::id() || started(pid).is_none() {
                continue;
            }
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let variables: Vec<&[u8]> = environ.split(|byte| *byte == 0).collect();
            if fits(pid, &variables) {
                found = true;
                kill(pid);
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
