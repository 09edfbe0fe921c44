//! What one call to a model costs, request by request. A request that is made again counts like any
//! other: it is reserved before, and one that could exceed a limit is not made.

use super::account::{Account, used_by};
use super::stopped::Stopped;
use mala_domain::agent::budget::{Deed, Reservation};
use mala_domain::ports::{BoxFuture, Meter, ModelFailure};
use std::sync::{Mutex, PoisonError};

/// The bill of one call.
pub(super) struct Bill<'a> {
    account: &'a Account,
    deed: Deed,
    last: Mutex<Option<Reservation>>,
}

impl<'a> Bill<'a> {
    /// Reserves the first request.
    pub(super) async fn open(account: &'a Account, deed: Deed) -> Result<Self, Stopped> {
        let first = account.reserve(deed).await?;
        Ok(Self { account, deed, last: Mutex::new(Some(first)) })
    }

    /// The request that is not settled yet.
    pub(super) fn last(&self) -> Option<Reservation> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn another(&self, failed: &ModelFailure) -> Result<(), Stopped> {
        if let Some(last) = self.last() {
            self.account.settle(last, used_by(failed));
        }
        let next = self.account.reserve(self.deed).await?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        Ok(())
    }
}

impl Meter for Bill<'_> {
    fn again<'b>(&'b self, last: &'b ModelFailure) -> BoxFuture<'b, Result<(), String>> {
        Box::pin(async move { self.another(last).await.map_err(|stopped| stopped.to_string()) })
    }
}
