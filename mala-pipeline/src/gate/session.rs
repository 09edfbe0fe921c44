//! A session as it is seen from outside: how far its lanes are, and the wait for its end. What the
//! supervisor wrote last is read once more before it counts as dead.

use crate::events::ReviewEvent;
use mala_domain::finding::Finding;
use mala_domain::gate::session::{
    LaneOpinion, SessionEnd, SessionPhase, SessionProgress, SessionState,
};
use mala_domain::ports::{BoxFuture, Reviewer, ReviewerFailure};
use mala_domain::review::admit::unchecked;
use mala_domain::review::decide::reason_of;
use mala_domain::review::{Opinion, ReviewContext};
use mala_domain::verdict::Verdict;
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The polling interval.
const INTERVAL: Duration = Duration::from_millis(10);

/// A session, as seen from another process.
pub trait WatchedSession {
    /// How it ended, if it did; the error if its result cannot be read.
    fn end(&self) -> Result<Option<SessionEnd>, String>;

    /// Whether its supervisor is gone for good.
    fn is_dead(&self) -> bool;
}

/// Waits for the end of a session, for so long.
pub async fn wait(session: &dyn WatchedSession, time: Duration) -> SessionState {
    wait_showing(session, time, &mut || {}).await
}

/// Waits for the end of a session, and calls `show` again and again meanwhile.
pub async fn wait_showing(
    session: &dyn WatchedSession,
    time: Duration,
    show: &mut dyn FnMut(),
) -> SessionState {
    let deadline = Instant::now() + time;
    loop {
        show();
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

/// The progress of the lanes of a session; calls a function on every change.
pub struct LaneProgress<F: Fn(&SessionProgress)> {
    progress: Mutex<SessionProgress>,
    show: F,
}

impl<F: Fn(&SessionProgress)> LaneProgress<F> {
    /// The progress of a session that begins, shown like this.
    pub fn new(show: F) -> Self {
        Self { progress: Mutex::default(), show }
    }

    /// Notes that the process of a lane runs.
    pub fn started(&self, lane: &str) {
        self.change(|progress| {
            progress.phase = SessionPhase::Reviewing;
            progress.started.push(lane.to_owned());
            progress.started_at.insert(lane.to_owned(), milliseconds());
        });
    }

    /// Records the answer of a lane.
    pub fn ended(&self, lane: &str, answer: &Result<Opinion, ReviewerFailure>) {
        let failure = match answer {
            Ok(opinion) => opinion.failure.as_ref(),
            Err(failure) => Some(failure),
        };
        let given = answer.as_ref().ok().filter(|_| failure.is_none());
        let claims = given.map(|opinion| opinion.claims.clone()).unwrap_or_default();
        let findings: Vec<Finding> = claims.into_iter().map(unchecked).collect();
        let opinion = LaneOpinion {
            verdict: given.map(|it| it.claimed_verdict.unwrap_or(Verdict::over(&findings))),
            summary: given.map(|opinion| opinion.summary.clone()).unwrap_or_default(),
            findings,
            error: failure.map(ToString::to_string),
            absence: failure.map(reason_of),
        };
        self.change(|progress| {
            progress.ended.push(lane.to_owned());
            progress.opinions.insert(lane.to_owned(), opinion);
        });
    }

    /// Notes a step of the review.
    pub fn note(&self, event: &ReviewEvent) {
        if let ReviewEvent::Verifying { .. } = event {
            self.change(|progress| progress.phase = SessionPhase::Checking);
        }
    }

    fn change(&self, change: impl FnOnce(&mut SessionProgress)) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut progress);
        (self.show)(&progress);
    }
}

fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A reviewer whose answer is recorded in the progress of its session.
pub struct NotedReviewer<F: Fn(&SessionProgress)> {
    /// Its name on the panel.
    name: String,
    inner: Arc<dyn Reviewer>,
    progress: Arc<LaneProgress<F>>,
    /// The time limit of a reviewer that starts with the review; a process has its own, and notes its start.
    time: Option<Duration>,
}

impl<F: Fn(&SessionProgress)> NotedReviewer<F> {
    /// This reviewer, with its answer noted.
    pub fn new(
        name: String,
        inner: Arc<dyn Reviewer>,
        progress: Arc<LaneProgress<F>>,
        time: Option<Duration>,
    ) -> Self {
        Self { name, inner, progress, time }
    }
}

impl<F: Fn(&SessionProgress)> NotedReviewer<F> {
    /// Its claims are made under its name on the panel.
    fn rename(&self, opinion: &mut Opinion) {
        for claim in &mut opinion.claims {
            if let Some(rest) = claim.reviewer.strip_prefix(self.inner.name()) {
                claim.reviewer = format!("{}{rest}", self.name);
            }
        }
    }
}

impl<F: Fn(&SessionProgress) + Send + Sync> Reviewer for NotedReviewer<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs_surroundings(&self) -> bool {
        self.inner.needs_surroundings()
    }

    fn review<'a>(
        &'a self,
        context: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        Box::pin(async move {
            let mut answer = match self.time {
                Some(time) => {
                    self.progress.started(self.name());
                    let answer = tokio::time::timeout(time, self.inner.review(context)).await;
                    let why = || format!("no answer within {} s", time.as_secs());
                    answer.unwrap_or_else(|_| Err(ReviewerFailure::TimedOut(why())))
                }
                None => self.inner.review(context).await,
            };
            if let Ok(opinion) = &mut answer {
                self.rename(opinion);
            }
            self.progress.ended(self.name(), &answer);
            answer
        })
    }
}
