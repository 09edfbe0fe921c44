//! Model traffic in a folder: kept while a run goes on, and given again without any model. One file
//! holds one call. Secrets are redacted in it, and calls are known by what is left of them, so a
//! replay finds its calls though it never saw a secret.

mod folder;
mod key;

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
}

impl Recording {
    /// Begins a recording. The nonce of the run is kept with it: it is part of the prompts.
    pub fn start(folder: &Path, nonce: &str) -> Result<Arc<Self>, RecordingError> {
        folder::begin(folder, nonce)?;
        Ok(Arc::new(Self {
            folder: folder.to_owned(),
            numbers: Numbers::default(),
            problem: Mutex::default(),
        }))
    }

    /// The model, with all of its calls kept here.
    pub fn of(self: &Arc<Self>, model: Arc<dyn LanguageModel>) -> Arc<dyn LanguageModel> {
        Arc::new(Recorded { model, recording: Arc::clone(self) })
    }

    /// Why a call could not be kept, if one could not. An answer is not thrown away for it.
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, call: &Call<'_>) {
        if let Err(error) = folder::write(&self.folder, call) {
            tracing::warn!(error = %error, "a call could not be kept");
            let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
            problem.get_or_insert(error.to_string());
        }
    }
}

struct Recorded {
    model: Arc<dyn LanguageModel>,
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
        for retried in &kept.retried {
            if let Err(why) = meter.again(retried).await {
                return Err(not_recorded(format!("{}; not tried again: {why}", retried.what)));
            }
        }
        match kept.outcome {
            Outcome::Reply(reply) => Ok(*reply),
            Outcome::Failure(failure) => Err(failure),
        }
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
