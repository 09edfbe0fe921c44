//! Tracks the calls of a run. Once the tracker is closed, no call begins, and calls in progress
//! finish.

use mala_domain::conversation::{ChatReply, ChatRequest};
use mala_domain::ports::{BoxFuture, CallTerms, LanguageModel, ModelFailure};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// The calls of a run.
#[derive(Debug, Clone, Default)]
pub struct CallTracker(Arc<watch::Sender<CallState>>);

#[derive(Debug, Default)]
struct CallState {
    is_closed: bool,
    in_progress: usize,
}

impl CallTracker {
    /// Prevents further calls.
    pub fn close(&self) {
        self.0.send_modify(|state| state.is_closed = true);
    }

    /// Waits until the tracker is closed and no call is in progress.
    pub async fn drained(&self) {
        let mut states = self.0.subscribe();
        // Cannot fail: `self` keeps the sender alive.
        drop(states.wait_for(|state| state.is_closed && state.in_progress == 0).await);
    }

    /// The calls of one case of the run.
    pub fn of_case(&self) -> CaseCallTracker {
        CaseCallTracker { calls: self.clone(), is_interrupted: Arc::default() }
    }

    fn begin(&self) -> Option<CallGuard> {
        let begun = self.0.send_if_modified(|state| {
            state.in_progress += usize::from(!state.is_closed);
            !state.is_closed
        });
        begun.then(|| CallGuard(self.clone()))
    }
}

/// A call in progress, until the value is dropped.
#[derive(Debug)]
pub struct CallGuard(CallTracker);

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.in_progress = state.in_progress.saturating_sub(1));
    }
}

/// The calls of one case.
#[derive(Debug, Clone)]
pub struct CaseCallTracker {
    calls: CallTracker,
    is_interrupted: Arc<AtomicBool>,
}

impl CaseCallTracker {
    /// Begins a call. If the tracker is closed, marks the case as interrupted and never returns.
    pub async fn begin(&self) -> CallGuard {
        match self.calls.begin() {
            Some(in_progress) => in_progress,
            None => {
                self.is_interrupted.store(true, Ordering::SeqCst);
                std::future::pending().await
            }
        }
    }

    /// Whether a call of this case was prevented. Its result does not count then.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::SeqCst)
    }

    /// A model whose calls are tracked.
    pub fn track(&self, model: Arc<dyn LanguageModel>) -> Arc<dyn LanguageModel> {
        Arc::new(TrackedModel { model, calls: self.clone() })
    }
}

struct TrackedModel {
    model: Arc<dyn LanguageModel>,
    calls: CaseCallTracker,
}

impl LanguageModel for TrackedModel {
    fn ask<'a>(
        &'a self,
        ask: &'a ChatRequest,
        terms: CallTerms<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelFailure>> {
        Box::pin(async move {
            let _in_progress = self.calls.begin().await;
            self.model.ask(ask, terms).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_closed_tracker_lets_calls_finish_and_starts_none() {
        let calls = CallTracker::default();
        let (first, second) = (calls.of_case(), calls.of_case());
        let in_progress = first.begin().await;
        assert!(timeout(SOON, calls.drained()).await.is_err(), "the tracker is open");
        calls.close();
        assert!(timeout(SOON, calls.drained()).await.is_err(), "a call is in progress");
        assert!(timeout(SOON, second.begin()).await.is_err(), "no call begins");
        assert_eq!((first.is_interrupted(), second.is_interrupted()), (false, true));
        drop(in_progress);
        assert!(timeout(SOON, calls.drained()).await.is_ok());
    }
}
