//! Model traffic in a folder: kept while a run goes on, and given again without any model. One file
//! holds one call. Secrets are redacted in it, and calls are known by what is left of them, so a
//! replay finds its calls though it never saw a secret. A recording that was cut short can be gone on
//! with: a call whose answer it has is not made again.

mod asked;
mod folder;
mod key;

pub use asked::{Lost, lost_below};
pub use folder::RecordingError;

use folder::{Call, Kept, Outcome};
use key::Key;
use mala_domain::conversation::{Ask, Reply};
use mala_domain::ports::{
    Billed, BoxFuture, LanguageModel, Meter, ModelFailure, ModelFailureKind, Terms,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A folder that calls are kept in.
pub struct Recording {
    folder: PathBuf,
    numbers: Numbers,
    problem: Mutex<Option<String>>,
    start: Start,
}

/// How a recording begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Fresh,
    GoesOn,
}

/// What a call costs at worst, in dollars; `None` when nobody knows.
pub type WorstCost = Arc<dyn Fn(&Ask) -> Option<f64> + Send + Sync>;

impl Recording {
    /// Begins a recording. The nonce of the run is kept with it: it is part of the prompts.
    pub fn start(folder: &Path, nonce: &str) -> Result<Arc<Self>, RecordingError> {
        folder::begin(folder, nonce)?;
        Ok(Self::new(folder, Start::Fresh))
    }

    /// Goes on with a recording, or begins one: what it has an answer to is not asked again. Calls
    /// that were under way when it was cut short are noted as lost.
    pub fn go_on(folder: &Path) -> Result<Arc<Self>, RecordingError> {
        match folder::begin(folder, "") {
            Ok(()) => {}
            Err(RecordingError::Exists(_)) => {
                folder::nonce(folder)?;
                asked::note_lost(folder)?;
            }
            Err(error) => return Err(error),
        }
        Ok(Self::new(folder, Start::GoesOn))
    }

    fn new(folder: &Path, start: Start) -> Arc<Self> {
        let (numbers, problem) = (Numbers::default(), Mutex::default());
        Arc::new(Self { folder: folder.to_owned(), numbers, problem, start })
    }

    /// The model, with all of its calls kept here.
    pub fn of(self: &Arc<Self>, model: Arc<dyn LanguageModel>) -> Arc<dyn LanguageModel> {
        self.of_priced(model, Arc::new(|_| None))
    }

    /// The same for a model with a price, which says what a lost call may have cost.
    pub fn of_priced(
        self: &Arc<Self>,
        model: Arc<dyn LanguageModel>,
        worst: WorstCost,
    ) -> Arc<dyn LanguageModel> {
        Arc::new(Recorded { model, worst, recording: Arc::clone(self) })
    }

    /// Takes a recording that was begun and will not be whole out of the way of the next one. One
    /// that goes on keeps what it has.
    pub fn give_up(&self) {
        if self.start == Start::Fresh
            && let Err(error) = folder::remove(&self.folder)
        {
            tracing::warn!(error = %error, "what was recorded cannot be removed");
        }
    }

    /// Why a call could not be kept, if one could not. An answer is not thrown away for it.
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, call: &Call<'_>) {
        self.note(folder::write(&self.folder, call));
        if self.start == Start::GoesOn {
            self.note(asked::answered(&self.folder, call.key, call.number));
        }
    }

    /// The answer that a recording which goes on already has. A failure is no answer: it may pass.
    fn known(&self, key: &Key, number: u32) -> Option<Kept> {
        if self.start == Start::Fresh {
            return None;
        }
        let kept = folder::read(&self.folder, key, number).ok().flatten()?;
        matches!(kept.outcome, Outcome::Reply(_)).then_some(kept)
    }

    fn begin(&self, key: &Key, number: u32, worst_usd: Option<f64>) {
        if self.start == Start::GoesOn {
            self.note(asked::begin(&self.folder, key, number, worst_usd));
        }
    }

    fn note(&self, done: Result<(), RecordingError>) {
        if let Err(error) = done {
            tracing::warn!(error = %error, "a call could not be kept");
            let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
            problem.get_or_insert(error.to_string());
        }
    }
}

struct Recorded {
    model: Arc<dyn LanguageModel>,
    worst: WorstCost,
    recording: Arc<Recording>,
}

impl LanguageModel for Recorded {
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        terms: Terms<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelFailure>> {
        Box::pin(async move {
            let key = Key::of(ask);
            // Taken before the answer, so that calls are numbered in the order of asking.
            let number = self.recording.numbers.next(&key);
            if let Some(kept) = self.recording.known(&key, number) {
                return kept.replayed(terms.meter).await;
            }
            self.recording.begin(&key, number, (self.worst)(ask));
            let retries = Retries { meter: terms.meter, made: Mutex::default() };
            let outcome = self.model.ask(ask, Terms { meter: &retries, ..terms }).await;
            let retried = retries.made.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.recording.keep(&Call { key: &key, number, retried: &retried, outcome: &outcome });
            outcome
        })
    }
}

/// Passes questions about retries on, and remembers those that were made: they were paid for too.
struct Retries<'m> {
    meter: &'m dyn Meter,
    made: Mutex<Vec<ModelFailure>>,
}

impl Meter for Retries<'_> {
    fn again<'a>(&'a self, last: &'a ModelFailure) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            self.meter.again(last).await?;
            self.made.lock().unwrap_or_else(PoisonError::into_inner).push(last.clone());
            Ok(())
        })
    }
}

/// A recording that answers in the place of models.
pub struct Replay {
    folder: PathBuf,
    nonce: String,
    numbers: Numbers,
}

impl Replay {
    /// Opens a recording.
    pub fn open(folder: &Path) -> Result<Self, RecordingError> {
        let nonce = folder::nonce(folder)?;
        Ok(Self { folder: folder.to_owned(), nonce, numbers: Numbers::default() })
    }

    /// The nonce of the run that was recorded.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    async fn answer(&self, ask: &Ask, meter: &dyn Meter) -> Result<Reply, ModelFailure> {
        let key = Key::of(ask);
        let number = self.numbers.next(&key);
        let kept: Kept = folder::read(&self.folder, &key, number)
            .map_err(|error| not_recorded(error.to_string()))?
            .ok_or_else(|| not_recorded(format!("{} has no answer to this call", self.place())))?;
        kept.replayed(meter).await
    }

    fn place(&self) -> String {
        self.folder.display().to_string()
    }
}

impl LanguageModel for Replay {
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        terms: Terms<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelFailure>> {
        Box::pin(self.answer(ask, terms.meter))
    }
}

impl Kept {
    /// What came of the call, with its retries counted as they were then.
    async fn replayed(self, meter: &dyn Meter) -> Result<Reply, ModelFailure> {
        for retried in &self.retried {
            if let Err(why) = meter.again(retried).await {
                return Err(not_recorded(format!("{}; not tried again: {why}", retried.what)));
            }
        }
        match self.outcome {
            Outcome::Reply(reply) => Ok(*reply),
            Outcome::Failure(failure) => Err(failure),
        }
    }
}

fn not_recorded(what: String) -> ModelFailure {
    ModelFailure { kind: ModelFailureKind::NotRecorded, what, attempts: 0, billed: Billed::No }
}

/// How often each call was made.
#[derive(Default)]
struct Numbers(Mutex<HashMap<String, u32>>);

impl Numbers {
    /// The number of this call among those that are the same, from 1.
    fn next(&self, key: &Key) -> u32 {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = numbers.entry(key.hash.clone()).or_default();
        *number += 1;
        *number
    }
}
