//! Whether a session's supervisor lives. Its process is written down with the time at which it started;
//! where another machine or container waits, the date of the heartbeat says it.

use super::{HEARTBEAT, Heartbeat, PROCESSES, SessionFolder, json};
use crate::process;
use crate::store::write_unsynced;
use mala_domain::config::Seconds;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How often a supervisor shows that it lives.
const BEAT: Duration = Duration::from_millis(300);

/// A supervisor whose process is not there and that was silent for so long is dead.
const SILENCE: Duration = Duration::from_millis(1500);

/// A supervisor that was stopped, and that was silent for so long, is as good as dead.
const STOPPED: Duration = Duration::from_secs(10);

/// A supervisor that runs, that was silent for so long, and whose session should be over since long ago
/// hangs for good.
const HANGS: Duration = Duration::from_secs(60);

/// How long it may take to show that it does not: a machine that was asleep wakes all processes at once.
const LAST_CHANCE: Duration = Duration::from_secs(3);

/// What a session may take beside its lanes, of which some are asked twice: copies, checks, files.
const BESIDE_LANES: Duration = Duration::from_secs(20 * 60);

/// How often it writes down what it has started: every so many beats.
const NOTE: u32 = 3;

/// How long a session may be without a supervisor when it begins.
const BEGINNING: Duration = Duration::from_secs(10);

/// What is known of a supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It runs, or may do so.
    Alive,
    /// It is gone for good.
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

    /// The process that supervises, if it runs.
    pub fn supervisor(&self) -> Option<u32> {
        let beat: Heartbeat = self.read(HEARTBEAT).ok()??;
        (process::start_time(beat.pid) == Some(beat.started)).then_some(beat.pid)
    }

    /// Whether the supervisor lives.
    pub fn life(&self) -> Life {
        let supervisor = self.supervisor();
        if supervisor.is_some_and(|pid| !process::is_stopped(pid)) {
            return if self.hangs() { Life::Dead } else { Life::Alive };
        }
        let (file, patience) = match self.path.join(HEARTBEAT) {
            beat if beat.exists() && supervisor.is_some() => (beat, STOPPED),
            beat if beat.exists() => (beat, SILENCE),
            _ => (self.path.join(super::SESSION), BEGINNING),
        };
        // A date in the future is no reason to wait for ever.
        match age(&file) {
            Some(silent) if silent <= patience => Life::Alive,
            _ => Life::Dead,
        }
    }

    /// Whether a supervisor whose process is there does nothing any more.
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

    /// Shows that the supervisor lives, again and again. Never ends.
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

    /// Writes down all that this process has started and that still runs, however far it went: when the
    /// supervisor is killed, it is found by that.
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
            tracing::debug!(%error, "what runs is not written down");
        }
    }
}

/// How long ago a file was written; `None` when that is in the future, or unknown.
fn age(file: &Path) -> Option<Duration> {
    let modified = fs::metadata(file).and_then(|meta| meta.modified()).ok()?;
    SystemTime::now().duration_since(modified).ok()
}
