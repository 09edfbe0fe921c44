//! The port to language models.

use super::BoxFuture;
use crate::conversation::{ChatReply, ChatRequest};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use thiserror::Error;

/// A model behind a provider. One call is one answer; it includes retries of errors that are worth
/// retrying.
pub trait LanguageModel: Send + Sync {
    /// Sends a request, within these terms.
    fn ask<'a>(
        &'a self,
        ask: &'a ChatRequest,
        terms: CallTerms<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelFailure>>;
}

/// The limits of one call.
#[derive(Clone, Copy)]
pub struct CallTerms<'t> {
    /// When to give up.
    pub patience: Duration,
    /// Decides about retries.
    pub meter: &'t dyn RequestMeter,
}

/// Decides whether a failed request of one call may be repeated.
pub trait RequestMeter: Send + Sync {
    /// Whether the request may be repeated after this failure; the error says why not.
    fn again<'a>(&'a self, last: &'a ModelFailure) -> BoxFuture<'a, Result<(), String>>;
}

/// Allows every retry.
struct Unmetered;

impl RequestMeter for Unmetered {
    fn again<'a>(&'a self, _: &'a ModelFailure) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl From<Duration> for CallTerms<'_> {
    /// Terms without a limit on retries.
    fn from(patience: Duration) -> Self {
        Self { patience, meter: &Unmetered }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{what}")]
pub struct ModelFailure {
    /// The kind, which decides how a caller reacts.
    pub kind: ModelFailureKind,
    /// What happened, in the provider's words, without secrets.
    pub what: String,
    /// Requests that were made.
    pub attempts: u32,
    /// Whether the last request may be billed.
    #[serde(default)]
    pub billed: BillingStatus,
}

/// Whether a request without an answer may have to be paid for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BillingStatus {
    /// The provider rejected it before any model ran.
    No,
    /// The provider may have processed it.
    #[default]
    Perhaps,
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
    /// The request is too long for the model.
    TooLong,
    /// The provider does not accept the request (other 4xx).
    BadRequest,
    /// The answer stopped half way.
    Cut,
    /// The answer is not in the provider's own form.
    Malformed,
    /// The server cannot be reached.
    Unreachable,
    /// No answer in time.
    TimedOut,
    /// A recording has no answer to this call.
    NotRecorded,
}
