//! A model that can be asked.

use super::BoxFuture;
use crate::conversation::{Ask, Reply};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use thiserror::Error;

/// A model behind a provider. One call is one answer, retries of what is worth retrying included.
pub trait LanguageModel: Send + Sync {
    /// Asks, and gives up after `patience`.
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        patience: Duration,
    ) -> BoxFuture<'a, Result<Reply, ModelFailure>>;
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{what}")]
pub struct ModelFailure {
    /// What a caller does about it.
    pub kind: ModelFailureKind,
    /// What happened, with the provider's words, without secrets.
    pub what: String,
    /// Requests that were made; each may have been charged.
    pub attempts: u32,
}

/// The ways to fail that a caller treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ModelFailureKind {
    /// The key is missing, wrong or out of credit (401, 402).
    Unauthorized,
    /// The key may not do this (403).
    Forbidden,
    /// No such model or address (404).
    NotFound,
    /// Too many requests, still, after waiting (429).
    RateLimited,
    /// The provider is overloaded (503, 529).
    Overloaded,
    /// The provider failed (other 5xx).
    ProviderFailed,
    /// The request is longer than the model takes.
    TooLong,
    /// The provider does not accept the request (other 4xx).
    BadRequest,
    /// The answer stopped half way.
    Cut,
    /// The answer is not in the provider's own form.
    Malformed,
    /// Nobody is there.
    Unreachable,
    /// No answer in time.
    TimedOut,
    /// A recording has no answer to this call.
    NotRecorded,
}
