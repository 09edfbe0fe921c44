//! Whether a session's supervisor lives. Its process is written down with the time at which it started;
//! where another machine or container waits, the date of the heartbeat says it.

use super::{HEARTBEAT, Heartbeat, PROCESSES, SessionFolder, json};
use crate::process;
use std::fs::{self, File, FileTimes};
use std::io;
use std::time::{Duration, SystemTime};

/// How often a supervisor shows that it lives.
const BEAT: Duration = Duration::from_millis(300);

/// A supervisor whose process is not there and that was silent for so long is dead.
const SILENCE: Duration = Duration::from_millis(1500);

/// A supervisor that somebody stopped, and that was silent for so long, is as good as dead.
const STOPPED: Duration = Duration::from_secs(10);

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
    /// Writes down who supervises.
    pub fn set_supervisor(&self, pid: u32) -> io::Result<()> {
        let Some(started) = process::started(pid) else {
            return Err(io::Error::other("the supervisor is gone already"));
        };
        // A rename without waiting for the disk: after a crash of the machine nobody supervises anyway.
        let draft = tempfile::NamedTempFile::new_in(&self.path)?;
        fs::write(draft.path(), json(&Heartbeat { pid, started })?)?;
        draft.persist(self.path.join(HEARTBEAT)).map_err(|error| error.error)?;
        Ok(())
    }

    /// The process that supervises, if it runs.
    pub fn supervisor(&self) -> Option<u32> {
        let beat: Heartbeat = self.read(HEARTBEAT).ok()??;
        (process::started(beat.pid) == Some(beat.started)).then_some(beat.pid)
    }

    /// Whether the supervisor lives.
    pub fn life(&self) -> Life {
        let supervisor = self.supervisor();
        if supervisor.is_some_and(|pid| !process::is_stopped(pid)) {
            return Life::Alive;
        }
        let (file, patience) = match self.path.join(HEARTBEAT) {
            beat if beat.exists() && supervisor.is_some() => (beat, STOPPED),
            beat if beat.exists() => (beat, SILENCE),
            _ => (self.path.join(super::SESSION), BEGINNING),
        };
        let modified = fs::metadata(file).and_then(|meta| meta.modified());
        // A date in the future is no reason to wait for ever.
        let silent = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        match silent {
            Some(silent) if silent <= patience => Life::Alive,
            _ => Life::Dead,
        }
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
        running.extend(noted.iter().filter(|(pid, at)| process::started(*pid) == Some(*at)));
        running.sort_unstable();
        running.dedup();
        if running == *noted {
            return;
        }
        *noted = running;
        let all: Vec<Heartbeat> =
            noted.iter().map(|(pid, started)| Heartbeat { pid: *pid, started: *started }).collect();
        let draft = tempfile::NamedTempFile::new_in(&self.path).and_then(|draft| {
            fs::write(draft.path(), json(&all)?)?;
            draft.persist(self.path.join(PROCESSES)).map_err(|error| error.error)
        });
        if let Err(error) = draft {
            tracing::debug!(%error, "what runs is not written down");
        }
    }
}
