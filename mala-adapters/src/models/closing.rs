//! Calls of a run that can be ended: once it is closed, no further call begins, and those under way come
//! to their end.

use mala_domain::conversation::{Ask, Reply};
use mala_domain::ports::{BoxFuture, LanguageModel, ModelFailure, Terms};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// The calls of a run.
#[derive(Debug, Clone, Default)]
pub struct Calls(Arc<watch::Sender<State>>);

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    under_way: usize,
}

impl Calls {
    /// No further call begins.
    pub fn close(&self) {
        self.0.send_modify(|state| state.is_closed = true);
    }

    /// Waits until they are closed and none is under way.
    pub async fn drained(&self) {
        let mut states = self.0.subscribe();
        // It cannot fail: the sender lives as long as we do.
        drop(states.wait_for(|state| state.is_closed && state.under_way == 0).await);
    }

    /// The same calls, as one case makes them.
    pub fn of_case(&self) -> CaseCalls {
        CaseCalls { calls: self.clone(), is_cut: Arc::default() }
    }

    fn begin(&self) -> Option<UnderWay> {
        let begun = self.0.send_if_modified(|state| {
            state.under_way += usize::from(!state.is_closed);
            !state.is_closed
        });
        begun.then(|| UnderWay(self.clone()))
    }
}

/// A call that is under way as long as this value lives.
#[derive(Debug)]
pub struct UnderWay(Calls);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.under_way = state.under_way.saturating_sub(1));
    }
}

/// The calls of one case.
#[derive(Debug, Clone)]
pub struct CaseCalls {
    calls: Calls,
    is_cut: Arc<AtomicBool>,
}

impl CaseCalls {
    /// Begins a call. When no further one may begin, the case is cut short, and this never ends.
    pub async fn begin(&self) -> UnderWay {
        match self.calls.begin() {
            Some(under_way) => under_way,
            None => {
                self.is_cut.store(true, Ordering::SeqCst);
                std::future::pending().await
            }
        }
    }

    /// Whether a call of this case did not begin. What came of the case counts for nothing then.
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }

    /// The model, with calls that begin only as long as calls may.
    pub fn of(&self, model: Arc<dyn LanguageModel>) -> Arc<dyn LanguageModel> {
        Arc::new(Closing { model, calls: self.clone() })
    }
}

struct Closing {
    model: Arc<dyn LanguageModel>,
    calls: CaseCalls,
}

impl LanguageModel for Closing {
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        terms: Terms<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelFailure>> {
        Box::pin(async move {
            let _under_way = self.calls.begin().await;
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
    async fn what_is_under_way_ends_and_nothing_else_begins() {
        let calls = Calls::default();
        let (first, second) = (calls.of_case(), calls.of_case());
        let under_way = first.begin().await;
        assert!(timeout(SOON, calls.drained()).await.is_err(), "nobody closed them");
        calls.close();
        assert!(timeout(SOON, calls.drained()).await.is_err(), "one is under way");
        assert!(timeout(SOON, second.begin()).await.is_err(), "none begins");
        assert_eq!((first.is_cut(), second.is_cut()), (false, true));
        drop(under_way);
        assert!(timeout(SOON, calls.drained()).await.is_ok());
    }
}
