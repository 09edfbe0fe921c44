//! Whether a process that somebody wrote down still runs. A number alone does not say so: it may be
//! another process by now, so the time at which it started is part of it.

/// When a process started, as the system counts; `None` when it does not run any more.
#[cfg(target_os = "linux")]
pub fn started(pid: u32) -> Option<u64> {
    let fields = fields(pid)?;
    let mut fields = fields.split(' ');
    // The state is the third field; a zombie runs no more.
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(start)
}

/// Whether somebody stopped it; it may go on later.
#[cfg(target_os = "linux")]
pub fn is_stopped(pid: u32) -> bool {
    fields(pid).is_some_and(|fields| fields.starts_with(['T', 't']))
}

#[cfg(not(target_os = "linux"))]
pub fn is_stopped(_: u32) -> bool {
    false
}

/// The process that started it, or took it over.
#[cfg(target_os = "linux")]
pub(super) fn parent(pid: u32) -> Option<u32> {
    fields(pid)?.split(' ').nth(1)?.parse().ok()
}

/// What the system says of a process, from its state on. Its name comes before and may hold anything.
#[cfg(target_os = "linux")]
fn fields(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ").map(|(_, fields)| fields.to_owned())
}

/// Elsewhere only whether it can be signalled is known.
#[cfg(not(target_os = "linux"))]
pub fn started(pid: u32) -> Option<u64> {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    test_kill_process(pid).ok().map(|()| 0)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn parent(_: u32) -> Option<u32> {
    None
}

/// Ends a process for good.
pub fn kill(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        && let Err(error) = kill_process(pid, Signal::KILL)
    {
        tracing::debug!(?pid, %error, "it is gone already");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_its_start_does_not_change() {
        let own = std::process::id();
        assert!(started(own).is_some());
        assert_eq!(started(own), started(own));
        assert_eq!(started(u32::MAX), None);
    }
}
