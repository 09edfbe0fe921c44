//! Model traffic in a folder: kept while a run goes on, and given again without any model. One file
//! holds one call. Secrets are redacted in it, and calls are known by what is left of them, so a
//! replay finds its calls though it never saw a secret.

mod folder;
mod key;

pub use folder::RecordingError;

use folder::{Kept, Outcome};
use key::Key;
use mala_domain::conversation::{Ask, Reply};
use mala_domain::ports::{BoxFuture, LanguageModel, ModelFailure, ModelFailureKind};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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

    fn keep(&self, key: &Key, number: u32, outcome: &Result<Reply, ModelFailure>) {
        if let Err(error) = folder::write(&self.folder, key, number, outcome) {
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
        patience: Duration,
    ) -> BoxFuture<'a, Result<Reply, ModelFailure>> {
        Box::pin(async move {
            let key = Key::of(ask);
            // Taken before the answer, so that calls are numbered in the order of asking.
            let number = self.recording.numbers.next(&key);
            let outcome = self.model.ask(ask, patience).await;
            self.recording.keep(&key, number, &outcome);
            outcome
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

    fn answer(&self, ask: &Ask) -> Result<Reply, ModelFailure> {
        let key = Key::of(ask);
        let number = self.numbers.next(&key);
        match folder::read(&self.folder, &key, number) {
            Ok(Some(Kept { outcome: Outcome::Reply(reply), .. })) => Ok(*reply),
            Ok(Some(Kept { outcome: Outcome::Failure(failure), .. })) => Err(failure),
            Ok(None) => Err(not_recorded(format!("{} has no answer to this call", self.place()))),
            Err(error) => Err(not_recorded(error.to_string())),
        }
    }

    fn place(&self) -> String {
        self.folder.display().to_string()
    }
}

impl LanguageModel for Replay {
    fn ask<'a>(&'a self, ask: &'a Ask, _: Duration) -> BoxFuture<'a, Result<Reply, ModelFailure>> {
        Box::pin(async move { self.answer(ask) })
    }
}

fn not_recorded(what: String) -> ModelFailure {
    ModelFailure { kind: ModelFailureKind::NotRecorded, what, attempts: 0 }
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
