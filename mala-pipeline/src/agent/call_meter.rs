//! What one call to a model costs, request by request. A request that is made again counts like any
//! other: it is reserved before, and one that could exceed a limit is not made.

use super::account::{Account, used_by};
use super::stop_reason::StopReason;
use mala_domain::agent::budget::{Charge, Reservation};
use mala_domain::ports::{BoxFuture, ModelFailure, RequestMeter};
use std::sync::{Mutex, PoisonError};

/// The bill of one call.
pub(super) struct CallMeter<'a> {
    account: &'a Account,
    charge: Charge,
    last: Mutex<Option<Reservation>>,
}

impl<'a> CallMeter<'a> {
    /// Reserves the first request.
    pub(super) async fn open(account: &'a Account, charge: Charge) -> Result<Self, StopReason> {
        let first = account.reserve(charge).await?;
        Ok(Self { account, charge, last: Mutex::new(Some(first)) })
    }

    /// The request that is not settled yet.
    pub(super) fn last(&self) -> Option<Reservation> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn another(&self, failed: &ModelFailure) -> Result<(), StopReason> {
        if let Some(last) = self.last() {
            self.account.settle(last, used_by(failed));
        }
        let next = self.account.reserve(self.charge).await?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        Ok(())
    }
}

impl RequestMeter for CallMeter<'_> {
    fn again<'b>(&'b self, last: &'b ModelFailure) -> BoxFuture<'b, Result<(), String>> {
        Box::pin(async move { self.another(last).await.map_err(|stopped| stopped.to_string()) })
    }
}
