//! A session as it is seen from outside: how far its lanes are, and the wait for its end. What the
//! supervisor wrote last is read once more before it counts as dead.

use crate::events::ReviewEvent;
use mala_domain::gate::session::{Phase, Progress, SessionEnd, SessionState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a session is looked at.
const INTERVAL: Duration = Duration::from_millis(50);

/// What is seen of a session from outside.
pub trait WatchedSession {
    /// How it ended, if it did; the text of the problem when its result cannot be read.
    fn end(&self) -> Result<Option<SessionEnd>, String>;

    /// Whether its supervisor is gone for good.
    fn is_dead(&self) -> bool;
}

/// Waits for the end of a session, for so long.
pub async fn wait(session: &dyn WatchedSession, time: Duration) -> SessionState {
    let deadline = Instant::now() + time;
    loop {
        match state(session) {
            Some(state) => return state,
            None if Instant::now() >= deadline => return SessionState::Running(time.as_secs()),
            None => tokio::time::sleep(INTERVAL).await,
        }
    }
}

fn state(session: &dyn WatchedSession) -> Option<SessionState> {
    let end = || match session.end() {
        Ok(end) => end.map(SessionState::Ended),
        Err(why) => Some(SessionState::Unreadable(why)),
    };
    // The supervisor may write its result and end between the two looks.
    end().or_else(|| session.is_dead().then(|| end().unwrap_or(SessionState::Dead)))
}

/// How far the lanes of a session are, told whenever that changes.
pub struct LaneProgress<F: Fn(&Progress)> {
    progress: Mutex<Progress>,
    show: F,
}

impl<F: Fn(&Progress)> LaneProgress<F> {
    /// The progress of a session that begins, shown like this.
    pub fn new(show: F) -> Self {
        Self { progress: Mutex::default(), show }
    }

    /// Notes that the process of a lane runs.
    pub fn started(&self, lane: &str) {
        self.change(|progress| {
            progress.phase = Phase::Reviewing;
            progress.started.push(lane.to_owned());
        });
    }

    /// Notes a step of the review.
    pub fn note(&self, event: &ReviewEvent) {
        match event {
            ReviewEvent::ReviewerEnded { reviewer, .. } => {
                self.change(|progress| progress.ended.push(reviewer.clone()));
            }
            ReviewEvent::Verifying { .. } => {
                self.change(|progress| progress.phase = Phase::Checking)
            }
            _ => {}
        }
    }

    fn change(&self, change: impl FnOnce(&mut Progress)) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut progress);
        (self.show)(&progress);
    }
}
