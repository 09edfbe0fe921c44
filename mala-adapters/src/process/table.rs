//! Processes of this system. A child may start a daemon in a session of its own, which is not
//! killed with the group. It is found by the marker in its environment, or by its parent once it
//! is an orphan of this process. A process is identified by its id and its start time, because ids
//! are reused.

use super::MARKER;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

static N_STARTED: AtomicU64 = AtomicU64::new(0);

/// How often to search again: a process may have started another one just before it was killed.
const ROUNDS: usize = 20;

/// A marker that no other child has.
pub(super) fn fresh_marker() -> String {
    let number = N_STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Kills every process with this marker.
pub(super) fn kill_marked_with(marker: &str) {
    let wanted = format!("{MARKER}={marker}").into_bytes();
    kill_all(|pid| has_variable(pid, |it| it == wanted));
}

/// Kills every process in whose environment this variable starts with this text.
pub fn kill_marked(variable: &str, start: &str) {
    let wanted = format!("{variable}={start}").into_bytes();
    kill_all(|pid| has_variable(pid, |it| it.starts_with(&wanted)));
}

/// Adopts the orphans of all processes that this process starts, so that `kill_orphans` finds
/// them.
pub fn adopt_orphans() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Kills every child of this process, including adopted orphans.
pub fn kill_orphans() {
    let own = std::process::id();
    kill_all(|pid| parent(pid) == Some(own));
}

/// Kills every process whose current folder is inside this one.
pub fn kill_processes_inside(folder: &Path) {
    let Ok(folder) = folder.canonicalize() else { return };
    kill_all(|pid| is_inside(pid, &folder));
}

/// The same, but only processes with this variable.
pub fn kill_marked_inside(variable: &str, folder: &Path) {
    let Ok(folder) = folder.canonicalize() else { return };
    let wanted = format!("{variable}=").into_bytes();
    kill_all(|pid| is_inside(pid, &folder) && has_variable(pid, |it| it.starts_with(&wanted)));
}

/// Whether a process has its current folder inside this one.
pub fn has_process_inside(folder: &Path) -> bool {
    folder
        .canonicalize()
        .is_ok_and(|folder| all().any(|pid| start_time(pid).is_some() && is_inside(pid, &folder)))
}

fn is_inside(pid: u32, folder: &Path) -> bool {
    std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
}

/// Kills these processes if they still have the given start time.
pub fn kill_started(processes: impl Iterator<Item = (u32, u64)>) {
    for (pid, at) in processes {
        if start_time(pid) == Some(at) {
            kill(pid);
        }
    }
}

/// The descendants of this process, with their start times.
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
            found.extend(start_time(child).map(|at| (child, at)));
        }
    }
    found
}

/// The ids of all processes.
fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Kills all matching processes except this one, until there are none.
#[cfg(target_os = "linux")]
fn kill_all(fits: impl Fn(u32) -> bool) {
    let own = std::process::id();
    for _ in 0..ROUNDS {
        let mut found = false;
        for pid in all().filter(|pid| *pid != own && fits(*pid)) {
            // A process that has exited may wait for its parent for long.
            if start_time(pid).is_some() {
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

/// Other systems do not show the environment of processes.
#[cfg(not(target_os = "linux"))]
fn kill_all(_: impl Fn(u32) -> bool) {
    tracing::trace!(MARKER, "leftover processes are not searched for on this system");
}

/// Whether a variable of a process fits, as `NAME=VALUE`.
fn has_variable(pid: u32, fits: impl Fn(&[u8]) -> bool) -> bool {
    read_proc(pid, "environ").is_some_and(|environ| environ.split(|byte| *byte == 0).any(fits))
}

/// A file of a process in `/proc`. These files have no size, so a large buffer saves most reads.
fn read_proc(pid: u32, file: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(16 << 10);
    let mut file = std::fs::File::open(format!("/proc/{pid}/{file}")).ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The start time of a process, in system ticks; `None` if it has exited.
#[cfg(target_os = "linux")]
pub fn start_time(pid: u32) -> Option<u64> {
    let fields = fields(pid)?;
    let mut fields = fields.split(' ');
    // The state is the third field. A zombie has exited.
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(start)
}

/// Whether a process is stopped by a signal; it may continue later.
#[cfg(target_os = "linux")]
pub fn is_stopped(pid: u32) -> bool {
    fields(pid).is_some_and(|fields| fields.starts_with(['T', 't']))
}

#[cfg(not(target_os = "linux"))]
pub fn is_stopped(_: u32) -> bool {
    false
}

/// The parent of a process.
#[cfg(target_os = "linux")]
pub(super) fn parent(pid: u32) -> Option<u32> {
    fields(pid)?.split(' ').nth(1)?.parse().ok()
}

/// The status of a process from its state on. The name before it may contain any character.
#[cfg(target_os = "linux")]
fn fields(pid: u32) -> Option<String> {
    let stat = String::from_utf8_lossy(&read_proc(pid, "stat")?).into_owned();
    stat.rsplit_once(") ").map(|(_, fields)| fields.to_owned())
}

/// Other systems only show whether a process exists.
#[cfg(not(target_os = "linux"))]
pub fn start_time(pid: u32) -> Option<u64> {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    test_kill_process(pid).ok().map(|()| 0)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn parent(_: u32) -> Option<u32> {
    None
}

/// Kills a process.
pub fn kill(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        && let Err(error) = kill_process(pid, Signal::KILL)
    {
        tracing::debug!(?pid, %error, "the process has already exited");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_its_start_does_not_change() {
        let own = std::process::id();
        assert!(start_time(own).is_some());
        assert_eq!(start_time(own), start_time(own));
        assert_eq!(start_time(u32::MAX), None);
    }
}
