//! Whether the supervisor of a session runs: by its process id and start time, or by the date of its
//! heartbeat if this process runs on another machine or in another container.

use super::{HEARTBEAT, Heartbeat, PROCESSES, SessionFolder, json};
use crate::process;
use crate::store::write_unsynced;
use mala_domain::config::Seconds;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The interval of the heartbeat.
const BEAT: Duration = Duration::from_millis(300);

/// A supervisor without a process is dead after this time without a heartbeat.
const SILENCE: Duration = Duration::from_millis(1500);

/// A supervisor whose process is stopped counts as dead after this time without a heartbeat.
const STOPPED: Duration = Duration::from_secs(10);

/// A supervisor that runs hangs after this time without a heartbeat, if its session is overdue.
const HANGS: Duration = Duration::from_secs(60);

/// The time for another heartbeat before it counts as hanging: a machine may have been asleep.
const LAST_CHANCE: Duration = Duration::from_secs(3);

/// The time of a session besides its lanes: copies, checks, files.
const BESIDE_LANES: Duration = Duration::from_secs(20 * 60);

/// The number of heartbeats between two records of running processes.
const NOTE: u32 = 3;

/// The time in which a new session may have no supervisor.
const BEGINNING: Duration = Duration::from_secs(10);

/// Whether a supervisor runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupervisorStatus {
    /// It runs, or may run.
    Alive,
    /// It ended, or hangs.
    Dead,
}

impl SessionFolder {
    /// Writes the process of the supervisor.
    pub fn set_supervisor(&self, pid: u32) -> io::Result<()> {
        let Some(started) = process::start_time(pid) else {
            return Err(io::Error::other("the supervisor is gone already"));
        };
        write_unsynced(&self.path.join(HEARTBEAT), &json(&Heartbeat { pid, started })?)
    }

    /// The process id of the supervisor, if it runs.
    pub fn supervisor(&self) -> Option<u32> {
        let beat: Heartbeat = self.read(HEARTBEAT).ok()??;
        (process::start_time(beat.pid) == Some(beat.started)).then_some(beat.pid)
    }

    /// Whether the supervisor runs.
    pub fn supervisor_status(&self) -> SupervisorStatus {
        let supervisor = self.supervisor();
        if supervisor.is_some_and(|pid| !process::is_stopped(pid)) {
            return if self.hangs() { SupervisorStatus::Dead } else { SupervisorStatus::Alive };
        }
        let (file, patience) = match self.path.join(HEARTBEAT) {
            beat if beat.exists() && supervisor.is_some() => (beat, STOPPED),
            beat if beat.exists() => (beat, SILENCE),
            _ => (self.path.join(super::SESSION), BEGINNING),
        };
        // A date in the future counts as dead, so that no process waits for ever.
        match age(&file) {
            Some(silent) if silent <= patience => SupervisorStatus::Alive,
            _ => SupervisorStatus::Dead,
        }
    }

    /// Whether a supervisor that runs hangs.
    fn hangs(&self) -> bool {
        let beat = self.path.join(HEARTBEAT);
        let is_silent = || age(&beat).is_some_and(|silent| silent > HANGS);
        let is_late = || {
            let lanes = self.session().map(|session| session.timeout_seconds);
            let lanes = Duration::from_secs(lanes.unwrap_or(u64::from(Seconds::MAX)));
            let whole = lanes.saturating_mul(2).saturating_add(BESIDE_LANES);
            age(&self.path.join(super::SESSION)).is_some_and(|age| age > whole)
        };
        if !is_silent() || !is_late() {
            return false;
        }
        std::thread::sleep(LAST_CHANCE);
        is_silent()
    }

    /// Writes the heartbeat until the process ends.
    pub async fn keep_alive(&self) {
        let path = self.path.join(HEARTBEAT);
        let mut noted = Vec::new();
        for beat in 0_u32.. {
            tokio::time::sleep(BEAT).await;
            if beat % NOTE == 0 {
                self.note_processes(&mut noted);
            }
            let touched = File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_times(FileTimes::new().set_modified(SystemTime::now())));
            if let Err(error) = touched {
                tracing::debug!(%error, "the heartbeat cannot be written");
            }
        }
    }

    /// Records the running descendants of this process, so that they can be ended if the supervisor is
    /// killed.
    fn note_processes(&self, noted: &mut Vec<(u32, u64)>) {
        let mut running = process::descendants();
        running.extend(noted.iter().filter(|(pid, at)| process::start_time(*pid) == Some(*at)));
        running.sort_unstable();
        running.dedup();
        if running == *noted {
            return;
        }
        *noted = running;
        let all: Vec<Heartbeat> =
            noted.iter().map(|(pid, started)| Heartbeat { pid: *pid, started: *started }).collect();
        let noted = json(&all).and_then(|all| write_unsynced(&self.path.join(PROCESSES), &all));
        if let Err(error) = noted {
            tracing::debug!(%error, "the running processes are not recorded");
        }
    }
}

/// The age of a file; `None` if its date is in the future or unknown.
fn age(file: &Path) -> Option<Duration> {
    let modified = fs::metadata(file).and_then(|meta| meta.modified()).ok()?;
    SystemTime::now().duration_since(modified).ok()
}
