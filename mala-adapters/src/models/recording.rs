//! Records model traffic in a folder and replays it without a model. One file holds one call.
//! Secrets are redacted, and the key of a call is the hash of its redacted request, so a replay
//! finds its calls without knowing the secrets. An interrupted recording can be resumed: a call
//! that has an answer is not made again.

mod folder;

pub use folder::{LostCalls, RecordingError, lost_calls_below};

use folder::{CallKey, RecordedCall, StoredCall, StoredOutcome};
use mala_domain::conversation::{ChatReply, ChatRequest};
use mala_domain::ports::{
    BillingStatus, BoxFuture, CallTerms, LanguageModel, ModelFailure, ModelFailureKind,
    RequestMeter,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A folder that calls are recorded in.
pub struct Recording {
    folder: PathBuf,
    numbers: CallCounter,
    problem: Mutex<Option<String>>,
    start: RecordingStart,
}

/// Whether a recording is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordingStart {
    New,
    Resumed,
}

/// The highest cost of a call in dollars; `None` if the price is unknown.
pub type WorstCost = Arc<dyn Fn(&ChatRequest) -> Option<f64> + Send + Sync>;

impl Recording {
    /// Starts a recording. Stores the nonce of the run, which is part of the prompts.
    pub fn start(folder: &Path, nonce: &str) -> Result<Arc<Self>, RecordingError> {
        folder::begin(folder, nonce)?;
        Ok(Self::new(folder, RecordingStart::New))
    }

    /// Resumes a recording, or starts one. Calls with a stored answer are not made again. Calls
    /// that were in progress when it was interrupted are marked as lost.
    pub fn resume(folder: &Path) -> Result<Arc<Self>, RecordingError> {
        match folder::begin(folder, "") {
            Ok(()) => {}
            Err(RecordingError::Exists(_)) => {
                folder::nonce(folder)?;
                folder::note_lost(folder)?;
            }
            Err(error) => return Err(error),
        }
        Ok(Self::new(folder, RecordingStart::Resumed))
    }

    fn new(folder: &Path, start: RecordingStart) -> Arc<Self> {
        let (numbers, problem) = (CallCounter::default(), Mutex::default());
        Arc::new(Self { folder: folder.to_owned(), numbers, problem, start })
    }

    /// A model whose calls are recorded here.
    pub fn wrap(self: &Arc<Self>, model: Arc<dyn LanguageModel>) -> Arc<dyn LanguageModel> {
        self.wrap_priced(model, Arc::new(|_| None))
    }

    /// Like `wrap`, for a model with a price, to estimate the cost of lost calls.
    pub fn wrap_priced(
        self: &Arc<Self>,
        model: Arc<dyn LanguageModel>,
        worst: WorstCost,
    ) -> Arc<dyn LanguageModel> {
        Arc::new(RecordingModel { model, worst, recording: Arc::clone(self) })
    }

    /// Removes a new recording that will not be complete. A resumed one is kept.
    pub fn discard(&self) {
        if self.start == RecordingStart::New
            && let Err(error) = folder::remove(&self.folder)
        {
            tracing::warn!(error = %error, "cannot remove the recording");
        }
    }

    /// Why a call could not be stored. The answer is still used.
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, call: &RecordedCall<'_>) {
        self.note(folder::write(&self.folder, call));
        if self.start == RecordingStart::Resumed {
            self.note(folder::end_call(&self.folder, call.key, call.number));
        }
    }

    /// The stored answer of a resumed recording. A stored failure is not an answer: it may be
    /// temporary.
    fn known(&self, key: &CallKey, number: u32) -> Option<StoredCall> {
        if self.start == RecordingStart::New {
            return None;
        }
        let kept = folder::read(&self.folder, key, number).ok().flatten()?;
        matches!(kept.outcome, StoredOutcome::Reply(_)).then_some(kept)
    }

    fn begin(&self, key: &CallKey, number: u32, worst_usd: Option<f64>) {
        if self.start == RecordingStart::Resumed {
            self.note(folder::begin_call(&self.folder, key, number, worst_usd));
        }
    }

    fn note(&self, done: Result<(), RecordingError>) {
        if let Err(error) = done {
            tracing::warn!(error = %error, "cannot store a call");
            let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
            problem.get_or_insert(error.to_string());
        }
    }
}

struct RecordingModel {
    model: Arc<dyn LanguageModel>,
    worst: WorstCost,
    recording: Arc<Recording>,
}

impl LanguageModel for RecordingModel {
    fn ask<'a>(
        &'a self,
        ask: &'a ChatRequest,
        terms: CallTerms<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelFailure>> {
        Box::pin(async move {
            let key = CallKey::of(ask);
            // Taken before the call, so that calls are numbered in the order in which they start.
            let number = self.recording.numbers.next(&key);
            if let Some(kept) = self.recording.known(&key, number) {
                return kept.replayed(terms.meter).await;
            }
            self.recording.begin(&key, number, (self.worst)(ask));
            let retries = RetryRecorder { meter: terms.meter, made: Mutex::default() };
            let outcome = self.model.ask(ask, CallTerms { meter: &retries, ..terms }).await;
            let retried = retries.made.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.recording.keep(&RecordedCall {
                key: &key,
                number,
                retried: &retried,
                outcome: &outcome,
            });
            outcome
        })
    }
}

/// Forwards retries to the meter and records them: they cost money too.
struct RetryRecorder<'m> {
    meter: &'m dyn RequestMeter,
    made: Mutex<Vec<ModelFailure>>,
}

impl RequestMeter for RetryRecorder<'_> {
    fn again<'a>(&'a self, last: &'a ModelFailure) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            self.meter.again(last).await?;
            self.made.lock().unwrap_or_else(PoisonError::into_inner).push(last.clone());
            Ok(())
        })
    }
}

/// A recording that is replayed instead of asking models.
pub struct Replay {
    folder: PathBuf,
    nonce: String,
    numbers: CallCounter,
}

impl Replay {
    /// Opens a recording.
    pub fn open(folder: &Path) -> Result<Self, RecordingError> {
        let nonce = folder::nonce(folder)?;
        Ok(Self { folder: folder.to_owned(), nonce, numbers: CallCounter::default() })
    }

    /// The nonce of the recorded run.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    async fn answer(
        &self,
        ask: &ChatRequest,
        meter: &dyn RequestMeter,
    ) -> Result<ChatReply, ModelFailure> {
        let key = CallKey::of(ask);
        let number = self.numbers.next(&key);
        let kept: StoredCall = folder::read(&self.folder, &key, number)
            .map_err(|error| not_recorded(error.to_string()))?
            .ok_or_else(|| not_recorded(format!("{} does not contain this call", self.place())))?;
        kept.replayed(meter).await
    }

    fn place(&self) -> String {
        self.folder.display().to_string()
    }
}

impl LanguageModel for Replay {
    fn ask<'a>(
        &'a self,
        ask: &'a ChatRequest,
        terms: CallTerms<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelFailure>> {
        Box::pin(self.answer(ask, terms.meter))
    }
}

impl StoredCall {
    /// The outcome of the call. Its retries are counted as they were when it was recorded.
    async fn replayed(self, meter: &dyn RequestMeter) -> Result<ChatReply, ModelFailure> {
        for retried in &self.retried {
            if let Err(why) = meter.again(retried).await {
                return Err(not_recorded(format!("{}; not retried: {why}", retried.what)));
            }
        }
        match self.outcome {
            StoredOutcome::Reply(reply) => Ok(*reply),
            StoredOutcome::Failure(failure) => Err(failure),
        }
    }
}

fn not_recorded(what: String) -> ModelFailure {
    ModelFailure {
        kind: ModelFailureKind::NotRecorded,
        what,
        attempts: 0,
        billed: BillingStatus::No,
    }
}

/// How often each call was made.
#[derive(Default)]
struct CallCounter(Mutex<HashMap<String, u32>>);

impl CallCounter {
    /// The number of this call among identical ones, from 1.
    fn next(&self, key: &CallKey) -> u32 {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = numbers.entry(key.hash.clone()).or_default();
        *number += 1;
        *number
    }
}
